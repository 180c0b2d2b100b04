"""What the rooms make of the demo web agrees with the truth it states: links, candidates, verdicts."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from geocrawl.demo import DemoContent, build_content
from geocrawl.demo.kinds import OFFICES, KindService, Office, answer_of, find_kind
from geocrawl.demo.services import answer, find_service
from geocrawl.detect import Detector
from geocrawl.model import Candidate, Document, Kind, Level, Page, Url, Verdict
from geocrawl.page.document import PageReader
from geocrawl.ports import ContentInterview, Interview
from geocrawl.probe.kinds.wms.probe import WmsProbe
from geocrawl.probe.registry import content_checks, declarations, probes
from geocrawl.urls import endpoint_key, read_url
from tests.support.interviews import with_picture


def _url(text: str) -> Url:
    url = read_url(text)
    assert url is not None
    return url


@pytest.fixture(scope="module")
def content() -> DemoContent:
    return build_content()


@pytest.fixture(scope="module")
def documents(content: DemoContent) -> dict[str, Document]:
    """The reachable pages as they are read."""
    reader = PageReader(respect_nofollow=False)
    read = {}
    for address, depth in content.depths.items():
        page, url = content.pages[address], _url(address)
        if page.status == 200:
            headers = {"content-type": page.content_type}
            read[address] = reader.read(Page(url, url, 200, headers, page.body, 1.0, 0.0), depth=depth)
    return read


@pytest.fixture(scope="module")
def candidates(content: DemoContent, documents: dict[str, Document]) -> dict[str, Candidate]:
    """All candidates of the reachable pages and of where they redirect to, by key."""
    detector = Detector(declarations())
    found = [candidate for document in documents.values() for candidate, _ in detector.candidates(document)]
    redirects = [content.pages[address].links[0] for address in content.depths.keys() - documents.keys()]
    found += [candidate for candidate in map(detector.of_url, map(_url, redirects)) if candidate]
    return {candidate.endpoint.key: candidate for candidate in found}


def test_every_page_has_the_links_it_states(content: DemoContent, documents: dict[str, Document]) -> None:
    for address, document in documents.items():
        style = _url(_url(address).origin + "/style.css").identity
        assert {link.url.identity for link in document.links} - {style} == {
            _url(link).identity for link in content.pages[address].links
        }


def test_chinese_pages_are_read_in_both_encodings(documents: dict[str, Document]) -> None:
    assert "网络地图服务" in documents["http://www.qingshan-map.example/fuwu"].text
    assert "张喆、李镕" in documents["http://www.qingshan-map.example/old/index.htm"].text


def test_exactly_the_expected_endpoints_are_candidates(content: DemoContent, candidates: dict[str, Candidate]) -> None:
    others = {endpoint_key(_url(each.address(office))) for office in OFFICES for each in office.services}
    assert set(candidates) == set(content.expected) | content.refused | others


def test_every_endpoint_gets_the_verdict_it_deserves(content: DemoContent, candidates: dict[str, Candidate]) -> None:
    verdicts = {key: _verdict(candidates[key]) for key in content.expected}
    assert {key: verdict.reason for key, verdict in verdicts.items()} == {
        key: service.reason for key, service in content.expected.items()
    }
    for key in content.expected_valid:
        service = verdicts[key].service
        assert service is not None
        assert service.title == content.expected[key].title
        assert [layer.title for layer in service.layers if layer.name] == [t for _, t in content.expected[key].layers]


def test_two_addresses_of_one_service_have_one_fingerprint(candidates: dict[str, Candidate]) -> None:
    base = "maps.norvale-geoportal.example/geoserver/"
    one, other = (_verdict(candidates[base + name]).service for name in ("wms", "ows"))
    assert one is not None
    assert one == other


def _verdict(candidate: Candidate) -> Verdict:
    """The interview, answered by the demo's service without a socket."""
    interview: Interview = WmsProbe().interview(candidate)
    asked = next(interview).url
    while True:
        parts = urlsplit(asked.address)
        service = find_service(parts.netloc, parts.path, parts.query)
        assert service is not None
        found = answer(service, parts.query)
        headers = {"content-type": found.content_type.lower()}
        try:
            asked = interview.send(Page(asked, asked, found.status, headers, found.body, 1.0, 0.0)).url
        except StopIteration as end:
            verdict: Verdict = end.value
            return verdict


SERVICES = [pytest.param(each, office, id=each.kind) for office in OFFICES for each in office.services]
WITHOUT_BOXES = {"csw", "wps", "sps", "sensorthings", "tms"}
"""Kinds whose first documents state no extents of items, or have no items in space."""


def test_every_kind_has_a_service() -> None:
    assert {"wms", *(each.kind for office in OFFICES for each in office.services)} == set(Kind)


@pytest.mark.parametrize(("service", "office"), SERVICES)
def test_a_service_of_every_kind_is_valid_describes_its_items_and_delivers(
    service: KindService, office: Office, candidates: dict[str, Candidate]
) -> None:
    kind = Kind(service.kind)
    of_kind = [each for each in candidates.values() if each.endpoint.kind is kind]
    (candidate,) = (each for each in of_kind if office.host in each.endpoint.key)
    probe = next(each for each in probes() if each.kind is kind)
    verdict: Verdict = _answered(probe.interview(candidate))
    assert verdict.reason == "ok"
    assert {each.code for each in verdict.deviations} <= {"doctype"}  # as WMS 1.1.1 demands it
    assert verdict.service is not None
    described = service.described(office)
    named = [layer for layer in verdict.service.layers if layer.name]
    assert all(layer.title for layer in named)
    assert len(named) == len(described.layers) or kind in (Kind.CSW, Kind.TILEJSON)
    if service.kind not in WITHOUT_BOXES:
        assert any(layer.box is not None for layer in verdict.service.layers)
    check = next((each for each in content_checks(layers=3) if each.kind is kind), None)
    if check is not None:
        assert _answered(check.run(candidate.endpoint, verdict.service)).level is Level.DELIVERS


def _answered(interview: Interview | ContentInterview) -> Any:
    """Return how an interview ends that the demo's service of a kind answers without a socket."""
    asked = next(interview).url
    while True:
        parts = urlsplit(asked.address)
        service = find_kind(parts.netloc, parts.path)
        assert service is not None
        found = answer_of(*service, parts.query)
        headers = {"content-type": found.content_type.lower()}
        try:
            answer = with_picture(Page(asked, asked, found.status, headers, found.body, 1.0, 0.0))
            asked = interview.send(answer).url
        except StopIteration as end:
            return end.value
