"""Run an interview: make those requests of a kind that can help, in order, and decide the verdict by the answers.

For most candidates one request decides whether a service answers. Another request is made only when it can help: the
cause of an exception or an error may be an unknown version, and a server that fails on VERSION may send HTML or an
empty answer. An interview ends when another version results in the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from geocrawl.formats.xml import external_entity
from geocrawl.model import ANSWER, Candidate, Deviation, Evidence, Failure, Kind, Page, Service, Status, Url, Verdict
from geocrawl.ports import Ask, Interview
from geocrawl.probe.answer import Finding, with_fingerprint
from geocrawl.urls import capabilities_url, read_url, service_endpoint

_MAY_CHANGE = frozenset({"exception", "http-400", "http-406", "http-500", "http-501", "html", "empty"})
"""Reasons that another version may change."""
_SELDOM_CHANGE = frozenset({"html", "empty"})
"""Reasons that another version changes so seldom that they justify one more request, and none for a weak candidate."""
_REFUSALS = frozenset({"exception", "http-400", "http-500", "http-501"})
"""Reasons that other words of the request may change."""
_MAY_BE_ELSEWHERE = frozenset({"http-404", "not-capabilities"})
_MOST_TELLING = (
    "ok",
    "truncated",
    "over-limit",
    "external-entity",
    "protected",
    "moved",
    "exception",
    "other-kind",
    "not-capabilities",
    "html",
    "empty",
)
_FIRST_CHARS = 200
_MAX_DETAIL_CHARS = 500
_LOWER_CASE = "lower-case-names"
_MISSED = re.compile(
    r"missing|mandatory|required|not (?:given|specified|set|found|defined)|no (?:request|service)\b|must (?:be|have)",
    re.IGNORECASE,
)
"""What a server says that misses a parameter, although it was sent."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request of an interview."""

    version: str | None
    """VERSION in the request; None for a request without it."""
    url: Url
    other_place: bool = False
    """Whether another address than the endpoint's is requested, for which earlier answers mean little."""
    deviation: str = ""
    """Code of the deviation that a valid answer shows, of a request in other words than the standard's; '' for none. It
    is made after a refusal, if the probe sees that it can help."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its classification."""

    page: Page | Failure
    finding: Finding


Examine = Callable[[Page], Finding]
CanHelp = Callable[[Question, Sequence[Answer]], bool]
"""Function that returns whether a question can still help, after these answers."""


def by_version(endpoint: Url, service: str, versions: Sequence[str | None]) -> tuple[Question, ...]:
    """Return GetCapabilities in these versions. A document in a file is requested as it is first."""
    questions = [
        Question(version, capabilities_url(endpoint, service=service, version=version)) for version in versions
    ]
    if is_file(endpoint):
        return Question(None, endpoint), questions[0]
    return tuple(questions)


def lower_case_question(endpoint: Url, service: str) -> Question:
    """Return GetCapabilities with the names of its parameters in lower case (WMS 1.3.0, 6.8.1: in any)."""
    modern = capabilities_url(endpoint, service=service).address
    lower = read_url(modern.replace("SERVICE=", "service=").replace("REQUEST=", "request="))
    return Question(None, lower or endpoint, deviation=_LOWER_CASE)


def named_for(service: Service, parameters: Mapping[str, str]) -> Mapping[str, str]:
    """Return the parameters of a request by the names that a service knows."""
    if not service.lower_case_names:
        return parameters
    return {name.lower(): value for name, value in parameters.items()}


def is_file(endpoint: Url) -> bool:
    """Return whether an endpoint is a document in a file (`…/wms.xml`), which answers without a request."""
    return endpoint.address.partition("?")[0].lower().endswith(".xml")


def run(
    candidate: Candidate, questions: Sequence[Question], examine: Examine, can_help: CanHelp | None = None
) -> Interview:
    """Make requests until the answers decide; the verdict is on the most informative answer."""
    answers: list[Answer] = []
    for question in questions:
        if answers and not _worth_asking(question, answers, candidate, can_help):
            continue
        page = yield Ask(question.url)
        answers.append(Answer(page, _noted(question, examined(page, examine))))
    return verdict_on(answers, candidate)


