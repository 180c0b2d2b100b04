"""Draw how many extents cover each degree of the world, and name the squares that an extent touches."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_COLOUR = (11, 110, 110)
_SHADES = 5
CELL_DEG = 10
"""Side of the squares in which the search looks where a visitor points at the map."""


def coverage_picture(cells: NDArray[np.int32]) -> bytes:
    """Return a PNG, a pixel a degree: the more extents cover it, by the logarithm of their number, the less can be seen
    through it."""
    most = math.log2(max(int(cells.max()), 1) + 1.0)
    shades = np.ceil(np.log2(cells + 1.0) / most * _SHADES).clip(0, _SHADES)
    pixels = np.zeros((*cells.shape, 4), np.uint8)
    pixels[..., :3] = _COLOUR
    pixels[..., 3] = (shades * 170 / _SHADES).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels, "RGBA").quantize(_SHADES + 1).save(file, "PNG", optimize=True)
    return file.getvalue()


def squares(extents: Sequence[tuple[float, ...]]) -> Iterator[str]:
    """Yield the squares of `CELL_DEG` degrees that an extent touches, COLUMN.ROW from the north-west, as words of the
    index; none for one that spans most of the world, which says nothing of a place."""
    if sum((east - west) * (north - south) for west, south, east, north in extents) >= 180 * 90:
        return
    for west, south, east, north in extents:
        for column in _touched(west + 180, east + 180, 360):
            for row in _touched(90 - north, 90 - south, 180):
                yield f"cell:{column}.{row}"


def _touched(first: float, last: float, most: int) -> range:
    """Return the squares between two edges, at least one."""
    end = most // CELL_DEG
    begin = min(int(first // CELL_DEG), end - 1)
    return range(begin, max(min(math.ceil(last / CELL_DEG), end), begin + 1))
