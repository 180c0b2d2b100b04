"""Servers that know a request for capabilities in other words than today's."""

from __future__ import annotations

from geocrawl.model import Kind, Page, Status, Verdict
from geocrawl.probe.kinds.wms.probe import WmsProbe
from tests.support.answers import CAPABILITIES, EXCEPTION
from tests.support.interviews import candidate


def interviewed(knows: str, refusal: str) -> tuple[Verdict, list[str]]:
    """The verdict on a server that knows one request, and the queries that it was sent."""
    interview, queries = WmsProbe().interview(candidate(Kind.WMS)), list[str]()
    asked = next(interview)
    while True:
        queries.append(asked.url.address.partition("?")[2])
        body = CAPABILITIES if knows in queries[-1] else EXCEPTION.format(refusal)
        page = Page(asked.url, asked.url, 200, {"content-type": "text/xml"}, body.encode(), 1.0, 0.0)
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
