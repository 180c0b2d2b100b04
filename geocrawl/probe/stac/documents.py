"""Recognise documents of STAC by their keys."""

from __future__ import annotations

from geocrawl.formats.json import JsonObject


def is_stac(value: JsonObject) -> bool:
    """Return whether an object is a document of STAC 0.6 to 1.1.

    That is a catalogue, a collection, the landing page of an API or its list of collections.
    """
    if not isinstance(value.get("stac_version"), str) or value.get("type") in ("Feature", "FeatureCollection"):
        return False
    return bool(value.get("id") and isinstance(value.get("links"), list)) or isinstance(value.get("collections"), list)
