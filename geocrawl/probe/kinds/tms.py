"""Probe a Tile Map Service: request the document at its address (OSGeo TMS Specification 1.0.0).

By the specification the root's address ends with a slash; servers differ in their answers without the slash, so the
other spelling is requested when the first one is not found.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from lxml import etree

from geocrawl.formats.json import number_of
from geocrawl.formats.xml import Reading, attribute, child, children, line_of, local_name, text_of
from geocrawl.model import (
    Candidate,
    Deviation,
    Endpoint,
    Failure,
    Item,
    Kind,
    Layer,
    Page,
    Purpose,
    Service,
    Status,
    Url,
)
from geocrawl.model.kinds import KindDeclaration, PathForm
from geocrawl.ports import Ask, ContentInterview, Interview
from geocrawl.probe.answer import Classification, answer_deviations, examine
from geocrawl.probe.content import Attempts, judge_image, sample_addresses, spread
from geocrawl.probe.extents import NO_BOX, PIXEL_M, Box, Sides, in_system, is_web_mercator, metres_a_unit
from geocrawl.probe.interview import ELSEWHERE, Question, ask, is_file, lead, verdict_on
from geocrawl.probe.json_answers import on_host_of
from geocrawl.probe.levels import EDGE_M, Level, level_from_south, sample_levels, scales_of
from geocrawl.probe.ows.items import edges_of
from geocrawl.probe.ows.owslib_reader import read_wms_section
from geocrawl.probe.previews import LayerContext, Levels, Tiles, View, by_tiles, is_in
from geocrawl.probe.stream import read_whole
from geocrawl.sanitize import ending_of
from geocrawl.urls import below, read_url

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
    standard="https://wiki.osgeo.org/wiki/Tile_Map_Service_Specification",
    web_maps={"openlayers": "tiles", "leaflet": "tiles"},
)


# --------------------------------------------------------------------------- documents


MAX_MAPS = 20_000
"""Most maps or services of one document that are read."""
MAX_LEADS = 20
_PLACE = re.compile(r"/\d+\.\d+\.\d+/(.{1,500}?)/?\Z")
"""The part of a tile map's address after the version, which names the map."""
_PARTS = ("SRS", "TileFormat", "TileSets", "BoundingBox")
_TAIL_BYTES = 4_096


def read_tms(page: Page, root: etree._Element, reading: Reading) -> Classification | None:
    """Return the service that a document of a TMS describes; None for any other document."""
    name = local_name(root)
    if name not in ("Services", "TileMapService", "TileMap") or (name == "Services" and not _services(root)):
        return None
    if f"</{name}" not in page.body[-_TAIL_BYTES:].decode("latin-1") and len(root):
        return Classification("truncated", ending_of(page.body), deviations=reading.deviations)
    if name == "TileMapService" and child(root, "TileMaps") is None:
        return Classification("not-capabilities", "TileMapService without TileMaps")
    if name == "TileMap" and all(child(root, part) is None for part in _PARTS):
        return Classification("not-capabilities", f"TileMap without any of {', '.join(_PARTS)}")
    layers, codes = _layers(name, root, page.final)
    deviations = (*answer_deviations(page), *reading.deviations, *(Deviation(code, "the tile map") for code in codes))
    return Classification("ok", name, _service(root, layers), deviations)


def leads_of(root: etree._Element, url: Url) -> tuple[Candidate, ...]:
    """Return the services that a root names; of a tile map, its service.

    Only services on the same host count: programs that write tile maps to files put an example's address there.
    """
    if local_name(root) == "TileMap":
        named = [(attribute(root, "tilemapservice"), "")]
    else:
        named = [(attribute(service, "href"), attribute(service, "title")) for service in _services(root)]
    targets = ((read_url(address, url), title) for address, title in named[:MAX_LEADS] if address)
    return tuple(lead(Kind.TMS, target, url, title) for target, title in targets if target and target.host == url.host)


def _services(root: etree._Element) -> list[etree._Element]:
    return list(islice(children(root, "TileMapService"), MAX_MAPS))


def _service(root: etree._Element, layers: tuple[Layer, ...]) -> Service:
    version = attribute(root, "version").strip() or "1.0.0"
    return replace(
        read_wms_section(root, Service(Kind.TMS, version, "")),
        formats=tuple(dict.fromkeys(name for layer in layers for name in layer.formats)),
        layers=layers,
    )


