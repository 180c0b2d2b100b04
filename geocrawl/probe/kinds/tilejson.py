"""Probe a TileJSON 1.0 to 3.0: request the one document that locates and describes a set of tiles, and one of these."""

from __future__ import annotations

import re
from functools import partial

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
from geocrawl.model import (
    Candidate,
    Deviation,
    Endpoint,
    Failure,
    Kind,
    Layer,
    Page,
    Purpose,
    Service,
    Url,
)
from geocrawl.model.kinds import KindDeclaration, PathForm
from geocrawl.ports import Ask, ContentInterview, Interview
from geocrawl.probe.answer import Classification
from geocrawl.probe.content import Attempts, judge_image, judge_vector_tile, sample_addresses
from geocrawl.probe.extents import PIXEL_M, PIXELS, Box, crs_code, is_web_mercator, read_box, to_mercator
from geocrawl.probe.interview import Question, run
from geocrawl.probe.json_answers import examine_json, on_host_of
from geocrawl.probe.levels import EDGE_M, Grid, Level, Scales, filled, sample_levels, scales_of
from geocrawl.probe.ows.addresses import is_inner
from geocrawl.probe.previews import MERCATOR, VECTOR_TILES, LayerContext, Levels, Tiles, View, by_tiles
from geocrawl.urls import read_url


def is_tilejson(value: JsonObject) -> bool:
    """Return whether an object has a version of TileJSON and templates of addresses for tiles (3.0.0, 3.1 and 3.2)."""
    version, tiles = value.get("tilejson"), value.get("tiles")
    if not isinstance(version, str) or not isinstance(tiles, list) or not tiles:
        return False
    return all(isinstance(tile, str) and "{z}" in tile.lower() for tile in tiles)


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


def read_tilejson(_: Page, value: JsonObject) -> Classification | None:
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
    return Classification("ok", "", service, deviations)


def _layers(value: JsonObject) -> tuple[tuple[Layer, ...], tuple[str, ...]]:
    """Return the tiles as a whole, and the layers of vector tiles below it (3.3)."""
    box, codes = _bounds(value)
    crs = _system(value)
    vectors = objects(value.get("vector_layers"))[:MAX_ITEMS]
    name = "" if vectors else line_of(value.get("id")) or line_of(value.get("name")) or "tiles"
    whole = Layer(name, line_of(value.get("name")), crs=(crs,), box=box, scales=_scales(value, crs))
    below = (
        Layer(identifier, identifier, text_of(vector.get("description")), parent=0)
        for vector in vectors
        if (identifier := line_of(vector.get("id")))
    )
    return (whole, *below), codes


def _scales(value: JsonObject, crs: str) -> Scales | None:
    """Return the scales of the levels from `minzoom` to `maxzoom` (3.8, 3.9), where the document states both."""
    zooms = [integer_of(value.get(key)) for key in ("minzoom", "maxzoom")]
    if min(zooms) < 0 or max(zooms) > _FINEST or not is_web_mercator(crs):
        return None
    return scales_of(2 * EDGE_M / PIXELS / PIXEL_M / 2**zoom for zoom in zooms)


def _system(value: JsonObject) -> str:
    return crs_code(line_of(value.get("projection"))) or MERCATOR


def _bounds(value: JsonObject) -> Box:
    """Return the box of `bounds` (3.5): west, south, east, north in degrees."""
    sides = list_of(value.get("bounds"))
    return read_box(*(text_of(side) for side in sides)) if len(sides) == 4 else (None, ())


def _formats(value: JsonObject) -> tuple[str, ...]:
    """Return the tiles' media types, by `format` or by the suffixes of their addresses."""
    if stated := line_of(value.get("format")):
        return (stated,)
    endings = (_EXTENSION.search(line_of(tile)) for tile in list_of(value.get("tiles"))[:MAX_ITEMS])
    return tuple(dict.fromkeys(match[1].lower() for match in endings if match))


def interview(candidate: Candidate) -> Interview:
    """Request the document. One request."""
    return run(candidate, (Question(candidate.endpoint.url),), partial(examine_json, read=read_tilejson))


# --------------------------------------------------------------------------- tiles


_FINEST = 30
_WORLD = (-180.0, -90.0, 180.0, 90.0)
_VECTOR = re.compile(r"\.(?:pbf|mvt)(?:\?|\Z)", re.IGNORECASE)


def _tiles_of(answer: Page | Failure) -> tuple[JsonObject, tuple[Level, ...]]:
    """Return a document and its levels of tiles in Web Mercator; none for a document of another reference system."""
    value = object_of(read_json(answer.body).value) if isinstance(answer, Page) else {}
    if not isinstance(answer, Page) or not is_tilejson(value) or not is_web_mercator(_system(value)):
        return value, ()
    template, by_south = line_of(list_of(value["tiles"])[0]), value.get("scheme") == "tms"
    first, last = (integer_of(value.get(key), usual) for key, usual in (("minzoom", 0), ("maxzoom", 22)))
    zooms = range(max(first, 0), min(last, _FINEST) + 1)
    return value, tuple(_level(answer.final, template, zoom, by_south=by_south) for zoom in zooms)


def _level(base: Url, template: str, zoom: int, *, by_south: bool) -> Level:
    count = 2**zoom
    span = 2 * EDGE_M / count

    def url(column: int, row: int) -> Url | None:
        values = {"z": zoom, "x": column, "y": count - 1 - row if by_south else row}
        tile = read_url(filled(template, values), base)
        is_strange = tile is not None and is_inner(tile.host) and not is_inner(base.host)
        return on_host_of(tile, base, None) if tile is not None and is_strange else tile

    return Grid(-EDGE_M, EDGE_M, span, span, (0, count - 1), (0, count - 1), url)


def _are_vectors(value: JsonObject) -> bool:
    return "vector_layers" in value or _VECTOR.search(line_of(list_of(value["tiles"])[0])) is not None


# --------------------------------------------------------------------------- content


def check_content(endpoint: Endpoint, service: Service, _most: int) -> ContentInterview:
    """Request the document, then tiles until one has content."""
    attempts = Attempts()
    value, levels = _tiles_of((yield Ask(endpoint.url, Purpose.MAP)))
    if levels:
        box = _bounds(value)[0]
        sides = to_mercator(box.bounds if box is not None else _WORLD)
        urls = [url for level in sample_levels(levels, sides) if (url := level.middle(sides)) is not None]
        judge = judge_vector_tile if _are_vectors(value) else partial(judge_image, size=None)  # documents state no size
        if (tried := (yield from sample_addresses(urls, judge))) is not None:
            name = service.layers[0].title if service.layers else service.title
            attempts.add(name, MERCATOR, tried.url, tried.answer, tried.look)
    return attempts.report(endpoint)


# --------------------------------------------------------------------------- previews


def _levels(context: LayerContext, view: View) -> Levels:
    """Request the document; return its levels of pictures in Web Mercator."""
    value, levels = _tiles_of((yield Ask(context.url)))
    if view.system != MERCATOR or not levels:
        return ()
    return VECTOR_TILES if _are_vectors(value) else levels


def preview(context: LayerContext) -> Tiles | None:
    """Show tiles that are pictures; layers of vector tiles, which lie below the tiles, have none."""
    return by_tiles(context, _levels) if context.layer.parent is None else None
