"""Choose tiles of the levels of detail that a service offers: those that cover a part of a map, or a few as a sample.

Tile matrix sets (OGC 07-057r7, 6.1; 17-083r4), as WMTS and OGC API – Tiles have them, give such levels, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import quote

from geocrawl.formats.json import number_of
from geocrawl.model import Url
from geocrawl.probe.extents import (
    PIXEL_M,
    Sides,
    crs_code,
    is_geographic,
    is_latitude_first,
    is_web_mercator,
    metres_a_unit,
)

_NEARLY = 1e-6
_PARTLY = 0.01
"""Part of a tile by which the box of a grid may end beyond the last one: documents round."""
_MOST = 2**40
_MANY = 1_000
"""Columns or rows beyond which a level needs too many tiles, whatever it is asked for."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Grid(Generic[T]):
    """A grid of tiles, in the units of its reference system; x grows to the right, y upwards, rows downwards."""

    left: float
    top: float
    across: float
    """Width of a tile."""
    down: float
    columns: tuple[int, int]
    """First and last."""
    rows: tuple[int, int]
    tile: Callable[[int, int], T]
    """Column and row → the tile: its address, for previews (None where it has none)."""

    def within(self, box: Sides) -> tuple[range, range]:
        """Return the columns and rows that lie in a box."""
        first, last = (box[0] - self.left) / self.across, (box[2] - self.left) / self.across
        upper, lower = (self.top - box[3]) / self.down, (self.top - box[1]) / self.down
        return _between(first, last, self.columns), _between(upper, lower, self.rows)

    def middle(self, box: Sides | None) -> T:
        """Return the tile at the middle of a box, or next to it within the limits of the level; None: of the limits."""
        column, row = sum(self.columns) // 2, sum(self.rows) // 2
        if box is not None:
            column = _steps((box[0] + box[2]) / 2 - self.left, self.across, column)
            # On the edge of two tiles the northern one: around the middle of the earth only that has land.
            row = -1 - _steps((box[1] + box[3]) / 2 - self.top + _NEARLY * self.down, self.down, -1 - row)
        return self.tile(_within(column, self.columns), _within(row, self.rows))

    def sides(self, column: int, row: int) -> Sides:
        """Return the extent of a tile."""
        left, top = self.left + column * self.across, self.top - row * self.down
        return left, top - self.down, left + self.across, top


Level = Grid[Url | None]


def level_from_south(
    origin: Sequence[float], box: Sequence[float], across: float, down: float, address: Callable[[Sides], Url | None]
) -> Level:
    """Return a level whose grid begins in the lower left corner, at `origin`, and covers a box from there.

    `address` has that of a tile by its extent."""
    columns, rows = (_count(box[axis + 2] - origin[axis], step) for axis, step in ((0, across), (1, down)))
    level: Level

    def url(column: int, row: int) -> Url | None:
        return address(level.sides(column, row))

    level = Grid(origin[0], origin[1] + rows * down, across, down, (0, columns - 1), (0, rows - 1), url)
    return level


def _count(length: float, step: float) -> int:
    """Return how many steps cover a length; none for impossible numbers in the document."""
    steps = length / step - _PARTLY if step > 0 else 0.0
    return math.ceil(min(max(0.0, steps), _MOST))  # in this order NaN becomes 0


def _steps(distance: float, step: float, default: int) -> int:
    """Return the number of whole steps in a distance; the default for impossible numbers in the document."""
    steps = distance / step if step > 0 else math.inf
    return math.floor(steps) if math.isfinite(steps) else default


def _within(number: int, limits: tuple[int, int]) -> int:
    return min(max(number, limits[0]), limits[1])


def _between(first: float, last: float, limits: tuple[int, int]) -> range:
    if not (math.isfinite(first) and math.isfinite(last)):
        return range(0)
    start = max(math.floor(first + _NEARLY), limits[0])
    return range(start, min(math.ceil(last - _NEARLY), limits[1] + 1, start + _MANY))


def cover(levels: Sequence[Level], box: Sides, most: int) -> list[tuple[Url, Sides]]:
    """Return addresses and extents of the tiles in a box, at most `most`: those of the finest level that needs no more.

    The result is empty without tiles there, or when the coarsest level needs more. Levels whose tiles are too small to
    be told apart are left out: documents state any number.
    """
    for level in sorted(filter(_is_sound, levels), key=lambda level: level.across):
        columns, rows = level.within(box)
        if 0 < len(columns) * len(rows) <= most:
            places = [(column, row) for row in rows for column in columns]
            tiles = [(level.tile(column, row), level.sides(column, row)) for column, row in places]
            return [(url, sides) for url, sides in tiles if url is not None]
    return []


def fitting(levels: Sequence[Grid[T]], box: Sides | None) -> int:
    """Return the index of the finest level that has a box in one tile, the coarsest first; 0 for none or no box."""
    if box is None:
        return 0
    longest = max(box[2] - box[0], box[3] - box[1])
    return max((n for n, level in enumerate(levels) if min(level.across, level.down) >= longest), default=0)


