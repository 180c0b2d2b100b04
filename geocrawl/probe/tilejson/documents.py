"""Recognise documents of TileJSON by their keys."""

from __future__ import annotations

from geocrawl.formats.json import JsonObject


def is_tilejson(value: JsonObject) -> bool:
    """Return whether an object has a version of TileJSON and templates of addresses for tiles (3.0.0, 3.1 and 3.2)."""
    version, tiles = value.get("tilejson"), value.get("tiles")
    if not isinstance(version, str) or not isinstance(tiles, list) or not tiles:
        return False
    return all(isinstance(each, str) and "{z}" in each.lower() for each in tiles)
