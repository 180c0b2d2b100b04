"""A slow server is asked again only where its answer says what may help: its host's other services wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from geocrawl.crawler.probe_visit import VisitRequests, run_content_check, run_interview
from geocrawl.model import (
    ContentOutcome,
    HostState,
    Item,
    Kind,
    Layer,
    Level,
    Page,
    Purpose,
    Service,
    Status,
    Url,
    Validators,
    Verdict,
)
from geocrawl.probe.decoding import read_picture
from geocrawl.probe.kinds.wms.probe import WmsProbe
from geocrawl.probe.registry import content_check_of
from geocrawl.reading import InLoop
from geocrawl.urls import query_parameters, service_endpoint
from tests.probe.content_runs import drawn, outcomes, run
from tests.support.answers import CAPABILITIES, ENDPOINT, HTML, interview, page, url
from tests.support.interviews import candidate

SLOW_MS = 20_000.0
TYPES = Service(Kind.WFS, "2.0.0", "", layers=tuple(Layer(name, name, item=Item.FEATURE_TYPE) for name in "abc"))
MAPS = Service(Kind.WMS, "1.3.0", "", layers=tuple(Layer(name, name, crs=("EPSG:4326",)) for name in "abc"))
COLLECTIONS = Service(Kind.OGCAPI, "1.0", "", layers=tuple(Layer(name, name, item=Item.COLLECTION) for name in "abc"))
EMPTY_GML, EMPTY_JSON = page("<FeatureCollection/>"), page('{"features": []}', content_type="application/json")
BLANK = drawn(256, 256, blank=True)


def slowly(answer: Page) -> Page:
    return replace(answer, elapsed_ms=SLOW_MS)


def refused(text: str, locator: str = "") -> Page:
    exception = f'<Exception locator="{locator}"><ExceptionText>{text}</ExceptionText></Exception>'
    return page(f"<ExceptionReport>{exception}</ExceptionReport>", status=400)


@pytest.mark.parametrize(("service", "nothing"), [(TYPES, EMPTY_GML), (COLLECTIONS, EMPTY_JSON), (MAPS, BLANK)])
def test_content_of_a_slow_server_is_requested_once_where_it_is_empty(service: Service, nothing: Page) -> None:
    check = content_check_of(service.kind, layers=3)
    assert check is not None
    report, asked = run(check, ENDPOINT, service, lambda ask: slowly(nothing))
    assert (outcomes(report), len(asked)) == ([ContentOutcome.BLANK], 1)
    _, asked = run(check, ENDPOINT, service, lambda ask: nothing)
    assert len(asked) >= 3, "a quick one is asked for other items"


@pytest.mark.parametrize(
    ("refusal", "is_asked_again"),
    [
        (refused("internal error"), False),
        (refused("no", "TYPENAMES"), True),
        (refused("unknown version"), True),
        (refused("unknown outputFormat"), True),
    ],
)
def test_a_slow_refusal_is_answered_with_another_request_where_it_names_a_part(
    refusal: Page, is_asked_again: bool
) -> None:
    check = content_check_of(Kind.WFS, layers=3)
    assert check is not None
    _, asked = run(check, ENDPOINT, TYPES, lambda ask: slowly(refusal))
    assert (len(asked) > 1) == is_asked_again


def test_capabilities_of_a_slow_server_are_asked_in_other_versions_where_it_says_why() -> None:
    for answer, is_asked_again in ((page(HTML, content_type="text/html"), False), (refused("unknown version"), True)):
        _, asked = interview({"*": slowly(answer)})
        assert (len(asked) > 1) == is_asked_again


class SlowTurn:
    """A turn of a host that answers slowly."""

    host = HostState("maps.example.org")

    def __init__(self, reply: Callable[[Url], Page]) -> None:
        self._reply = reply
        self.asked: list[str] = []

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
        body: bytes | None = None,
    ) -> Page:
        self.asked.append(dict(query_parameters(url)).get("REQUEST", ""))
        return slowly(self._reply(url))

    async def fetch_elsewhere(self, url: Url, *, purpose: Purpose) -> Page:
        raise AssertionError("no other host is asked")

    async def sitemaps(self, url: Url) -> tuple[Url, ...]:
        return ()


async def test_a_visit_ends_when_its_time_is_spent_and_the_service_is_advertised() -> None:
    def reply(url: Url) -> Page:
        return page(CAPABILITIES if "GetCapabilities" in url.address else refused("no such system", "CRS").body)

    turn, probe = SlowTurn(reply), WmsProbe()
    requests = VisitRequests(turn, 60.0)
    verdict = await run_interview(probe, candidate(probe.kind), requests, InLoop(read_picture))
    assert isinstance(verdict, Verdict) and verdict.service is not None and verdict.status is Status.VALID
    check = content_check_of(Kind.WMS, layers=3)
    assert check is not None
    begin = partial(check.run, service_endpoint(Kind.WMS, url(ENDPOINT)), verdict.service)
    report = await run_content_check(begin, requests, InLoop(read_picture), 8, lambda: None)
    assert turn.asked == ["GetCapabilities", "GetMap", "GetMap"], "three answers take 60 s"
    assert report.level is Level.ADVERTISED
