"""Convert a published service to what formats for maps, tables and catalogues share: columns, addresses, geometries.

A box that crosses the antimeridian becomes two polygons (RFC 7946, 3.1.9); one polygon would span the rest of the
world."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from shapely import MultiPolygon, Polygon, get_parts, multipolygons, to_wkb

from geocrawl.export.tables import Value, flat_value
from geocrawl.model.catalogue import SIDES, Box, Layer, Service, file_columns
from geocrawl.model.kinds import facts_of, short_name
from geocrawl.probe.registry import declared
from geocrawl.sanitize import plain
from geocrawl.urls import capabilities_address

SERVICE_COLUMNS = file_columns(Service)
"""Name of a property → its type in SQL. Lists are joined with '; '."""
LAYER_COLUMNS = {**file_columns(Layer), **dict.fromkeys(SIDES, "DOUBLE")}


def service_properties(service: Service) -> dict[str, Value]:
    """Return the values of `SERVICE_COLUMNS`; control characters are removed from texts."""
    return {name: flat_value(getattr(service, name)) for name in SERVICE_COLUMNS}


def layer_properties(layer: Layer) -> dict[str, Value]:
    """Return the values of `LAYER_COLUMNS`; control characters are removed from texts."""
    sides = zip(SIDES, layer.box or (None,) * 4, strict=True)
    return {**{name: flat_value(getattr(layer, name)) for name in file_columns(Layer)}, **dict(sides)}


def name_of(service: Service) -> str:
    """Return the title for people; for a service without one, its kind and host."""
    return plain(service.title) or f"{short_name(service.kind)} at {plain(service.host)}"


_MAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}\.[A-Za-z]{2,24}")


def mail_of(contact: Mapping[str, str]) -> str:
    """Return the address of mail of a contact; '' for no contact, and for a text without an address."""
    text = plain(contact.get("email", ""))
    return text if _MAIL.fullmatch(text) else ""


# --------------------------------------------------------------------------- addresses

_TILE = re.compile(r"(.*?)/(\d{1,2})/(\d+)/(\d+)((?:@2x)?(?:\.[A-Za-z0-9]+)?(?:\?.*)?)")
_VECTOR = re.compile(r"\.(?:pbf|mvt)(?:\?|\Z)", re.IGNORECASE)


_HOST = re.compile(r"[a-z]+://[^/?#]*", re.IGNORECASE)
_NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
"""Characters that an IRI has not (RFC 3987, 2.2), and that would end one in Turtle."""


def as_iri(address: str) -> str:
    """Return an address as an IRI: characters that it may not have are percent-encoded, and brackets behind the host,
    where they enclose an IPv6 address."""
    host = _HOST.match(address)
    behind = len(host[0]) if host else 0
    rest = address[behind:].replace("[", "%5B").replace("]", "%5D")
    return _NO_IRI.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), address[:behind] + rest)


def description_address(kind: str, address: str) -> str:
    """Return the address of the document that describes a service: GetCapabilities for kinds of OGC."""
    if query := declared(kind).description_query:
        return f"{address}{'&' if '?' in address else '?'}{query}"
    return capabilities_address(kind, address) or address


class WebMercatorTiles(NamedTuple):
    """The tiles of a service, as maps of the web request them: in Web Mercator, each zoom level twice as fine."""

    template: str
    """Address with {z}, {x} and {y}, or {-y} where rows count from the south."""
    first_zoom: int
    """Zoom level of the tiles with {z} = 0: 0 where that is the world in one tile; 1 for MapProxy, where it is four."""


def tiles_of(service: Service) -> WebMercatorTiles | None:
    """Return the tiles of a service whose address is a document about them, by the tile that it delivered.

    None without a tile, for an address of another form, and for a TMS in another grid than that of maps of the web.
    """
    found = _TILE.fullmatch(service.tile)
    if found is None:
        return None
    if facts_of(service.kind).tiles == "xyz":
        return WebMercatorTiles(f"{found[1]}/{{z}}/{{x}}/{{y}}{found[5]}", 0)
    first_zoom = -1 if service.tile_zoom is None else service.tile_zoom - int(found[2])
    return WebMercatorTiles(f"{found[1]}/{{z}}/{{x}}/{{-y}}{found[5]}", first_zoom) if first_zoom >= 0 else None


def is_vector(template: str) -> bool:
    """Return whether tiles are vector tiles, by the ending of their address."""
    return _VECTOR.search(template) is not None


# --------------------------------------------------------------------------- geometries


def parts_of(box: Box | None) -> list[Box]:
    """Return the parts within -180…180 of a box: two when it crosses the antimeridian, none without numbers.

    A box crosses it by west > east, or by a side beyond 180 degrees.
    """
    if box is None or not all(map(math.isfinite, box)):
        return []
    west, south, east, north = map(float, box)
    south, north = max(south, -90.0), min(north, 90.0)
    if south > north:
        return []
    west, east = (-180.0, 180.0) if east - west >= 360 else (_within(west), _within(east))
    both = ((west, 180.0), (-180.0, east)) if west > east else ((west, east),)
    return [(first, south, last, north) for first, last in [each for each in both if each[0] < each[1]] or both[:1]]


def _within(degrees: float) -> float:
    """Return a longitude within -180…180."""
    return degrees if -180 <= degrees <= 180 else (degrees + 180) % 360 - 180


def _ring(part: Box) -> tuple[tuple[float, float], ...]:
    """Return a ring that is counter-clockwise (RFC 7946, 3.1.6) and begins in the south-west."""
    west, south, east, north = part
    return (west, south), (east, south), (east, north), (west, north), (west, south)


def extent_of(box: Box | None) -> Polygon | MultiPolygon | None:
    """Return the geometry of a box: two polygons when it crosses the antimeridian; None for an unknown extent."""
    polygons = [Polygon(_ring(part)) for part in parts_of(box)]
    return MultiPolygon(polygons) if len(polygons) > 1 else next(iter(polygons), None)


def geojson_geometry(box: Box | None) -> dict[str, Any] | None:
    """Return a Polygon, a MultiPolygon across the antimeridian, None for an unknown extent."""
    rings = [(_ring(part),) for part in parts_of(box)]
    if len(rings) > 1:
        return {"type": "MultiPolygon", "coordinates": rings}
    return {"type": "Polygon", "coordinates": rings[0]} if rings else None


def wkb_multipolygon(extent: Polygon | MultiPolygon) -> bytes:
    """Return an extent, which may be one polygon, as a MultiPolygon in little-endian well-known binary."""
    wkb: bytes = to_wkb(multipolygons(get_parts(extent)), byte_order=1)
    return wkb
