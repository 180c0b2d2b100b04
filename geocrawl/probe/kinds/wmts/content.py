"""Check the content of a WMTS: request one tile with content (OGC 07-057r7, 7.2 by KVP, 10.2 RESTful).

The capabilities list the tiles. That list is too long to be stored with the service, so the capabilities are requested
again where the interview has not just read them. Tiles on another host are requested where the endpoint's host has
none. A tile that does not come is requested in another manner (`remedies`), then another tile. A tile of little but
background may be a drawn message: it is compared with a tile of another place.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from lxml import etree

from geocrawl.formats.json import integer_of, number_of
from geocrawl.formats.xml import attribute, child, children, text_of, texts
from geocrawl.model import Dimension, Endpoint, Failure, Kind, Page, Purpose, Service, Url
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content import (
    MAX_ADDRESS_CHARS,
    REFUSALS,
    Attempts,
    Exchange,
    Look,
    RefusedPart,
    Trying,
    Value,
    exception_of,
    judge_image,
    negotiate,
    sample,
    spread,
    value_of,
)
from geocrawl.probe.extents import Sides, crs_code, is_geographic, is_web_mercator, to_mercator
from geocrawl.probe.images import requestable
from geocrawl.probe.interview import is_file, named_for
from geocrawl.probe.kinds.wmts.probe import restful_document
from geocrawl.probe.levels import Grid, Limits, Matrix, MatrixSet, filled, fitting, limits_of, matrix_of
from geocrawl.probe.ows.addresses import by_origin, given_address, is_inner, request_at
from geocrawl.probe.ows.items import read_extent
from geocrawl.probe.ows.owslib_reader import read_operations
from geocrawl.probe.previews import LayerContext, Levels, Tiles, View, by_tiles, is_in
from geocrawl.probe.stream import ItemSpec, read_items
from geocrawl.urls import read_url, request_url

T = TypeVar("T")

# --------------------------------------------------------------------------- ways of requesting a tile
# Make the addresses of WMTS tiles (OGC 07-057r7: 7.2 and table 29 by KVP, 10.2 RESTful), and change what is refused.
#
# The document states for GetTile an address and an encoding (KVP, RESTful), and a layer has templates of addresses
# (ResourceURL). As in QGIS and OpenLayers, KVP at the stated address comes first, unless only RESTful is stated; the
# other ways follow where a tile does not come.


_USUAL_STYLE = "default"


@dataclass(frozen=True, slots=True)
class TileManner:
    """How a layer's tiles are requested."""

    url: Url | None
    """Address for KVP; None for the layer's template."""
    format: str
    style: str
    dimension: Value = Value.DEFAULT


@dataclass(frozen=True, slots=True)
class TileSource:
    """The parts of a service that are needed to request a tile."""

    endpoint: Url
    addresses: tuple[Url | None, ...]
    """Addresses for KVP and None for templates, in the order of choice."""
    service: Service
    layers: tuple[TileLayer, ...]
    sets: Mapping[str, MatrixSet]

    def manners(self, layer: TileLayer) -> Iterator[TileManner]:
        """Yield the manners of requesting a layer's tiles, the first choice first, other hosts last."""
        yield from sorted(self._manners(layer), key=lambda manner: self._is_elsewhere(layer, manner))

    def _is_elsewhere(self, layer: TileLayer, manner: TileManner) -> bool:
        if manner.url is not None:
            return manner.url.host != self.endpoint.host
        place = read_url(layer.templates[manner.format].partition("{")[0], self.endpoint)
        return place is None or place.host != self.endpoint.host

    def _may_be_asked(self, url: Url) -> bool:
        return is_inner(self.endpoint.host) or not is_inner(url.host)

    def _manners(self, layer: TileLayer) -> Iterator[TileManner]:
        for url in self.addresses:
            names = formats_of(layer) if url is not None else requestable(layer.templates)
            for name in sorted(names, key=lambda name: name not in self.service.formats)[:1]:
                yield TileManner(url, name, layer.styles[0] if layer.styles else "")

    def url(self, layer: TileLayer, tile: Tile, manner: TileManner) -> Url | None:
        """Return a tile's address; None without one, and for one that is too long or within an intranet."""
        if manner.url is None:
            url = read_url(_template_filled(layer.templates[manner.format], layer, tile, manner), self.endpoint)
            return url if url is not None and self._may_be_asked(url) and _is_short(url) else None
        url = request_at(manner.url, self.endpoint, self.service, _parameters(layer, tile, manner))
        return url if _is_short(url) else None


