"""Services of the other kinds, by the members of a network of mapping offices in six countries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from geocrawl.demo import rest_documents as rest
from geocrawl.demo.maps import draw_map, place_of
from geocrawl.demo.ows_documents import (
    Box,
    CapabilitiesContents,
    coverage,
    exception,
    feature,
    feature_type,
    ows_document,
    records,
    tile_sets,
)
from geocrawl.demo.services import DemoAnswer
from geocrawl.model.kinds import service_parameter


@dataclass(frozen=True, slots=True)
class Office:
    """A member of the network."""

    name: str
    host: str
    box: Box
    systems: tuple[str, ...]
    licence: str
    services: tuple[KindService, ...]


@dataclass(frozen=True, slots=True)
class KindService:
    """A service of one kind, which is valid and delivers what its kind's proof asks for."""

    kind: str
    path: str
    title: str
    abstract: str
    keywords: str
    items: str
    """Titles of its layers, types, coverages …, parted by semicolons."""

    def described(self, office: Office) -> CapabilitiesContents:
        """Return what its documents say."""
        return CapabilitiesContents(
            title=self.title,
            abstract=self.abstract,
            keywords=tuple(self.keywords.split("; ")),
            provider=office.name,
            address=self.address(office),
            layers=tuple((_name(title, n), title) for n, title in enumerate(self.items.split("; "), 1)),
            box=office.box,
            systems=office.systems,
            licence=office.licence,
            mail=f"maps@{office.host.partition('.')[2]}",
        )

    def address(self, office: Office) -> str:
        """Return its address without parameters."""
        return f"http://{office.host}{self.path}"

    def link(self, office: Office) -> str:
        """Return the address as a page gives it: of a kind that is asked by queries, that of its capabilities."""
        tiled = "&version=1.1.1&tiled=true" if self.kind == "wmsc" else ""
        parameter = service_parameter(self.kind)
        return self.address(office) + (f"?service={parameter}&request=GetCapabilities{tiled}" if parameter else "")


def _name(title: str, number: int) -> str:
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_") or f"item{number}"


OFFICES: tuple[Office, ...] = (
    Office(
        "Sandhaven Harbour Authority",
        "maps.sandhaven-harbour.example",
        (174.2, -37.4, 175.6, -36.2),
        ("EPSG:3857", "EPSG:2193"),
        "CC BY 4.0",
        (
            KindService(
                "wmts",
                "/charts/wmts",
                "Harbour charts",
                "Nautical charts of the harbour and its approaches as tiles, renewed each month.",
                "charts; harbour; bathymetry",
                "Soundings; Fairways; Anchorages",
            ),
            KindService(
                "tms",
                "/tms/1.0.0",
                "Coast tiles",
                "Aerial photographs of the coast and the tidal flats as a tile map service.",
                "coast; aerial photographs",
                "Coast 2018; Coast 2023",
            ),
        ),
    ),
    Office(
        "Tarika Land Survey",
        "data.tarika-survey.example",
        (37.0, 0.2, 38.0, 1.0),
        ("EPSG:4326", "EPSG:21037"),
        "Open Database License",
        (
            KindService(
                "wfs",
                "/survey/wfs",
                "Land parcels and roads",
                "Parcels of the land register and the road network as features.",
                "parcels; land register; roads",
                "Parcels; Roads; Survey points",
            ),
            KindService(
                "ogcapi",
                "/ogcapi/town",
                "Buildings and addresses of the town",
                "Outlines of buildings, entrances and schools for the planning of the town.",
                "buildings; addresses; schools",
                "Buildings; Addresses; Schools",
            ),
        ),
    ),
    Office(
        "Institute of Waters of Rio Manso",
        "sensors.rio-manso.example",
        (-56.5, -15.8, -54.9, -14.6),
        ("EPSG:4674", "EPSG:4326"),
        "CC BY-SA 4.0",
        (
            KindService(
                "sos",
                "/service/sos",
                "Observations of rivers and rain",
                "Water levels and rainfall of forty stations, every fifteen minutes.",
                "water level; rainfall; stations",
                "Water levels; Rainfall; Discharge",
            ),
            KindService(
                "sensorthings",
                "/sensorthings/v1.1",
                "Air of the valley",
                "Temperature, humidity and fine dust of twelve stations.",
                "air; temperature; humidity",
                "Temperature; Humidity; Fine dust",
            ),
            KindService(
                "sps",
                "/service/sps",
                "Flood cameras",
                "Cameras at bridges that take a picture when they are asked to.",
                "flood; cameras",
                "Camera north bridge; Camera south bridge",
            ),
        ),
    ),
    Office(
        "Ministry of Forests of Lac-Clair",
        "donnees.lac-clair.example",
        (-73.2, 52.4, -71.4, 53.6),
        ("EPSG:32198", "EPSG:4326"),
        "CC BY 4.0",
        (
            KindService(
                "wcs",
                "/forest/wcs",
                "Forest inventory",
                "Height, biomass and age of the forests as coverages of 20 metres.",
                "forest; biomass; inventory",
                "Tree height; Biomass; Stand age",
            ),
            KindService(
                "stac",
                "/stac",
                "Satellite images of the forests",
                "Mosaics of each summer, and the scenes of which they were made.",
                "satellite images; forest; mosaics",
                "Summer mosaics; Winter scenes",
            ),
        ),
    ),
    Office(
        "Fjordholm Mapping Authority",
        "kart.fjordholm.example",
        (9.2, 60.2, 11.6, 61.3),
        ("EPSG:25832", "EPSG:4326"),
        "Norwegian Licence for Open Government Data",
        (
            KindService(
                "csw",
                "/metadata/csw",
                "Catalogue of the mapping network",
                "Records of the services of all members of the network.",
                "catalogue; metadata; network",
                "",
            ),
            KindService(
                "arcgis",
                "/arcgis/rest/services/Mountains/MapServer",
                "Ski trails and avalanches",
                "Marked trails, huts and slopes where avalanches are to be expected.",
                "trails; avalanches; mountains",
                "Ski trails; Huts; Avalanche slopes",
            ),
        ),
    ),
    Office(
        "朝比奈県 県土地図室",
        "chizu.asahina-pref.example",
        (138.3, 35.2, 139.2, 36.0),
        ("EPSG:6668", "EPSG:3857"),
        "CC BY 4.0",
        (
            KindService(
                "wmsc",
                "/relief/wms",
                "朝比奈県 陰影起伏図",
                "標高データから作成した陰影起伏図と傾斜量図。",
                "標高; 地形; 陰影起伏図",
                "陰影起伏図; 傾斜量図",
            ),
            KindService(
                "tilejson",
                "/vector/tiles.json",
                "朝比奈県 基本図",
                "道路、建物、水域のベクトルタイル。",
                "基本図; ベクトルタイル",
                "道路; 建物; 水域",
            ),
            KindService(
                "wps",
                "/analysis/wps",
                "Terrain analysis",
                "Profiles, visibility and catchments computed from the elevation model of the prefecture.",
                "terrain; analysis; elevation",
                "Profile; Visibility; Catchment",
            ),
        ),
    ),
)