def _layers(name: str, root: etree._Element, url: Url) -> tuple[tuple[Layer, ...], tuple[str, ...]]:
    if name == "Services":
        layers = ((attribute(service, "href"), attribute(service, "title")) for service in _services(root))
        return tuple(Layer(href[:500], title, item=Item.FOLDER) for href, title in layers), ()
    if name == "TileMapService":
        return tuple(_listed(child(root, "TileMaps"))), ()
    code = line_of(child(root, "SRS"))
    box, codes = _box(root, code)
    format_ = child(root, "TileFormat")
    media_type = attribute(format_, "mime-type").strip() if format_ is not None else ""
    layer = Layer(
        name=_name(url.address.partition("?")[0]),
        title=line_of(child(root, "Title")),
        abstract=text_of(child(root, "Abstract")),
        crs=(code,) if code else (),
        box=box,
        formats=(media_type,) if media_type else (),
        scales=scales_of(
            _resolution(element) * metres_a_unit(code) / PIXEL_M
            for element in islice(children(child(root, "TileSets"), "TileSet"), _MAX_LEVELS)
        ),
    )
    return (layer,), codes


def _listed(maps: etree._Element | None) -> Iterator[Layer]:
    for element in islice(children(maps, "TileMap"), MAX_MAPS):
        href, code = attribute(element, "href").strip(), attribute(element, "srs").strip()
        extension = attribute(element, "extension").strip()
        yield Layer(
            name=_name(href.partition("?")[0]),
            title=" ".join(attribute(element, "title").split()),
            crs=(code,) if code else (),
            formats=(extension,) if extension else (),
        )


def _name(address: str) -> str:
    match = _PLACE.search(address[-2_000:])
    return match[1] if match else address.rstrip("/").rpartition("/")[2][:500]


def _box(root: etree._Element, code: str) -> Box:
    edges = edges_of(child(root, "BoundingBox"))
    return in_system(code, *edges) if edges else NO_BOX


# --------------------------------------------------------------------------- interview


def interview(candidate: Candidate) -> Interview:
    """Request the address unchanged, then with the final slash added or removed. Two requests at most."""
    url = candidate.endpoint.url
    questions = Question(url), Question(other_spelling(url), ELSEWHERE)
    answers = yield from ask(candidate, questions, partial(examine, read=read_tms))
    verdict = verdict_on(answers, candidate)
    page = answers[-1].page
    if verdict.status is not Status.VALID or not isinstance(page, Page):
        return verdict
    root = read_whole(page).root
    leads = leads_of(root, page.final) if root is not None else ()
    own = candidate.endpoint.key
    return replace(verdict, leads=(*verdict.leads, *(other for other in leads if other.endpoint.key != own)))


def other_spelling(url: Url) -> Url:
    """Return the address with a final slash of the path added, or removed if there is one."""
    place, mark, query = url.address.partition("?")
    return read_url((place[:-1] if place.endswith("/") else f"{place}/") + mark + query) or url


# --------------------------------------------------------------------------- content
# Check the content of a TMS: request one tile (OSGeo TMS Specification 1.0.0, TileMap and Tile resources).
#
# The map's document, which is requested first, lists the tile sets.


_NEARLY = 0.01
"""Share by which the scale or the origin of a grid may differ from those of the web's."""
_USUAL_PIXELS = 256
_MAX_LEVELS = 60


