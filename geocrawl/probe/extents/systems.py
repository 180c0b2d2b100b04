"""Read extents of JSON documents, and of tile maps, as WGS 84 boxes.

Degrees on other ellipsoids (NAD83, ETRS89, GDA94 …) are a metre or two off and taken as they are; spherical Mercator is
turned by its formula. What is in any other reference system has no box here: a wrong one would be worse than none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from geocrawl.formats.json_values import JsonObject, list_of, member, number_of, object_of, text_of
from geocrawl.probe.extents.boxes import read_box
from geocrawl.probe.extents.crs import crs_code

if TYPE_CHECKING:
    from shapely.geometry import Polygon

Box = tuple["Polygon | None", tuple[str, ...]]
"""A WGS 84 box, or None when there is none or none can be meant; and codes of what had to be mended."""

Bounds = tuple[str, float, float, float, float]
"""As `Layer.bounds`: the code of a reference system, then the sides in it."""

_NONE: Box = (None, ())
_EARTH_M = 6378137.0
_DEGREES = frozenset({4326, 4979, 4269, 4258, 4283, 7844, 4674, 4167, 4612, 6668, 4490, 4617, 104145})
_MERCATOR = frozenset({3857, 102100, 102113, 900913, 3785, 41001, 54004})
_LAST_EPSG_CODE = 32767
"""Higher codes are Esri's own."""
_ESRI_IS_EPSG = {102100: 3857, 102113: 3785}


def in_system(code: str, west: object, south: object, east: object, north: object) -> Box:
    """Return the box of sides, x first, in a reference system by its code (`EPSG:3857`, `CRS:84`)."""
    authority, _, number = code.upper().rpartition(":")
    if authority in ("CRS", "OGC"):
        return _degrees(west, south, east, north)
    return _by_number(int(number) if number.isascii() and number.isdigit() else 0, west, south, east, north)


def _by_number(number: int, west: object, south: object, east: object, north: object) -> Box:
    if number in _DEGREES:
        return _degrees(west, south, east, north)
    if number not in _MERCATOR:
        return _NONE
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
    """Return the world's edge for what lies a little beyond it: tile schemes end at rounded metres."""
    return math.copysign(limit, angle) if limit < abs(angle) <= limit * 1.01 else angle


def _degrees(west: object, south: object, east: object, north: object) -> Box:
    return read_box(*(text_of(side) for side in (west, south, east, north)))


# --------------------------------------------------------------------------- ArcGIS


def esri_extent(extent: JsonObject, service: JsonObject) -> Box:
    """Return the box of an ArcGIS extent; its reference system may only be stated by the service."""
    if not {"xmin", "ymin", "xmax", "ymax"} <= extent.keys():
        return _NONE
    system = object_of(extent.get("spatialReference")) or object_of(service.get("spatialReference"))
    sides = [extent[name] for name in ("xmin", "ymin", "xmax", "ymax")]
    if any(side is None or str(side).lower() == "nan" for side in sides):
        return _NONE  # so ArcGIS says that there is nothing
    return _by_number(_well_known(system), *sides)


def esri_bounds(extent: JsonObject, service: JsonObject) -> Bounds | None:
    """Return an ArcGIS extent as it is stated; None when it has no area or no known reference system."""
    system = object_of(extent.get("spatialReference")) or object_of(service.get("spatialReference"))
    sides = [number_of(extent.get(name)) for name in ("xmin", "ymin", "xmax", "ymax")]
    known = [side for side in sides if side is not None]
    code = esri_system(system)
    if len(known) < 4 or not code or known[0] >= known[2] or known[1] >= known[3]:
        return None
    return code[0], known[0], known[1], known[2], known[3]


def esri_system(reference: JsonObject) -> tuple[str, ...]:
    """Return the code of an ArcGIS spatial reference, one or none: EPSG's where it has one, else Esri's."""
    code = _well_known(reference)
    if code <= 0:
        return ()
    return (f"{'ESRI' if code > _LAST_EPSG_CODE else 'EPSG'}:{code}",)


def _well_known(reference: JsonObject) -> int:
    for name in ("latestWkid", "wkid"):
        if code := number_of(reference.get(name)):
            return _ESRI_IS_EPSG.get(int(code), int(code))
    return 0


# --------------------------------------------------------------------------- OGC API and STAC


def spatial_extent(value: JsonObject) -> Box:
    """Return the box of a collection: `extent.spatial.bbox` is a list of boxes, the first one for the whole.

    Older ones (OGC 17-069 drafts, STAC 0.6 to 0.8) have the box itself in `extent.spatial` or `extent.bbox`.
    """
    extent = member(value, "extent")
    spatial = extent.get("spatial", extent)
    box = _first_box(object_of(spatial).get("bbox", spatial))
    if len(box) not in (4, 6):
        return _NONE
    half = len(box) // 2
    return in_system(_code(object_of(spatial).get("crs")) or "CRS:84", box[0], box[1], box[half], box[half + 1])


def _first_box(value: Any) -> Sequence[object]:
    boxes = list_of(value)
    return list_of(boxes[0]) if boxes and isinstance(boxes[0], list) else boxes


def systems(value: JsonObject) -> tuple[str, ...]:
    """Return the codes that a collection's `crs` and `storageCrs` name: `EPSG:3857` for …/def/crs/EPSG/0/3857."""
    named = value.get("crs")
    found = [*(named if isinstance(named, list) else [named]), value.get("storageCrs")]
    return tuple(dict.fromkeys(code for each in found if (code := _code(each))))


def _code(name: object) -> str:
    """Return a short code for the name of a reference system; '' for none, and for a reference within the document."""
    text = text_of(name).strip("[]")
    return "" if text.startswith("#") else crs_code(text)
