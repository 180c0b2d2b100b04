"""A service whose TLS cannot be verified is read in full each time, and its verdict names the fault."""

from __future__ import annotations

from collections.abc import Callable

from geocrawl.crawler.probe_visit import NotModified, VisitRequests, run_interview
from geocrawl.model import Deviation, HostState, Page, Purpose, Url, Validators, Verdict
from geocrawl.probe.decoding import read_picture
from geocrawl.probe.kinds.wms.probe import WmsProbe
from geocrawl.reading import InLoop
from tests.support.answers import CAPABILITIES
from tests.support.interviews import candidate

EXPIRED = Deviation("tls-expired", "certificate has expired")


class RecordedTurn:
    """Answers with capabilities, or 304 to a conditional request."""

    def __init__(self, *deviations: Deviation) -> None:
        self._deviations = deviations
        self.conditional: list[bool] = []
        self.host = HostState("recorded.example")

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
        body: bytes | None = None,
    ) -> Page:
        self.conditional.append(validators is not None)
        headers = {"content-type": "text/xml", "etag": '"1"'}
        status, body = (304, b"") if validators else (200, CAPABILITIES.encode())
        not_modified = validators is not None
        return Page(url, url, status, headers, body, 1.0, 0.0, not_modified=not_modified, deviations=self._deviations)

    async def fetch_elsewhere(self, url: Url, *, purpose: Purpose) -> Page:
        raise AssertionError("an interview asks its own host alone")

    async def sitemaps(self, url: Url) -> tuple[Url, ...]:
        return ()


async def visited(turn: RecordedTurn) -> object:
    probe = WmsProbe()
    requests, known = VisitRequests(turn, 60.0), Validators("http://a.example/", '"1"')
    return await run_interview(probe, candidate(probe.kind), requests, InLoop(read_picture), known)


async def test_a_304_of_such_a_server_is_followed_by_a_full_request() -> None:
    turn = RecordedTurn(EXPIRED)
    found = await visited(turn)
    assert isinstance(found, Verdict)
    assert found.deviations[:1] == (EXPIRED,)
    assert found.validators is None
    assert turn.conditional == [True, False]


async def test_a_304_of_a_verified_server_ends_the_interview() -> None:
    turn = RecordedTurn()
    assert isinstance(await visited(turn), NotModified)
    assert turn.conditional == [True]
