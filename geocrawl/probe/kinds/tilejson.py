"""Probe a TileJSON 1.0 to 3.0: request the one document that locates and describes a set of tiles."""

from __future__ import annotations

import math
import re

from geocrawl.formats.json import (
    MAX_ITEMS,
    JsonObject,
    integer_of,
    line_of,
    list_of,
    object_of,
    objects,
    read_json,
    text_of,
)
from geocrawl.model import Candidate, Deviation, Kind, Layer, Page, Service, Url
from geocrawl.model.declarations import KindDeclaration, PathForm
from geocrawl.ports import Ask, Interview
from geocrawl.probe.answer import Finding
from geocrawl.probe.extents import Box, crs_code, read_box
from geocrawl.probe.json_answers import examine_json, json_verdict
from geocrawl.probe.levels import Level
from geocrawl.probe.previews import MERCATOR, VECTOR_TILES, Levels, Shown, Tiles, View, by_tiles
from geocrawl.urls import read_url


def is_tilejson(value: JsonObject) -> bool:
    """Return whether an object has a version of TileJSON and templates of addresses for tiles (3.0.0, 3.1 and 3.2)."""
    version, tiles = value.get("tilejson"), value.get("tiles")
    if not isinstance(version, str) or not isinstance(tiles, list) or not tiles:
        return False
    return all(isinstance(each, str) and "{z}" in each.lower() for each in tiles)


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
    standard="https://github.com/mapbox/tilejson-spec",
    media_type="application/json",
    web_maps={"openlayers": "tiles", "leaflet": "tiles"},
)


# --------------------------------------------------------------------------- reader
# Source: TileJSON 3.0.0, 3. Tiles are in spherical Mercator unless the document names another system (as documents of
# terrain do).


_EXTENSION = re.compile(r"\.([A-Za-z0-9]{2,8})(?:\?|\Z)")


def read_tilejson(_: Page, value: JsonObject) -> Finding | None:
    """Return the service that a TileJSON describes; None for any other document."""
    if not is_tilejson(value):
        return None
    layers, codes = _layers(value)
    service = Service(
        kind=Kind.TILEJSON,
        version=line_of(value.get("tilejson")),
        title=line_of(value.get("name")),
        abstract=text_of(value.get("description")),
        access_constraints=line_of(value.get("attribution")),
        formats=_formats(value),
        layers=layers,
    )
    deviations = tuple(Deviation(code, "bounds") for code in codes)
    return Finding("ok", "", service, deviations)


def _layers(value: JsonObject) -> tuple[tuple[Layer, ...], tuple[str, ...]]:
    """Return the tiles as a whole, and the layers of vector tiles below it (3.3)."""
    box, codes = _bounds(value)
    crs = crs_code(line_of(value.get("projection"))) or MERCATOR
    vectors = objects(value.get("vector_layers"))[:MAX_ITEMS]
    name = "" if vectors else line_of(value.get("id")) or line_of(value.get("name")) or "tiles"
    whole = Layer(name, line_of(value.get("name")), crs=(crs,), box=box)
    below = (
        Layer(identifier, identifier, text_of(each.get("description")), parent=0)
        for each in vectors
        if (identifier := line_of(each.get("id")))
    )
    return (whole, *below), codes


def _bounds(value: JsonObject) -> Box:
    """Return the box of `bounds` (3.5): west, south, east, north in degrees."""
    sides = list_of(value.get("bounds"))
    return read_box(*(text_of(side) for side in sides)) if len(sides) == 4 else (None, ())


def _formats(value: JsonObject) -> tuple[str, ...]:
    """Return the tiles' media types, by `format` or by the suffixes of their addresses."""
    if stated := line_of(value.get("format")):
        return (stated,)
    endings = (_EXTENSION.search(line_of(each)) for each in list_of(value.get("tiles"))[:MAX_ITEMS])
    return tuple(dict.fromkeys(found[1].lower() for found in endings if found))


class TileJsonProbe:
    """Proves TileJSON documents (`ports.Probe`)."""

    kind = Kind.TILEJSON

    def interview(self, candidate: Candidate) -> Interview:
        """Request the document. One request."""
        page = yield Ask(candidate.endpoint.url)
        return json_verdict([examine_json(page, read_tilejson)], candidate)


PROBE = TileJsonProbe()


# --------------------------------------------------------------------------- tiles


_EDGE_M = math.pi * 6_378_137.0
"""Distance of the edges of the world in Web Mercator from its middle."""
_FINEST = 30
_VECTOR = re.compile(r"\.(?:pbf|mvt)(?:\?|\Z)", re.IGNORECASE)


def _levels(shown: Shown, view: View) -> Levels:
    """Request the document; return its levels of pictures in Web Mercator."""
    answer = yield Ask(shown.url)
    value = object_of(read_json(answer.body).value) if isinstance(answer, Page) else {}
    if not is_tilejson(value) or view.system != MERCATOR:
        return ()
    template, by_south = line_of(list_of(value["tiles"])[0]), value.get("scheme") == "tms"
    if _VECTOR.search(template) or "vector_layers" in value:
        return VECTOR_TILES
    first, last = (integer_of(value.get(key), usual) for key, usual in (("minzoom", 0), ("maxzoom", 22)))
    zooms = range(max(first, 0), min(last, _FINEST) + 1)
    return tuple(_level(shown.url, template, zoom, by_south=by_south) for zoom in zooms)


def _level(base: Url, template: str, zoom: int, *, by_south: bool) -> Level:
    count = 2**zoom
    span = 2 * _EDGE_M / count

    def url(column: int, row: int) -> Url | None:
        values = {"z": zoom, "x": column, "y": count - 1 - row if by_south else row}
        filled = re.sub(r"\{([xyz])\}", lambda found: str(values[found[1].lower()]), template, flags=re.IGNORECASE)
        return read_url(filled, base)

    return Level(-_EDGE_M, _EDGE_M, span, span, (0, count - 1), (0, count - 1), url)


def preview(shown: Shown) -> Tiles | None:
    """Show tiles that are pictures; layers of vector tiles, which lie below the tiles, have none."""
    return by_tiles(shown, _levels) if shown.layer.parent is None else None


PREVIEW = preview