def addresses_of(root: etree._Element, endpoint: Url, *, by_kvp: bool) -> tuple[Url | None, ...]:
    """Return the addresses for KVP, and None for templates, in the order of choice.

    `by_kvp`: whether the document came by KVP, so that the endpoint may answer GetTile likewise.
    """
    stated = list(read_operations(root, Kind.WMTS).addresses("GetTile"))
    kvp = [address.url for address in stated if not address.encodings or "kvp" in address.encodings]
    written = next((address for address in kvp if given_address(endpoint, address) is not None), "")
    known = [url for url in by_origin(endpoint, written) if by_kvp or url != endpoint]
    return (None, *known) if stated and not kvp else (*known, None)


def formats_of(layer: TileLayer) -> tuple[str, ...]:
    """Return the layer's formats that may be images, in the order in which it states them."""
    known = requestable(layer.formats)
    return tuple(name for name in layer.formats if name in known)


def _is_short(url: Url) -> bool:
    return len(url.address) <= MAX_ADDRESS_CHARS


def _parameters(layer: TileLayer, tile: Tile, manner: TileManner) -> dict[str, str]:
    return {
        "SERVICE": "WMTS",
        "REQUEST": "GetTile",
        "VERSION": "1.0.0",
        "LAYER": layer.name,
        "STYLE": manner.style,
        "FORMAT": manner.format,
        "TILEMATRIXSET": tile.matrix_set,
        "TILEMATRIX": tile.matrix,
        "TILEROW": str(tile.row),
        "TILECOL": str(tile.column),
        **{one.name: value for one in layer.dimensions if (value := value_of(one, manner.dimension))},
    }


def _template_filled(template: str, layer: TileLayer, tile: Tile, manner: TileManner) -> str:
    """Return a template with its variables (10.2.1) replaced."""
    values = {
        "layer": layer.name,
        "style": manner.style or _USUAL_STYLE,  # a path cannot have an empty part
        "tilematrixset": tile.matrix_set,
        "tilematrix": tile.matrix,
        "tilerow": tile.row,
        "tilecol": tile.column,
        **{one.name.lower(): value_of(one, manner.dimension) for one in layer.dimensions},
    }
    return filled(template, values)


_Request = tuple["Tile", TileManner]


@dataclass(slots=True)
class _Layer:
    """The requests for tiles of one layer (`content.Variants`)."""

    tiles: TileSource
    layer: TileLayer
    manner: TileManner
    """The manner in which a tile came last."""
    remedies: int
    """Most other manners in which a tile is requested."""

    def url(self, request: _Request) -> Url | None:
        """Return the address of a tile in a manner."""
        return self.tiles.url(self.layer, *request)

    def judge(self, request: _Request, answer: Page | Failure) -> Look:
        """Return the judgement on an answer."""
        return judge_image(answer, request[0].size)

    def others(self, refused: Exchange[_Request]) -> Iterator[_Request]:
        """Yield other manners of requesting a tile: what an exception names is changed, else the way."""
        (tile, manner), answer, layer = refused.variant, refused.answer, self.layer
        exception = exception_of(answer) if isinstance(answer, Page) else None
        subject = exception.subject if exception is not None else RefusedPart.UNKNOWN
        if subject is RefusedPart.FORMAT and manner.url is not None:
            yield from ((tile, replace(manner, format=name)) for name in formats_of(layer))
        elif subject is RefusedPart.STYLE:
            yield from ((tile, replace(manner, style=style)) for style in (*layer.styles, _USUAL_STYLE))
        elif subject is RefusedPart.DIMENSION:
            yield from ((tile, replace(manner, dimension=value)) for value in Value)
        yield from ((tile, other) for other in self.tiles.manners(layer) if other.url != manner.url)

    def ask(self, tile: Tile) -> Trying[_Request]:
        """Request a tile; the manner in which it comes is that of the next one."""
        exchange = yield from negotiate(self, (tile, self.manner), self.remedies)
        if exchange is not None:
            self.manner = exchange.variant[1]
            self.remedies = 0 if exchange.look[0] in REFUSALS else self.remedies
        return exchange


# --------------------------------------------------------------------------- the check


_TILES_FIRST = 3
_TILES_LATER = 2
"""Most tiles of the first layer, and of each later one: with the capabilities eight requests for three layers."""
_REMEDIES = 3
"""Most other manners of requesting one tile."""


