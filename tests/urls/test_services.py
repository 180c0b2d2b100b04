"""The service that an address of a part of it leads to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Kind
from geocrawl.urls import read_url, service_endpoint, service_keys

HOST = "https://gis.example.org"


def endpoint(kind: Kind, text: str) -> tuple[str, str]:
    read = read_url(HOST + text)
    assert read is not None
    found = service_endpoint(kind, read)
    return found.key.removeprefix("gis.example.org"), found.url.address.removeprefix(HOST)


@pytest.mark.parametrize(
    ("kind", "part", "service"),
    [
        (Kind.ARCGIS, "/arcgis/rest/services?f=pjson", "/arcgis/rest/services"),
        (Kind.ARCGIS, "/arcgis/rest/info?f=pjson", "/arcgis/rest/services"),
        (Kind.ARCGIS, "/arcgis/rest/services/Water?f=html", "/arcgis/rest/services/Water"),
        (Kind.ARCGIS, "/arcgis/rest/services/Water/Rivers/MapServer/3", "/arcgis/rest/services/Water/Rivers/MapServer"),
        (
            Kind.ARCGIS,
            "/a/rest/services/R/FeatureServer/0/query?where=1%3D1&outFields=*&f=json&token=ab",
            "/a/rest/services/R/FeatureServer?token=ab",
        ),
        (
            Kind.ARCGIS,
            "/a/rest/services/R/MapServer/WMTS/tile/1.0.0/R/default/d/3/2/1",
            "/a/rest/services/R/MapServer",
        ),
        (Kind.OGCAPI, "/ogcapi/collections/houses/items?limit=10&offset=20", "/ogcapi"),
        (Kind.OGCAPI, "/collections?f=json", "/"),
        (Kind.OGCAPI, "/ogc/collections/main/items?f=json&token=next:main:3&cursor=abc&owner=me", "/ogc"),
        (Kind.OGCAPI, "/wfs3/collections?MAP=/srv/a.qgs&apikey=k1&page_token=ZZ", "/wfs3?MAP=/srv/a.qgs&apikey=k1"),
        (Kind.OGCAPI, "/api/search/v1/collections/all/items", "/api/search/v1"),
        (Kind.STAC, "/stac/v1/collections/s2/items/1", "/stac/v1"),
        (Kind.STAC, "/stac/collections/s2/collection.json", "/stac/collections/s2/collection.json"),
        (Kind.TMS, "/gwc/service/tms/1.0.0/roads@EPSG:900913@png/3/2/1.png", "/gwc/service/tms/1.0.0"),
        (Kind.WMTS, "/wmts/1.0.0/roads/default/g/3/2/1.png", "/wmts/1.0.0/WMTSCapabilities.xml"),
        (Kind.WMTS, "/wmts?service=WMTS&request=GetTile&TileMatrix=3&layer=a", "/wmts"),
        (Kind.WMTS, "/tiles/1.0.0", "/tiles/1.0.0/WMTSCapabilities.xml"),
        (Kind.WMTS, "/tiles/1.0.0?Service=WMTS&Request=GetCapabilities", "/tiles/1.0.0"),
    ],
)
def test_a_part_leads_to_its_service(kind: Kind, part: str, service: str) -> None:
    assert endpoint(kind, part)[1] == service


def test_a_slash_at_the_end_is_no_other_service() -> None:
    assert endpoint(Kind.OGCAPI, "/ogcapi/water/") == ("/ogcapi/water", "/ogcapi/water/")
    assert endpoint(Kind.OGCAPI, "/ogcapi/water") == ("/ogcapi/water", "/ogcapi/water")
    assert endpoint(Kind.WMS, "/wms/")[0] != endpoint(Kind.WMS, "/wms")[0]


def test_all_identities_of_an_address_are_named() -> None:
    read = read_url(HOST + "/arcgis/rest/services/R/MapServer/3?f=json")
    assert read is not None
    assert "gis.example.org/arcgis/rest/services/R/MapServer" in service_keys(read)


@given(st.sampled_from(list(Kind)), st.text(max_size=80), st.text(max_size=80))
def test_the_service_of_a_service_is_itself(kind: Kind, path: str, query: str) -> None:
    read = read_url(f"{HOST}/{path}?{query}")
    if read is not None:
        once = service_endpoint(kind, read)
        assert service_endpoint(kind, once.url).key == once.key
