"""Make the addresses of WMTS tiles (OGC 07-057r7: 7.2 and table 29 by KVP, 10.2 RESTful), and change what is refused.

The document states for GetTile an address and an encoding (KVP, RESTful), and a layer has templates of addresses
(ResourceURL). As in QGIS and OpenLayers, KVP at the stated address comes first, unless only RESTful is stated; the
other ways follow where a tile does not come.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote

from lxml import etree

from geocrawl.formats.elements import attribute, children, local_name, text_of
from geocrawl.model import Failure, Page, Service, Url
from geocrawl.probe.content.attempts import MAX_ADDRESS_CHARS
from geocrawl.probe.content.dimensions import Value, value_of
from geocrawl.probe.content.exceptions import Subject, exception_of
from geocrawl.probe.content.images import decodable
from geocrawl.probe.interview import named_for
from geocrawl.probe.ows.addresses import is_inner
from geocrawl.probe.ows.operations import address_of, get_elements, given_address
from geocrawl.probe.wmts.tiles import MatrixSet, Tile, TileLayer
from geocrawl.urls import read_url, request_url, with_parameters

_VARIABLE = re.compile(r"\{([^{}/]{1,100})\}")
_USUAL_STYLE = "default"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a layer's tiles are requested."""

    url: Url | None
    """Address for KVP; None for the layer's template."""
    format: str
    style: str
    dimension: Value = Value.DEFAULT


@dataclass(frozen=True, slots=True)
class Tiles:
    """The parts of a service that are needed to request a tile."""

    endpoint: Url
    addresses: tuple[Url | None, ...]
    """Addresses for KVP and None for templates, in the order of choice."""
    service: Service
    layers: tuple[TileLayer, ...]
    sets: Mapping[str, MatrixSet]

    def manners(self, layer: TileLayer) -> Iterator[Manner]:
        """Yield the manners of requesting a layer's tiles, the first choice first, other hosts last."""
        yield from sorted(self._manners(layer), key=lambda manner: self._is_elsewhere(layer, manner))

    def _is_elsewhere(self, layer: TileLayer, manner: Manner) -> bool:
        if manner.url is not None:
            return manner.url.host != self.endpoint.host
        place = read_url(layer.templates[manner.format].partition("{")[0], self.endpoint)
        return place is None or place.host != self.endpoint.host

    def _may_be_asked(self, url: Url) -> bool:
        return is_inner(self.endpoint.host) or not is_inner(url.host)

    def _manners(self, layer: TileLayer) -> Iterator[Manner]:
        for url in self.addresses:
            for name in formats_of(layer) if url is not None else decodable(layer.templates):
                yield Manner(url, name, layer.styles[0] if layer.styles else "")
                break

    def url(self, layer: TileLayer, tile: Tile, manner: Manner) -> Url | None:
        """Return a tile's address; None when there is none, or it is too long or within an intranet."""
        if manner.url is None:
            url = read_url(_filled(layer.templates[manner.format], layer, tile, manner), self.endpoint)
            return url if url is not None and self._may_be_asked(url) and _is_short(url) else None
        make = request_url if manner.url == self.endpoint else with_parameters
        url = make(manner.url, named_for(self.service, _parameters(layer, tile, manner)))
        return url if _is_short(url) else None


def addresses_of(root: etree._Element, endpoint: Url, *, by_kvp: bool) -> tuple[Url | None, ...]:
    """Return the addresses for KVP, and None for templates, in the order of choice.

    `by_kvp`: whether the document came by KVP, so that the endpoint may answer GetTile likewise.
    """
    stated = [(address_of(get), _encodings(get)) for get in get_elements(root, "GetTile")]
    kvp = [address for address, encodings in stated if not encodings or "kvp" in encodings]
    given = next(filter(None, (given_address(endpoint, address) for address in kvp)), None)
    is_open = given is not None and given.origin == endpoint.origin
    own = [endpoint] if by_kvp else []
    by_query = [given, *own] if is_open else [*own, given]
    known = [url for url in by_query if url is not None]
    return (None, *known) if stated and not kvp else (*known, None)


def _encodings(get: etree._Element) -> frozenset[str]:
    """Return the values of the constraint GetEncoding, in lower case."""
    return frozenset(
        text_of(value).lower()
        for constraint in children(get, "Constraint")
        if attribute(constraint, "name").lower() == "getencoding"
        for value in constraint.iter()
        if local_name(value) == "Value"
    )


def formats_of(layer: TileLayer) -> tuple[str, ...]:
    """Return the layer's formats that can be decoded, as it states them, the first choice first."""
    known = decodable(layer.formats)
    return tuple(name for name in layer.formats if name in known)


def _is_short(url: Url) -> bool:
    return len(url.address) <= MAX_ADDRESS_CHARS


def _parameters(layer: TileLayer, tile: Tile, manner: Manner) -> dict[str, str]:
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


def _filled(template: str, layer: TileLayer, tile: Tile, manner: Manner) -> str:
    """Return a template with its variables (10.2.1) replaced; their names match in any case."""
    values = {
        "layer": layer.name,
        "style": manner.style or _USUAL_STYLE,  # a path cannot have an empty part
        "tilematrixset": tile.matrix_set,
        "tilematrix": tile.matrix,
        "tilerow": str(tile.row),
        "tilecol": str(tile.column),
        **{one.name.lower(): value_of(one, manner.dimension) for one in layer.dimensions},
    }

    def value(found: re.Match[str]) -> str:
        known = values.get(found[1].strip().lower())
        return found[0] if known is None else quote(known, safe=":,")

    return _VARIABLE.sub(value, template)


def remedies(tiles: Tiles, layer: TileLayer, manner: Manner, answer: Page | Failure) -> Iterator[Manner]:
    """Yield other manners of requesting a tile that did not come: what an exception names is changed, else the way."""
    exception = exception_of(answer) if isinstance(answer, Page) else None
    subject = exception.subject if exception is not None else Subject.UNKNOWN
    if subject is Subject.FORMAT and manner.url is not None:
        yield from (replace(manner, format=name) for name in formats_of(layer))
    elif subject is Subject.STYLE:
        yield from (replace(manner, style=style) for style in (*layer.styles, _USUAL_STYLE))
    elif subject is Subject.DIMENSION:
        yield from (replace(manner, dimension=value) for value in Value)
    later = list(tiles.manners(layer))
    yield from (other for other in later if other.url != manner.url)
