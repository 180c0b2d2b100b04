"""Check the content of a WMTS: request one tile with content (OGC 07-057r7, 7.2 by KVP, 10.2 RESTful).

The capabilities list the tiles. That list is too long to be stored with the service, so the capabilities are requested
again. Tiles on another host are not requested, because a visit has the turn of one host only.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from urllib.parse import quote

from geocrawl.model import ContentOutcome, Endpoint, Failure, Kind, Page, Purpose, Service, Url
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content.attempts import Attempts, content_url, spread
from geocrawl.probe.content.judge import judge_image
from geocrawl.probe.interview import is_file
from geocrawl.probe.stream import read_items
from geocrawl.probe.wmts.probe import restful_document
from geocrawl.probe.wmts.tiles import MatrixSet, Tile, TileLayer, choose_tiles, layer_spec, read_sets
from geocrawl.urls import capabilities_url, read_url

_TILES_FIRST = 3
_TILES_LATER = 2
"""Most tiles of the first layer, and of each later one: with the capabilities eight requests for three layers."""
_TRY_ON = frozenset(
    {ContentOutcome.BLANK, ContentOutcome.HTTP_ERROR, ContentOutcome.EXCEPTION, ContentOutcome.NOT_AN_IMAGE}
)
_IMAGES = ("image/png", "image/png8", "image/jpeg", "image/jpg", "image/webp", "image/gif")


class WmtsContentCheck:
    """Checks WMTS for content by one tile (`ports.ContentCheck`)."""

    def __init__(self, *, layers: int = 3) -> None:
        """Try at most `layers` layers of a service."""
        self._layers = layers

    @property
    def kind(self) -> Kind:
        return Kind.WMTS

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Read the capabilities again, then ask for tiles until one has content."""
        attempts = Attempts()
        tiles = yield from _tiles_of(endpoint.url)
        if tiles is None:
            return attempts.report(endpoint)
        for layer in spread([layer for layer in tiles.layers if _format(layer)], self._layers):
            yield from _try(tiles, layer, attempts)
            if attempts.is_enough:
                break
        return attempts.report(endpoint)


@dataclass(frozen=True, slots=True)
class _Tiles:
    """The parts of a service that are needed to request a tile."""

    endpoint: Url
    by_kvp: bool
    layers: tuple[TileLayer, ...]
    sets: dict[str, MatrixSet]

    def url(self, layer: TileLayer, tile: Tile) -> Url | None:
        """Return a tile's address, by KVP if the service supports it; None when there is none on this host."""
        if self.by_kvp:
            return content_url(self.endpoint, _parameters(layer, tile))
        template = layer.templates.get(_format(layer), "")
        url = read_url(_filled(template, layer, tile)) if template else None
        return url if url is not None and url.host == self.endpoint.host else None


def _tiles_of(endpoint: Url) -> Generator[Ask, Page | Failure, _Tiles | None]:
    """Request the capabilities by KVP, then as a document; return None when neither has layers."""
    by_kvp = None if is_file(endpoint) else capabilities_url(endpoint, service="WMTS", version="1.0.0")
    document = endpoint if is_file(endpoint) else restful_document(endpoint)
    for url in (by_kvp, document):
        if url is None:
            continue
        answer = yield Ask(url, Purpose.PROBE)
        if isinstance(answer, Failure):
            return None
        read = read_items(answer.body, answer.headers.get("content-type", ""), layer_spec(), cut=answer.cut)
        if read.items and read.reading.root is not None:
            return _Tiles(endpoint, url is by_kvp, read.items, dict(read_sets(read.reading.root)))
    return None


def _try(tiles: _Tiles, layer: TileLayer, attempts: Attempts) -> Generator[Ask, Page | Failure, None]:
    """Request tiles of one layer: another one if the first has no content, of the first layer also a third."""
    asked = [(tile, url) for tile in choose_tiles(layer, tiles.sets) if (url := tiles.url(layer, tile)) is not None]
    asked = asked[: _TILES_LATER if attempts.made else _TILES_FIRST]
    for index, (tile, url) in enumerate(asked):
        answer = yield Ask(url, Purpose.MAP)
        outcome, detail = judge_image(answer, tile.size)
        if outcome in _TRY_ON and index < len(asked) - 1:
            continue
        detail = f"{detail}, after {index} others without" if index else detail
        attempts.add(layer.name, tile.crs, url, answer, (outcome, detail))
        return


def _format(layer: TileLayer) -> str:
    """Return the first of the layer's formats that is an image; '' when none is."""
    offered = [name for name in layer.formats if name.partition(";")[0].strip().lower() in _IMAGES]
    return offered[0] if offered else ""


def _parameters(layer: TileLayer, tile: Tile) -> dict[str, str]:
    return {
        "SERVICE": "WMTS",
        "REQUEST": "GetTile",
        "VERSION": "1.0.0",
        "LAYER": layer.name,
        "STYLE": layer.style,
        "FORMAT": _format(layer),
        "TILEMATRIXSET": tile.matrix_set,
        "TILEMATRIX": tile.matrix,
        "TILEROW": str(tile.row),
        "TILECOL": str(tile.column),
        **{name: value for name, value in layer.dimensions.items() if value},
    }


def _filled(template: str, layer: TileLayer, tile: Tile) -> str:
    """Return a template with its variables (10.2.1) replaced; their names match in any case."""
    values = {
        "Layer": layer.name,
        "Style": layer.style,
        "TileMatrixSet": tile.matrix_set,
        "TileMatrix": tile.matrix,
        "TileRow": str(tile.row),
        "TileCol": str(tile.column),
        **layer.dimensions,
    }
    for name, value in values.items():
        for spelt in (name, name.lower()):
            template = template.replace("{" + spelt + "}", quote(value, safe=":,"))
    return template
