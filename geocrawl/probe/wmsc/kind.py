"""Declare the signs of the kind WMS Tile Caching (OSGeo)."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration

KIND = KindDeclaration(
    kind=Kind.WMSC,
    name="WMS Tile Caching (OSGeo)",
    proof="WMS capabilities 1.1.1 with tile sets",
    found_beside="asked beside the other services of GeoWebCache, MapProxy and MapCache",
)