def _noted(question: Question, finding: Finding) -> Finding:
    if finding.service is None or not question.deviation:
        return finding
    service = replace(finding.service, lower_case_names=question.deviation == _LOWER_CASE)
    return replace(finding, service=service, deviations=(*finding.deviations, Deviation(question.deviation)))


def examined(page: Page | Failure, examine: Examine) -> Finding:
    """Classify an answer; a failure by its code. A document that takes text from elsewhere proves nothing."""
    if isinstance(page, Failure):
        return Finding(str(page.code), page.detail)
    finding = examine(page)
    if finding.service is not None and (place := external_entity(page.body)):
        return Finding("external-entity", place[:_MAX_DETAIL_CHARS], deviations=finding.deviations)
    return finding


def _worth_asking(question: Question, answers: list[Answer], candidate: Candidate, can_help: CanHelp | None) -> bool:
    """Return whether another version may be answered better, by the answers so far."""
    last = answers[-1].finding
    if question.other_place:
        return last.reason in _MAY_CHANGE or last.reason in _MAY_BE_ELSEWHERE
    if question.deviation == _LOWER_CASE:
        return last.reason in _REFUSALS and any(_MISSED.search(each.finding.detail) for each in answers)
    if question.deviation:
        return last.reason in _REFUSALS and can_help is not None and can_help(question, answers)
    if last.reason not in _MAY_CHANGE or (len(answers) > 1 and _same(answers[-1], answers[-2])):
        return False
    if last.reason in _SELDOM_CHANGE and (len(answers) > 1 or candidate.weak):
        return False
    return can_help is None or can_help(question, answers)


def _same(one: Answer, other: Answer) -> bool:
    """Return whether two versions were answered in the same way."""
    return (one.finding.reason, one.finding.detail) == (other.finding.reason, other.finding.detail)


def verdict_on(answers: Sequence[Answer], candidate: Candidate) -> Verdict:
    """Return the verdict on the most informative answer, the first of equals."""
    best = min(answers, key=lambda answer: _telling(answer.finding.reason))
    page, finding = best.page, best.finding
    valid = finding.service is not None
    return Verdict(
        status=Status.VALID if valid else Status.INVALID,
        reason=finding.reason,
        service=with_fingerprint(finding.service) if finding.service is not None else None,
        deviations=finding.deviations,
        http_status=page.status,
        content_type=page.content_type if isinstance(page, Page) else "",
        first_bytes=_first_bytes(page.body) if isinstance(page, Page) else "",
        detail=finding.detail,
        elapsed_ms=page.elapsed_ms,
        requests=len(answers),
        moved_to=page.location if isinstance(page, Page) else None,
        leads=_leads(finding, candidate),
    )


def _leads(finding: Finding, candidate: Candidate) -> tuple[Candidate, ...]:
    """Return a candidate at the same address, of the kind of the document found there."""
    if finding.other_kind is None or finding.other_kind is candidate.endpoint.kind:
        return ()
    url = candidate.endpoint.url
    return (lead(finding.other_kind, url, url),)


def _telling(reason: str) -> int:
    return _MOST_TELLING.index(reason) if reason in _MOST_TELLING else len(_MOST_TELLING)


def _first_bytes(body: bytes) -> str:
    """Return the first 200 characters, control characters replaced by spaces."""
    text = body[: 4 * _FIRST_CHARS].decode("utf-8", "replace")[:_FIRST_CHARS]
    return "".join(character if character.isprintable() else " " for character in text)


def lead(kind: Kind, url: Url, page: Url, anchor: str = "") -> Candidate:
    """Return the endpoint of this kind at `url`, named by the answer of `page`, as a candidate."""
    return Candidate(service_endpoint(kind, url), Evidence(ANSWER, page.address, url.address, anchor))
