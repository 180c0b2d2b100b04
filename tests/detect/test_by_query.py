"""What `detect=paper` recognises: the query of a link that people can click, and nothing else."""

from __future__ import annotations

import pytest

from geocrawl.app.wiring import make_detector
from geocrawl.detect import Detector
from geocrawl.detect.detector import QueryDetector
from geocrawl.model import Document, Kind, Link, Url
from geocrawl.urls import read_url

OWS = "http://maps.example.org/ows"


def url(text: str) -> Url:
    found = read_url(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("query", "is_candidate"),
    [
        ("SERVICE=wms", True),
        ("request=GetCapabilities", True),
        ("service=WFS&request=GetCapabilities", True),
        ("REQUEST=getmap&layers=a", True),
        ("request=GetFeatureInfo", True),
        ("request=GetLegendGraphic", False),
        ("service=WFS&request=GetFeature", False),
        ("map=/data/roads.map", False),
        ("", False),
    ],
)
def test_service_wms_or_one_of_three_requests_makes_a_candidate(query: str, is_candidate: bool) -> None:
    found = make_detector("paper").of_url(url(f"{OWS}?{query}"))
    assert (found is not None) is is_candidate
    if found is not None:
        assert (found.endpoint.kind, found.endpoint.url.address) == (Kind.WMS, OWS)


def test_forms_scripts_paths_and_documents_are_no_candidates() -> None:
    asked = url(f"{OWS}?service=WMS")
    places = ("script", "form", "text", "a", "link")
    links = (*(Link(asked, where=place) for place in places), Link(url("http://maps.example.org/geoserver/wms")))
    page = Document(
        url("http://www.example.org/"), 0, 200, "text/xml", "utf-8", "", "", links, xml_root="WMS_Capabilities"
    )
    assert [index for _, index in QueryDetector().candidates(page)] == [places.index("a")]
    assert len(make_detector().candidates(page)) > 1


def test_nothing_is_guessed_beside_a_service() -> None:
    geoserver = make_detector().of_url(url("http://maps.example.org/geoserver/ows?service=WMS&request=GetCapabilities"))
    assert geoserver is not None
    everything: Detector = make_detector()
    assert everything.siblings(geoserver.endpoint) and not QueryDetector().siblings(geoserver.endpoint)