def sample_levels(levels: Sequence[Grid[T]], box: Sides) -> list[Grid[T]]:
    """Return the finest level that has a box in one tile, a finer one, and the coarsest, each once."""
    sound = sorted(filter(_is_sound, levels), key=lambda level: -level.across)
    fit = fitting(sound, box)
    return [sound[n] for n in dict.fromkeys((fit, fit + 1, 0)) if n < len(sound)]


_VARIABLE = re.compile(r"\{([^{}/]{1,100})\}")


def filled(template: str, values: Mapping[str, object]) -> str:
    """Return a template of addresses with its variables replaced; their names match in any case, unknown ones stay.

    `values`: by names in lower case."""

    def value(variable: re.Match[str]) -> str:
        known = values.get(variable[1].strip().lower())
        return variable[0] if known is None else quote(str(known), safe=":,")

    return _VARIABLE.sub(value, template)


def _is_sound(level: Grid[T]) -> bool:
    """Return whether a level has tiles, and those at its corner have a width and a height."""
    (first, last), (upper, lower) = level.columns, level.rows
    left, bottom, right, top = level.sides(last, lower)
    return first <= last and upper <= lower and 0 < right - left < math.inf and 0 < top - bottom < math.inf


# --------------------------------------------------------------------------- scales


Scales = tuple[float, float]
"""Least and greatest scale denominator; 0 and infinite where one is not stated."""


def stated_scales(least: object, greatest: object) -> Scales | None:
    """Return the scales between two stated denominators, 0 or nothing for none; None when they bound nothing."""
    stated = max(number_of(least) or 0.0, 0.0), number_of(greatest) or 0.0
    scales = stated[0], stated[1] if stated[1] > 0 else math.inf
    return scales if scales[0] < scales[1] and scales != (0.0, math.inf) else None


def scales_of(levels: Iterable[float | None]) -> Scales | None:
    """Return the scales of levels by the denominator of each; None for none."""
    known = [scale for scale in levels if scale is not None and 0 < scale < math.inf]
    return (min(known), max(known)) if known else None


# --------------------------------------------------------------------------- tile matrix sets
# A tile matrix is a grid over the earth: its scale and the size of its tiles determine the extent of a tile.


EDGE_M = math.pi * 6_378_137.0
"""Distance of the edges of the earth in Mercator from its middle."""

Limits = tuple[int, int, int, int]
"""Least and greatest row, least and greatest column."""


def limits_of(first: int, last: int, left: int, right: int) -> Limits | None:
    """Return limits; None for impossible numbers in the document."""
    return (first, last, left, right) if 0 <= first <= last and 0 <= left <= right else None


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


def matrix_of(
    name: str, scale: float | None, corner: Sequence[float | None], counts: Sequence[int], *, from_south: bool = False
) -> Matrix | None:
    """Return a matrix; None for impossible numbers in the document.

    `counts`: width and height of a tile in pixels, then of the matrix in tiles."""
    if not scale or scale <= 0 or min(counts) < 1 or len(corner) < 2 or None in corner:
        return None
    x, y = (number or 0.0 for number in corner)
    width, height, across, down = counts
    return Matrix(name, scale, (x, y), (width, height), (across, down), from_south)


@dataclass(frozen=True, slots=True)
class MatrixSet:
    """A tile matrix set."""

    crs: str
    """Reference system as written: the spelling decides which axis comes first."""
    matrices: tuple[Matrix, ...] = field(default=())
    """Tile matrices, the coarsest first."""

    def levels(self, limits: Mapping[str, Limits], tile: Callable[[Matrix, int, int], T]) -> tuple[Grid[T], ...]:
        """Return the levels of a layer's tiles, the coarsest first.

        `limits`: those that the layer states, by the names of matrices; it has tiles in no other matrix. `tile` makes a
        tile of its matrix, row and column."""
        known = [matrix for matrix in self.matrices if matrix.name in limits] or self.matrices
        return tuple(self._level(matrix, limits.get(matrix.name, matrix.limits), tile) for matrix in known)

    def _level(self, matrix: Matrix, limits: Limits, tile: Callable[[Matrix, int, int], T]) -> Grid[T]:
        first, last, left, right = limits
        (x, y), (across, down), rows = top_left(matrix, self.crs), span(matrix, self.crs), matrix.size[1]
        if not matrix.from_south:
            return Grid(x, y, across, down, (left, right), (first, last), lambda c, r: tile(matrix, r, c))
        downwards = (rows - 1 - last, rows - 1 - first)
        return Grid(
            x, y + rows * down, across, down, (left, right), downwards, lambda c, r: tile(matrix, rows - 1 - r, c)
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
    if is_web_mercator(crs) and abs(first - EDGE_M) < 1 and abs(second + EDGE_M) < 1:
        return second, first
    if not is_geographic(crs) or abs(first) > 90:
        return first, second
    if abs(second) > 90 or is_latitude_first(crs) or crs_code(crs) == "EPSG:4326":
        return second, first
    return first, second
