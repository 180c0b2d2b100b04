"""Build the requests for a picture of a layer: GetMap of a WMS, export of an ArcGIS map or image service, a map of an
OGC API, tiles, features.

Nothing of a visitor's request goes into the address but the number of a layer and numbers of a box and a size, each
checked. The address is a stored one of the catalogue.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from geocrawl.model import Item, Kind, Layer, Service, Url, stored_kind
from geocrawl.probe.extents import is_geographic, is_web_mercator
from geocrawl.probe.interview import named_for
from geocrawl.probe.kinds.ogcapi import has_items, has_map, map_url
from geocrawl.probe.kinds.wms.maps import Manner, Maps
from geocrawl.probe.kinds.wms.places import Target
from geocrawl.probe.registry import features_of, tiles_of
from geocrawl.store.read.show import EndpointRow, LayerRow, ServiceDetail
from geocrawl.urls import read_url, request_url, with_parameters
from geocrawl.web.answers import Problem, bad_parameter
from geocrawl.web.layers import systems_of
from geocrawl.web.preview_drawings import Drawing, features, picture, tiles
from geocrawl.web.publishing import is_masked

MOST_PIXELS, LEAST_PIXELS = 1_024, 64
_DEGREES, _MERCATOR = "EPSG:4326", "EPSG:3857"
_BOUNDS = {_DEGREES: (180.0, 90.0), _MERCATOR: (20_037_508.4, 20_037_508.4)}
_SAME = {_DEGREES: ("EPSG:4326", "CRS:84"), _MERCATOR: ("EPSG:3857", "EPSG:900913", "EPSG:102100")}
_NUMBER = re.compile(r"-?[0-9]{1,10}(?:\.[0-9]{1,20})?(?:e-?[0-9]{1,2})?", re.I)
_POSITION = re.compile(r"[0-9]{1,7}")
_ARCGIS = {"mapserver": "export", "imageserver": "exportImage"}

MOST_FEATURES = 200
"""Most features of a preview."""
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
    """Return the reference system of a service's map: degrees, or Web Mercator where it offers only that.

    Tiles are shown in Web Mercator where they can be: nearly all are made for it. Features are asked for in degrees.
    """
    kind, codes = stored_kind(service.kind), _codes(service)
    if features_of(kind) is not None:
        return _DEGREES
    if tiles_of(kind) is not None:
        return _MERCATOR if any(map(is_web_mercator, codes)) else _DEGREES
    offers = [system for system, same in _SAME.items() if codes & set(same)]
    return offers[0] if offers else _DEGREES


def may_be_shown(kind: str) -> bool:
    """Return whether services of a kind may have previews."""
    known = stored_kind(kind)
    return kind in (Kind.WMS, Kind.ARCGIS) or tiles_of(known) is not None or features_of(known) is not None


def can_be_shown(service: ServiceDetail) -> bool:
    """Return whether pictures of the service's layers can be requested: not with a key that visitors do not see."""
    if is_masked(service.best) or not may_be_shown(service.kind):
        return False
    if service.kind == Kind.ARCGIS:
        return _arcgis_operation(service.best) is not None
    if service.kind == Kind.WMS:
        return bool(_codes(service) & {code for same in _SAME.values() for code in same})
    return features_of(Kind(service.kind)) is not None or any(
        _has_tiles_for_map(service, row) for row in service.layers
    )


def can_show(service: ServiceDetail, row: LayerRow) -> bool:
    """Return whether a layer of a service that can be shown can be shown, too."""
    if not row.name or row.item not in (Item.LAYER, Item.FEATURE_TYPE, Item.COLLECTION):
        return False
    if service.kind == Kind.OGCAPI:
        return has_items(_layer_of(row)) or has_map(_layer_of(row))
    return tiles_of(Kind(service.kind)) is None or _has_tiles_for_map(service, row)


def _has_tiles_for_map(service: ServiceDetail, row: LayerRow) -> bool:
    """Return whether a layer of a service with tiles has some in the reference system of the service's map."""
    return any(map(is_web_mercator if projection_of(service) == _MERCATOR else is_geographic, row.crs))


def _codes(service: ServiceDetail) -> set[str]:
    return {code.upper() for row in service.layers for code in row.crs}


def drawing_of(service: ServiceDetail, wanted: Wanted) -> Drawing:
    """Return the drawing of a layer. Raises Problem 404 when the service has no such layer, or cannot be shown."""
    place, kind, size = _place_of(service, wanted.layer), Kind(service.kind), (wanted.width, wanted.height)
    if (url := _picture_at(place, service, wanted)) is not None:
        return picture(url)
    described = _described(service, place.endpoint)
    if (levels := tiles_of(kind)) is not None:
        return tiles(levels(place.url, described, place.row.name, projection_of(service)), wanted.box, size)
    request, asked = features_of(kind), _answered(place) if kind is Kind.WFS else place.url
    made = request(asked, described, _layer_of(place.row), wanted.box, MOST_FEATURES) if request is not None else None
    if made is None:
        raise Problem(404, "the service has no features of this layer that can be shown")
    return features(made, wanted.box, size)


