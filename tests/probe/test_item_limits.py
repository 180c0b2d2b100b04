"""Documents with more items than any real service has: every kind reads so many, and leaves the rest out."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from geocrawl.formats.json import MAX_ITEMS, lines
from geocrawl.formats.xml import MAX_TEXTS
from geocrawl.model import Kind, Service
from geocrawl.ports import Probe
from geocrawl.probe.kinds.tms import MAX_MAPS
from geocrawl.probe.kinds.wms.probe import WmsProbe
from geocrawl.probe.kinds.wmsc import MAX_TILE_SETS
from geocrawl.probe.registry import probe_of
from tests.probe.json_answers import Body, answer, ask

HOST = "http://many.example.org"
MORE = MAX_ITEMS + 3


def numbers() -> range:
    return range(MORE)


def stac_collections() -> Body:
    return {"stac_version": "1.0.0", "type": "Catalog", "id": "a", "description": "b", "links": [],
            "collections": [{"id": str(n), "extent": {}} for n in numbers()]}  # fmt: skip


def stac_children() -> Body:
    links = [{"rel": "child", "href": f"./{n}/catalog.json"} for n in numbers()]
    return {"stac_version": "1.0.0", "type": "Catalog", "id": "a", "description": "b", "links": links}


def ogcapi_collections() -> Body:
    links = [{"rel": "conformance", "href": "/conformance"}, {"rel": "data", "href": "/collections"}]
    conformance = ["http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core"]
    listed = [{"id": str(n), "extent": {}, "links": []} for n in numbers()]
    return {"title": "a", "links": links, "conformsTo": conformance, "collections": listed}


def arcgis_services() -> Body:
    return {"currentVersion": 10.9, "folders": [], "services": [{"name": f"s{n}", "type": "X"} for n in numbers()]}


def arcgis_folders() -> Body:
    return {"currentVersion": 10.9, "folders": [f"f{n}" for n in numbers()], "services": []}


def arcgis_layers() -> Body:
    layers = [{"id": n, "name": f"l{n}"} for n in numbers()]
    return {"currentVersion": 10.9, "mapName": "a", "singleFusedMapCache": False, "layers": layers, "tables": []}


def vector_layers() -> Body:
    return {"tilejson": "3.0.0", "tiles": ["/{z}/{x}/{y}.pbf"], "vector_layers": [{"id": str(n)} for n in numbers()]}


def tile_maps() -> Body:
    maps = "".join(f'<TileMap href="{n}" title="a" srs="EPSG:3857"/>' for n in numbers())
    return f'<TileMapService version="1.0.0"><TileMaps>{maps}</TileMaps></TileMapService>'


def tile_map_services() -> Body:
    services = "".join(f'<TileMapService href="{n}" title="a"/>' for n in numbers())
    return f'<?xml version="1.0"?><Services>{services}</Services>'


def tile_sets() -> Body:
    sets = "".join(f"<TileSet><SRS>EPSG:3857</SRS><Layers>{n}</Layers></TileSet>" for n in numbers())
    inner = f"<Capability><VendorSpecificCapabilities>{sets}</VendorSpecificCapabilities></Capability>"
    return f'<WMT_MS_Capabilities version="1.1.1"><Service><Title>a</Title></Service>{inner}</WMT_MS_Capabilities>'


CASES: list[tuple[Probe, str, Callable[[], Body], int]] = [
    (probe_of(Kind.STAC), "/stac/catalog.json", stac_collections, MAX_ITEMS),
    (probe_of(Kind.STAC), "/stac/catalog.json", stac_children, MAX_ITEMS),
    (probe_of(Kind.OGCAPI), "/", ogcapi_collections, MAX_ITEMS),
    (probe_of(Kind.ARCGIS), "/arcgis/rest/services", arcgis_services, MAX_ITEMS),
    (probe_of(Kind.ARCGIS), "/arcgis/rest/services", arcgis_folders, MAX_ITEMS),
    (probe_of(Kind.ARCGIS), "/arcgis/rest/services/a/MapServer", arcgis_layers, MAX_ITEMS + 1),
    (probe_of(Kind.TILEJSON), "/tiles.json", vector_layers, MAX_ITEMS + 1),
    (probe_of(Kind.TMS), "/tms/1.0.0/", tile_maps, MAX_MAPS),
    (probe_of(Kind.TMS), "/tms/", tile_map_services, MAX_MAPS),
    (probe_of(Kind.WMSC), "/wmsc", tile_sets, MAX_TILE_SETS),
]
"""Probe, path, document, and the items that are read: a whole above the items counts, too."""


def service_of(probe: Probe, path: str, body: Body) -> Service:
    content_type = "text/xml" if isinstance(body, str) else "application/json"
    verdict, _ = ask(probe, HOST + path, {"*": answer(body, content_type=content_type)})
    assert verdict.service is not None, verdict
    return verdict.service


@pytest.mark.parametrize(("probe", "path", "body", "most"), CASES, ids=[case[2].__name__ for case in CASES])
def test_items_past_the_limit_are_left_out(probe: Probe, path: str, body: Callable[[], Body], most: int) -> None:
    assert len(service_of(probe, path, body()).layers) == most


def test_lists_of_texts_are_bounded_in_json() -> None:
    assert len(lines([str(n) for n in numbers()])) == MAX_ITEMS
    assert len(lines(",".join(str(n) for n in numbers()))) == MAX_ITEMS
    stac = {"stac_version": "1.0.0", "type": "Collection", "id": "a", "description": "b", "links": [], "extent": {}}
    found = service_of(probe_of(Kind.STAC), "/stac/collection.json", {**stac, "keywords": [str(n) for n in numbers()]})
    assert len(found.keywords) == MAX_ITEMS
    collection = {"id": "a", "extent": {}, "links": [], "crs": [f"EPSG:{n}" for n in numbers()]}
    body = {"title": "a", "links": [], "conformsTo": ["http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core"]}
    (layer,) = service_of(probe_of(Kind.OGCAPI), "/", {**body, "collections": [collection]}).layers
    assert len(layer.crs) <= MAX_ITEMS


def test_lists_of_texts_are_bounded_in_xml() -> None:
    keywords = "".join(f"<Keyword>{n}</Keyword>" for n in range(MAX_TEXTS + 3))
    service = f"<Service><Name>WMS</Name><Title>a</Title><KeywordList>{keywords}</KeywordList></Service>"
    layer = "<Capability><Layer><Title>a</Title><Layer><Name>b</Name><Title>b</Title></Layer></Layer></Capability>"
    body = f'<WMS_Capabilities version="1.3.0">{service}{layer}</WMS_Capabilities>'
    assert len(service_of(WmsProbe(), "/wms", body).keywords) == MAX_TEXTS


def test_tile_sets_of_one_layer_are_joined_in_time_that_grows_with_their_number() -> None:
    sets = "".join(f"<TileSet><SRS>EPSG:{n}</SRS><Layers>a</Layers></TileSet>" for n in numbers())
    inner = f"<Capability><VendorSpecificCapabilities>{sets}</VendorSpecificCapabilities></Capability>"
    body = f'<WMT_MS_Capabilities version="1.1.1"><Service><Title>a</Title></Service>{inner}</WMT_MS_Capabilities>'
    (layer,) = service_of(probe_of(Kind.WMSC), "/wmsc", body).layers
    assert len(layer.crs) == MAX_TILE_SETS
