"""Read extents and reference systems of collections, as OGC API and STAC state them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geocrawl.formats.json import MAX_ITEMS, JsonObject, list_of, member, object_of, text_of
from geocrawl.probe.extents.crs import crs_code
from geocrawl.probe.extents.systems import NO_BOX, Box, in_system


def spatial_extent(value: JsonObject) -> Box:
    """Return the box of a collection: `extent.spatial.bbox` is a list of boxes, the first one for the whole.

    Older collections (OGC 17-069 drafts, STAC 0.6 to 0.8) have a single box in `extent.spatial` or `extent.bbox`.
    """
    extent = member(value, "extent")
    spatial = extent.get("spatial", extent)
    box = _first_box(object_of(spatial).get("bbox", spatial))
    if len(box) not in (4, 6):
        return NO_BOX
    half = len(box) // 2
    return in_system(_code(object_of(spatial).get("crs")) or "CRS:84", box[0], box[1], box[half], box[half + 1])


def _first_box(value: Any) -> Sequence[object]:
    boxes = list_of(value)
    return list_of(boxes[0]) if boxes and isinstance(boxes[0], list) else boxes


def systems(value: JsonObject) -> tuple[str, ...]:
    """Return the codes that a collection's `crs` and `storageCrs` name: `EPSG:3857` for …/def/crs/EPSG/0/3857."""
    named = value.get("crs")
    found = [*(named[:MAX_ITEMS] if isinstance(named, list) else [named]), value.get("storageCrs")]
    return tuple(dict.fromkeys(code for each in found if (code := _code(each))))


def _code(name: object) -> str:
    """Return a short code for the name of a reference system; '' for none, and for a reference within the document."""
    text = text_of(name).strip("[]")
    return "" if text.startswith("#") else crs_code(text)
