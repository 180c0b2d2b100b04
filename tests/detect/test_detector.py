"""Which addresses are candidates, how strongly, and for which endpoint."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.detect import Detector
from geocrawl.model import MOST_CANDIDATES, Candidate, Document, Kind, Link, Url
from geocrawl.model.kinds import HostForm, ParameterForm, PathForm
from geocrawl.probe.registry import declaration, declarations
from geocrawl.urls import read_url, service_endpoint

DETECTOR = Detector(declarations())
HOST = "http://maps.example.org"


def url(text: str) -> Url:
    found = read_url(text)
    assert found is not None
    return found


def candidate(text: str) -> Candidate | None:
    return DETECTOR.of_url(url(text))


def strong(text: str) -> str:
    found = candidate(text)
    assert found is not None
    assert not found.weak
    return found.endpoint.url.address


def page(*links: Link, xml_root: str = "", address: str = "http://www.example.org/page") -> Document:
    return Document(url(address), 0, 200, "text/html", "utf-8", "Page", "", links, xml_root=xml_root)


@pytest.mark.parametrize(
    "query",
    [
        "service=WMS&request=GetCapabilities",
        "SERVICE=wms&ReQuEsT=getcapabilities&VERSION=1.1.1",
        "request=GetCapabilities",
        "request=GetMap&layers=a&bbox=1,2,3,4",
        "REQUEST=GetFeatureInfo",
        "REQUEST=GetLegendGraphic&VERSION=1.0.0",
        "request=DescribeLayer",
        "request=GetStyles",
        "service=WMS&amp;request=GetCapabilities",
        "?service=WMS&request=GetCapabilities",
        "service=WMS&request=GetCapabilities&",
        "service=WMS?request=GetCapabilities",
        "service=%57MS&request=Get%43apabilities",
        "%73ervice=WMS&requ%65st=GetMap",
        "WMTVER=1.0.0&REQUEST=capabilities",
        "wmtver=1.0.0&request=map",
        "request=map&layers=a&bbox=1,2,3,4",
        "request=GetLegendGraphic%26version=1.3.0",
        "service%3DWMS%26request%3DGetCapabilities",
        "service=OGC:WMS&request=GetCapabilities",
    ],
)
def test_a_request_of_a_wms_is_a_candidate_in_any_spelling(query: str) -> None:
    assert strong(f"{HOST}/any?{query}") == f"{HOST}/any"


@pytest.mark.parametrize(
    "query",
    [
        "service=WTS&request=GetCapabilities",
        "service=cleaning&request=quote",
        "request=execute",
        "request=GetTile",
        "request=map",
        "request=help",
        "q=wms",
        "page=2",
        "customer_service=wms",
    ],
)
def test_a_request_of_anything_else_is_none(query: str) -> None:
    assert candidate(f"{HOST}/any?{query}") is None


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ("/any?service=WFS&request=GetCapabilities", Kind.WFS),
        ("/any?SERVICE=wfs&VERSION=2.0.0&REQUEST=GetFeature&typeNames=a:b", Kind.WFS),
        ("/any?request=DescribeFeatureType&typename=a", Kind.WFS),
        ("/any?service=WMTS&request=GetTile&tilematrix=3", Kind.WMTS),
        ("/any?request=GetTile&tilematrix=3&tilerow=1&tilecol=2", Kind.WMTS),
        ("/any?service=WCS&request=GetCapabilities&map=/a.map", Kind.WCS),
        ("/any?request=DescribeCoverage&coverage=a", Kind.WCS),
        ("/any?service=CSW&request=GetRecords", Kind.CSW),
        ("/any?request=GetRecordById&id=1", Kind.CSW),
        ("/any?service=WPS&request=Execute", Kind.WPS),
        ("/any?request=DescribeProcess&identifier=buffer", Kind.WPS),
        ("/any?service=SOS&request=GetObservation", Kind.SOS),
        ("/any?request=DescribeSensor", Kind.SOS),
        ("/geoserver/gwc/service/wmts?REQUEST=getcapabilities", Kind.WMTS),
        ("/geoserver/gwc/service/wmts?REQUEST=GetFeatureInfo", Kind.WMTS),
        ("/geoserver/wfs?REQUEST=GetCapabilities", Kind.WFS),
        ("/geoserver/wfs?service=WMS&REQUEST=GetCapabilities", Kind.WMS),
        ("/geoserver/ows?service=WFS&request=GetFeature", Kind.WFS),
        ("/geoserver/ows?request=GetCoverage", Kind.WCS),
        ("/geonetwork/srv/eng/csw?request=GetCapabilities", Kind.CSW),
        ("/wps/WebProcessingService?REQUEST=Execute", Kind.WPS),
    ],
)
def test_a_request_of_any_kind_is_a_candidate_of_that_kind(asked: str, kind: Kind) -> None:
    found = candidate(HOST + asked)
    assert found is not None
    assert (found.endpoint.kind, found.weak) == (kind, False)


def test_a_request_that_the_path_rules_out_is_none() -> None:
    assert candidate(f"{HOST}/geoserver/wms/kml?REQUEST=GetCapabilities") is None
    arcgis = candidate(f"{HOST}/arcgis/rest/services/A/MapServer?request=getmap")
    assert arcgis is not None
    assert (arcgis.endpoint.kind, arcgis.weak) == (Kind.ARCGIS, True)


def test_an_unknown_request_of_a_known_service_is_weak() -> None:
    found = candidate(f"{HOST}/any?SERVICE=WFS&REQUEST=DescribeAllFeatureType")
    assert found is not None
    assert (found.endpoint.kind, found.weak) == (Kind.WFS, True)


def test_vendor_parameters_stay_with_the_endpoint() -> None:
    asked = f"{HOST}/cgi-bin/mapserv?map=/data/a.map&token=Ab%2F1&SERVICE=WMS&REQUEST=GetMap&LAYERS=x&WIDTH=2"
    assert strong(asked) == f"{HOST}/cgi-bin/mapserv?map=/data/a.map&token=Ab%2F1"


def test_a_service_parameter_alone_is_weak() -> None:
    found = candidate("http://shop.example.com/software?service=WMS")
    assert found is not None
    assert found.weak


def known_servers() -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for each in declarations():
        forms: tuple[PathForm | ParameterForm | HostForm, ...] = (*each.paths, *each.parameters, *each.hosts)
        found += [(form.name, each.kind, form.example) for form in forms]
    return found


@pytest.mark.parametrize(("name", "kind", "example"), known_servers())
def test_every_known_server_is_recognised_by_its_example(name: str, kind: str, example: str) -> None:
    found = candidate(example)
    assert found is not None, name
    assert found.weak
    assert found.evidence.signal == "path"
    assert found.endpoint.kind == kind


@pytest.mark.parametrize(
    "address",
    [
        f"{HOST}/ows/",
        f"{HOST}/WMS",
        f"{HOST}/cgi-bin/mapserv.exe?map=c:/roads.map",
        f"{HOST}/arcgis/services/Images/ImageServer/WMSServer",
        f"{HOST}:8090/iserver/services/map-world/wms130",
        f"{HOST}/servlet/com.esri.wms.Esrimap?ServiceName=roads",
    ],
)
def test_known_paths_are_recognised_in_their_variants(address: str) -> None:
    found = candidate(address)
    assert found is not None
    assert found.weak


@pytest.mark.parametrize(
    "address",
    [
        "https://gisblog.example.org/tags/wms/",
        "https://docs.example.org/docs/user/wms",
        "https://github.com/org/wms",
        "http://www.opengis.net/wms",
        "https://mapserver.org/",
        "https://www.example.org/cms/news",
        "https://www.example.org/windows",
        "https://www.example.org/wms.html",
        "https://developers.arcgis.com/rest/services/roads",
        "https://shop.example.org/collections/summer/products",
        "https://www.example.org/wps/portal/start",
        "https://www.example.org/help/csw",
        "https://www.example.org/emergency/sos",
        "https://www.example.org/api/v1/things",
        "https://schemas.opengis.net/wfs/2.0/wfs.xsd",
        "https://www.ogc.org/standards/wmts/",
        "https://img.shields.io/docker/pulls/52north/sos",
        "https://www.example.org/catalogue.html",
        "https://lists.osgeo.org/mailman/listinfo/mapserver-users",
    ],
)
def test_pages_about_services_are_none(address: str) -> None:
    assert candidate(address) is None


def test_each_link_of_a_page_that_is_a_candidate_is_named_by_its_index() -> None:
    wms = Link(url(f"{HOST}/wms?service=WMS&request=GetCapabilities"), "capabilities")
    plain = Link(url("http://www.example.org/about"), "about")
    found = DETECTOR.candidates(page(plain, wms, plain, wms))
    assert [index for _, index in found] == [1, 3]
    evidence = found[0][0].evidence
    assert (evidence.signal, evidence.page, evidence.anchor) == ("query", "http://www.example.org/page", "capabilities")
    assert evidence.link == wms.url.address


def test_a_form_that_asks_for_a_map_is_a_candidate() -> None:
    form = Link(url(f"{HOST}/cgi?map=a.map&SERVICE=WMS&REQUEST=GetMap"), where="form")
    ((found, index),) = DETECTOR.candidates(page(form))
    assert (found.evidence.signal, index, found.weak) == ("form", 0, False)
    assert found.endpoint.url.address == f"{HOST}/cgi?map=a.map"


def test_a_capabilities_document_is_a_candidate_itself() -> None:
    document = page(xml_root="WMT_MS_Capabilities", address=f"{HOST}/files/roads.xml")
    ((found, index),) = DETECTOR.candidates(document)
    assert (found.evidence.signal, index, found.weak) == ("document", None, False)
    assert found.endpoint.url.address == f"{HOST}/files/roads.xml"


def test_an_address_within_a_viewers_address_is_a_candidate_and_the_viewer_still_a_page() -> None:
    viewer = Link(
        url("http://www.example.org/map?wms=http%3A%2F%2Fmaps.example.org%2Fows%3Fservice%3DWMS%26request%3DGetMap")
    )
    ((found, index),) = DETECTOR.candidates(page(viewer))
    assert (found.evidence.signal, index) == ("parameter", None)
    assert found.endpoint.url.address == f"{HOST}/ows"


def test_what_a_person_types_is_a_candidate_whatever_it_looks_like() -> None:
    plain = DETECTOR.candidate_at(url("http://www.example.org/maps"))
    assert (plain.endpoint.kind, plain.weak, plain.evidence.signal) == (Kind.WMS, False, "given")
    known = DETECTOR.candidate_at(url(f"{HOST}/wms?request=GetMap&layers=a"))
    assert (known.endpoint.url.address, known.weak) == (f"{HOST}/wms", False)


@given(st.text(max_size=120), st.text(max_size=120))
def test_no_address_makes_it_fail(path: str, query: str) -> None:
    read = read_url(f"{HOST}/{path}?{query}")
    if read is not None:
        DETECTOR.of_url(read)
        DETECTOR.candidates(page(Link(read)))


@pytest.mark.parametrize(
    "part", ["wmscaps", "catalog", "/rest/services", "/ogcapi/a", "stac-", "/1.0.0/a/b/c/1", "/v1.1"]
)
def test_no_path_costs_more_than_a_moment(part: str) -> None:
    paths = [
        (f"/{part * (length // len(part))}{end}") for length in (490, 7_000) for end in ("", ".json", ".xml", "/x")
    ]
    begun = time.process_time()
    for path in paths:
        DETECTOR.of_url(url(HOST + path))
        for kind in Kind:
            service_endpoint(kind, url(HOST + path))
    assert time.process_time() - begun < 2.0


@given(st.permutations(["service", "request", "map"]), st.sets(st.sampled_from(["service", "request", "map"])))
def test_order_and_case_of_parameters_do_not_matter(names: list[str], upper: set[str]) -> None:
    values = {"service": "WMS", "request": "GetMap", "map": "/a/B.map"}
    spelt = "&".join(f"{name.upper() if name in upper else name}={values[name]}" for name in names)
    found = candidate(f"{HOST}/cgi?{spelt}")
    assert found is not None
    assert found.endpoint.key == "maps.example.org/cgi?map=/a/B.map"


@pytest.mark.parametrize(
    ("root", "namespace", "kind"),
    [
        ("WFS_Capabilities", "", Kind.WFS),
        ("WCS_Capabilities", "http://www.opengis.net/wcs", Kind.WCS),
        ("Capabilities", "http://www.opengis.net/wmts/1.0", Kind.WMTS),
        ("Capabilities", "http://www.opengis.net/wcs/1.1.1", Kind.WCS),
        ("Capabilities", "http://www.opengis.net/cat/csw/2.0.2", Kind.CSW),
        ("Capabilities", "http://www.opengis.net/wps/1.0.0", Kind.WPS),
        ("Capabilities", "https://www.opengis.net/sos/2.0", Kind.SOS),
        ("TileMapService", "", Kind.TMS),
        ("ServiceExceptionReport", "http://www.opengis.net/ogc", Kind.WMS),
        ("WMTException", "", Kind.WMS),
    ],
)
def test_capabilities_of_every_kind_are_told_by_root_and_namespace(root: str, namespace: str, kind: Kind) -> None:
    ((found, index),) = DETECTOR.candidates(page(xml_root=root)._replace(xml_namespace=namespace))
    assert (found.endpoint.kind, index) == (kind, None)


@pytest.mark.parametrize(
    ("keys", "rel", "kind"),
    [
        (("stac_version", "id", "links"), "", Kind.STAC),
        (("currentVersion", "folders", "services"), "", Kind.ARCGIS),
        (("currentVersion", "serviceDescription", "mapName", "layers"), "", Kind.ARCGIS),
        (("tilejson", "tiles", "name"), "", Kind.TILEJSON),
        (("title", "description", "links"), "conformance", Kind.OGCAPI),
        (("conformsTo",), "", Kind.OGCAPI),
        (("stac_version", "links", "collections"), "", Kind.STAC),
    ],
)
def test_json_of_a_service_is_told_by_its_keys(keys: tuple[str, ...], rel: str, kind: Kind) -> None:
    document = page(Link(url(f"{HOST}/conformance"), rel=rel))._replace(json_keys=keys)
    assert DETECTOR.candidates(document)[0][0].endpoint.kind is kind


def test_other_documents_are_no_services() -> None:
    assert DETECTOR.candidates(page(xml_root="Capabilities")) == ()
    assert DETECTOR.candidates(page(xml_root="Capabilities")._replace(xml_namespace="http://www.opengis.net/tjs")) == ()
    assert DETECTOR.candidates(page()._replace(json_keys=("title", "links"))) == ()
    assert DETECTOR.candidates(page()._replace(json_keys=("type", "geometry", "stac_version", "links"))) == ()


def test_a_request_for_records_names_the_catalogue_and_is_still_a_page() -> None:
    records = Link(url(f"{HOST}/csw?service=CSW&request=GetRecords&startPosition=11"))
    ((found, index),) = DETECTOR.candidates(page(records))
    assert (found.endpoint.kind, found.endpoint.key, index) == (Kind.CSW, "maps.example.org/csw", None)


def test_the_kind_that_a_place_names_counts_where_the_address_does_not_ask() -> None:
    named = Link(url(f"{HOST}/geoserver/ows"), where="script", kind="wfs")
    asked = Link(url(f"{HOST}/geoserver/ows?service=WMS&request=GetMap"), where="script", kind="wfs")
    kinds = [found.endpoint.kind for found, _ in DETECTOR.candidates(page(named, asked))]
    assert kinds == [Kind.WFS, Kind.WMS]


def test_kinds_that_are_not_declared_are_no_candidates() -> None:
    detector = Detector([declaration(Kind.WMS)])
    assert detector.of_url(url(f"{HOST}/geoserver/wfs")) is None
    assert detector.candidate_at(url(f"{HOST}/geoserver/wfs")).endpoint.kind is Kind.WMS
    assert detector.siblings(service_endpoint(Kind.WMS, url(f"{HOST}/geoserver/wms"))) == ()


def test_a_kind_that_a_person_names_is_asked_for() -> None:
    found = DETECTOR.candidate_at(url(f"{HOST}/any"), Kind.CSW)
    assert (found.endpoint.kind, found.weak) == (Kind.CSW, False)


def test_a_page_of_endless_services_has_so_many_candidates_and_the_rest_stay_links() -> None:
    links = [Link(url(f"http://h{number}.example/wms?")) for number in range(MOST_CANDIDATES + 10)]
    found = DETECTOR.candidates(page(*links))
    assert [index for _, index in found] == list(range(MOST_CANDIDATES))
