"""Define the map services of the demo web: where they are, how each behaves, how it answers a request.

Valid services answer as the standard says or with a fault that readers tolerate; invalid ones fail in the ways that are
common on the real web.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from urllib.parse import parse_qsl, urlsplit

from geocrawl.demo.maps import draw_legend, draw_map, place_of
from geocrawl.demo.ows_documents import (
    Box,
    CapabilitiesContents,
    capabilities,
    exception,
    feature,
    feature_type,
    ows_document,
)


class Behaviour(StrEnum):
    """How a service answers."""

    VALID = "valid"
    WRONG_TYPE = "wrong-type"
    """Valid, sent as text/html."""
    BOM = "bom"
    """Valid, with a byte order mark before the declaration."""
    UPPER_CASE = "upper-case"
    """Valid, but parameter names must be in upper case, as with QGIS Server."""
    GB18030 = "gb18030"
    """Valid, Chinese in GB18030 that is declared as GB2312."""
    EXCEPTION = "exception"
    HTML = "html"
    NOT_FOUND = "http-404"
    PROTECTED = "protected"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    OTHER_KIND = "other-kind"


_GOOD = {Behaviour.VALID, Behaviour.WRONG_TYPE, Behaviour.BOM, Behaviour.UPPER_CASE, Behaviour.GB18030}
_NORVALE: Box = (7.2, 46.1, 9.4, 47.8)
_QINGSHAN: Box = (108.35, 24.63, 114.25, 30.13)


@dataclass(frozen=True, slots=True)
class DemoService:
    """One address of a WMS."""

    address: str
    """Without request parameters."""
    title: str
    layers: tuple[tuple[str, str], ...]
    behaviour: Behaviour = Behaviour.VALID
    versions: tuple[str, ...] = ("1.1.1", "1.3.0")
    provider: str = "Norvale Mapping Office"
    keywords: tuple[str, ...] = ("WMS", "maps", "Norvale")
    box: Box = _NORVALE
    same_as: str = ""
    """Address of the service that answers here as well; '' for a service of its own."""
    allowed: bool = True
    """Whether robots.txt allows the address."""

    @property
    def valid(self) -> bool:
        """Return whether GetCapabilities returns that of a WMS."""
        return self.behaviour in _GOOD

    @property
    def reason(self) -> str:
        """Return the reason code of the correct verdict."""
        return "ok" if self.valid else str(self.behaviour)


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """An answer of the demo web."""

    status: int
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


def _themes(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower().replace(" ", "_"), name) for name in names)


def _chinese(address: str, title: str, layers: str, behaviour: Behaviour, *versions: str) -> DemoService:
    return DemoService(
        address,
        title,
        tuple((f"layer{number}", name) for number, name in enumerate(layers.split(), 1)),
        behaviour,
        versions or ("1.1.1", "1.3.0"),
        provider="青山省自然资源厅",
        keywords=("地图服务", "WMS", "青山省"),
        box=_QINGSHAN,
    )


_GEOSERVER = "http://maps.norvale-geoportal.example/geoserver"
_MAPSERVER = "http://maps.water-agency.example/cgi-bin"
_ARCGIS = "http://data.norvale-catalogue.example/arcgis/services"
_UNIVERSITY = "http://gis.uni-norvale.example"
_QINGSHAN_GIS = "http://gis.qingshan-map.example"

SERVICES: tuple[DemoService, ...] = (
    DemoService(f"{_GEOSERVER}/wms", "Norvale base map", _themes("Roads", "Rivers", "Places", "Boundaries")),
    DemoService(
        f"{_GEOSERVER}/ows",
        "Norvale base map",
        _themes("Roads", "Rivers", "Places", "Boundaries"),
        same_as=f"{_GEOSERVER}/wms",
    ),
    DemoService(f"{_GEOSERVER}/hydro/wms", "Norvale hydrography", _themes("Lakes", "Springs", "Catchments")),
    DemoService(f"{_GEOSERVER}/cadastre/wms", "Norvale cadastre", (), Behaviour.PROTECTED),
    DemoService(f"{_GEOSERVER}/archive/ows", "Norvale archive", (), Behaviour.EXCEPTION),
    DemoService(f"{_GEOSERVER}/terrain/wms", "Norvale terrain", _themes("Hillshade", "Contours"), versions=("1.3.0",)),
    DemoService(
        f"{_GEOSERVER}/draft/wms", "Norvale drafts", _themes("Draft zoning"), allowed=False
    ),  # its page is disallowed, and so is its address
    DemoService(
        "http://secure.norvale-geoportal.example/wms", "Norvale emergency maps", _themes("Shelters"), allowed=False
    ),
    DemoService(
        f"{_MAPSERVER}/mapserv?map=/srv/maps/rivers.map",
        "Rivers of the water agency",
        _themes("River axes", "River basins"),
        versions=("1.1.1",),
    ),
    DemoService(
        f"{_MAPSERVER}/mapserv?map=/srv/maps/floods.map",
        "Flood hazard maps",
        _themes("Flood 30 years", "Flood 100 years"),
    ),
    DemoService(f"{_MAPSERVER}/mapserv?map=/srv/maps/gauges.map", "Gauging stations", _themes("Gauges", "Wells")),
    DemoService(
        f"{_MAPSERVER}/mapserv?map=/srv/maps/soil.map",
        "Soil moisture",
        tuple((f"soil{number}", f"Soil moisture, depth {number} m") for number in range(1, 9)),
        Behaviour.TRUNCATED,
    ),
    DemoService(f"{_MAPSERVER}/mapserv?map=/srv/maps/closed.map", "Closed map", (), Behaviour.HTML),
    DemoService(
        f"{_MAPSERVER}/qgis_mapserv.fcgi?MAP=/srv/qgis/dams.qgs",
        "Dams and weirs",
        _themes("Dams", "Weirs"),
        Behaviour.UPPER_CASE,
    ),
    DemoService(
        f"{_MAPSERVER}/mapserv.exe?map=/srv/maps/quality.map",
        "Water quality",
        _themes("Sampling points"),
        Behaviour.WRONG_TYPE,
        versions=("1.1.1",),
    ),
    DemoService(f"{_ARCGIS}/Parcels/MapServer/WMSServer", "Parcels", _themes("Parcels", "Buildings")),
    DemoService(f"{_ARCGIS}/Transport/MapServer/WMSServer", "Transport", _themes("Railways", "Stations")),
    DemoService(f"{_ARCGIS}/Forest/MapServer/WMSServer", "Forest", (), Behaviour.NOT_FOUND),
    DemoService("http://data.norvale-catalogue.example/wms/landcover", "Land cover", (), Behaviour.HTML),
    DemoService(
        "http://data.norvale-catalogue.example/wms/population", "Population grid", _themes("Population"), Behaviour.BOM
    ),
    DemoService(f"{_UNIVERSITY}/mapproxy/service", "Aerial photographs", _themes("Aerial 1954", "Aerial 2019")),
    DemoService(f"{_UNIVERSITY}/cgi-bin/tilecache.cgi", "Tile cache of the laboratory", (), Behaviour.EXCEPTION),
    DemoService(f"{_UNIVERSITY}/elevation/wms?token=open-2024", "Elevation model", _themes("Elevation", "Slope")),
    DemoService(f"{_UNIVERSITY}/glacier/wms", "Glacier inventory", _themes("Glaciers 1850", "Glaciers 2016")),
    _chinese(
        f"{_QINGSHAN_GIS}:8090/iserver/services/map-roads/wms111/roads",
        "青山省交通地图服务",
        "高速公路 铁路 车站",
        Behaviour.VALID,
        "1.1.1",
    ),
    _chinese(
        f"{_QINGSHAN_GIS}:8090/iserver/services/map-water/wms130/water",
        "青山省水系地图服务",
        "河流 湖泊 水库",
        Behaviour.VALID,
        "1.3.0",
    ),
    _chinese(
        f"{_QINGSHAN_GIS}:6163/igs/rest/ogc/doc/landuse/WMSServer", "土地利用现状", "耕地 林地 草地", Behaviour.GB18030
    ),
    _chinese("http://www.qingshan-map.example/ows/image", "青山省影像地图", "卫星影像 航空影像", Behaviour.VALID),
    _chinese(f"{_QINGSHAN_GIS}/wms/boundary", "行政区划", "", Behaviour.EMPTY),
    _chinese(f"{_QINGSHAN_GIS}/geoserver/place/wms", "地名地址", "地名 门牌", Behaviour.OTHER_KIND),
)


def find_service(host: str, path: str, query: str) -> DemoService | None:
    """Return the service at an address: same host, port and path, and the query contains the service's parameters."""
    query_values = {name.lower(): value for name, value in parse_qsl(query, keep_blank_values=True)}
    services = _services_by_place().get((host, path), [])
    return next((service for service in services if _own_parameters(service) <= query_values.items()), None)


