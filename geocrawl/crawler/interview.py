"""Make the requests that probes and content checks yield.

Probes and content checks do no I/O (`ports.Probe`, `ports.ContentCheck`). Their requests are part of the turn of the
leased host, so robots.txt, the delay and the address guard apply as they do to pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from geocrawl.model import (
    NOT_PERMITTED,
    Candidate,
    ContentReport,
    Failure,
    FailureCode,
    Page,
    Status,
    Validators,
    Verdict,
)
from geocrawl.model.validators import validators_of
from geocrawl.ports import Ask, ContentInterview, Probe, Turn


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """The result for an endpoint that must not be requested (robots.txt, address guard, operator): no verdict."""

    reason: str
    """robots, robots-unreachable, guard, deny, allow, forgotten, resting."""
    detail: str
    retry_after_s: float | None
    """Seconds until the endpoint may be requested; None: never."""


@dataclass(frozen=True, slots=True)
class NotModified:
    """The result for a service that answered "not modified" (304) to the first and only request."""

    page: Page


async def run_interview(
    probe: Probe, candidate: Candidate, turn: Turn, validators: Validators | None = None
) -> Verdict | NotAllowed | NotModified:
    """Make the requests of a probe's interview, one after the other, and return its verdict.

    Return `NotAllowed` as soon as a request must not be made, and `NotModified` when the first answer is a 304. The
    first request is sent with `validators`.
    """
    interview = probe.interview(candidate)
    asked, given, retry_after_s = 0, None, None
    try:
        ask = next(interview)
        while True:
            answer = await turn.fetch(ask.url, purpose=ask.purpose, validators=None if asked else validators)
            asked += 1
            if isinstance(answer, Page):
                if answer.not_modified:
                    interview.close()
                    return NotModified(answer)
                given, retry_after_s = validators_of(answer), answer.retry_after_s
            if isinstance(answer, Failure) and (answer.code is FailureCode.ROBOTS or answer.code in NOT_PERMITTED):
                interview.close()
                reason = str(answer.code) if answer.retry_after_s is None else "robots-unreachable"
                return NotAllowed(reason, answer.detail, answer.retry_after_s)
            ask = interview.send(answer)
    except StopIteration as end:
        verdict: Verdict = end.value
        # Validators describe one answer only: a service that several answers describe may change while one stays.
        is_told_at_once = verdict.status is Status.VALID and asked == 1
        return replace(verdict, validators=given if is_told_at_once else None, retry_after_s=retry_after_s)


async def run_content_check(
    interview: ContentInterview, turn: Turn, most: int, on_request: Callable[[], object]
) -> ContentReport:
    """Make the requests of a content check, at most `most` of them, and return its report.

    `on_request` is called before each request. Requests beyond `most` are answered with a Failure (`budget`).
    """
    left = most
    try:
        ask = next(interview)
        while True:
            if left > 0:
                on_request()
                answer = await turn.fetch(ask.url, purpose=ask.purpose)
            else:
                answer = _over_budget(ask)
            left -= 1
            ask = interview.send(answer)
    except StopIteration as end:
        report: ContentReport = end.value
        return report


def _over_budget(ask: Ask) -> Failure:
    return Failure(ask.url, FailureCode.BUDGET, "enough content was asked for")
