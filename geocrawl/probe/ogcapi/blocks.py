"""Determine which standards of the OGC API family a service implements, by its conformance classes or its links."""

from __future__ import annotations

import re
from collections.abc import Iterable

from geocrawl.formats.json import JsonObject, lines
from geocrawl.probe.json.links import relations
from geocrawl.probe.ogcapi.documents import OGC_REL

_CLASS = re.compile(
    r"opengis\.net/spec/(?:ogcapi[-_]([a-z]{2,30})[\w.-]{0,30}|(wfs)-\d)/(\d[\w.]{0,10})", re.IGNORECASE
)
"""A conformance class: `http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core`; `wfs-1/3.0` in its drafts."""
_NAMES = {
    "features": "Features",
    "tiles": "Tiles",
    "maps": "Maps",
    "coverages": "Coverages",
    "records": "Records",
    "processes": "Processes",
    "edr": "EDR",
    "styles": "Styles",
    "routes": "Routes",
    "movingfeatures": "Moving Features",
    "connectedsystems": "Connected Systems",
    "dggs": "DGGS",
    "joins": "Joins",
    "common": "Common",
}
_BY_RELATION = {
    "items": "features",
    "tiling-schemes": "tiles",
    "tilesets-vector": "tiles",
    "tilesets-map": "tiles",
    "tilesets-coverage": "tiles",
    "map": "maps",
    "coverage": "coverages",
    "processes": "processes",
    "execute": "processes",
    "routes": "routes",
    "styles": "styles",
}


def declared_blocks(value: JsonObject) -> dict[str, str]:
    """Return block → version for each standard of which a document declares a conformance class."""
    found: dict[str, str] = {}
    for name in lines(value.get("conformsTo")):
        if declared := _CLASS.search(name):
            block = "features" if declared[2] else declared[1].lower().replace("_", "")
            if block in _NAMES:
                found.setdefault(block, declared[3])
    return found


def linked_blocks(value: JsonObject) -> set[str]:
    """Return the blocks that a document's links, its kind of items or its queries point to."""
    names = {rel.removeprefix(OGC_REL).rpartition("/")[2] for rel in relations(value)}
    found = {block for name, block in _BY_RELATION.items() if name in names}
    if "data_queries" in value:
        found.add("edr")
    if value.get("itemType") in ("record", "records"):
        found = {*found - {"features"}, "records"}
    return found


def block_keywords(blocks: Iterable[str]) -> tuple[str, ...]:
    """Return `OGC API Features` … for each block, in a fixed order; Common is left out if there are others."""
    found = [name for block, name in _NAMES.items() if block in set(blocks)]
    return tuple(f"OGC API {name}" for name in found if name != "Common" or len(found) == 1)


def version_of(declared: dict[str, str]) -> str:
    """Return the version of the first block that is declared, in the order of `block_keywords`; '' for none."""
    return next((declared[block] for block in _NAMES if block in declared), "")
