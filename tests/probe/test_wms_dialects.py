"""Servers that know a request for capabilities in other words than today's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from geocrawl.model import SIBLING, Kind, Page, Status, Verdict
from geocrawl.ports import Interview
from geocrawl.probe.kinds.wms.probe import WmsProbe
from geocrawl.probe.kinds.wmsc import interview as interview_wmsc
from tests.support.answers import CAPABILITIES, EXCEPTION
from tests.support.interviews import candidate


def interviewed(knows: str, refusal: str, link: str = "") -> tuple[Verdict, list[str]]:
    """The verdict on a server that knows one request, and the queries that it was sent."""
    named = candidate(Kind.WMS)
    named = replace(named, evidence=replace(named.evidence, link=link and f"{named.endpoint.url.address}?{link}"))
    return _interviewed(WmsProbe().interview(named), knows, refusal)


def _interviewed(interview: Interview, knows: str, refusal: str) -> tuple[Verdict, list[str]]:
    queries = list[str]()
    asked = next(interview)
    while True:
        queries.append(asked.url.address.partition("?")[2])
        is_known = knows in queries[-1] and "TILED" not in queries[-1]
        body = CAPABILITIES if is_known else EXCEPTION.format(refusal) if refusal else ""
        status = 200 if body else 500
        page = Page(asked.url, asked.url, status, {"content-type": "text/xml"}, body.encode(), 1.0, 0.0)
        try:
            asked = interview.send(page)
        except StopIteration as end:
            return end.value, queries


def test_a_server_that_misses_what_it_was_sent_is_asked_in_lower_case() -> None:
    verdict, queries = interviewed("request=GetCapabilities", "Missing parameter: request")
    assert verdict.status is Status.VALID
    assert "lower-case-names" in [deviation.code for deviation in verdict.deviations]
    assert len(queries) <= 4


def test_a_server_that_does_not_know_the_request_is_asked_as_in_1_0_0() -> None:
    verdict, queries = interviewed("WMTVER=1.0.0", "Unknown request")
    assert verdict.status is Status.VALID
    assert "oldest-dialect" in [deviation.code for deviation in verdict.deviations]
    assert len(queries) <= 4


def test_any_other_refusal_is_believed() -> None:
    verdict, queries = interviewed("WMTVER=1.0.0", "Layers are out of order today")
    assert verdict.reason == "exception"
    assert len(queries) == 2


def test_a_server_that_knows_the_spelling_of_its_link_alone_is_asked_so() -> None:
    link = "service=WMS&request=Getcapabilities"
    verdict, queries = interviewed("Getcapabilities", "No such operation", link)
    assert (verdict.status, queries[-1]) == (Status.VALID, link)
    assert [deviation.code for deviation in verdict.deviations if "spelling" in deviation.code] == ["own-spelling"]


def test_a_link_in_the_usual_spelling_is_no_further_request() -> None:
    assert len(interviewed("nothing", "No such operation", "service=WMS&request=GetCapabilities")[1]) == 2
    assert len(interviewed("nothing", "No such operation", "service=WMS&request=GetMap")[1]) == 2


@pytest.mark.parametrize(("signal", "kinds"), [("query", [Kind.WMS]), (SIBLING, [])])
def test_a_named_endpoint_that_fails_with_tile_sets_is_asked_as_a_wms(signal: str, kinds: list[Kind]) -> None:
    named = candidate(Kind.WMSC)
    named = replace(named, evidence=replace(named.evidence, signal=signal))
    verdict, queries = _interviewed(interview_wmsc(named), "", "")
    assert len(queries) == 1 + len(kinds)
    assert [lead.endpoint.kind for lead in verdict.leads] == kinds
