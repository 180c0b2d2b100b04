"""Transform boxes in other reference systems into WGS 84 boxes.

Degrees on other ellipsoids (NAD83, ETRS89, GDA94 …) differ by a metre or two and are used unchanged; spherical Mercator
is transformed by its formula. Boxes in any other reference system are ignored: a wrong box would be worse than none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geocrawl.formats.json import number_of, text_of
from geocrawl.probe.extents.boxes import read_box

if TYPE_CHECKING:
    from shapely.geometry import Polygon

Box = tuple["Polygon | None", tuple[str, ...]]
"""A WGS 84 box, None when there is none or an impossible one; and codes of corrected deviations."""

NO_BOX: Box = (None, ())
_EARTH_M = 6378137.0
_MAX_CODE_DIGITS = 9
_DEGREES = frozenset({4326, 4979, 4269, 4258, 4283, 7844, 4674, 4167, 4612, 6668, 4490, 4617, 104145})
_MERCATOR = frozenset({3857, 102100, 102113, 900913, 3785, 41001, 54004})


def is_web_mercator(code: str) -> bool:
    """Return whether a code (`EPSG:3857`, `OSGEO:41001`) is of spherical Mercator, the system of maps of the web."""
    number = code.rpartition(":")[2]
    return number.isascii() and number.isdigit() and len(number) <= _MAX_CODE_DIGITS and int(number) in _MERCATOR


def in_system(code: str, west: object, south: object, east: object, north: object) -> Box:
    """Return the box of sides, x first, in a reference system by its code (`EPSG:3857`, `CRS:84`)."""
    authority, _, number = code.upper().rpartition(":")
    if authority in ("CRS", "OGC"):
        return _degrees(west, south, east, north)
    is_code = number.isascii() and number.isdigit() and len(number) <= _MAX_CODE_DIGITS
    return in_numbered_system(int(number) if is_code else 0, west, south, east, north)


def in_numbered_system(number: int, west: object, south: object, east: object, north: object) -> Box:
    """Return the box of sides, x first, in the reference system that EPSG or Esri has under a number."""
    if number in _DEGREES:
        return _degrees(west, south, east, north)
    if number not in _MERCATOR:
        return NO_BOX
    sides = [number_of(side) for side in (west, south, east, north)]
    if any(side is None for side in sides):
        return None, ("box-not-numbers",)
    x0, y0, x1, y1 = (side for side in sides if side is not None)
    if max(map(abs, (x0, x1))) <= 180 and max(map(abs, (y0, y1))) <= 90 and (x0, y0) != (x1, y1):
        box, codes = _degrees(x0, y0, x1, y1)
        return box, ("box-in-degrees", *codes)
    return _degrees(_longitude(x0), _latitude(y0), _longitude(x1), _latitude(y1))


def _longitude(x: float) -> float:
    return _within(math.degrees(x / _EARTH_M), 180.0)


def _latitude(y: float) -> float:
    """Return degrees for metres of spherical Mercator (Snyder 1987, 7-4)."""
    return math.degrees(2 * math.atan(math.exp(max(-50.0, min(50.0, y / _EARTH_M)))) - math.pi / 2)


def _within(angle: float, limit: float) -> float:
    """Return `angle`, limited to the world's edge when slightly beyond it: tile schemes end at rounded metres."""
    return math.copysign(limit, angle) if limit < abs(angle) <= limit * 1.01 else angle


def _degrees(west: object, south: object, east: object, north: object) -> Box:
    return read_box(*(text_of(side) for side in (west, south, east, north)))
