"""Check the content of a TMS: request one tile (OSGeo TMS Specification 1.0.0, TileMap and Tile resources).

The map's document, which is requested first, lists the tile sets. The tiles in the middle of the map are requested at
the smallest scale, then where the map fills a tile, then one level finer. A tile that may be a drawn message is
compared with one of another scale.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, line_of, local_name
from geocrawl.formats.json import number_of
from geocrawl.model import ContentOutcome, Endpoint, Failure, Item, Kind, Page, Purpose, Service, Url
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content.attempts import Attempts, spread
from geocrawl.probe.content.judge import doubt, judge_image
from geocrawl.probe.extents.systems import is_web_mercator
from geocrawl.probe.interview import is_file
from geocrawl.probe.json.links import on_host_of
from geocrawl.probe.stream import read_whole
from geocrawl.urls import read_url

_TILES = 3
"""Most tiles requested of one map."""
_WORLD_M = 2 * math.pi * 6378137.0
"""Width of the world in metres of Web Mercator (EPSG:3857)."""
_NEARLY = 0.01
"""Share by which the scale or the origin of a grid may differ from those of the web's."""
_TRY_ON = frozenset(
    {ContentOutcome.BLANK, ContentOutcome.HTTP_ERROR, ContentOutcome.EXCEPTION, ContentOutcome.NOT_AN_IMAGE}
)
_USUAL_PIXELS = 256


class _Tile(NamedTuple):
    """A tile that is requested."""

    url: Url
    zoom: int | None
    """As in `Attempt`."""


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

    def tiles(self) -> list[_Tile]:
        """Return tiles in the middle of the map, at a few scales."""
        box = self._numbers("BoundingBox", "minx", "miny", "maxx", "maxy")
        origin = self._numbers("Origin", "x", "y")
        sets = [each for each in children(child(self.root, "TileSets"), "TileSet") if _resolution(each) > 0]
        if box is None or origin is None or not sets:
            return []
        sets.sort(key=_resolution, reverse=True)
        span = max(box[2] - box[0], box[3] - box[1])
        full = next((i for i, each in enumerate(sets) if span >= _resolution(each) * self.size[0]), len(sets) - 1)
        steps = dict.fromkeys((0, full, min(full + 1, len(sets) - 1)))
        middle = (box[0] + box[2]) / 2 - origin[0], (box[1] + box[3]) / 2 - origin[1]
        urls = ((sets[step], self._tile(sets[step], *middle)) for step in steps)
        return [_Tile(url, self._zoom(_resolution(each), origin)) for each, url in urls if url is not None][:_TILES]

    def _zoom(self, resolution: float, origin: tuple[float, ...]) -> int | None:
        """Return the zoom level that tiles of a resolution have in maps of the web; None for tiles of another grid."""
        corner = -_WORLD_M / 2
        is_usual = is_web_mercator(self.code) and self.size == (_USUAL_PIXELS, _USUAL_PIXELS)
        if not is_usual or any(abs(side - corner) > _NEARLY * _WORLD_M for side in origin):
            return None
        level = math.log2(_WORLD_M / (_USUAL_PIXELS * resolution))
        return round(level) if abs(level - round(level)) < _NEARLY and level > -_NEARLY else None

    def _tile(self, tile_set: etree._Element, x: float, y: float) -> Url | None:
        """Return the tile of a set that covers a point; x and y from the origin, in units of the reference system."""
        width, height = self.size
        resolution, format_ = _resolution(tile_set), child(self.root, "TileFormat")
        extension = attribute(format_, "extension").strip() if format_ is not None else "png"
        column, row = x // (resolution * width), y // (resolution * height)
        set_ = read_url(attribute(tile_set, "href").strip() or "0", self._folder())
        if set_ is None or not (math.isfinite(column) and math.isfinite(row)):
            return None
        place, mark, query = on_host_of(set_, self.base, None).address.partition("?")
        return read_url(f"{place.rstrip('/')}/{int(column)}/{int(row)}.{extension}{mark}{query}")

    def _folder(self) -> Url:
        """Return the base address of tile sets: a file's own address, else the address with a final slash."""
        place = self.base.address.partition("?")[0]
        return self.base if is_file(self.base) else read_url(f"{place.rstrip('/')}/") or self.base

    def _numbers(self, name: str, *attributes: str) -> tuple[float, ...] | None:
        """Return the numbers in attributes of an element; None unless all are present."""
        part = child(self.root, name)
        found = [number_of(attribute(part, each)) for each in attributes] if part is not None else []
        known = tuple(number for number in found if number is not None)
        return known if len(known) == len(attributes) else None


class TmsContentCheck:
    """Checks tile map services for content by one tile (`ports.ContentCheck`)."""

    def __init__(self, *, layers: int = 3) -> None:
        """Try at most `layers` maps of a service."""
        self._layers = layers

    @property
    def kind(self) -> Kind:
        return Kind.TMS

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Request the document of one map after another, and tiles of each, until one has content."""
        attempts = Attempts()
        layers = [layer for layer in service.layers if layer.item is Item.LAYER and layer.name]
        # Maps in Web Mercator first: only those are shown by software that is given addresses of tiles.
        layers.sort(key=lambda layer: not any(map(is_web_mercator, layer.crs)))
        maps = [layer.name for layer in layers]
        for name in spread(maps, self._layers if not is_file(endpoint.url) else 1):
            tiles = yield from _tile_map(_document(endpoint.url, name))
            if tiles is not None:
                yield from _try(tiles, name, attempts)
            if attempts.is_enough:
                break
        return attempts.report(endpoint)


def _document(endpoint: Url, name: str) -> Url:
    """Return the address of a map's document: the endpoint itself when that is a file, else below it."""
    if is_file(endpoint):
        return endpoint
    place, mark, query = endpoint.address.partition("?")
    return read_url(f"{place.rstrip('/')}/{name}{mark}{query}") or endpoint


def _tile_map(url: Url) -> Generator[Ask, Page | Failure, _TileMap | None]:
    """Request the document of a map; return None without one."""
    answer = yield Ask(url, Purpose.MAP)
    if isinstance(answer, Failure) or answer.location is not None:
        return None
    root = read_whole(answer).root
    return _TileMap(root, answer.final) if root is not None and local_name(root) == "TileMap" else None


def _try(tiles: _TileMap, name: str, attempts: Attempts) -> Generator[Ask, Page | Failure, None]:
    """Request tiles of one map and add the last one to the report."""
    found = tiles.tiles()
    for index, tile in enumerate(found):
        answer = yield Ask(tile.url, Purpose.MAP)
        look = judge_image(answer, tiles.size)
        look = yield from doubt(look, answer, next((each.url for each in found if each.url != tile.url), None))
        if look[0] not in _TRY_ON or index == len(found) - 1:
            attempts.add(name, tiles.code, tile.url, answer, look, zoom=tile.zoom)
            return


def _resolution(tile_set: etree._Element) -> float:
    """Return the resolution in units of the reference system per pixel; 0 when not stated."""
    return number_of(attribute(tile_set, "units-per-pixel")) or 0.0
