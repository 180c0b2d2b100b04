"""Extents are counted where they are, and drawn over the land."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from geocrawl.charts import text
from geocrawl.charts.world import SHADES, coverage, rings, shades, world_map
from tests.support.places import ROOT


def test_a_box_is_counted_in_the_cells_that_it_touches() -> None:
    found = coverage([(10.2, 50.0, 12.0, 51.5), (11.0, 50.0, 11.0, 50.0)])
    assert found.boxes == 2 and found.cells.sum() == 2 * 2 + 1
    assert found.cells[90 - 51, 180 + 11] == 1 and found.cells[90 - 50, 180 + 11] == 1


def test_a_box_over_the_antimeridian_is_counted_on_both_sides_only() -> None:
    cells = coverage([(179.0, 0.0, -179.0, 1.0)]).cells
    assert [int(column) for column in np.flatnonzero(cells.any(axis=0))] == [0, 359]


def test_extents_of_most_of_the_world_are_said_and_not_drawn() -> None:
    found = coverage([(-180, -90, 180, 90), (0, 0, 1, 1)])
    assert (found.boxes, found.worldwide, int(found.cells.sum())) == (1, 1, 1)
    assert found.title == "Extents of 1 service, 1 more span most of the world"


@pytest.mark.parametrize("box", [(math.nan, 0, 1, 1), (0, 5, 1, 4), (0, 95, 1, 99), (0, -math.inf, 1, 1)])
def test_a_box_that_is_none_is_left_out(box: tuple[float, float, float, float]) -> None:
    assert coverage([box]).boxes == 0


def test_boxes_beyond_the_edges_stay_in_the_map() -> None:
    assert coverage([(400, 80, 410, 100), (-500, -100, -490, -80)]).cells.sum() > 0


def test_shades_grow_with_the_logarithm_of_the_count() -> None:
    assert shades(np.array([[0, 1, 3, 1000]], np.int32)).tolist() == [[0, 1, 2, SHADES]]
    assert shades(np.array([[0, 1]], np.int32)).tolist() == [[0, SHADES]]


def test_the_map_is_drawn_over_the_shipped_base_map() -> None:
    land = list(rings(json.loads((ROOT / "geocrawl/web/static/world.json").read_text("utf-8"))))
    found = coverage([(5.0, 47.0, 15.0, 55.0)])
    drawn = world_map(found, land)
    assert len(land) > 200 and drawn.count('class="land"') == len(land)
    assert drawn.count('class="s5"') == 8, "a strip for each degree of latitude"
    lines = text.world_map(found, land)
    assert (
        len(lines) == 24
        and sum(line.count("█") for line in lines) >= 2
        and sum(line.count("·") for line in lines) > 300
    )