def find_kind(host: str, path: str) -> tuple[KindService, Office, str] | None:
    """Return the service at an address, its office, and what the path has below the service's."""
    for office in OFFICES:
        for service in office.services if office.host == host else ():
            if path.rstrip("/") == service.path:
                return service, office, ""
            folder = service.path.removesuffix("/tiles.json")  # its tiles are next to it
            if service.kind in rest.BY_PATH and path.startswith(f"{folder}/"):
                return service, office, path[len(folder) + 1 :].strip("/")
    return None


def answer_of(service: KindService, office: Office, below: str, query: str) -> DemoAnswer:
    """Return the answer of a service to a request with this query."""
    parameters = {name.lower(): value for name, value in parse_qsl(query, keep_blank_values=True)}
    described = service.described(office)
    request = parameters.get("request", "").lower()
    if service.kind == "tilejson" and _TILE.search(below):
        return DemoAnswer(200, "application/vnd.mapbox-vector-tile", rest.vector_tile(described))
    if _TILE.search(below) or request in ("gettile", "getmap", "getcoverage") or below == "export":
        width, _, height = parameters.get("size", "256,256").partition(",")
        sides = parameters.get("width", width), parameters.get("height", height)
        place = place_of(below, parameters, office.box, is_from_below=service.kind == "tms")
        theme = next((parameters[name] for name in _THEMES if name in parameters), f"{service.title}{below[:8]}")
        return DemoAnswer(200, "image/png", draw_map(place, *sides, theme))
    by_path = rest.BY_PATH.get(service.kind)
    document = by_path(described, below) if by_path is not None else _by_query(service, described, parameters)
    if document is None:
        return DemoAnswer(404, "text/html", b"<!DOCTYPE html><title>Not found</title><p>There is nothing here.</p>")
    if isinstance(document, str):
        return DemoAnswer(200, "text/xml; charset=UTF-8", document.encode())
    return DemoAnswer(200, "application/json", rest.as_json(document))


def _by_query(service: KindService, described: CapabilitiesContents, parameters: Mapping[str, str]) -> str | None:
    request = parameters.get("request", "").lower()
    if request == "getcapabilities":
        return tile_sets(described) if service.kind == "wmsc" else ows_document(service.kind, described)
    if request == "getfeature":
        return feature(described, parameters)
    if request == "describefeaturetype":
        return feature_type(parameters.get("typenames", ""))
    if request == "describecoverage":
        return coverage(described, parameters.get("coverageid", ""))
    if request == "getrecords":
        listed = [(other, office) for office in OFFICES for other in office.services]
        return records((f"{office.host}:{other.kind}", other.title, other.link(office)) for other, office in listed)
    return exception("Missing or unknown parameter: request", "MissingParameterValue")


_THEMES = ("layers", "layer", "coverageid", "coverage")
"""Parameters that name what a map shows."""
_TILE = re.compile(r"(?:^|/)\d+/\d+/\d+\.(?:png|pbf)$")
