"""Read extents and spatial references as an ArcGIS Server states them."""

from __future__ import annotations

from geocrawl.formats.json import JsonObject, number_of, object_of
from geocrawl.probe.extents.boxes import is_extent
from geocrawl.probe.extents.systems import NO_BOX, Box, in_numbered_system

Bounds = tuple[str, float, float, float, float]
"""Bounds as in `Layer.bounds`: the code of a reference system, then the four sides in that system."""

_LAST_EPSG_CODE = 32767
"""Highest code of EPSG; higher codes are Esri's."""
_ESRI_IS_EPSG = {102100: 3857, 102113: 3785}


def esri_extent(extent: JsonObject, service: JsonObject) -> Box:
    """Return the box of an ArcGIS extent; the reference system may be stated by the service only."""
    if not {"xmin", "ymin", "xmax", "ymax"} <= extent.keys():
        return NO_BOX
    system = object_of(extent.get("spatialReference")) or object_of(service.get("spatialReference"))
    sides = [extent[name] for name in ("xmin", "ymin", "xmax", "ymax")]
    if any(side is None or str(side).lower() == "nan" for side in sides):
        return NO_BOX  # ArcGIS writes an empty extent so
    return in_numbered_system(_well_known(system), *sides)


def esri_bounds(extent: JsonObject, service: JsonObject) -> Bounds | None:
    """Return an ArcGIS extent as stated; None without an area or a known reference system."""
    system = object_of(extent.get("spatialReference")) or object_of(service.get("spatialReference"))
    sides = [number_of(extent.get(name)) for name in ("xmin", "ymin", "xmax", "ymax")]
    known = [side for side in sides if side is not None]
    code = esri_system(system)
    if len(known) < 4 or not code or not is_extent(known[0], known[1], known[2], known[3]):
        return None
    return code[0], known[0], known[1], known[2], known[3]


def esri_system(reference: JsonObject) -> tuple[str, ...]:
    """Return the code of an ArcGIS spatial reference, one or none: EPSG's if it has one, else Esri's."""
    code = _well_known(reference)
    if code <= 0:
        return ()
    return (f"{'ESRI' if code > _LAST_EPSG_CODE else 'EPSG'}:{code}",)


def _well_known(reference: JsonObject) -> int:
    for name in ("latestWkid", "wkid"):
        if code := number_of(reference.get(name)):
            return _ESRI_IS_EPSG.get(int(code), int(code))
    return 0
