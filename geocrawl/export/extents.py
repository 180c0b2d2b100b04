"""Make geometries of extents: GeoJSON and well-known binary, split where a box crosses the antimeridian.

A box that crosses it becomes two polygons (RFC 7946, 3.1.9); one polygon would span the rest of the world.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

from geocrawl.model.published import Box

_POLYGON, _MULTIPOLYGON = 3, 6
_LITTLE_ENDIAN = 1


def parts_of(box: Box | None) -> tuple[Box, ...]:
    """Return the boxes within -180…180 that cover a box: two when it crosses the antimeridian, none without numbers.

    A box crosses it by west > east, or by a side beyond 180 degrees.
    """
    if box is None or not all(map(math.isfinite, box)):
        return ()
    west, south, east, north = box
    south, north = max(south, -90.0), min(north, 90.0)
    if south > north:
        return ()
    if west <= east and east - west >= 360:
        return ((-180.0, south, 180.0, north),)
    west, east = _within(west), _within(east)
    if west <= east:
        return ((west, south, east, north),)
    both = ((west, south, 180.0, north), (-180.0, south, east, north))
    return tuple(part for part in both if part[0] < part[2]) or both[:1]


def _within(degrees: float) -> float:
    """Return a longitude within -180…180."""
    return degrees if -180 <= degrees <= 180 else (degrees + 180) % 360 - 180


def bounds_of(parts: tuple[Box, ...]) -> Box:
    """Return the box around all parts, which is the whole circle for a box across the antimeridian."""
    west, south, east, north = zip(*parts, strict=True)
    return min(west), min(south), max(east), max(north)


def geojson_geometry(box: Box | None) -> dict[str, object] | None:
    """Return a Polygon, a MultiPolygon across the antimeridian, None for an unknown extent."""
    polygons = [[[list(point) for point in _ring(part)]] for part in parts_of(box)]
    if not polygons:
        return None
    if len(polygons) == 1:
        return {"type": "Polygon", "coordinates": polygons[0]}
    return {"type": "MultiPolygon", "coordinates": polygons}


def wkt(box: Box | None) -> str:
    """Return well-known text, '' for an unknown extent."""
    rings = ["((" + ", ".join(f"{x:.10g} {y:.10g}" for x, y in _ring(part)) + "))" for part in parts_of(box)]
    if len(rings) == 1:
        return f"POLYGON{rings[0]}"
    return f"MULTIPOLYGON({', '.join(rings)})" if rings else ""


def wkb_multipolygon(parts: tuple[Box, ...]) -> bytes:
    """Return a MultiPolygon of the parts as well-known binary (OGC 06-103r4, 8.2)."""
    return b"".join((struct.pack("<BII", _LITTLE_ENDIAN, _MULTIPOLYGON, len(parts)), *map(_wkb_polygon, parts)))


def _wkb_polygon(part: Box) -> bytes:
    ring = list(_ring(part))
    points = (number for point in ring for number in point)
    return struct.pack(f"<BIII{len(ring) * 2}d", _LITTLE_ENDIAN, _POLYGON, 1, len(ring), *points)


def _ring(part: Box) -> Iterator[tuple[float, float]]:
    """Yield the corners, counter-clockwise, the first one again at the end."""
    west, south, east, north = part
    yield from ((west, south), (east, south), (east, north), (west, north), (west, south))
