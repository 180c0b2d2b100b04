"""Which addresses are candidates, how strongly, and for which endpoint."""

from __future__ import annotations

import csv
import tomllib
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.detect import Detector
from geocrawl.model import Candidate, Document, Kind, Link, Url
from geocrawl.urls import read_url

DETECTOR = Detector()
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
        "service=WFS&request=GetCapabilities",
        "service=WCS&request=GetCapabilities&map=/a.map",
        "request=GetFeature",
        "request=map",
        "request=help",
        "q=wms",
        "page=2",
        "customer_service=wms",
    ],
)
def test_a_request_of_anything_else_is_none(query: str) -> None:
    assert candidate(f"{HOST}/any?{query}") is None


def test_a_path_of_another_service_says_what_a_request_without_service_asks() -> None:
    assert candidate(f"{HOST}/geoserver/gwc/service/wmts?REQUEST=getcapabilities") is None
    assert candidate(f"{HOST}/geoserver/wfs?REQUEST=GetCapabilities") is None
    assert candidate(f"{HOST}/geoserver/wfs?service=WMS&REQUEST=GetCapabilities") is not None


def test_another_service_at_a_known_path_is_none() -> None:
    assert candidate(f"{HOST}/geoserver/ows?service=WFS&request=GetFeature") is None
    assert candidate(f"{HOST}/geoserver/ows?request=GetCoverage") is None


def test_vendor_parameters_stay_with_the_endpoint() -> None:
    asked = f"{HOST}/cgi-bin/mapserv?map=/data/a.map&token=Ab%2F1&SERVICE=WMS&REQUEST=GetMap&LAYERS=x&WIDTH=2"
    assert strong(asked) == f"{HOST}/cgi-bin/mapserv?map=/data/a.map&token=Ab%2F1"


def test_a_service_parameter_alone_is_weak() -> None:
    found = candidate("http://shop.example.com/software?service=WMS")
    assert found is not None
    assert found.weak


def known_servers() -> list[tuple[str, str]]:
    text = resources.files("geocrawl").joinpath("data/known_servers.toml").read_text("utf-8")
    data = tomllib.loads(text)
    return [(row["name"], row["example"]) for row in [*data["server"], *data["parameter"]]]


@pytest.mark.parametrize(("name", "example"), known_servers())
def test_every_known_server_is_recognised_by_its_example(name: str, example: str) -> None:
    found = candidate(example)
    assert found is not None, name
    assert found.weak
    assert found.evidence.signal == "path"
    assert found.endpoint.kind is Kind.WMS


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
        "https://gis.example.org/arcgis/rest/services/Roads/MapServer",
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
    assert DETECTOR.candidates(page(xml_root="WFS_Capabilities")) == ()


def test_an_address_within_a_viewers_address_is_a_candidate_and_the_viewer_still_a_page() -> None:
    viewer = Link(
        url("http://www.example.org/map?wms=http%3A%2F%2Fmaps.example.org%2Fows%3Fservice%3DWMS%26request%3DGetMap")
    )
    ((found, index),) = DETECTOR.candidates(page(viewer))
    assert (found.evidence.signal, index) == ("parameter", None)
    assert found.endpoint.url.address == f"{HOST}/ows"


def test_what_a_person_types_is_a_candidate_whatever_it_looks_like() -> None:
    plain = DETECTOR.given(url("http://www.example.org/maps"))
    assert (plain.endpoint.kind, plain.weak, plain.evidence.signal) == (Kind.WMS, False, "given")
    known = DETECTOR.given(url(f"{HOST}/wms?request=GetMap&layers=a"))
    assert (known.endpoint.url.address, known.weak) == (f"{HOST}/wms", False)


@given(st.text(max_size=120), st.text(max_size=120))
def test_no_address_makes_it_fail(path: str, query: str) -> None:
    read = read_url(f"{HOST}/{path}?{query}")
    if read is not None:
        DETECTOR.of_url(read)
        DETECTOR.candidates(page(Link(read)))


@given(st.permutations(["service", "request", "map"]), st.sets(st.sampled_from(["service", "request", "map"])))
def test_order_and_case_of_parameters_do_not_matter(names: list[str], upper: set[str]) -> None:
    values = {"service": "WMS", "request": "GetMap", "map": "/a/B.map"}
    spelt = "&".join(f"{name.upper() if name in upper else name}={values[name]}" for name in names)
    found = candidate(f"{HOST}/cgi?{spelt}")
    assert found is not None
    assert found.endpoint.key == "maps.example.org/cgi?map=/a/B.map"


@pytest.mark.shared
def test_on_labelled_addresses_nearly_all_wms_and_hardly_anything_else_is_recognised(shared: Path) -> None:
    """Rows of the editor layer index that are called wms but ask an ArcGIS REST service for an image are left out."""
    hits = {"wms": 0, "strong else": 0, "weak else": 0}
    wms = 0
    with (shared / "corpus" / "urls.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            read = read_url(row["url"])
            if read is None or "/rest/services/" in row["url"]:
                continue
            found = DETECTOR.of_url(read)
            wms += row["label"] == "wms"
            if found is not None:
                hits["wms" if row["label"] == "wms" else "weak else" if found.weak else "strong else"] += 1
    assert hits["wms"] / wms > 0.999
    assert hits["strong else"] == 0
    assert hits["weak else"] <= 20
