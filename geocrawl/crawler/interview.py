"""Make the requests that probes and content checks yield.

Probes and content checks do no I/O (`ports.Probe`, `ports.ContentCheck`). Their requests are part of the turn of the
leased host, so robots.txt, the delay and the address guard apply as they do to pages.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from geocrawl.model import (
    NOT_PERMITTED,
    Candidate,
    ContentReport,
    Deviation,
    Failure,
    FailureCode,
    Page,
    Status,
    Validators,
    Verdict,
)
from geocrawl.model.web import validators_of
from geocrawl.ports import Ask, ContentInterview, Probe, ReadingPool, Turn

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

    def __init__(self, begin: Begin[Result], pool: ReadingPool) -> None:
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
        if isinstance(answer, Page) and self._pool.takes(answer):
            self._heavy = answer
        if self._heavy is None:
            return _step(self._generator, answer)
        found = await self._replayed(self._heavy)
        if isinstance(found, Failure):
            self._answers[-1] = found
            heavy = (each for each in self._answers if isinstance(each, Page) and self._pool.takes(each))
            self._heavy = next(heavy, None)
            if self._heavy is None:
                self._generator = self._begin()
                return _advanced(self._generator, self._answers)
            found = await self._replayed(self._heavy)
        if isinstance(found, Failure):
            raise RuntimeError(f"an interview could not be replayed: {found.detail}")
        return found

    async def _replayed(self, page: Page) -> Ask | Result | Failure:
        return await self._pool.run(page, partial(replayed, self._begin, tuple(self._answers)))


def replayed(begin: Begin[Result], answers: Sequence[Page | Failure]) -> Ask | Result:
    """Return the request after these answers of an interview, or its result."""
    return _advanced(begin(), answers)


def _advanced(generator: Generator[Ask, Page | Failure, Result], answers: Sequence[Page | Failure]) -> Ask | Result:
    found = _step(generator, None)
    for answer in answers:
        found = _step(generator, answer)
    return found


def _step(generator: Generator[Ask, Page | Failure, Result], answer: Page | Failure | None) -> Ask | Result:
    try:
        return next(generator) if answer is None else generator.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result


async def run_interview(
    probe: Probe, candidate: Candidate, turn: Turn, pool: ReadingPool, validators: Validators | None = None
) -> Verdict | NotAllowed | NotModified:
    """Make the requests of a probe's interview, one after the other, and return its verdict.

    Return `NotAllowed` as soon as a request must not be made, and `NotModified` when the first answer is a 304. The
    first request is sent with `validators`. What was tolerated of the answers' connections and coding is part of the
    verdict; as a 304 says nothing of that, such a service is read in full.
    """
    conversation = _Conversation(partial(probe.interview, candidate), pool)
    asked, given, retry_after_s = 0, None, None
    tolerated: dict[str, Deviation] = {}
    step = conversation.first()
    while isinstance(step, Ask):
        answer = await turn.fetch(step.url, purpose=step.purpose, validators=None if asked else validators)
        asked += 1
        if isinstance(answer, Page):
            if answer.not_modified and answer.deviations:
                continue
            if answer.not_modified:
                return NotModified(answer)
            tolerated |= {each.code: each for each in answer.deviations}
            given, retry_after_s = validators_of(answer), answer.retry_after_s
        elif answer.code is FailureCode.ROBOTS or answer.code in NOT_PERMITTED:
            reason = str(answer.code) if answer.retry_after_s is None else "robots-unreachable"
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
    turn: Turn,
    pool: ReadingPool,
    most: int,
    on_request: Callable[[], object],
) -> ContentReport:
    """Make the requests of the content check that `begin` begins, at most `most` of them, and return its report.

    `on_request` is called before each request. Requests beyond `most` are answered with a Failure (`budget`).
    """
    conversation = _Conversation(begin, pool)
    left = most
    step = conversation.first()
    while isinstance(step, Ask):
        if left > 0:
            on_request()
            answer = await turn.fetch(step.url, purpose=step.purpose)
        else:
            answer = _over_budget(step)
        left -= 1
        step = await conversation.next(answer)
    return step


def _over_budget(ask: Ask) -> Failure:
    return Failure(ask.url, FailureCode.BUDGET, "enough content was asked for")
