"""The probing loop's step: ask an endpoint what it is, and turn the answer into a settled visit.

Probes think and never do I/O (`ports.Probe`); this file makes the requests they yield, through the turn of the
leased host, so robots.txt, the delay and the address guard hold for probes exactly as for pages. A valid service is
asked for content in the same turn (`ports.ContentCheck`). What an answer leads to becomes part of the visit: endpoints
that it names, other kinds that answer at such an address, and a catalogue's pages of records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from geocrawl.model import (
    BARRED,
    SIBLING,
    Candidate,
    ContentReport,
    Evidence,
    Failure,
    FailureCode,
    HostState,
    Lease,
    Page,
    Rank,
    RankedLink,
    State,
    Status,
    Validators,
    Verdict,
    Visit,
)
from geocrawl.model.validators import validators_of
from geocrawl.ports import Ask, Clock, ContentCheck, Fetcher, Probe, Recogniser, Turn

NOT_MODIFIED = "not-modified"
"""Reason of a visit that found all as it was (304)."""

#: Reasons that may be gone at the next try; every other rejection is final until the service is due again.
TRANSIENT = frozenset(
    {
        FailureCode.DNS,
        FailureCode.REFUSED,
        FailureCode.TIMEOUT_CONNECT,
        FailureCode.TIMEOUT_READ,
        FailureCode.TIMEOUT_TOTAL,
        FailureCode.RESET,
        FailureCode.TRUNCATED,
        FailureCode.BAD_HTTP,
        FailureCode.PROXY,
        "http-429",
        "http-500",
        "http-502",
        "http-503",
        "http-504",
    }
)


@dataclass(frozen=True, slots=True)
class Barred:
    """We may not ask (robots.txt, the address guard, the operator): the endpoint is neither valid nor invalid."""

    reason: str
    """robots, robots-unreachable, guard, deny, allow, forgotten, resting."""
    detail: str
    retry_after_s: float | None
    """None: not at all."""


@dataclass(frozen=True, slots=True)
class NotModified:
    """The service says what it said when it was last read whole: it is well, and nothing else was asked of it."""

    page: Page


class ProbeVisitor:
    """Probes one leased endpoint at a time."""

    def __init__(
        self,
        *,
        fetcher: Fetcher,
        probes: Sequence[Probe],
        recogniser: Recogniser,
        clock: Clock,
        retry_first_s: float,
        records_rank: Rank,
        content_checks: Sequence[ContentCheck] = (),
        map_requests: int = 0,
        map_requests_per_host: int = 0,
        siblings: int = 0,
        follows: Callable[[Candidate, Candidate], bool] = lambda asked, named: True,
    ) -> None:
        """`records_rank`: of a catalogue's first page of records. `content_checks`: none asks no service for content.
        `map_requests`, `map_requests_per_host`, `siblings`: as in `Settings`. `follows(asked, named)`: whether an
        endpoint that the answer of the asked one names is asked, too."""
        self._follows = follows
        self._fetcher = fetcher
        self._probes = probes
        self._recogniser = recogniser
        self._clock = clock
        self._retry_first_s = retry_first_s
        self._records_rank = records_rank
        self._provers = {prover.kind: prover for prover in content_checks}
        self._map_requests = map_requests
        self._map_requests_spent = Counter[str]()
        self._map_requests_per_host = map_requests_per_host
        self._siblings = siblings
        self._siblings_of_host = Counter[str]()

    async def visit(self, lease: Lease) -> Visit:
        """Interview the leased endpoint; never raises for what the web does."""
        candidate = lease.entry.candidate
        assert candidate is not None, "a probe's lease carries its candidate"
        async with self._fetcher.turn(lease.host) as turn:
            found = await conduct(self._probe_for(candidate), candidate, turn, lease.entry.validators)
            proof = await self._prove(found, candidate, turn) if isinstance(found, Verdict) else None
            host = turn.host
        if isinstance(found, Barred):
            return Visit(
                lease=lease,
                state=State.REFUSED if found.retry_after_s is None else State.FAILED,
                reason=found.reason,
                host=host,
                at=self._clock.now(),
                retry_after_s=found.retry_after_s,
            )
        if isinstance(found, NotModified):
            return not_modified(lease, found.page, host, self._clock.now())
        return self._settlement(lease, found, proof, host, candidate)

    async def _prove(self, found: Verdict, candidate: Candidate, turn: Turn) -> ContentReport | None:
        """Ask a valid service for content, as far as the budgets go."""
        if found.service is None or found.status is not Status.VALID:
            return None
        prover, host = self._provers.get(found.service.kind), candidate.endpoint.url.host
        left = min(self._map_requests, self._map_requests_per_host - self._map_requests_spent[host])
        if prover is None or left <= 0:
            return None
        trial = prover.run(candidate.endpoint, found.service)
        try:
            ask = next(trial)
            while True:
                self._map_requests_spent[host] += left > 0
                ask = trial.send(await turn.fetch(ask.url, purpose=ask.purpose) if left > 0 else _over_budget(ask))
                left -= 1
        except StopIteration as end:
            proof: ContentReport = end.value
            return proof

    def _settlement(
        self, lease: Lease, verdict: Verdict, proof: ContentReport | None, host: HostState, candidate: Candidate
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
            proof=proof,
            candidates=(*self._moved(verdict, candidate), *self._leads(verdict, candidate)),
            links=tuple(RankedLink(link, self._records_rank) for link in verdict.pages),
            retry_after_s=self._retry_first_s * 2**lease.entry.attempts if transient else None,
            validators=verdict.validators,
        )

    def _moved(self, verdict: Verdict, candidate: Candidate) -> tuple[tuple[Candidate, None], ...]:
        """A redirect to another host names a candidate of its own, probed in that host's turn."""
        if verdict.moved_to is None:
            return ()
        target = self._recogniser.of_url(verdict.moved_to)
        if target is None or target.endpoint.key == candidate.endpoint.key:
            return ()
        evidence = Evidence("redirect", candidate.endpoint.url.address, verdict.moved_to.address)
        return ((replace(target, evidence=evidence, weak=False), None),)

    def _leads(self, verdict: Verdict, candidate: Candidate) -> list[tuple[Candidate, None]]:
        """Endpoints that the answer names, then those of other kinds beside a valid one that nobody guessed."""
        leads = [lead for lead in verdict.leads if self._follows(candidate, lead)]
        if verdict.status is Status.VALID and candidate.evidence.signal != SIBLING:
            spent = self._siblings_of_host
            for sibling in self._recogniser.siblings(candidate.endpoint):
                if spent[sibling.endpoint.url.host] < self._siblings:
                    spent[sibling.endpoint.url.host] += 1
                    evidence = Evidence(SIBLING, candidate.endpoint.url.address, sibling.endpoint.url.address)
                    leads.append(replace(sibling, evidence=evidence))
        return [(lead, None) for lead in leads]

    def _probe_for(self, candidate: Candidate) -> Probe:
        return max(self._probes, key=lambda probe: probe.recognise(candidate))