@dataclass(frozen=True, slots=True)
class _TileMap:
    """The tiles of one map, by its document."""

    root: etree._Element
    base: Url

    @property
    def code(self) -> str:
        """Return the map's reference system."""
        return line_of(child(self.root, "SRS"))

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height of a tile, in pixels."""
        width, height = self._numbers("TileFormat", "width", "height") or (_USUAL_PIXELS, _USUAL_PIXELS)
        return max(int(width), 1), max(int(height), 1)

    @property
    def box(self) -> Sides | None:
        """Return the map's extent; None where the document does not state one."""
        box: Sides | None = self._numbers("BoundingBox", "minx", "miny", "maxx", "maxy")
        return box

    def levels(self) -> tuple[Level, ...]:
        """Return all levels of tiles; rows, which the map counts from the south, are those of its box."""
        box, origin = self.box, self._numbers("Origin", "x", "y")
        if box is None or origin is None:
            return ()
        sets = (element for element in children(child(self.root, "TileSets"), "TileSet") if _resolution(element) > 0)
        return tuple(self._level(tile_set, box, origin) for tile_set in islice(sets, _MAX_LEVELS))

    def _level(self, tile_set: etree._Element, box: Sides, origin: tuple[float, ...]) -> Level:
        format_ = child(self.root, "TileFormat")
        extension = attribute(format_, "extension").strip() if format_ is not None else "png"
        across, down = (_resolution(tile_set) * pixels for pixels in self.size)
        folder = read_url(attribute(tile_set, "href").strip() or "0", self._folder())

        def url(sides: Sides) -> Url | None:
            column, row = (sides[0] + sides[2]) / 2 - origin[0], (sides[1] + sides[3]) / 2 - origin[1]
            column, row = column // across, row // down
            if folder is None or not math.isfinite(column + row):
                return None
            return below(on_host_of(folder, self.base, None), f"{int(column)}/{int(row)}.{extension}")

        return level_from_south(origin, box, across, down, url)

    def zoom(self, level: Level) -> int | None:
        """Return the zoom level that tiles of a level have in maps of the web; None for tiles of another grid."""
        is_usual = is_web_mercator(self.code) and self.size == (_USUAL_PIXELS, _USUAL_PIXELS)
        origin = self._numbers("Origin", "x", "y") or ()
        if not is_usual or any(abs(side + EDGE_M) > _NEARLY * 2 * EDGE_M for side in origin):
            return None
        zoom = math.log2(2 * EDGE_M / level.across)
        return round(zoom) if abs(zoom - round(zoom)) < _NEARLY and zoom > -_NEARLY else None

    def _folder(self) -> Url:
        """Return the base address of tile sets: a file's own address, else the address with a final slash."""
        place = self.base.address.partition("?")[0]
        return self.base if is_file(self.base) else read_url(f"{place.rstrip('/')}/") or self.base

    def _numbers(self, name: str, *attributes: str) -> Any:
        """Return the numbers in attributes of an element; None unless all are present."""
        part = child(self.root, name)
        numbers = [number_of(attribute(part, edge)) for edge in attributes] if part is not None else [None]
        return None if None in numbers else tuple(numbers)


def check_content(endpoint: Endpoint, service: Service, most: int) -> ContentInterview:
    """Request the document of one map after another, and tiles of each, until one has content."""
    attempts = Attempts()
    layers = [layer for layer in service.layers if layer.item is Item.LAYER and layer.name]
    # Maps in Web Mercator first: only those are shown by software that is given addresses of tiles.
    layers.sort(key=lambda layer: not any(map(is_web_mercator, layer.crs)))
    maps = [layer.name for layer in layers]
    for name in spread(maps, most if not is_file(endpoint.url) else 1):
        tiles = yield from _tile_map(endpoint.url if is_file(endpoint.url) else below(endpoint.url, name))
        if tiles is None or tiles.box is None:
            continue
        urls = {url: level for level in sample_levels(tiles.levels(), tiles.box) if (url := level.middle(tiles.box))}
        tried = yield from sample_addresses(list(urls), partial(judge_image, size=tiles.size))
        if tried is not None:
            zoom = tiles.zoom(urls[tried.url])
            attempts.add(name, tiles.code, tried.url, tried.answer, tried.look, zoom=zoom)
        if attempts.is_enough:
            break
    return attempts.report(endpoint)


def _tile_map(url: Url) -> Generator[Ask, Page | Failure, _TileMap | None]:
    """Request the document of a map; return None without one."""
    answer = yield Ask(url, Purpose.MAP)
    if isinstance(answer, Failure) or answer.location is not None:
        return None
    root = read_whole(answer).root
    return _TileMap(root, answer.final) if root is not None and local_name(root) == "TileMap" else None


def _resolution(tile_set: etree._Element) -> float:
    """Return the resolution in units of the reference system per pixel; 0 when not stated."""
    return number_of(attribute(tile_set, "units-per-pixel")) or 0.0


def _levels(context: LayerContext, view: View) -> Levels:
    """Request the document of a map; return its levels of tiles when it is in the view's reference system."""
    tiles = yield from _tile_map(context.url if is_file(context.url) else below(context.url, context.layer.name))
    return tiles.levels() if tiles is not None and is_in(tiles.code, view.system) else ()


def preview(context: LayerContext) -> Tiles | None:
    """Show a map by its tiles."""
    return by_tiles(context, _levels)
