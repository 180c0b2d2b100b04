"""Build the request for a picture of a layer: GetMap of a WMS, export of an ArcGIS map or image service.

Nothing of a visitor's request goes into the address but the number of a layer and numbers of a box and a size, each
checked. The address is a stored one of the catalogue.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from geocrawl.model import Kind, Service, Url
from geocrawl.probe.kinds.wms.maps import Manner, Maps
from geocrawl.probe.kinds.wms.places import Target
from geocrawl.store.read.show import EndpointRow, LayerRow, ServiceDetail
from geocrawl.urls import read_url, request_url, with_parameters
from geocrawl.web.answers import Problem, bad_parameter
from geocrawl.web.layers import systems_of
from geocrawl.web.publishing import is_masked

MOST_PIXELS, LEAST_PIXELS = 1_024, 64
_DEGREES, _MERCATOR = "EPSG:4326", "EPSG:3857"
_BOUNDS = {_DEGREES: (180.0, 90.0), _MERCATOR: (20_037_508.4, 20_037_508.4)}
_SAME = {_DEGREES: ("EPSG:4326", "CRS:84"), _MERCATOR: ("EPSG:3857", "EPSG:900913", "EPSG:102100")}
_NUMBER = re.compile(r"-?[0-9]{1,10}(?:\.[0-9]{1,20})?(?:e-?[0-9]{1,2})?", re.I)
_POSITION = re.compile(r"[0-9]{1,7}")
_ARCGIS = {"mapserver": "export", "imageserver": "exportImage"}

PREVIEWED = frozenset({Kind.WMS, Kind.ARCGIS})
"""Kinds of services that may have previews."""
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The picture that a visitor wants."""

    layer: int
    """Position of the layer in the service's description."""
    box: Box
    """In the reference system of `projection_of`."""
    width: int
    height: int


def read_wanted(parameters: Mapping[str, str], service: ServiceDetail) -> Wanted:
    """Return what a request wants. Raises Problem 400 for values that are none."""
    if unknown := [name for name in parameters if name not in ("layer", "bbox", "width", "height", "lang")]:
        raise Problem(400, f"there is no parameter {unknown[0][:80]!r}; expected layer, bbox, width, height")
    position = parameters.get("layer", "")
    if not _POSITION.fullmatch(position):
        raise bad_parameter("layer", position, "the position of a layer")
    sizes = [_size(name, parameters.get(name, "512")) for name in ("width", "height")]
    return Wanted(int(position), _box(parameters.get("bbox", ""), projection_of(service)), sizes[0], sizes[1])


def _size(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and LEAST_PIXELS <= int(text) <= MOST_PIXELS):
        raise bad_parameter(name, text, f"pixels from {LEAST_PIXELS} to {MOST_PIXELS}")
    return int(text)


def _box(text: str, projection: str) -> Box:
    parts = text.split(",")
    across, up = _BOUNDS[projection]
    if len(parts) != 4 or not all(_NUMBER.fullmatch(part.strip()) for part in parts):
        raise bad_parameter("bbox", text, f"four numbers in {projection}")
    west, south, east, north = (float(part) for part in parts)
    west, east = max(west, -2 * across), min(east, 2 * across)
    south, north = max(south, -up), min(north, up)
    if not (west < east and south < north and math.isfinite(west + south + east + north)):
        raise bad_parameter("bbox", text, f"a box with an area in {projection}")
    return west, south, east, north


# --------------------------------------------------------------------------- what can be shown


def projection_of(service: ServiceDetail) -> str:
    """Return the reference system of a service's map: degrees, or Web Mercator where it offers only that."""
    codes = _codes(service)
    offers = [system for system, same in _SAME.items() if codes & set(same)]
    return offers[0] if offers else _DEGREES


def can_be_shown(service: ServiceDetail) -> bool:
    """Return whether pictures of the service's layers can be requested: not with a key that visitors do not see."""
    if is_masked(service.best):
        return False
    if service.kind == Kind.ARCGIS:
        return _arcgis_operation(service.best) is not None
    return service.kind == Kind.WMS and bool(_codes(service) & {code for same in _SAME.values() for code in same})