def picture_url(service: ServiceDetail, wanted: Wanted) -> Url:
    """Return the address at which the service draws a picture. Raises Problem 404 when it does not."""
    url = _picture_at(_place_of(service, wanted.layer), service, wanted)
    if url is None:
        raise Problem(404, f"a service of the kind {service.kind} draws no pictures; it sends tiles or features")
    return url


def _picture_at(place: _Place, service: ServiceDetail, wanted: Wanted) -> Url | None:
    kind = Kind(service.kind)
    if kind is Kind.ARCGIS:
        return _export(place.url, service, wanted)
    if kind is Kind.WMS:
        return _get_map(place, service, wanted)
    if kind is Kind.OGCAPI:
        return map_url(place.url, _layer_of(place.row), wanted.box, (wanted.width, wanted.height))
    return None


@dataclass(frozen=True, slots=True)
class _Place:
    """Holds the endpoint at which a layer of a service is requested, and the layer's reference systems."""

    url: Url
    endpoint: EndpointRow
    row: LayerRow
    systems: list[str]


def _place_of(service: ServiceDetail, position: int) -> _Place:
    by_position = {row.position: row for row in service.layers}
    row, endpoint = by_position.get(position), _endpoint(service)
    url = read_url(endpoint.url) if endpoint is not None else None
    if row is None or endpoint is None or url is None or not can_be_shown(service) or not can_show(service, row):
        raise Problem(404, "the service has no such layer that can be shown; its page lists those that can")
    return _Place(url, endpoint, row, systems_of(row, by_position))


def legend_url(service: ServiceDetail, position: str) -> Url:
    """Return the address of the legend of a layer of a WMS (SLD profile, OGC 05-078r4, 12). Raises Problem as
    `drawing_of` does."""
    if not _POSITION.fullmatch(position):
        raise bad_parameter("layer", position, "the position of a layer")
    place = _place_of(service, int(position))
    if service.kind != Kind.WMS:
        raise Problem(404, "the service has no such layer whose legend can be shown")
    version = service.version or "1.1.1"
    asked = {
        "SERVICE": "WMS",
        "VERSION": version,
        "REQUEST": "GetLegendGraphic",
        "LAYER": place.row.name,
        "FORMAT": "image/png",
        **({"SLD_VERSION": "1.1.0"} if version.startswith("1.3") else {}),
    }
    return request_url(place.url, asked)


def info_url(service: ServiceDetail, parameters: Mapping[str, str]) -> Url:
    """Return the request for what a WMS says of a pixel (`x`, `y`) of a picture (WMS 1.3.0, 7.4). Raises Problem as
    `drawing_of` does."""
    picture_of = {name: value for name, value in parameters.items() if name not in ("x", "y")}
    wanted = read_wanted(picture_of, service)
    x, y = (_pixel(name, parameters.get(name, ""), most) for name, most in (("x", wanted.width), ("y", wanted.height)))
    place = _place_of(service, wanted.layer)
    if service.kind != Kind.WMS or not place.row.queryable:
        raise Problem(404, "the service answers no questions about points of this layer")
    is_new = (service.version or "1.1.1").startswith("1.3")
    asked = {
        "REQUEST": "GetFeatureInfo",
        "QUERY_LAYERS": place.row.name,
        "INFO_FORMAT": "text/plain",
        "FEATURE_COUNT": "5",
        "I" if is_new else "X": str(x),
        "J" if is_new else "Y": str(y),
    }
    described = _described(service, place.endpoint)
    return with_parameters(_get_map(place, service, wanted), named_for(described, asked))


def _pixel(name: str, text: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < most):
        raise bad_parameter(name, text, "a pixel of the picture")
    return int(text)


def _endpoint(service: ServiceDetail) -> EndpointRow | None:
    valid = [each for each in service.endpoints if each.status == "valid" and not is_masked(each.url)]
    return next((each for each in valid if each.url == service.best), valid[0] if valid else None)


def _described(service: ServiceDetail, endpoint: EndpointRow) -> Service:
    codes = {str(each.get("code", "")) for each in endpoint.deviations}
    version = service.version or ("1.1.1" if service.kind == Kind.WMS else "")
    lower = "lower-case-names" in codes
    return Service(Kind(service.kind), version, service.title, formats=service.formats, lower_case_names=lower)


def _layer_of(row: LayerRow) -> Layer:
    return Layer(row.name, row.title, crs=row.crs, formats=row.formats, item=Item(row.item))


def _answered(place: _Place) -> Url:
    """Return a request to the endpoint that brought content, else its address."""
    found = (read_url(str(each["url"])) for each in place.endpoint.proof if each["outcome"] == "ok")
    return next((url for url in found if url and url.host == place.url.host and not is_masked(url.address)), place.url)


def _get_map(place: _Place, service: ServiceDetail, wanted: Wanted) -> Url:
    """Return the request as the content check would make it, of the size that is wanted."""
    system = projection_of(service)
    code = next((code for code in _SAME[system] if code in place.systems), system)
    described = _described(service, place.endpoint)
    if code == "CRS:84" and not described.version.startswith("1.3"):
        code = _DEGREES
    maps = Maps(place.url, described)
    target = Target(place.row.name, code, wanted.box, latitude_first=code == _DEGREES)
    swapped = any(each["outcome"] == "axis-order" for each in place.endpoint.proof)
    made = maps.ask(target, Manner(place.url, maps.formats[0], swapped=swapped)).url
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