@cache
def _services_by_place() -> Mapping[tuple[str, str], list[DemoService]]:
    """Return the services at each host[:port] and path."""
    services: dict[tuple[str, str], list[DemoService]] = {}
    for service in SERVICES:
        parts = urlsplit(service.address)
        services.setdefault((parts.netloc, parts.path), []).append(service)
    return services


def _own_parameters(service: DemoService) -> Set[tuple[str, str]]:
    """Return the parameters, names in lower case and values, that belong to a service's address."""
    return {(name.lower(), value) for name, value in parse_qsl(urlsplit(service.address).query)}


def answer(service: DemoService, query: str) -> DemoAnswer:
    """Return the answer of a service to a request with this query."""
    raw = parse_qsl(query, keep_blank_values=True)
    query_values = {name.lower(): value for name, value in raw}
    if service.behaviour in _REFUSALS:
        return _REFUSALS[service.behaviour]
    if service.behaviour is Behaviour.UPPER_CASE and not _has_upper_case(raw):
        return _xml(exception("Service unknown or unsupported"))
    if service.behaviour is Behaviour.OTHER_KIND or query_values.get("service", "").lower() == "wfs":
        return _xml(_features(service, query_values))
    request = query_values.get("request", "").lower()
    if request in ("getcapabilities", "capabilities"):
        return _document(service, query_values.get("version") or query_values.get("wmtver") or "")
    if request in ("getmap", "map"):
        place = place_of("", query_values, service.box)
        sides = query_values.get("width", ""), query_values.get("height", "")
        return DemoAnswer(200, "image/png", draw_map(place, *sides, query_values.get("layers", "")))
    if request == "getlegendgraphic":
        return DemoAnswer(200, "image/png", draw_legend(query_values.get("layer", "")))
    if request == "getfeatureinfo":
        text = f"Layer '{query_values.get('query_layers', '')}'\n  Feature 1:\n    name = '{service.title}'\n"
        return DemoAnswer(200, "text/plain", text.encode())
    return _xml(exception("Missing or unknown parameter: request", "MissingParameterValue"))


