"""Which kinds are asked where a guessed one was refused, and what documents of STAC lead to."""

from __future__ import annotations

import json

import pytest

from geocrawl.detect import Detector
from geocrawl.model import SIBLING, Candidate, Evidence, Kind
from geocrawl.probe.registry import declarations
from geocrawl.urls import service_endpoint
from tests.support.pages import read, url

DETECTOR = Detector(declarations())
REPORT = '<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1"><ows:Exception/></ows:ExceptionReport>'


def instead(kind: Kind, address: str, signal: str = "named", *, weak: bool = True) -> list[tuple[str, str]]:
    endpoint = service_endpoint(kind, url(address))
    refused = Candidate(endpoint, Evidence(signal, "", address), weak=weak)
    return [(str(each.endpoint.kind), each.endpoint.url.address) for each in DETECTOR.instead(refused)]


@pytest.mark.parametrize(
    ("kind", "address", "expected"),
    [
        (Kind.WMS, "http://h.org/cgi-bin/mapserv?map=/a.map", [("wfs", "http://h.org/cgi-bin/mapserv?map=/a.map")]),
        (Kind.WMS, "http://h.org/roads/wmts", [("wmts", "http://h.org/roads/wmts")]),
        (Kind.WMTS, "http://h.org/cgi-bin/r1", [("wms", "http://h.org/cgi-bin/r1")]),
        (Kind.STAC, "http://h.org/x", []),
    ],
)
def test_a_guess_that_was_refused_leads_to_the_likeliest_other_kind(
    kind: Kind, address: str, expected: list[tuple[str, str]]
) -> None:
    assert instead(kind, address) == expected


def test_only_a_guess_leads_to_other_kinds_and_once() -> None:
    assert instead(Kind.WMS, "http://h.org/x", "query", weak=False) == []
    assert instead(Kind.WFS, "http://h.org/x", SIBLING, weak=False) == []


def test_a_report_of_ows_common_is_a_candidate_of_all_kinds_that_send_it() -> None:
    document = read(REPORT, "application/xml", "http://h.org/features/x")
    (candidate,) = (each for each, _ in DETECTOR.candidates(document))
    assert candidate.endpoint.kind is Kind.WFS
    kinds = [str(each.endpoint.kind) for each in DETECTOR.instead(candidate)]
    assert kinds == ["wmts", "wcs", "csw"]


def test_capabilities_of_a_wmts_are_where_they_were_read() -> None:
    text = '<Capabilities xmlns="http://www.opengis.net/wmts/1.0" version="1.0.0"><Contents/></Capabilities>'
    document = read(text, "text/xml", "http://h.org/tiles/x/1.0.0")
    (candidate,) = (each for each, _ in DETECTOR.candidates(document))
    assert candidate.endpoint.url.address == "http://h.org/tiles/x/1.0.0"


def stac(address: str, rels: dict[str, str], **more: object) -> list[tuple[str, str]]:
    links = [{"rel": rel, "href": href} for rel, href in rels.items()]
    body = json.dumps({"stac_version": "1.0.0", "id": "x", "links": links, **more})
    document = read(body, "application/json", address)
    return [(str(each.endpoint.kind), each.endpoint.url.address) for each, _ in DETECTOR.candidates(document)]


@pytest.mark.parametrize(
    ("address", "rels", "more"),
    [
        ("http://h.org/s/a/collection.json", {"root": "../catalog.json", "parent": "../b/catalog.json"}, {}),
        (
            "http://h.org/s/a/b/i.json",
            {"root": "../../catalog.json", "self": "i.json"},
            {"type": "Feature", "geometry": {}},
        ),
        ("http://h.org/s/items?page=2", {"root": "catalog.json"}, {"type": "FeatureCollection", "features": []}),
        ("http://h.org/s/a/i.json", {"parent": "../catalog.json"}, {"type": "Feature", "geometry": None}),
    ],
)
def test_a_part_of_a_stac_leads_to_its_root_instead_of_itself(
    address: str, rels: dict[str, str], more: dict[str, object]
) -> None:
    assert stac(address, rels, **more) == [("stac", "http://h.org/s/catalog.json")]


def test_a_root_of_stac_is_a_candidate_itself() -> None:
    assert stac("http://h.org/s/catalog.json", {"root": "./catalog.json", "child": "a/catalog.json"}) == [
        ("stac", "http://h.org/s/catalog.json")
    ]


def test_a_root_on_another_host_is_asked_beside_the_document() -> None:
    found = stac("http://h.org/catalog.json", {"root": "http://o.org/catalog.json"})
    assert sorted(found) == [("stac", "http://h.org/catalog.json"), ("stac", "http://o.org/catalog.json")]
