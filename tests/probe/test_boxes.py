"""Boxes: mended where it can be told what is meant, left out where not, and always within the world."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.probe.extents import in_numbered_system, read_box


@pytest.mark.parametrize(
    ("sides", "bounds", "codes"),
    [
        ("10 50 20 60", (10, 50, 20, 60), ()),
        ("-180.0000000001 -90 180 90.0000000001", (-180, -90, 180, 90), ()),
        ("10,5 50,25 20,5 60,75", (10.5, 50.25, 20.5, 60.75), ("box-decimal-comma",)),
        ("nan 50 20 60", None, ("box-not-numbers",)),
        ("inf -inf inf inf", None, ("box-not-numbers",)),
        ("a b c d", None, ("box-not-numbers",)),
        ("0 0 0 0", None, ("box-zeros",)),
        ("20 60 10 50", (10, 50, 20, 60), ("box-inverted",)),
        ("10 60 20 50", (10, 50, 20, 60), ("box-inverted",)),
        ("170 -20 -170 -10", (-180, -20, 180, -10), ("box-antimeridian",)),
        ("0 -90 360 90", (-180, -90, 180, 90), ("box-out-of-range",)),
        ("190 10 200 20", (-170, 10, -160, 20), ("box-out-of-range",)),
        ("170 10 190 20", (-180, 10, 180, 20), ("box-out-of-range",)),
        ("-180.5 10 20 20", (-180, 10, 20, 20), ("box-out-of-range",)),
        ("10 -95 20 20", (10, -90, 20, 20), ("box-out-of-range",)),
        ("300000 5000000 400000 6000000", None, ("box-out-of-range",)),
    ],
)
def test_a_box_is_mended_or_left_out(sides: str, bounds: tuple[float, ...] | None, codes: tuple[str, ...]) -> None:
    box, found = read_box(*sides.split())
    assert found == codes
    assert (box.bounds if box is not None else None) == bounds


def test_a_point_gets_an_area() -> None:
    box, codes = read_box("10", "50", "10", "50")
    assert codes == ("box-no-area",)
    assert box is not None
    assert box.area > 0
    assert box.contains(box.centroid)


SIDES = st.one_of(st.floats().map(str), st.floats(-400, 400).map(str), st.text(max_size=8))


@given(SIDES, SIDES, SIDES, SIDES)
def test_every_box_is_valid_and_within_the_world(west: str, south: str, east: str, north: str) -> None:
    box, codes = read_box(west, south, east, north)
    if box is None:
        assert codes
        return
    minx, miny, maxx, maxy = box.bounds
    assert -180 <= minx < maxx <= 180
    assert -90 <= miny < maxy <= 90
    assert box.is_valid


@pytest.mark.parametrize("sides", [(0, 0, 100, 5_000), (0, 0, 5_000, 50)])
def test_a_small_extent_in_metres_is_taken_for_degrees_only_if_both_sides_fit(sides: tuple[float, ...]) -> None:
    box, codes = in_numbered_system(3857, *sides)
    assert codes == () and box is not None and max(box.bounds) < 0.05
    assert in_numbered_system(3857, 0, 0, 100, 50)[1] == ("box-in-degrees",)
