"""Declare the signs of the kind TileJSON."""

from __future__ import annotations

from geocrawl.model.kinds import Kind, KindDeclaration, PathForm
from geocrawl.probe.tilejson.documents import is_tilejson

KIND = KindDeclaration(
    kind=Kind.TILEJSON,
    name="TileJSON",
    proof="a TileJSON document 2.x or 3.x",
    paths=(
        PathForm(
            name="TileJSON",
            hint="tile",
            path=r"/[^/]*(?:tilejson|tiles)\.json$|\.tilejson$|/tilejson/?$",
            example="https://tiles.example.org/roads/tilejson.json",
        ),
    ),
    keys=(frozenset({"tilejson", "tiles"}),),
    is_document=is_tilejson,
)
