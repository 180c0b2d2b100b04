"""Read the WGS 84 box of a layer tolerantly (WMS 1.3.0, 7.2.4.6.6; WMS 1.1.1, 7.1.4.5.6).

Boxes are often wrong in recognisable ways: a fault with a clear meaning is corrected, an impossible box is left out,
and both are reported as deviations. A box is never widened without need, except across the antimeridian, which one box
of -180…180 cannot cross.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapely.geometry import Polygon

_SLACK_DEG = 1e-6
"""Largest excess in degrees that counts as rounding, not as a fault."""
_FARTHEST = 1e12
"""Greatest coordinate in any unit; the earth's circumference is 4e10 mm."""
_POINT_DEG = 1e-6
"""Extent of a point or a line in degrees (0.1 m): a polygon needs an area."""


def is_extent(west: float, south: float, east: float, north: float) -> bool:
    """Return whether sides in any reference system enclose an area and are no nonsense that overflows a calculation."""
    return -_FARTHEST <= west < east <= _FARTHEST and -_FARTHEST <= south < north <= _FARTHEST


def read_box(west: str, south: str, east: str, north: str) -> tuple[Polygon | None, tuple[str, ...]]:
    """Return (box, deviation codes) from the texts of four sides in degrees; the box is None when impossible."""
    codes: list[str] = []
    sides = [_number(text, codes) for text in (west, south, east, north)]
    if any(side is None for side in sides):
        return None, ("box-not-numbers",)
    values = [side for side in sides if side is not None]
    mended = _mended(values, codes)
    if mended is None:
        return None, tuple(dict.fromkeys(codes))
    from shapely import box

    return box(*mended), tuple(dict.fromkeys(codes))


def _number(text: str, codes: list[str]) -> float | None:
    text = text.strip().rstrip("°")
    if "," in text and "." not in text and text.count(",") == 1:
        text = text.replace(",", ".")
        codes.append("box-decimal-comma")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _mended(values: Sequence[float], codes: list[str]) -> tuple[float, float, float, float] | None:
    west, south, east, north = values
    if west == south == east == north == 0:
        codes.append("box-zeros")
        return None
    if south > north:
        codes.append("box-inverted")
        south, north = north, south
        if west > east:
            west, east = east, west
    if south > 90 or north < -90 or min(west, east) > 360 or max(west, east) < -360:
        codes.append("box-out-of-range")
        return None
    if south < -90 - _SLACK_DEG or north > 90 + _SLACK_DEG:
        codes.append("box-out-of-range")
    south, north = max(south, -90.0), min(north, 90.0)
    west, east = _longitudes(west, east, codes)
    return _with_area(west, south, east, north, codes)


def _longitudes(west: float, east: float, codes: list[str]) -> tuple[float, float]:
    """Return both longitudes within -180…180, west first; the whole circle for an extent across the antimeridian."""
    if -180 - _SLACK_DEG <= west <= east <= 180 + _SLACK_DEG:
        return max(west, -180.0), min(east, 180.0)
    if west > east:
        codes.append("box-antimeridian")
        return -180.0, 180.0
    codes.append("box-out-of-range")
    if east - west >= 359.9:
        return -180.0, 180.0
    if west >= 180:
        return west - 360, east - 360
    if east <= -180:
        return west + 360, east + 360
    if min(abs(east), abs(west)) <= 180 and max(abs(east), abs(west)) <= 181:
        return max(west, -180.0), min(east, 180.0)
    return -180.0, 180.0


def _with_area(
    west: float, south: float, east: float, north: float, codes: list[str]
) -> tuple[float, float, float, float]:
    if west == east or south == north:
        codes.append("box-no-area")
    if west == east:
        west, east = west - _POINT_DEG, east + _POINT_DEG
    if south == north:
        south, north = south - _POINT_DEG, north + _POINT_DEG
    return max(west, -180.0), max(south, -90.0), min(east, 180.0), min(north, 90.0)


_ALIKE_DEG = 0.02
"""Largest difference in degrees of two boxes that count as equal: servers round differently."""


def axes_are_swapped(box: Polygon, stated: Sequence[str], *, latitude_first: bool) -> bool:
    """Return whether a layer's BoundingBox in EPSG:4326 has its axes in the wrong order for its version of WMS.

    `box`: its WGS 84 extent. `stated`: minx, miny, maxx, maxy as written. `latitude_first`: as in WMS 1.3.0 (6.7.3);
    before, x is the longitude (1.1.1, 6.5.5). True only when the box fits the one order and not the other.
    """
    values = [_number(text, []) for text in stated]
    if any(value is None for value in values):
        return False
    west, south, east, north = box.bounds
    by_longitude, by_latitude = (west, south, east, north), (south, west, north, east)
    right, wrong = (by_latitude, by_longitude) if latitude_first else (by_longitude, by_latitude)
    return _alike(values, wrong) and not _alike(values, right)


def _alike(values: Sequence[float | None], others: Sequence[float]) -> bool:
    return all(one is not None and abs(one - other) <= _ALIKE_DEG for one, other in zip(values, others, strict=True))