def check_content(endpoint: Endpoint, service: Service, most: int) -> ContentInterview:
    """Read the capabilities again, then ask for tiles until one has content."""
    attempts = Attempts()
    tiles = yield from _tiles_of(endpoint.url, service)
    if tiles is None:
        return attempts.report(endpoint)
    usable = [layer for layer in tiles.layers if formats_of(layer) or layer.templates]
    wanted = {layer.name: {crs_code(code) for code in layer.crs} for layer in service.layers}
    for layer in spread([layer for layer in usable if layer.name in wanted] or usable, most):
        codes = wanted.get(layer.name, ())
        sets = {name: each for name, each in tiles.sets.items() if crs_code(each.crs) in codes}
        yield from _try(replace(tiles, sets=sets or tiles.sets), layer, attempts)
        if attempts.is_enough:
            break
    return attempts.report(endpoint)


def _tiles_of(endpoint: Url, service: Service) -> Generator[Ask, Page | Failure, TileSource | None]:
    """Request the capabilities by KVP, then as a document; return None when neither has layers."""
    query = {"SERVICE": "WMTS", "REQUEST": "GetCapabilities", "VERSION": "1.0.0"}
    by_kvp = None if is_file(endpoint) else request_url(endpoint, named_for(service, query))
    document = endpoint if is_file(endpoint) else restful_document(endpoint)
    for url in (by_kvp, document):
        if url is None:
            continue
        answer = yield Ask(url, Purpose.PROBE)
        if isinstance(answer, Failure):
            return None
        read = read_items(answer.body, answer.headers.get("content-type", ""), layer_spec(), cut=answer.cut)
        root = read.reading.root
        if read.items and root is not None:
            addresses = addresses_of(root, endpoint, by_kvp=url is by_kvp)
            return TileSource(endpoint, addresses, service, read.items, dict(read_sets(root)))
    return None


def _try(tiles: TileSource, layer: TileLayer, attempts: Attempts) -> Generator[Ask, Page | Failure, None]:
    """Request tiles of one layer: another one if the first has no content, of the first layer also a third."""
    most, remedies = (_TILES_LATER, 0) if attempts.made else (_TILES_FIRST, _REMEDIES)
    chosen = list(choose_tiles(layer, tiles.sets))[:most]
    usable = (m for m in tiles.manners(layer) if any(tiles.url(layer, tile, m) is not None for tile in chosen))
    if (manner := next(usable, None)) is None:
        return
    requests = _Layer(tiles, layer, manner, remedies)
    if tried := (yield from sample(chosen, requests.ask, lambda tile: requests.url((tile, requests.manner)))):
        attempts.add(layer.name, tried[0].crs, tried[1].url, tried[1].answer, tried[1].look)


def _levels(context: LayerContext, view: View) -> Levels:
    """Request the capabilities; return a layer's levels of tiles in the view's reference system."""
    tiles = yield from _tiles_of(context.url, context.service)
    layer = (
        next((known for known in tiles.layers if known.name == context.layer.name), None) if tiles is not None else None
    )
    manner = next(tiles.manners(layer), None) if tiles is not None and layer is not None else None
    if tiles is None or layer is None or manner is None:
        return ()
    sets = tiles.sets
    name = next((link for link in layer.links if link in sets and is_in(sets[link].crs, view.system)), None)
    return _levels_of(layer, sets, name, lambda tile: tiles.url(layer, tile, manner)) if name is not None else ()


def preview(context: LayerContext) -> Tiles | None:
    """Show a layer by its tiles."""
    return by_tiles(context, _levels)


# --------------------------------------------------------------------------- tiles
# The chosen tile is in the middle of the layer, in the matrix whose tiles are about as large as the layer, within the
# limits that the layer states. If the extent is unknown in the matrix set's reference system, the middle of these
# limits or of the coarsest matrix is chosen.


