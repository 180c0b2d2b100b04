"""Choose the tiles that cover a part of a map, of the levels of detail that a service offers.

Tile matrix sets (OGC 07-057r7, 6.1; 17-083r4), as WMTS and OGC API – Tiles have them, give such levels, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from geocrawl.model import Url
from geocrawl.probe.extents import (
    MERCATOR_CODES,
    PIXEL_M,
    Sides,
    crs_code,
    is_geographic,
    is_latitude_first,
    metres_a_unit,
)

_NEARLY = 1e-6
_PARTLY = 0.01
"""Part of a tile by which the box of a grid may end beyond the last one: documents round."""
_MOST = 2**40
_MANY = 1_000
"""Columns or rows beyond which a level needs too many tiles, whatever it is asked for."""


@dataclass(frozen=True, slots=True)
class Level:
    """A grid of tiles, in the units of its reference system; x grows to the right, y upwards, rows downwards."""

    left: float
    top: float
    across: float
    """Width of a tile."""
    down: float
    columns: tuple[int, int]
    """First and last."""
    rows: tuple[int, int]
    address: Callable[[int, int], Url | None]
    """Column and row → address of the tile."""

    def within(self, box: Sides) -> tuple[range, range]:
        """Return the columns and rows that lie in a box."""
        first, last = (box[0] - self.left) / self.across, (box[2] - self.left) / self.across
        upper, lower = (self.top - box[3]) / self.down, (self.top - box[1]) / self.down
        return _between(first, last, self.columns), _between(upper, lower, self.rows)

    def at(self, x: float, y: float) -> Url | None:
        """Return the address of the tile that covers a point; None beside the grid."""
        across, down = (x - self.left) / self.across, (self.top - y) / self.down
        if not math.isfinite(across + down):
            return None
        column, row = math.floor(across), math.floor(down)
        is_there = self.columns[0] <= column <= self.columns[1] and self.rows[0] <= row <= self.rows[1]
        return self.address(column, row) if is_there else None

    def sides(self, column: int, row: int) -> Sides:
        """Return the extent of a tile."""
        left, top = self.left + column * self.across, self.top - row * self.down
        return left, top - self.down, left + self.across, top


def level_from_south(
    origin: Sequence[float], box: Sequence[float], across: float, down: float, address: Callable[[Sides], Url | None]
) -> Level:
    """Return a level whose grid begins in the lower left corner, at `origin`, and covers a box from there.

    `address` has that of a tile by its extent."""
    columns, rows = (_count(box[axis + 2] - origin[axis], step) for axis, step in ((0, across), (1, down)))
    level: Level

    def url(column: int, row: int) -> Url | None:
        return address(level.sides(column, row))

    level = Level(origin[0], origin[1] + rows * down, across, down, (0, columns - 1), (0, rows - 1), url)
    return level


def _count(length: float, step: float) -> int:
    """Return how many steps cover a length; none for impossible numbers in the document."""
    steps = length / step - _PARTLY if step > 0 else 0.0
    return math.ceil(min(max(0.0, steps), _MOST))  # in this order NaN becomes 0


def _between(first: float, last: float, limits: tuple[int, int]) -> range:
    if not (math.isfinite(first) and math.isfinite(last)):
        return range(0)
    start = max(math.floor(first + _NEARLY), limits[0])
    return range(start, min(math.ceil(last - _NEARLY), limits[1] + 1, start + _MANY))


def cover(levels: Sequence[Level], box: Sides, most: int) -> list[tuple[Url, Sides]]:
    """Return addresses and extents of the tiles in a box, at most `most`: those of the finest level that needs no more.

    The result is empty when there are none, or the coarsest level needs more. Levels whose tiles are too small to be
    told apart are left out: documents state any number.
    """
    for level in sorted(filter(_is_sound, levels), key=lambda level: level.across):
        columns, rows = level.within(box)
        if 0 < len(columns) * len(rows) <= most:
            places = [(column, row) for row in rows for column in columns]
            found = [(level.address(column, row), level.sides(column, row)) for column, row in places]
            return [(url, sides) for url, sides in found if url is not None]
    return []


def _is_sound(level: Level) -> bool:
    """Return whether the tiles at a level's corner have a width and a height."""
    left, bottom, right, top = level.sides(level.columns[1], level.rows[1])
    return 0 < right - left < math.inf and 0 < top - bottom < math.inf


# --------------------------------------------------------------------------- tile matrix sets
# A tile matrix is a grid over the earth: its scale and the size of its tiles determine the extent of a tile.


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
