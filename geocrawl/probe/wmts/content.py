"""Check the content of a WMTS: request one tile with content (OGC 07-057r7, 7.2 by KVP, 10.2 RESTful).

The capabilities list the tiles. That list is too long to be stored with the service, so the capabilities are requested
again. Tiles on another host are requested where the endpoint's host has none. A tile that does not come
is requested in another manner (`ways`), then another tile. A tile of little but background may be a drawn message: it
is compared with a tile of another place.
"""

from __future__ import annotations

from collections.abc import Generator

from geocrawl.model import ContentOutcome, Endpoint, Failure, FailureCode, Kind, Page, Purpose, Service, Url
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content.attempts import Attempts, spread
from geocrawl.probe.content.judge import Look, doubt, judge_image
from geocrawl.probe.interview import is_file, named_for
from geocrawl.probe.stream import read_items
from geocrawl.probe.wmts.probe import restful_document
from geocrawl.probe.wmts.tiles import Tile, TileLayer, choose_tiles, layer_spec, read_sets
from geocrawl.probe.wmts.ways import Manner, Tiles, addresses_of, formats_of, remedies
from geocrawl.urls import request_url

_TILES_FIRST = 3
_TILES_LATER = 2
"""Most tiles of the first layer, and of each later one: with the capabilities eight requests for three layers."""
_REMEDIES = 3
"""Most other manners of requesting one tile."""
_NO_TILE = frozenset({ContentOutcome.HTTP_ERROR, ContentOutcome.EXCEPTION, ContentOutcome.NOT_AN_IMAGE})
_TRY_ON = _NO_TILE | {ContentOutcome.BLANK}

_Asked = tuple[Url, Manner, Page | Failure, Look]


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
        tiles = yield from _tiles_of(endpoint.url, service)
        if tiles is None:
            return attempts.report(endpoint)
        for layer in spread([layer for layer in tiles.layers if formats_of(layer) or layer.templates], self._layers):
            yield from _try(tiles, layer, attempts)
            if attempts.is_enough:
                break
        return attempts.report(endpoint)


def _tiles_of(endpoint: Url, service: Service) -> Generator[Ask, Page | Failure, Tiles | None]:
    """Request the capabilities by KVP, then as a document; return None when neither has layers."""
    asked = {"SERVICE": "WMTS", "REQUEST": "GetCapabilities", "VERSION": "1.0.0"}
    by_kvp = None if is_file(endpoint) else request_url(endpoint, named_for(service, asked))
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
            return Tiles(endpoint, addresses, service, read.items, dict(read_sets(root)))
    return None


def _try(tiles: Tiles, layer: TileLayer, attempts: Attempts) -> Generator[Ask, Page | Failure, None]:
    """Request tiles of one layer: another one if the first has no content, of the first layer also a third."""
    most = _TILES_LATER if attempts.made else _TILES_FIRST
    chosen = list(choose_tiles(layer, tiles.sets))[:most]
    manner = next(iter(_possible(tiles, layer, chosen)), None)
    if manner is None:
        return
    left = 0 if attempts.made else _REMEDIES
    for index, tile in enumerate(chosen):
        asked = yield from _ask(tiles, layer, tile, manner)
        if asked is None:
            continue
        if asked[3][0] in _NO_TILE and left:
            asked, used = yield from _ask_otherwise(tiles, layer, tile, asked, left)
            left -= used
        url, manner, answer, look = asked
        others = [each for each in chosen if each != tile]
        look = yield from doubt(look, answer, tiles.url(layer, others[-1], manner) if others else None)
        if look[0] in _TRY_ON and index < len(chosen) - 1:
            continue
        detail = f"{look[1]}, after {index} others without" if index else look[1]
        attempts.add(layer.name, tile.crs, url, answer, (look[0], detail))
        return


def _possible(tiles: Tiles, layer: TileLayer, chosen: list[Tile]) -> list[Manner]:
    """Return the manners in which a tile has an address."""
    return [each for each in tiles.manners(layer) if any(tiles.url(layer, tile, each) is not None for tile in chosen)]


def _ask(tiles: Tiles, layer: TileLayer, tile: Tile, manner: Manner) -> Generator[Ask, Page | Failure, _Asked | None]:
    url = tiles.url(layer, tile, manner)
    if url is None:
        return None
    answer = yield Ask(url, Purpose.MAP)
    return url, manner, answer, judge_image(answer, tile.size)


def _ask_otherwise(
    tiles: Tiles, layer: TileLayer, tile: Tile, refused: _Asked, most: int
) -> Generator[Ask, Page | Failure, tuple[_Asked, int]]:
    """Request a tile in other manners until it comes, at most `most` times.

    Return the answer with the tile, else the refusal, and the number of requests.
    """
    tried, last, used = {refused[1]}, refused, 0
    while used < most:
        manner = next((each for each in remedies(tiles, layer, last[1], last[2]) if each not in tried), None)
        if manner is None:
            break
        tried.add(manner)
        asked = yield from _ask(tiles, layer, tile, manner)
        if asked is None:
            continue
        used += 1
        if isinstance(asked[2], Failure) and asked[2].code is FailureCode.BUDGET:
            break
        last = asked
        if asked[3][0] not in _NO_TILE:
            return asked, used
    return refused, used
