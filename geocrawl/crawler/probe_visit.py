"""Visit an endpoint: run the interview of the best-fitting probe and the content check, and collect all results.

Interview and content check happen in one turn of the leased host. An answer may lead to endpoints that it names, to
endpoints of other kinds at such an address, and to a catalogue's pages of records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from geocrawl.crawler.interview import NotAllowed, NotModified, run_content_check, run_interview
from geocrawl.crawler.visits import TRANSIENT, not_modified, retry_after_s
from geocrawl.model import (
    SIBLING,
    Candidate,
    ContentReport,
    Evidence,
    HostState,
    Lease,
    Rank,
    RankedLink,
    State,
    Status,
    Verdict,
    Visit,
)
from geocrawl.ports import Clock, ContentCheck, Probe, ReadingPool, Recogniser, Turn


class ProbeVisitor:
    """Visits endpoints: one leased endpoint at a time."""

    def __init__(
        self,
        *,
        probes: Sequence[Probe],
        pool: ReadingPool,
        recogniser: Recogniser,
        clock: Clock,
        retry_first_s: float,
        records_rank: Rank,
        content_checks: Sequence[ContentCheck] = (),
        map_requests: int = 0,
        map_requests_per_host: int = 0,
        siblings: int = 0,
        wants_lead: Callable[[Candidate, Candidate], bool] = lambda asked, named: True,
    ) -> None:
        """Set the parts and limits of visits.

        `records_rank`: rank of a catalogue's first page of records. `content_checks`: may be empty. `map_requests`,
        `map_requests_per_host`, `siblings`: as in `Settings`. `wants_lead(asked, named)`: whether to queue the endpoint
        `named`, which an answer of the endpoint `asked` names.
        """
        self._probes = {probe.kind: probe for probe in probes}
        self._pool = pool
        self._recogniser = recogniser
        self._clock = clock
        self._retry_first_s = retry_first_s
        self._records_rank = records_rank
        self._content_checks = {check.kind: check for check in content_checks}
        self._map_requests = map_requests
        self._map_requests_spent = Counter[str]()
        self._map_requests_per_host = map_requests_per_host
        self._siblings = siblings
        self._siblings_of_host = Counter[str]()
        self._wants_lead = wants_lead

    async def visit(self, lease: Lease, turn: Turn) -> Visit:
        """Visit the leased endpoint. Whatever a server sends, no exception is raised."""
        candidate = lease.entry.candidate
        assert candidate is not None, "a probe's lease carries its candidate"
        found = await run_interview(
            self._probes[candidate.endpoint.kind], candidate, turn, self._pool, lease.entry.validators
        )
        content = await self._check_content(found, candidate, turn) if isinstance(found, Verdict) else None
        host = turn.host
        if isinstance(found, NotAllowed):
            return self._refused(lease, found, host)
        if isinstance(found, NotModified):
            return not_modified(lease, found.page, host, self._clock.now())
        return self._judged(lease, found, content, host, candidate)

    async def _check_content(self, verdict: Verdict, candidate: Candidate, turn: Turn) -> ContentReport | None:
        """Check the content of a valid service, within the budgets of one check and of the host."""
        if verdict.service is None or verdict.status is not Status.VALID:
            return None
        check, host = self._content_checks.get(verdict.service.kind), candidate.endpoint.url.host
        most = min(self._map_requests, self._map_requests_per_host - self._map_requests_spent[host])
        if check is None or most <= 0:
            return None

        def spend() -> None:
            self._map_requests_spent[host] += 1

        begin = partial(check.run, candidate.endpoint, verdict.service)
        return await run_content_check(begin, turn, self._pool, most, spend)

    def _refused(self, lease: Lease, found: NotAllowed, host: HostState) -> Visit:
        return Visit(
            lease=lease,
            state=State.REFUSED if found.retry_after_s is None else State.FAILED,
            reason=found.reason,
            host=host,
            at=self._clock.now(),
            http_status=found.http_status,
            retry_after_s=found.retry_after_s,
        )

    def _judged(
        self, lease: Lease, verdict: Verdict, content: ContentReport | None, host: HostState, candidate: Candidate
    ) -> Visit:
        transient = verdict.status is Status.INVALID and verdict.reason in TRANSIENT
        return Visit(
            lease=lease,
            state=State.FAILED if transient else State.VISITED,
            reason=verdict.reason,
            host=host,
            at=self._clock.now(),
            http_status=verdict.http_status,
            content_type=verdict.content_type,
            elapsed_ms=verdict.elapsed_ms,
            title=verdict.service.title if verdict.service else "",
            verdict=verdict,
            content_report=content,
            candidates=(*self._moved(verdict, candidate), *self._leads(verdict, candidate)),
            links=tuple(RankedLink(link, self._records_rank) for link in verdict.pages),
            retry_after_s=retry_after_s(lease, self._retry_first_s, verdict.retry_after_s) if transient else None,
            validators=verdict.validators,
        )

    def _moved(self, verdict: Verdict, candidate: Candidate) -> tuple[tuple[Candidate, None], ...]:
        """Return the candidate at the target of a redirect to another host, which is probed in that host's turn."""
        if verdict.moved_to is None:
            return ()
        target = self._recogniser.of_url(verdict.moved_to)
        if target is None or target.endpoint.key == candidate.endpoint.key:
            return ()
        evidence = Evidence("redirect", candidate.endpoint.url.address, verdict.moved_to.address)
        return ((replace(target, evidence=evidence, weak=False), None),)

    def _leads(self, verdict: Verdict, candidate: Candidate) -> list[tuple[Candidate, None]]:
        """Return the endpoints that the answer names, then endpoints of other kinds that servers like a valid one have.

        A sibling leads to no further siblings.
        """
        leads = [lead for lead in verdict.leads if self._wants_lead(candidate, lead)]
        guesses: Sequence[Candidate] = ()
        if verdict.status is Status.VALID and candidate.evidence.signal != SIBLING:
            guesses = self._recogniser.siblings(candidate.endpoint)
        elif verdict.reason == "exception":
            guesses = self._recogniser.instead(candidate)
        spent = self._siblings_of_host
        for guess in guesses:
            if spent[guess.endpoint.url.host] < self._siblings:
                spent[guess.endpoint.url.host] += 1
                evidence = Evidence(SIBLING, candidate.endpoint.url.address, guess.endpoint.url.address)
                leads.append(replace(guess, evidence=evidence))
        return [(lead, None) for lead in leads]
