"""Count extents in cells of one degree, and draw them over a map of the world (plate carrée).

Extents that span most of the world are counted beside the map: they would cover everything that can be seen on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from geocrawl.charts.svg import framed
from geocrawl.wording import counted

Box = tuple[float, float, float, float]
"""west, south, east, north, degrees; west > east crosses the antimeridian."""
Ring = Sequence[tuple[float, float]]
COLUMNS, ROWS = 360, 180
SHADES = 5
MOST_OF_THE_WORLD = 180 * 90
"""Square degrees: an extent larger than that is called one of the whole world."""
_SCALE = 2
"""Units of the picture a degree."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many extents cover each part of the world."""

    cells: NDArray[np.int32]
    """Rows from north to south, columns from west to east, a degree each."""
    boxes: int
    """Extents in the cells."""
    worldwide: int
    """Extents of most of the world, which are in no cell."""

    @property
    def title(self) -> str:
        """Return what the map shows, in words."""
        beside = f", {self.worldwide:,} more span most of the world" if self.worldwide else ""
        return f"Extents of {counted(self.boxes, 'service')}{beside}"


def coverage(boxes: Iterable[Box]) -> Coverage:
    """Count boxes in the cells that they touch. Boxes outside the world, and those without a number, are left out."""
    corners = np.zeros((ROWS + 1, COLUMNS + 1), np.int32)
    counted = worldwide = 0
    for west, south, east, north in boxes:
        if not all(map(math.isfinite, (west, south, east, north))) or south > north or north < -90 or south > 90:
            continue
        width = (east - west) if west <= east else 360 - west + east
        if min(width, 360) * (min(north, 90) - max(south, -90)) >= MOST_OF_THE_WORLD:
            worldwide += 1
            continue
        counted += 1
        top, bottom = _range(90 - north, 90 - south, ROWS)
        for left, right in _sides(west, east):
            corners[top, left] += 1
            corners[top, right] -= 1
            corners[bottom, left] -= 1
            corners[bottom, right] += 1
    cells = corners.cumsum(axis=0, dtype=np.int32).cumsum(axis=1, dtype=np.int32)[:ROWS, :COLUMNS]
    return Coverage(cells, counted, worldwide)


def shades(cells: NDArray[np.int32]) -> NDArray[np.int8]:
    """Return a shade for each cell, 0 for none to `SHADES` for the most, by the logarithm of the count."""
    most = max(int(cells.max()), 1)
    levels = np.ceil(np.log2(cells + 1.0) / math.log2(most + 1.0) * SHADES)
    bounded: NDArray[np.int8] = np.minimum(levels, SHADES).astype(np.int8)
    return bounded


def rings(base_map: Any) -> Iterator[Ring]:
    """Yield the outlines of the land of a base map in GeoJSON."""
    for feature in base_map["features"]:
        shape = feature["geometry"]
        polygons = shape["coordinates"] if shape["type"] == "MultiPolygon" else [shape["coordinates"]]
        for polygon in polygons:
            yield polygon[0]


def world_map(found: Coverage, land: Iterable[Ring]) -> Markup:
    """Return the map: the darker a cell, the more services cover it."""
    width, height = COLUMNS * _SCALE, ROWS * _SCALE
    parts = [Markup('<rect class="sea" x="0" y="0" width="{}" height="{}"/>').format(width, height)]
    for ring in land:
        points = " ".join(f"{(x + 180) * _SCALE:g},{(90 - y) * _SCALE:g}" for x, y in ring)
        parts.append(Markup('<polygon class="land" points="{}"/>').format(points))
    for y, row in enumerate(shades(found.cells)):
        x = 0
        for shade, run in groupby(row.tolist()):
            cells = len(list(run))
            if shade:
                parts.append(_cell(shade, x, y, cells))
            x += cells
    return framed(width, height, found.title, parts, "world")


def _cell(shade: int, x: int, y: int, cells: int) -> Markup:
    """Return cells of one shade side by side; the land is seen through them."""
    return Markup('<rect class="s{}" fill-opacity="0.75" x="{}" y="{}" width="{}" height="{}"/>').format(
        shade, x * _SCALE, y * _SCALE, cells * _SCALE, _SCALE
    )


def _sides(west: float, east: float) -> list[tuple[int, int]]:
    """Return the columns of a box: two ranges when it crosses the antimeridian."""
    if west > east:
        return [_range(west + 180, COLUMNS, COLUMNS), _range(0, east + 180, COLUMNS)]
    return [_range(west + 180, east + 180, COLUMNS)]


def _range(first: float, last: float, most: int) -> tuple[int, int]:
    """Return the cells that a stretch touches, at least one: the first, and the one after the last."""
    begin = min(max(math.floor(first), 0), most - 1)
    return begin, max(min(math.ceil(last), most), begin + 1)
