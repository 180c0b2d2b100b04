"""Charts are files that other programs read, with nothing of the web's text as markup."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from geocrawl.export.properties import parts_of
from geocrawl.model.catalogue import Box
from geocrawl.model.statistics import Growth
from geocrawl.web.charts import bars, coverage, curve, curves, growth_curve, standalone, steps, world_map
from scripts.base_map import land
from tests.support.places import ROOT

HOSTILE = '<script>alert(1)</script>"&\x1b[31m'


def test_a_chart_in_a_file_is_well_formed_whatever_its_labels_are() -> None:
    root = etree.fromstring(standalone(bars([(HOSTILE, 3.0), ("wfs", 1.0)], HOSTILE), HOSTILE).encode())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert [etree.QName(each).localname for each in root.iter() if "script" in str(each.tag)] == []
    assert "\x1b" not in "".join(map(str, root.itertext()))


def test_curves_have_their_names_beside_their_ends_and_never_on_each_other() -> None:
    named = [("GeoServer", (0, 5, 90)), (HOSTILE, (0, 4, 89)), ("MapServer", (0, 0, 0)), ("deegree", (0, 0, 0))]
    chart = curves(named, "software", x_labels=("2025", "2026"), most_label="90")
    drawn = etree.fromstring(standalone(chart, "Software").encode())
    shapes = [each for each in drawn.iter() if isinstance(each.tag, str)]
    names = {str(each.text): float(each.get("y", "")) for each in shapes if each.get("class") == "value"}
    assert [name for name in names if name.startswith(("GeoServer 90", "MapServer 0"))] == [
        "GeoServer 90",
        "MapServer 0",
    ]
    heights = sorted(names.values())
    assert all(after - before >= 15 for before, after in pairwise(heights)) and heights[-1] < 220
    assert len([each for each in shapes if etree.QName(each).localname == "polyline"]) == 4


def test_the_ends_of_a_curve_differ_however_short_it_is() -> None:
    at = datetime(2026, 11, 26, 19, 30, tzinfo=UTC).timestamp()
    ends = [
        re.findall(r">(20[^<]*)<", growth_curve(Growth(at, end, (1, 2)), "")) for end in (at + 4, at + 240, at + 9e4)
    ]
    assert ends == [
        ["2026-11-26 19:30:00", "2026-11-26 19:30:04"],
        ["2026-11-26 19:30", "2026-11-26 19:34"],
        ["2026-11-26", "2026-11-27"],
    ]


def test_steps_stay_until_the_next_point() -> None:
    assert steps([(0.0, 1.0), (3.0, 0.5)], 9.0) == [(0.0, 1.0), (3.0, 1.0), (3.0, 0.5), (9.0, 0.5)]
    assert steps([], 1.0) == []


def test_a_box_is_counted_in_the_cells_that_it_touches() -> None:
    cells, inside, _ = coverage([(10.2, 50.0, 12.0, 51.5), (11.0, 50.0, 11.0, 50.0)])
    assert inside == 2 and cells.sum() == 2 * 2 + 1
    assert cells[90 - 51, 180 + 11] == 1 and cells[90 - 50, 180 + 11] == 1


def test_a_box_over_the_antimeridian_is_counted_on_both_sides_only() -> None:
    cells, _, _ = coverage([(179.0, 0.0, -179.0, 1.0)])
    assert [int(column) for column in np.flatnonzero(cells.any(axis=0))] == [0, 359]


def test_extents_of_most_of_the_world_are_said_and_not_drawn() -> None:
    cells, inside, worldwide = coverage([(-180, -90, 180, 90), (0, 0, 1, 1)])
    assert (inside, worldwide, int(cells.sum())) == (1, 1, 1)


@pytest.mark.parametrize("box", [(math.nan, 0, 1, 1), (0, 5, 1, 4), (0, 95, 1, 99), (0, -math.inf, 1, 1)])
def test_a_box_that_is_none_is_left_out(box: tuple[float, float, float, float]) -> None:
    assert coverage([box])[1] == 0


def test_boxes_beyond_the_edges_stay_in_the_map() -> None:
    assert coverage([(400, 80, 410, 100), (-500, -100, -490, -80)])[0].sum() > 0


_DEGREES = st.one_of(
    st.floats(-400, 400),
    st.integers(-37, 37).map(lambda number: number * 10.0),
    st.sampled_from([math.nan, math.inf, -math.inf]),
)


@example(box=(0.0, 0.0, -180.0, 0.0), degrees=1)
@example(box=(180.0, 0.0, -180.0, 0.0), degrees=1)
@example(box=(180.0, 0.0, -179.0, 0.0), degrees=1)
@given(box=st.tuples(_DEGREES, _DEGREES, _DEGREES, _DEGREES), degrees=st.sampled_from([1, 10]))
def test_cells_are_those_of_the_parts_that_exports_write(box: Box, degrees: int) -> None:
    """The one is arithmetic for all services at once, the other geometry for one."""
    parts = parts_of(box)
    expected = np.zeros((180 // degrees, 360 // degrees), np.int32)
    for west, south, east, north in parts:
        rows = _cells(90 - north, 90 - south, 180, degrees)
        columns = _cells(west + 180, east + 180, 360, degrees)
        expected[rows, columns] += 1
    if sum((east - west) * (north - south) for west, south, east, north in parts) >= 180 * 90:
        expected[:] = 0
    cells, inside, worldwide = coverage([box], degrees)
    assert (cells == expected).all()
    assert inside + worldwide == bool(parts)


def _cells(first: float, last: float, whole: int, degrees: int) -> slice:
    begin = min(math.floor(first / degrees), whole // degrees - 1)
    return slice(begin, max(math.ceil(last / degrees), begin + 1))


def test_shades_grow_with_the_logarithm_of_the_count() -> None:
    drawn = world_map(np.array([[0, 1, 3, 1000]], np.int32), {"features": []}, "map")
    assert [f'class="s{shade}"' in drawn for shade in range(1, 6)] == [True, True, False, False, True]


def test_the_shipped_land_is_that_of_the_base_map() -> None:
    static = ROOT / "geocrawl/web/static"
    assert (static / "land.svg").read_text("utf-8") == land(json.loads((static / "world.json").read_text("utf-8")))


def test_the_map_is_drawn_over_the_shipped_base_map() -> None:
    base_map = json.loads((ROOT / "geocrawl/web/static/world.json").read_text("utf-8"))
    drawn = world_map(coverage([(5.0, 47.0, 15.0, 55.0)])[0], base_map, "map")
    assert drawn.count('class="land"') > 200
    assert drawn.count('class="s5"') == 8, "a strip for each degree of latitude"


@pytest.mark.parametrize("label", ["7", "1,055 ms", "1,234,567 ms"])
def test_the_label_at_the_top_of_a_chart_is_whole(label: str) -> None:
    drawn = str(curve([(0, 1), (1, 2)], "", x_labels=("", ""), most=2, most_label=label))
    (end,) = re.findall(rf'<text class="tick end" x="(\d+)" y="14">{label}<', drawn)
    assert int(end) >= 7 * len(label), "letters of 12 pixels are up to seven wide, and the label ends here"