def not_modified(lease: Lease, page: Page, host: HostState, at: float) -> Visit:
    """The visit of a page or a service that is as it was when it was last read whole."""
    return Visit(
        lease=lease,
        state=State.VISITED,
        reason=NOT_MODIFIED,
        host=host,
        at=at,
        final=page.final,
        http_status=page.status,
        elapsed_ms=page.elapsed_ms,
        not_modified=True,
    )


async def conduct(
    probe: Probe, candidate: Candidate, turn: Turn, validators: Validators | None = None
) -> Verdict | Barred | NotModified:
    """Make the requests that a probe's interview asks for, until its verdict.

    Returns `Barred` as soon as one of them may not be made, and `NotModified` when the first one is answered so.
    """
    interview = probe.interview(candidate)
    asked, given = 0, None
    try:
        ask = next(interview)
        while True:
            answer = await turn.fetch(ask.url, purpose=ask.purpose, validators=None if asked else validators)
            asked += 1
            if isinstance(answer, Page):
                if answer.not_modified:
                    interview.close()
                    return NotModified(answer)
                given = validators_of(answer)
            if isinstance(answer, Failure) and (answer.code is FailureCode.ROBOTS or answer.code in BARRED):
                interview.close()
                reason = str(answer.code) if answer.retry_after_s is None else "robots-unreachable"
                return Barred(reason, answer.detail, answer.retry_after_s)
            ask = interview.send(answer)
    except StopIteration as end:
        verdict: Verdict = end.value
        # What a service says in several answers is not known to stand when one of them does.
        told = verdict.status is Status.VALID and asked == 1
        return replace(verdict, validators=given if told else None)


def _over_budget(ask: Ask) -> Failure:
    return Failure(ask.url, FailureCode.BUDGET, "enough content was asked for")
