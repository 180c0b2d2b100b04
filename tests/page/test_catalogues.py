"""Catalogues in JSON and RDF: what they name, and which page comes next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import Graph

from geocrawl.page.json import read_data
from tests.page.records import RECORDED, following, kinds, named, recorded
from tests.support.pages import read, url

CKAN = "https://data.gov.au/data/api/3/action/package_search?rows=1&start=0"
PORTAL = "https://portal.spatial.nsw.gov.au/portal/sharing/rest/search?q=x&num=3&start=1"
GA = "http://services.ga.gov.au/gis/services/Judicial_Courts/MapServer"


def of_json(data: Any, address: str) -> list[str]:
    """The next pages of an answer."""
    return following(read(json.dumps(data), "application/json", address))


# --------------------------------------------------------------------------- CKAN


def test_a_search_of_ckan_names_services_by_their_format() -> None:
    document = recorded("ckan-search.json", CKAN)
    place = "https://data.gov.au/geoserver/murray-darling-basin-water-resource-plan-areas-surface-water"
    assert kinds(document) == {("wms", f"{place}/wms?request=GetCapabilities"), ("wfs", f"{place}/wfs")}
    link = named(document, "/wfs")
    assert link.anchor.startswith("Murray-Darling Basin Water Resource Plan Areas – Surface Water")
    assert link.context.startswith("Murray-Darling Basin Authority WFS API Link")
    assert link.where == "ckan"


def test_a_search_of_ckan_leads_to_its_next_page_until_its_count_is_reached() -> None:
    assert following(recorded("ckan-search.json", CKAN)) == [CKAN.replace("start=0", "start=1")]
    assert following(recorded("ckan-search.json", CKAN.replace("start=0", "start=2"))) == []


def test_a_field_of_a_resource_of_ckan_that_names_a_kind_is_a_service_of_it() -> None:
    resource = {
        "url": "https://c.example/preview.png",
        "format": "PNG",
        "wms_api_url": "https://m.example/a",
        "WFS_URL": "https://m.example/b",
        "cache_url": "https://c.example/wms.zip",
        "wms_url": "",
    }
    found = {"success": True, "result": {"count": 1, "results": [{"title": "Lakes", "resources": [resource]}]}}
    document = read(json.dumps(found), "application/json", CKAN)
    assert kinds(document) == {("wms", "https://m.example/a"), ("wfs", "https://m.example/b")}


def test_a_list_of_names_leads_to_one_search() -> None:
    address = "https://c.example/ckan/api/3/action/package_list"
    (page,) = of_json({"help": "", "success": True, "result": ["a", "b"]}, address)
    assert page.startswith("https://c.example/ckan/api/3/action/package_search?rows=100&start=0")


def test_a_portals_items_name_services_by_their_type() -> None:
    document = recorded("arcgis-search.json", PORTAL)
    assert {kind for kind, _ in kinds(document)} == {"arcgis", "wfs"}
    assert len(kinds(document)) == 3
    assert named(document, "WFSServer").context.startswith("NSW Rural Fires Service 2019")


def test_a_portals_search_ends_where_it_says_and_never_goes_back() -> None:
    data = json.loads((RECORDED / "arcgis-search.json").read_text("utf-8"))
    assert of_json(data, PORTAL) == []
    assert of_json({**data, "nextStart": 4}, PORTAL) == [PORTAL.replace("start=1", "start=4")]
    assert of_json({**data, "nextStart": 4}, PORTAL.replace("start=1", "start=4")) == []


@pytest.mark.shared
def test_a_recorded_folder_lists_its_services(shared: Path) -> None:
    body = (shared / "corpus/documents/arcgis/terriajs_services.json").read_bytes()
    document = read(body, "application/json", "http://a.example/arcgis/rest/services?f=json")
    assert ("arcgis", "http://a.example/arcgis/rest/services/CensusMS/MapServer") in kinds(document)
    assert (len(kinds(document)), len(following(document))) == (7, 2)


def test_folders_are_pages_of_records_and_their_services_stand_beneath_the_root() -> None:
    data = {"currentVersion": 10.9, "folders": ["Water"], "services": [{"name": "Water/Lakes", "type": "MapServer"}]}
    document = read(json.dumps(data), "application/json", "http://a.example/arcgis/rest/services/Water?f=pjson")
    assert kinds(document) == {("arcgis", "http://a.example/arcgis/rest/services/Water/Lakes/MapServer")}
    assert following(document) == ["http://a.example/arcgis/rest/services/Water?f=json"]


# --------------------------------------------------------------------------- GeoNetwork


def test_geonetworks_search_names_links_by_their_protocol_and_goes_on() -> None:
    address = "http://g.example/geonetwork/srv/eng/q?_content_type=json&fast=index&from=1&to=2"
    metadata = [
        {"title": "Radar", "link": "imos:radar|Stations|http://g.example/wms|OGC:WMS-1.1.1-http-get-map|x|1"},
        {"defaultTitle": "Lakes", "link": ["a|b|http://g.example/ows|OGC:WFS|x|1", "broken"]},
    ]
    document = read(
        json.dumps({"@from": "1", "@to": "2", "summary": {"@count": "3"}, "metadata": metadata}),
        "application/json",
        address,
    )
    assert kinds(document) == {("wms", "http://g.example/wms"), ("wfs", "http://g.example/ows")}
    assert following(document) == [address.replace("from=1&to=2", "from=3&to=4")]


# --------------------------------------------------------------------------- STAC, OGC API


@pytest.mark.shared
def test_recorded_records_of_an_ogc_api_name_their_services(shared: Path) -> None:
    body = (shared / "corpus/documents/other/ogc-client_items.json").read_bytes()
    document = read(body, "application/geo+json", "http://o.example/collections/c/items?limit=10")
    assert {kind for kind, _ in kinds(document)} >= {"wms", "wfs"}
    link = named(document, "geoserver/wms?SERVICE=WMS")
    assert (link.anchor, link.where) == ("Kaartboeck 1635 geo:kaartboeck", "records")


def test_collections_of_records_lead_to_their_items_and_items_to_the_next_page() -> None:
    links = [{"rel": "items", "type": "application/geo+json", "href": "/collections/r/items"}]
    collections = {"links": [], "collections": [{"id": "r", "itemType": "record", "links": links}, {"links": links}]}
    assert of_json(collections, "http://o.example/collections") == ["http://o.example/collections/r/items"]
    page = {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "properties": {"type": "dataset"}, "links": []}],
        "links": [{"rel": "next", "href": "/collections/r/items?offset=10"}],
    }
    assert of_json(page, "http://o.example/collections/r/items") == ["http://o.example/collections/r/items?offset=10"]


def test_features_of_a_map_are_no_records() -> None:
    page = {
        "type": "FeatureCollection",
        "features": [{"type": "Feature", "properties": {"name": "x"}}],
        "links": [{"rel": "next", "href": "/collections/r/items?offset=10"}],
    }
    assert of_json(page, "http://o.example/collections/r/items") == []


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("pystac_catalog-3.json", 2),
        ("pystac_catalog-4.json", 2),
        ("pystac_catalog.json", 1),
        ("ogc-client_root.json", 1),
    ],
)
def test_recorded_stac_catalogues_lead_to_their_children(shared: Path, name: str, pages: int) -> None:
    body = (shared / "corpus/documents/stac" / name).read_bytes()
    assert len(following(read(body, "application/json", "http://s.example/catalog.json"))) == pages


# --------------------------------------------------------------------------- OWS Context


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("owslib_newzealand-overview.json", {"wms", "csw"}),
        ("owslib_sac-casestudies.json", {"wms", "csw"}),
        ("owslib_from-meta-resource.json", {"csw"}),
        ("owslib_csw_10entries.xml", {"csw", "wfs"}),
        ("owslib_meris_noauthor.xml", {"wms"}),
    ],
)
def test_recorded_contexts_name_the_services_of_their_offerings(shared: Path, name: str, found: set[str]) -> None:
    document = read((shared / "corpus/documents/other" / name).read_bytes(), "")
    assert {kind for kind, _ in kinds(document)} == found
    assert {"owc"} <= {link.where for link in document.links if link.kind} <= {"owc", "feed"}


# --------------------------------------------------------------------------- DCAT

FORMS = {"turtle": "text/turtle", "xml": "application/rdf+xml", "json-ld": "application/ld+json"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "ga-wms.ttl",
            {("wms", f"{GA.replace('Judicial_Courts', 'DEM_SRTM_1Second_Hydro_Enforced')}/WMSServer")},
        ),
        ("eea-csw.ttl", {("csw", "http://sdi.eea.europa.eu/catalogue/srv/eng/csw")}),
        ("ga-courts.ttl", {("wms", f"{GA}/WMSServer"), ("wfs", f"{GA}/WFSServer")}),
    ],
)
def test_recorded_data_services_are_read_in_every_form_of_rdf(
    form: str, name: str, expected: set[tuple[str, str]]
) -> None:
    graph = Graph().parse(RECORDED / name, format="turtle")
    document = read(graph.serialize(format=form), FORMS[form], "http://d.example/catalog")
    assert expected <= kinds(document)
    assert {link.where for link in document.links if link.kind} == {"dcat"}


def test_a_data_services_publisher_and_title_go_with_it() -> None:
    link = named(recorded("eea-csw.ttl", "http://d.example/c.ttl", "text/turtle"), "GetCapabilities")
    assert link.anchor.startswith("European Environment Agency's public catalogue")
    assert link.context == "European Environment Agency"


def test_a_paged_catalogue_leads_to_its_next_page() -> None:
    text = (
        "@prefix hydra: <http://www.w3.org/ns/hydra/core#> .\n"
        "<http://d.example/catalog.ttl?page=1> a hydra:PagedCollection ;\n"
        "  hydra:nextPage <http://d.example/catalog.ttl?page=2> .\n"
    )
    document = read(text, "text/turtle", "http://d.example/catalog.ttl?page=1")
    assert following(document) == ["http://d.example/catalog.ttl?page=2"]


def test_contexts_and_entities_are_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetched(*arguments: object, **options: object) -> None:
        raise AssertionError(f"asked the network: {arguments}")

    monkeypatch.setattr("socket.socket.connect", fetched)
    monkeypatch.setattr("urllib.request.urlopen", fetched)
    data = {
        "@context": ["https://www.w3.org/ns/dcat.jsonld", {"@import": "http://x.example/c", "dcat": "http://d/"}],
        "@graph": [{"@id": "http://d/1", "dcat:accessURL": "http://m.example/ows", "dcat:format": "WMS"}],
    }
    assert kinds(read(json.dumps(data), "application/ld+json")) == {("wms", "http://m.example/ows")}
    xml = (
        '<?xml version="1.0"?><!DOCTYPE r SYSTEM "http://x.example/a.dtd" [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://d/">'
        '<rdf:Description d:title="&f;"><d:accessURL rdf:resource="http://m.example/x"/></rdf:Description></rdf:RDF>'
    )
    assert "root:" not in str(read(xml, "application/rdf+xml"))


def test_the_data_json_of_a_government_names_services() -> None:
    data = {
        "@context": "https://project-open-data.cio.gov/v1.1/schema/catalog.jsonld",
        "dataset": [
            {
                "title": "Soils",
                "publisher": {"name": "USDA"},
                "distribution": [
                    {"accessURL": "https://m.example/arcgis/rest/services/soils/MapServer", "format": "Esri REST"},
                    {"accessURL": "https://m.example/soils", "format": "OGC WMS"},
                    {"downloadURL": "https://m.example/soils.csv", "mediaType": "text/csv"},
                ],
            }
        ],
    }
    document = read(json.dumps(data), "application/json")
    assert {kind for kind, _ in kinds(document)} == {"arcgis", "wms"}
    assert named(document, "/soils").anchor == "Soils Esri REST"
    assert named(document, ".csv").context == "USDA"


# --------------------------------------------------------------------------- anything else


def test_json_of_no_catalogue_has_its_keys_and_no_links() -> None:
    document = read('\ufeff{"tilejson": "2.0.0", "tiles": []}', "application/json")
    assert (document.json_keys, document.links) == (("tilejson", "tiles"), ())
    assert read("[" * 100_000, "application/json").links == ()


_NAMES = (
    "result results success links href rel features properties collections services folders metadata summary link "
    "dataset distribution offerings operations @graph resources url nextStart num type title accessURL name"
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.just("http://x.example/"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(_NAMES.split()),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(_JSON)
def test_any_json_is_read(data: Any) -> None:
    read_data(json.dumps(data), url(CKAN), max_links=50)