def _codes(service: ServiceDetail) -> set[str]:
    return {code.upper() for row in service.layers for code in row.crs}


def picture_url(service: ServiceDetail, wanted: Wanted) -> Url:
    """Return the address of a picture. Raises Problem 404 when the service has no such layer, or cannot be shown."""
    by_position = {row.position: row for row in service.layers}
    row, endpoint = by_position.get(wanted.layer), _endpoint(service)
    if row is None or not row.name or endpoint is None or not can_be_shown(service):
        raise Problem(404, "the service has no such layer that can be shown; its page lists those that can")
    url = read_url(endpoint.url)
    if url is None:
        raise Problem(404, "the address of the service cannot be read")
    if service.kind == Kind.ARCGIS:
        return _export(url, service, wanted)
    return _get_map(url, service, endpoint, row, systems_of(row, by_position), wanted)


def legend_url(service: ServiceDetail, position: str) -> Url:
    """Return the address of the legend of a layer of a WMS (SLD profile, OGC 05-078r4, 12). Raises Problem as
    `picture_url` does."""
    if not _POSITION.fullmatch(position):
        raise bad_parameter("layer", position, "the position of a layer")
    row = next((row for row in service.layers if row.position == int(position) and row.name), None)
    endpoint = _endpoint(service)
    url = read_url(endpoint.url) if endpoint is not None else None
    if row is None or url is None or service.kind != Kind.WMS or not can_be_shown(service):
        raise Problem(404, "the service has no such layer whose legend can be shown")
    version = service.version or "1.1.1"
    asked = {
        "SERVICE": "WMS",
        "VERSION": version,
        "REQUEST": "GetLegendGraphic",
        "LAYER": row.name,
        "FORMAT": "image/png",
        **({"SLD_VERSION": "1.1.0"} if version.startswith("1.3") else {}),
    }
    return request_url(url, asked)


def _endpoint(service: ServiceDetail) -> EndpointRow | None:
    valid = [each for each in service.endpoints if each.status == "valid" and not is_masked(each.url)]
    return next((each for each in valid if each.url == service.best), valid[0] if valid else None)


def _get_map(
    url: Url, service: ServiceDetail, endpoint: EndpointRow, row: LayerRow, offered: list[str], wanted: Wanted
) -> Url:
    """Return the request as the content check would make it, of the size that is wanted."""
    system = projection_of(service)
    code = next((code for code in _SAME[system] if code in offered), system)
    version = service.version or "1.1.1"
    if code == "CRS:84" and not version.startswith("1.3"):
        code = _DEGREES
    codes = {str(each.get("code", "")) for each in endpoint.deviations}
    described = Service(
        Kind.WMS, version, service.title, formats=service.formats, lower_case_names="lower-case-names" in codes
    )
    maps = Maps(url, described)
    target = Target(row.name, code, wanted.box, latitude_first=code == _DEGREES)
    swapped = any(each["outcome"] == "axis-order" for each in endpoint.proof)
    made = maps.ask(target, Manner(url, maps.formats[0], swapped=swapped)).url
    return with_parameters(made, {"WIDTH": str(wanted.width), "HEIGHT": str(wanted.height)})


def _arcgis_operation(address: str) -> str | None:
    return _ARCGIS.get(address.partition("?")[0].rstrip("/").rpartition("/")[2].lower())


def _export(url: Url, service: ServiceDetail, wanted: Wanted) -> Url:
    operation = _arcgis_operation(url.address)
    place, mark, query = url.address.partition("?")
    made = read_url(f"{place.rstrip('/')}/{operation}{mark}{query}")
    if operation is None or made is None:
        raise Problem(404, "the address of the service cannot be read")
    number = projection_of(service).rpartition(":")[2]
    return with_parameters(
        made,
        {
            "bbox": ",".join(f"{side:.9g}" for side in wanted.box),
            "bboxSR": number,
            "imageSR": number,
            "size": f"{wanted.width},{wanted.height}",
            "format": "png",
            "transparent": "true",
            "f": "image",
        },
    )
