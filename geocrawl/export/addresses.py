"""Make addresses for other software of a service's address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from geocrawl.model.published import PublishedService
from geocrawl.urls import read_url
from geocrawl.urls.endpoints import capabilities_url

_OGC: Mapping[str, str] = {
    "wms": "WMS",
    "wmsc": "WMS",
    "wfs": "WFS",
    "wmts": "WMTS",
    "wcs": "WCS",
    "csw": "CSW",
    "wps": "WPS",
    "sos": "SOS",
}
"""Kind → value of SERVICE in its requests."""
_TILE = re.compile(r"(.*?)/(\d{1,2})/(\d+)/(\d+)((?:@2x)?(?:\.[A-Za-z0-9]+)?(?:\?.*)?)")
_VECTOR = re.compile(r"\.(?:pbf|mvt)(?:\?|\Z)", re.IGNORECASE)


def description_address(kind: str, address: str) -> str:
    """Return the address of the document that describes a service: GetCapabilities for kinds of OGC."""
    url = read_url(address)
    if kind not in _OGC or url is None or address.lower().partition("?")[0].endswith((".xml", "wmtscapabilities")):
        return f"{address}{'&' if '?' in address else '?'}f=json" if kind == "arcgis" else address
    return capabilities_url(url, service=_OGC[kind]).address


class Tiles(NamedTuple):
    """The tiles of a service, as maps of the web request them: in Web Mercator, each zoom level twice as fine."""

    template: str
    """Address with {z}, {x} and {y}, or {-y} where rows count from the south."""
    first_zoom: int
    """Zoom level of the tiles with {z} = 0: 0 where that is the world in one tile; 1 for MapProxy, where it is four."""


def tiles_of(service: PublishedService) -> Tiles | None:
    """Return the tiles of a TMS or of a TileJSON document, by the tile that it delivered.

    None without a tile, for an address of another form, and for a TMS in another grid than that of maps of the web.
    """
    found = _TILE.fullmatch(service.tile)
    if found is None:
        return None
    if service.kind == "tilejson":
        return Tiles(f"{found[1]}/{{z}}/{{x}}/{{y}}{found[5]}", 0)
    first_zoom = -1 if service.tile_zoom is None else service.tile_zoom - int(found[2])
    return Tiles(f"{found[1]}/{{z}}/{{x}}/{{-y}}{found[5]}", first_zoom) if first_zoom >= 0 else None


def is_vector(template: str) -> bool:
    """Return whether tiles are vector tiles, by the ending of their address."""
    return _VECTOR.search(template) is not None
