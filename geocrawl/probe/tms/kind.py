"""Declare the signs of the kind Tile Map Service (OSGeo)."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration, PathForm

KIND = KindDeclaration(
    kind=Kind.TMS,
    name="Tile Map Service (OSGeo)",
    proof="a TileMapService or TileMap document",
    paths=(
        PathForm(
            name="Tile Map Service",
            hint="/tms",
            path=r"/tms(?:/[^/]+)?/1\.0\.0(?:/|$)|/service/tms/?$",
            example="https://maps.example.org/geoserver/gwc/service/tms/1.0.0",
        ),
    ),
    roots=frozenset({"tilemapservice", "tilemap"}),
)
