"""Recognise documents of an ArcGIS Server by their keys."""

from __future__ import annotations

from geocrawl.formats.json import JsonObject, number_of

_KEYS = frozenset({"serviceDescription", "mapName", "layers", "tables", "services", "folders", "geometryType"})
_KEYS |= {"serviceDataType", "pixelSizeX"}


def is_arcgis(value: JsonObject) -> bool:
    """Return whether an object is a folder, a service or a layer of an ArcGIS Server."""
    if number_of(value.get("currentVersion")) is None:
        return False
    return not _KEYS.isdisjoint(value)
