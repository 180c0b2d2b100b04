"""Visit an endpoint: run the interview of the best-fitting probe and the content check, and collect all results.

Probes and content checks do no I/O (`ports.Probe`, `ports.ContentCheck`); the requests that they yield are made here,
in one turn of the leased host, so robots.txt, the delay and the address guard apply as they do to pages. An answer may
lead to endpoints that it names, to endpoints of other kinds at such an address, and to a catalogue's pages of records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from geocrawl.crawler.guesses import Guesses
from geocrawl.crawler.visits import TRANSIENT, not_modified, retry_after_s
from geocrawl.model import (
    NOT_PERMITTED,
    SIBLING,
    Candidate,
    ContentReport,
    Deviation,
    Entry,
    Evidence,
    Failure,
    FailureCode,
    HostState,
    Lease,
    Page,
    Purpose,
    Rank,
    RankedLink,
    State,
    Status,
    Url,
    Validators,
    Verdict,
    Visit,
)
from geocrawl.model.health import second_look_s, turn_at
from geocrawl.model.web import validators_of
from geocrawl.ports import Ask, Clock, ContentCheck, ContentInterview, Probe, ReadingPool, Recogniser, Turn


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
        probe_time_s: float,
        content_checks: Sequence[ContentCheck] = (),
        light_checks: Sequence[ContentCheck] = (),
        map_requests: int = 0,
        map_requests_per_host: int = 0,
        siblings: int = 0,
        wants_lead: Callable[[Candidate, Candidate], bool] = lambda asked, named: True,
        guesses: Guesses | None = None,
    ) -> None:
        """Set the parts and limits of visits.

        `records_rank`: rank of a catalogue's first page of records. `content_checks`: may be empty; `light_checks`: of
        one layer, between two full probes of what is watched. `probe_time_s`,
        `map_requests`, `map_requests_per_host`, `siblings`: as in `Settings`. `wants_lead(asked, named)`: whether to
        queue the endpoint `named`, which an answer of the endpoint `asked` names. `guesses`: learns where guesses were
        wrong.
        """
        self._probes = {probe.kind: probe for probe in probes}
        self._pool = pool
        self._recogniser = recogniser
        self._clock = clock
        self._retry_first_s = retry_first_s
        self._records_rank = records_rank
        self._probe_time_s = probe_time_s
        self._content_checks = {check.kind: check for check in content_checks}
        self._light_checks = {check.kind: check for check in light_checks}
        self._map_requests = map_requests
        self._map_requests_spent = Counter[str]()
        self._map_requests_per_host = map_requests_per_host
        self._siblings = siblings
        self._siblings_of_host = Counter[str]()
        self._wants_lead = wants_lead
        self._guesses = guesses

    async def visit(self, lease: Lease, turn: Turn) -> Visit:
        """Visit the leased endpoint. Whatever a server sends, no exception is raised."""
        candidate = lease.entry.candidate
        assert candidate is not None, "a probe's lease carries its candidate"
        probe, requests = self._probes[candidate.endpoint.kind], VisitRequests(turn, self._probe_time_s)
        entry, suspect = lease.entry, lease.entry.is_suspect
        result = await run_interview(probe, candidate, requests, self._pool, entry.validators, suspect=suspect)
        content = None
        if isinstance(result, Verdict):
            content = await self._check_content(result, entry, requests)
        host = _watched_host(lease, result, turn.host, self._clock.now())
        if isinstance(result, NotAllowed):
            return self._refused(lease, result, host)
        if isinstance(result, NotModified):
            return not_modified(lease, result.page, host, self._clock.now())
        if self._guesses is not None:
            self._guesses.note(candidate, result)
        return self._judged(lease, result, content, host, candidate)

    async def _check_content(self, verdict: Verdict, entry: Entry, requests: VisitRequests) -> ContentReport | None:
        """Check the content of a valid service within the budgets of the visit and of the host. A light probe, whose
        number its interval bounds, checks one layer in turn instead."""
        service, candidate = verdict.service, entry.candidate
        if service is None or verdict.status is not Status.VALID or candidate is None:
            return None
        host, most = candidate.endpoint.url.host, self._map_requests
        if entry.is_light and entry.every_s is not None:
            check = self._light_checks.get(service.kind)
            service = service.one_in_turn(turn_at(entry.every_s, self._clock.now()))
        else:
            check = self._content_checks.get(service.kind)
            most = min(most, self._map_requests_per_host - self._map_requests_spent[host])
        if check is None or most <= 0:
            return None

        def spend() -> None:
            self._map_requests_spent[host] += not entry.is_light

        begin = partial(check.run, candidate.endpoint, service)
        return await run_content_check(begin, requests, self._pool, most, spend, suspect=entry.is_suspect)

    def _refused(self, lease: Lease, found: NotAllowed, host: HostState) -> Visit:
        state = State.REFUSED if found.retry_after_s is None else State.FAILED
        own = (lease, state, found.reason, host, self._clock.now())
        return Visit(*own, http_status=found.http_status, retry_after_s=found.retry_after_s)

    def _judged(
        self, lease: Lease, verdict: Verdict, content: ContentReport | None, host: HostState, candidate: Candidate
    ) -> Visit:
        is_retried = lease.entry.every_s is None  # what is watched is asked again by its health alone
        transient = is_retried and verdict.status is Status.INVALID and verdict.reason in TRANSIENT
        state = State.FAILED if transient else State.VISITED
        return Visit(
            *(lease, state, verdict.reason, host, self._clock.now()),
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


def _watched_host(lease: Lease, result: Verdict | NotAllowed | NotModified, host: HostState, now: float) -> HostState:
    """Return the host's state after a probe. One that does not answer rests no longer than until the second look at a
    watched service, unless it names a time."""
    every_s = lease.entry.every_s
    if every_s is None or not isinstance(result, Verdict) or result.retry_after_s is not None:
        return host
    return replace(host, next_at=min(host.next_at, now + second_look_s(every_s)))


_LONGEST_KEPT = 1 << 20
"""A description with more bytes is not kept for the content check."""


class VisitRequests:
    """The requests of one visit to a service: bounded in time, and no short description is asked for twice.

    The time is bounded so that other addresses of the host are visited soon. What counts is the server's time alone:
    waits for the delay of the host do not.
    """

    def __init__(self, turn: Turn, most_s: float) -> None:
        """`turn`: of the leased host. `most_s`: seconds that all answers together may take."""
        self._turn = turn
        self._most_s = self._left_s = most_s
        self._descriptions: dict[Url, Page] = {}

    @property
    def is_time_spent(self) -> bool:
        """Return whether nothing more is requested."""
        return self._left_s <= 0.0

    def description_at(self, url: Url) -> Page | None:
        """Return the short description that an earlier request of the visit got at this address; None without one."""
        return self._descriptions.get(url)

    async def make(self, ask: Ask, validators: Validators | None = None) -> Page | Failure:
        """Make a request and count the time of its answer; return a Failure (timeout-total) when none is left."""
        if self.is_time_spent:
            detail = f"slow: its answers before took {self._most_s:g} s or more (probe_time)"
            return Failure(ask.url, FailureCode.TIMEOUT_TOTAL, detail)
        answer = await self._turn.fetch(ask.url, purpose=ask.purpose, validators=validators)
        self._left_s -= answer.elapsed_ms / 1000
        if ask.purpose is Purpose.PROBE and isinstance(answer, Page) and _is_short(answer):
            self._descriptions[ask.url] = answer
        return answer


def _is_short(page: Page) -> bool:
    return not page.not_modified and len(page.body) <= _LONGEST_KEPT


Result = TypeVar("Result", Verdict, ContentReport)
Begin: TypeAlias = Callable[[], Generator[Ask, Page | Failure, Result]]
"""Begins an interview or a content check."""


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """The result for an endpoint that must not be requested (robots.txt, address guard, operator): no verdict."""

    reason: str
    """robots, robots-unreachable, guard, deny, allow, forgotten, resting."""
    detail: str
    retry_after_s: float | None
    """Seconds until the endpoint may be requested; None: never."""
    http_status: int | None
    """Status of robots.txt, if its answer is why."""


@dataclass(frozen=True, slots=True)
class NotModified:
    """The result for a service that answered "not modified" (304) to the first and only request."""

    page: Page


class _Conversation(Generic[Result]):
    """Advances an interview answer by answer: here, or in the pool from the first answer on that may take long.

    A generator cannot be sent to another process. An interview is pure, so the pool restarts it and sends it all
    answers.
    """

    def __init__(self, begin: Begin[Result], pool: ReadingPool, suspect: bool) -> None:
        self._suspect = suspect
        self._begin: Begin[Result] = begin
        self._pool = pool
        self._generator: Generator[Ask, Page | Failure, Result] = begin()
        self._answers: list[Page | Failure] = []
        self._heavy: Page | None = None
        """The last answer that the pool takes; None while all is read here."""

    def first(self) -> Ask | Result:
        """Return the first request, or the result of an interview without any."""
        return _step(self._generator, None)

    async def next(self, answer: Page | Failure) -> Ask | Result:
        """Return the request after an answer, or the result. An answer that cannot be read counts as a failure."""
        self._answers.append(answer)
        if isinstance(answer, Page) and self._pool.takes(answer, suspect=self._suspect):
            self._heavy = answer
        if self._heavy is None:
            return _step(self._generator, answer)
        result = await self._replayed(self._heavy)
        if isinstance(result, Failure):
            self._answers[-1] = result
            pages = (page for page in self._answers if isinstance(page, Page))
            self._heavy = next((page for page in pages if self._pool.takes(page, suspect=self._suspect)), None)
            if self._heavy is None:
                self._generator = self._begin()
                return _advanced(self._generator, self._answers)
            result = await self._replayed(self._heavy)
        if isinstance(result, Failure):
            raise RuntimeError(f"an interview could not be replayed: {result.detail}")
        return result

    async def _replayed(self, page: Page) -> Ask | Result | Failure:
        return await self._pool.run(page, partial(replayed, self._begin, tuple(self._answers)))


def replayed(begin: Begin[Result], answers: Sequence[Page | Failure]) -> Ask | Result:
    """Return the request after these answers of an interview, or its result."""
    return _advanced(begin(), answers)


def _advanced(generator: Generator[Ask, Page | Failure, Result], answers: Sequence[Page | Failure]) -> Ask | Result:
    result = _step(generator, None)
    for answer in answers:
        result = _step(generator, answer)
    return result


def _step(generator: Generator[Ask, Page | Failure, Result], answer: Page | Failure | None) -> Ask | Result:
    try:
        return next(generator) if answer is None else generator.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result


async def run_interview(
    probe: Probe,
    candidate: Candidate,
    requests: VisitRequests,
    pool: ReadingPool,
    validators: Validators | None = None,
    *,
    suspect: bool = False,
) -> Verdict | NotAllowed | NotModified:
    """Make the requests of a probe's interview, one after the other, and return its verdict.

    Return `NotAllowed` as soon as a request must not be made, and `NotModified` when the first answer is a 304. The
    first request is sent with `validators`. What was tolerated of the answers' connections and coding is part of the
    verdict; as a 304 says nothing of that, such a service is read in full. `suspect`: as in `ReadingPool.takes`.
    """
    conversation = _Conversation(partial(probe.interview, candidate), pool, suspect)
    asked, given, retry_after_s = 0, None, None
    tolerated: dict[str, Deviation] = {}
    step = conversation.first()
    while isinstance(step, Ask):
        answer = await requests.make(step, None if asked else validators)
        asked += 1
        if isinstance(answer, Page):
            if answer.not_modified and answer.deviations:
                continue
            if answer.not_modified:
                return NotModified(answer)
            tolerated |= {deviation.code: deviation for deviation in answer.deviations}
            given, retry_after_s = validators_of(answer), answer.retry_after_s
        elif answer.code is FailureCode.ROBOTS or answer.code in NOT_PERMITTED:
            is_unreachable = answer.code is FailureCode.ROBOTS and answer.retry_after_s is not None
            reason = "robots-unreachable" if is_unreachable else str(answer.code)
            return NotAllowed(reason, answer.detail, answer.retry_after_s, answer.status)
        step = await conversation.next(answer)
    # A service described by several answers may have changed although one of them has not.
    is_told_at_once = step.status is Status.VALID and asked == 1 and not tolerated
    return replace(
        step,
        deviations=(*tolerated.values(), *step.deviations),
        validators=given if is_told_at_once else None,
        retry_after_s=retry_after_s,
    )


async def run_content_check(
    begin: Callable[[], ContentInterview],
    requests: VisitRequests,
    pool: ReadingPool,
    most: int,
    on_request: Callable[[], object],
    *,
    suspect: bool = False,
) -> ContentReport:
    """Make the requests of the content check that `begin` begins, at most `most` of them, and return its report.

    `on_request` is called before each request. Requests beyond `most` are answered with a Failure (`budget`).
    """
    conversation = _Conversation(begin, pool, suspect)
    left = most
    step = conversation.first()
    while isinstance(step, Ask):
        if (known := requests.description_at(step.url)) is not None:
            step = await conversation.next(known)
            continue
        if left > 0:
            if not requests.is_time_spent:
                on_request()
            answer = await requests.make(step)
            answer = await pool.with_picture(answer) if isinstance(answer, Page) else answer
        else:
            answer = _over_budget(step)
        left -= 1
        step = await conversation.next(answer)
    return step


def _over_budget(ask: Ask) -> Failure:
    return Failure(ask.url, FailureCode.BUDGET, "enough content was asked for")