@dataclass(frozen=True, slots=True)
class TileLayer:
    """The parts of a layer that are needed to request its tiles."""

    name: str
    formats: tuple[str, ...]
    styles: tuple[str, ...]
    """The default style first."""
    links: Mapping[str, Mapping[str, Limits]]
    """Tile matrix set → matrix → limits, where stated."""
    templates: Mapping[str, str]
    """Format → template of a tile's address (RESTful)."""
    dimensions: tuple[Dimension, ...]
    extent: Sides | None


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of a layer, by matrix set, matrix, row and column."""

    matrix_set: str
    matrix: str
    row: int
    column: int
    size: tuple[int, int]
    crs: str


def layer_spec() -> ItemSpec[TileLayer]:
    """Return the specification for reading the layers of a document (`stream.read_items`)."""
    return ItemSpec(elements=frozenset({"Layer"}), within=frozenset({"Contents"}), read=_read_layer)


def _read_layer(element: etree._Element, _around: int | None) -> TileLayer:
    styles = sorted(children(element, "Style"), key=lambda style: attribute(style, "isDefault") != "true")
    box, _ = read_extent(element)
    resources = [
        resource for resource in children(element, "ResourceURL") if attribute(resource, "resourceType") == "tile"
    ]
    return TileLayer(
        name=text_of(child(element, "Identifier")),
        formats=texts(children(element, "Format")),
        styles=tuple(text_of(child(style, "Identifier")) for style in styles),
        links={text_of(child(link, "TileMatrixSet")): _limits(link) for link in children(element, "TileMatrixSetLink")},
        templates={
            attribute(resource, "format"): attribute(resource, "template").strip() for resource in reversed(resources)
        },
        dimensions=tuple(one for part in children(element, "Dimension") if (one := _dimension(part)).name),
        extent=box.bounds if box is not None else None,
    )


def _dimension(element: etree._Element) -> Dimension:
    """Return a dimension of a layer (table 9): its name, default, and first and last value."""
    values = texts(children(element, "Value")) or ("",)
    return Dimension(text_of(child(element, "Identifier")), text_of(child(element, "Default")), values[0], values[-1])


def _limits(link: etree._Element) -> dict[str, Limits]:
    found = {}
    for element in children(child(link, "TileMatrixSetLimits"), "TileMatrixLimits"):
        names = ("MinTileRow", "MaxTileRow", "MinTileCol", "MaxTileCol")
        limits = limits_of(*(integer_of(text_of(child(element, name))) for name in names))
        if limits is not None:
            found[text_of(child(element, "TileMatrix"))] = limits
    return found


def read_sets(root: etree._Element) -> Mapping[str, MatrixSet]:
    """Return the tile matrix sets of a document by their names."""
    sets = {}
    for element in children(child(root, "Contents"), "TileMatrixSet"):
        matrices = [matrix for part in children(element, "TileMatrix") if (matrix := _read_matrix(part)) is not None]
        matrices.sort(key=lambda matrix: -matrix.scale)
        crs = text_of(child(element, "SupportedCRS"))
        sets[text_of(child(element, "Identifier"))] = MatrixSet(crs, tuple(matrices))
    return sets


def _read_matrix(element: etree._Element) -> Matrix | None:
    corner = [number_of(word) for word in text_of(child(element, "TopLeftCorner")).split()[:2]]
    scale = number_of(text_of(child(element, "ScaleDenominator")))
    names = ("TileWidth", "TileHeight", "MatrixWidth", "MatrixHeight")
    counts = [integer_of(text_of(child(element, name))) for name in names]
    return matrix_of(text_of(child(element, "Identifier")), scale, corner, counts)


# --------------------------------------------------------------------------- choosing


def choose_tiles(layer: TileLayer, sets: Mapping[str, MatrixSet]) -> Iterator[Tile]:
    """Yield tiles worth requesting, the best first, all in the layer's middle.

    The first is about as large as the layer; the second the same in another tile matrix set, because some servers fail
    in one reference system only; the third much finer.
    """
    linked = [name for name in layer.links if name in sets and sets[name].matrices]
    linked.sort(key=lambda name: not _is_understood(sets[name].crs))
    for name, finer in [*((name, 0) for name in linked[:2]), *((name, 2) for name in linked[:1])]:
        sides = _sides_in(layer.extent, sets[name].crs)
        levels = _levels_of(layer, sets, name, lambda tile: tile)
        yield levels[min(fitting(levels, sides) + finer, len(levels) - 1)].middle(sides)


def _levels_of(
    layer: TileLayer, sets: Mapping[str, MatrixSet], name: str, make: Callable[[Tile], T]
) -> tuple[Grid[T], ...]:
    """Return the levels of a layer in a tile matrix set; `make` turns a tile into what the levels have."""
    crs = crs_code(sets[name].crs)

    def tile(matrix: Matrix, row: int, column: int) -> T:
        return make(Tile(name, matrix.name, row, column, matrix.tile, crs))

    return sets[name].levels(_by_plain_names(layer.links[name], name), tile)


def _by_plain_names(limits: Mapping[str, Limits], matrix_set: str) -> Mapping[str, Limits]:
    """Return limits by the names of matrices, also where the set's name stands before them (`google:6` for `6`)."""
    return {name.removeprefix(f"{matrix_set}:"): limit for name, limit in limits.items()} | dict(limits)


def _is_understood(crs: str) -> bool:
    return is_geographic(crs) or is_web_mercator(crs)


def _sides_in(extent: Sides | None, crs: str) -> Sides | None:
    """Return the extent in a reference system; None when either is unknown."""
    if extent is None or not _is_understood(crs):
        return None
    return extent if is_geographic(crs) else to_mercator(extent)
