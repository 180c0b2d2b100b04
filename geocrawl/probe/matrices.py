"""Place the tiles of tile matrix sets (OGC 07-057r7, 6.1; 17-083r4), as WMTS and OGC API – Tiles have them.

A tile matrix is a grid over the earth: its scale and the size of its tiles determine the extent of a tile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from geocrawl.model import Url
from geocrawl.probe.extents import MERCATOR_CODES, PIXEL_M, crs_code, is_geographic, is_latitude_first, metres_a_unit
from geocrawl.probe.levels import Level

EDGE_M = math.pi * 6_378_137.0
"""Distance of the edges of the earth in Mercator from its middle."""

Limits = tuple[int, int, int, int]
"""Least and greatest row, least and greatest column."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A tile matrix: one level of a set, a grid of tiles of one scale."""

    name: str
    scale: float
    """Scale denominator."""
    corner: tuple[float, float]
    """Top left corner, as written."""
    tile: tuple[int, int]
    """Width and height in pixels."""
    size: tuple[int, int]
    """Width and height in tiles."""
    from_south: bool = False
    """Whether rows are counted from the south, and the corner is the lower left one (17-083r4 alone)."""

    @property
    def limits(self) -> Limits:
        """Return the limits of a layer that fills it."""
        return 0, self.size[1] - 1, 0, self.size[0] - 1


Address = Callable[[Matrix, int, int], Url | None]
"""Matrix, row, column → address of the tile."""


@dataclass(frozen=True, slots=True)
class MatrixSet:
    """A tile matrix set."""

    crs: str
    """Reference system as written: the spelling decides which axis comes first."""
    matrices: tuple[Matrix, ...] = field(default=())
    """Tile matrices, the coarsest first."""

    def levels(self, limits: Mapping[str, Limits], address: Address) -> tuple[Level, ...]:
        """Return the levels of a layer's tiles; `limits`: those that the layer states, by the names of matrices."""
        return tuple(self._level(matrix, limits.get(matrix.name, matrix.limits), address) for matrix in self.matrices)

    def _level(self, matrix: Matrix, limits: Limits, address: Address) -> Level:
        first, last, left, right = limits
        (x, y), (across, down), rows = top_left(matrix, self.crs), span(matrix, self.crs), matrix.size[1]
        if not matrix.from_south:
            return Level(x, y, across, down, (left, right), (first, last), lambda c, r: address(matrix, r, c))
        downwards = (rows - 1 - last, rows - 1 - first)
        return Level(
            x, y + rows * down, across, down, (left, right), downwards, lambda c, r: address(matrix, rows - 1 - r, c)
        )


def span(matrix: Matrix, crs: str) -> tuple[float, float]:
    """Return width and height of a tile in units of the reference system (6.1)."""
    unit = matrix.scale * PIXEL_M / metres_a_unit(crs)
    return unit * matrix.tile[0], unit * matrix.tile[1]


def top_left(matrix: Matrix, crs: str) -> tuple[float, float]:
    """Return x and y; degrees are in the reference system's order, unless the numbers exclude that order.

    The whole earth in Mercator has one top left corner: the opposite one was written with its numbers swapped.
    """
    first, second = matrix.corner
    if crs_code(crs) in MERCATOR_CODES and abs(first - EDGE_M) < 1 and abs(second + EDGE_M) < 1:
        return second, first
    if not is_geographic(crs) or abs(first) > 90:
        return first, second
    if abs(second) > 90 or is_latitude_first(crs) or crs_code(crs) == "EPSG:4326":
        return second, first
    return first, second
