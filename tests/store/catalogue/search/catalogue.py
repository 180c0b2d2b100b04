"""A small catalogue to search, with what is needed to tell good answers from others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from shapely.geometry import box

from geocrawl.model import Candidate, Endpoint, Evidence, Kind, Layer, Service
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.urls import endpoint_key, read_url
from tests.support.world import World, verdict

BAVARIA, FRANCE, FIJI = (9.0, 47.3, 13.8, 50.5), (-4.8, 41.3, 9.6, 51.1), (177.0, -19.2, 180.0, -16.1)
SERVICES = {
    "http://geo.bayern.de/geoserver/soil/wms": ("Bodentypen", "Landesamt für Umwelt", ("Böden",), BAVARIA),
    "http://geo.bayern.de/geoserver/soil/wfs": ("Bodentypen zum Laden", "Landesamt für Umwelt", ("Böden",), BAVARIA),
    "http://sols.gouv.fr/sols/wms": ("Carte des sols de France", "Service des sols", ("sols",), FRANCE),
    "http://gis.example/arcgis/rest/services/Forest/MapServer": ("Forest", "Forest Office", ("Woods",), None),
    "http://gis.example/arcgis/services/Forest/MapServer/WMSServer": ("Forest maps", "Forest Office", ("Woods",), None),
    "http://maps.example.cn/landuse/wms": ("全国土地利用数据", "自然资源厅", ("耕地",), (73.6, 18.2, 134.8, 53.6)),
    "http://fiji.example/reef/wms": ("Coral reefs", "Lands Department", ("LandUse2018", "reef_zones"), FIJI),
    "http://old.example/roads/wms?token=geheim123": ("Roads", "Road Office", ("Straßennetz",), None),
    "http://new.example/roads/wms": ("Roads", "Road Office", ("Straßennetz",), None),
}
LICENCES = {
    "http://fiji.example/reef/wms": "CC BY 4.0",
    "http://sols.gouv.fr/sols/wms": "Licence Ouverte 2.0",
    "http://new.example/roads/wms": "none",
}
"""Address → what it says of access constraints."""


def kind_of(address: str) -> Kind:
    """Return the kind that an address of `SERVICES` names."""
    for kind in (Kind.WFS, Kind.ARCGIS):
        if f"/{kind}" in address and not address.lower().endswith("wmsserver"):
            return kind
    return Kind.WMS


def service(title: str, provider: str, layers: tuple[str, ...], extent: tuple[float, ...] | None) -> Service:
    """Return a description of a service."""
    shape = box(*extent) if extent else None
    return Service(
        Kind.WMS,
        "1.3.0",
        title,
        provider=provider,
        layers=tuple(Layer(name, name, crs=("EPSG:4326", "EPSG:25832"), box=shape) for name in layers),
        formats=("image/png",),
        fingerprint=title,
    )


def record(world: World, address: str, described: Service | None, reason: str = "ok") -> int:
    """Write that an endpoint was probed; return its id."""
    world.clock.time += 1
    url = read_url(address)
    assert url is not None
    endpoint = Endpoint(kind_of(address), endpoint_key(url), url)
    candidate = Candidate(endpoint, Evidence("query", "http://pages.example/", address, "to the geoportal"))
    if described is not None:
        described = replace(described, kind=endpoint.kind)
    return world.record(candidate, verdict(reason, described), world.clock.now())


def filled(path: Path | str) -> World:
    """Return a world with all `SERVICES`; the old roads have failed since."""
    world = World(path)
    for address, about in SERVICES.items():
        record(world, address, replace(service(*about), access_constraints=LICENCES.get(address, "")))
    record(world, "http://old.example/roads/wms?token=geheim123", None, "http-404")
    return world


def engine_of(world: World) -> SearchEngine:
    """Return an engine on the world's own connection."""
    return search_engine(world.database.connection)
