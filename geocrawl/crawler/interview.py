"""Make the requests that probes and content checks ask for.

Probes and content checks do no I/O (`ports.Probe`, `ports.ContentCheck`). Their requests go through the turn of the
leased host, so robots.txt, the delay and the address guard apply to them as to pages.
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
    """An endpoint that may not be asked (robots.txt, the address guard, the operator): neither valid nor invalid."""

    reason: str
    """robots, robots-unreachable, guard, deny, allow, forgotten, resting."""
    detail: str
    retry_after_s: float | None
    """None: never."""


@dataclass(frozen=True, slots=True)
class NotModified:
    """The answer "not modified" (304) of a service: no other request was made."""

    page: Page


async def run_interview(
    probe: Probe, candidate: Candidate, turn: Turn, validators: Validators | None = None
) -> Verdict | NotAllowed | NotModified:
    """Make the requests of a probe's interview, one after the other, and return its verdict.

    Returns `NotAllowed` as soon as a request may not be made, and `NotModified` when the first one is answered so.
    `validators` go with the first request.
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
        # A service described by several answers may have changed although one of them has not.
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