def _features(service: DemoService, query_values: Mapping[str, str]) -> str:
    """Return the capabilities of the WFS at the address, which has the layers as types, a feature or the schema of a
    type."""
    request = query_values.get("request", "").lower()
    if request == "getfeature":
        return feature(_described(service), query_values)
    if request == "describefeaturetype":
        return feature_type(query_values.get("typenames", ""))
    return ows_document("wfs", _described(service))


def _described(service: DemoService) -> CapabilitiesContents:
    return CapabilitiesContents(
        title=service.title,
        abstract=f"{service.title}. {service.provider}.",
        keywords=service.keywords,
        provider=service.provider,
        address=service.same_as or service.address,
        layers=service.layers,
        box=service.box,
    )


def _document(service: DemoService, asked: str) -> DemoAnswer:
    described = _described(service)
    version = _negotiated(asked, service.versions)
    if service.behaviour is Behaviour.GB18030:
        text = capabilities(described, version, encoding="GB2312")
        return DemoAnswer(200, "text/xml", text.encode("gb18030"))
    text = capabilities(described, version)
    if service.behaviour is Behaviour.TRUNCATED:
        text = text[: text.index("<Layer queryable", text.index("<Layer queryable") + 1) + 60]
    if service.behaviour is Behaviour.BOM:
        text = "\ufeff" + text
    wrong = service.behaviour is Behaviour.WRONG_TYPE
    return DemoAnswer(200, "text/html" if wrong else "text/xml; charset=UTF-8", text.encode())


def _negotiated(asked: str, versions: tuple[str, ...]) -> str:
    """Return the version to answer with (WMS 1.3.0, 6.2.4): the requested one, else the next lower, else the lowest."""
    lower = [version for version in versions if version <= asked]
    return versions[-1] if not asked else lower[-1] if lower else versions[0]


def _has_upper_case(raw: Iterable[tuple[str, str]]) -> bool:
    return {"SERVICE", "REQUEST"} <= {name for name, _ in raw}


def _xml(text: str) -> DemoAnswer:
    return DemoAnswer(200, "text/xml; charset=UTF-8", text.encode())


def _page(title: str, text: str) -> bytes:
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body><p>{text}</p></body></html>".encode()


_REFUSALS: Mapping[Behaviour, DemoAnswer] = {
    Behaviour.EXCEPTION: _xml(exception("This service is not enabled")),
    Behaviour.HTML: DemoAnswer(200, "text/html", _page("Map", "The map could not be loaded. Please try later.")),
    Behaviour.NOT_FOUND: DemoAnswer(404, "text/html", _page("Not found", "There is nothing here.")),
    Behaviour.PROTECTED: DemoAnswer(
        401, "text/html", _page("Unauthorized", "Log in."), (("WWW-Authenticate", 'Basic realm="maps"'),)
    ),
    Behaviour.EMPTY: DemoAnswer(200, "text/xml", b""),
}
