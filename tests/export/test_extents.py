"""Extents as geometries: split at the antimeridian, never around the rest of the world."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely import bounds, from_wkb, get_parts
from shapely.geometry import shape

from geocrawl.export.properties import extent_of, geojson_geometry, wkb_multipolygon
from geocrawl.model.catalogue import Box


@pytest.mark.parametrize(
    ("box", "parts"),
    [
        ((5, 45, 10, 50), [(5, 45, 10, 50)]),
        ((177, -20, -178, -16), [(177, -20, 180, -16), (-180, -20, -178, -16)]),
        ((170, 0, 190, 1), [(170, 0, 180, 1), (-180, 0, -170, 1)]),
        ((-190, 0, -170, 1), [(170, 0, 180, 1), (-180, 0, -170, 1)]),
        ((-180, -90, 180, 90), [(-180, -90, 180, 90)]),
        ((-200, -91, 300, 91), [(-180, -90, 180, 90)]),
        ((180, 0, -180, 1), [(180, 0, 180, 1)]),
        ((math.nan, 0, 1, 1), []),
        ((0, 2, 1, 1), []),
        (None, []),
    ],
)
def test_the_parts_of_a_box(box: Box | None, parts: list[Box]) -> None:
    assert bounds(get_parts(extent_of(box))).tolist() == [list(part) for part in parts]


def test_a_box_over_the_antimeridian_is_a_multipolygon_of_small_polygons() -> None:
    geometry = geojson_geometry((177, -20, -178, -16))
    assert geometry is not None and geometry["type"] == "MultiPolygon"
    assert shape(geometry).area == pytest.approx(5 * 4)
    assert shape(geojson_geometry((5, 45, 10, 50))).geom_type == "Polygon"
    assert geojson_geometry(None) is None


@given(st.tuples(st.floats(-360, 360), st.floats(-90, 90), st.floats(-360, 360), st.floats(-90, 90)))
def test_every_form_says_the_same_and_stays_on_the_globe(box: Box) -> None:
    extent = extent_of(box)
    if extent is None:
        assert geojson_geometry(box) is None
        return
    west, south, east, north = extent.bounds
    assert -180 <= west <= east <= 180 and -90 <= south <= north <= 90
    read = from_wkb(wkb_multipolygon(extent))
    assert read.bounds == (west, south, east, north)
    assert shape(geojson_geometry(box)).area == pytest.approx(read.area)
    for polygon in read.geoms:
        assert polygon.area == 0 or polygon.exterior.is_ccw, "RFC 7946, 3.1.6"
