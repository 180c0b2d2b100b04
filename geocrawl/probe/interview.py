"""Run an interview: make those requests of a kind that can help, in order, and decide the verdict by the answers.

For most candidates one request decides whether a service answers. Each further question states the reasons after
which it can help: the cause of an exception or an error may be an unknown version, and a server that fails on VERSION
may send HTML or an empty answer. An interview ends when another version results in the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace

from geocrawl.formats.xml import external_entity
from geocrawl.model import ANSWER, Candidate, Deviation, Evidence, Failure, Kind, Page, Service, Status, Url, Verdict
from geocrawl.ports import Ask, Interview
from geocrawl.probe.answer import Classification, is_slow, with_fingerprint
from geocrawl.probe.filters import filter_sign
from geocrawl.urls import capabilities_url, query_parameters, read_url, service_endpoint

_MAY_CHANGE = frozenset({"exception", "http-400", "http-406", "http-500", "http-501", "html", "empty"})
"""Reasons that another version may change."""
_SELDOM_CHANGE = frozenset({"html", "empty"})
"""Reasons that another version changes so seldom that they justify one more request, and none for a weak candidate."""
_SAY_WHY = frozenset({"exception", "http-400", "http-406"})
"""Reasons after which a slow server is asked in another version: it does not know what it was asked."""
REFUSALS = frozenset({"exception", "http-400", "http-500", "http-501"})
"""Reasons that other words of the request may change."""
ELSEWHERE = _MAY_CHANGE | {"http-404", "not-capabilities"}
"""Reasons after which the document may be at another address."""
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
_CAPABILITIES = "GetCapabilities"
_LOWER_CASE = "lower-case-names"
_OWN_SPELLING = "own-spelling"
_MISSED = re.compile(
    r"missing|mandatory|required|not (?:given|specified|set|found|defined)|no (?:request|service)\b|must (?:be|have)",
    re.IGNORECASE,
)
"""Messages claiming that a parameter that was sent is missing."""


@dataclass(frozen=True, slots=True)
class ClassifiedAnswer:
    """An answer with its classification."""

    page: Page | Failure
    classification: Classification

    @property
    def base(self) -> Url:
        """Return the address that links in the answer are relative to."""
        return self.page.final if isinstance(self.page, Page) else self.page.url

    @property
    def is_refusal(self) -> bool:
        """Return whether a filter before the server gave it, which answers other words alike."""
        return self.classification.service is None and isinstance(self.page, Page) and bool(filter_sign(self.page))


Helps = Callable[[Sequence[ClassifiedAnswer], Candidate], bool]
"""Function that returns whether a question can help after these answers."""
Examine = Callable[[Page], Classification]


def _always(_answers: Sequence[ClassifiedAnswer], _candidate: Candidate) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Question:
    """A request of an interview."""

    url: Url | Callable[[ClassifiedAnswer], Url]
    """Address, or the function that makes it of the answer before."""
    after: Collection[str] = ()
    """Reasons of the answer before after which the question can help; the first question is always asked."""
    helps: Helps = _always
    deviation: str = ""
    """Code of the deviation that a valid answer shows, of a request in other words than the standard's; '' for none."""


def by_version(endpoint: Url, service: str, versions: Sequence[str | None]) -> tuple[Question, ...]:
    """Return GetCapabilities in these versions. A document in a file is requested as it is first."""
    urls = [capabilities_url(endpoint, service=service, version=version) for version in versions]
    return tuple(Question(url, _MAY_CHANGE, _differ) for url in ((endpoint, urls[0]) if is_file(endpoint) else urls))


def _differ(answers: Sequence[ClassifiedAnswer], candidate: Candidate) -> bool:
    """Return whether another version may be answered better, because the versions so far were answered differently."""
    findings = [(answer.classification.reason, answer.classification.detail) for answer in answers[-2:]]
    if len(findings) > 1 and findings[0] == findings[1]:
        return False
    if is_slow(answers[-1].page) and findings[-1][0] not in _SAY_WHY:
        return False
    return findings[-1][0] not in _SELDOM_CHANGE or not (len(findings) > 1 or candidate.weak)


def lower_case_question(endpoint: Url, service: str) -> Question:
    """Return GetCapabilities with the names of its parameters in lower case (WMS 1.3.0, 6.8.1: in any)."""
    modern = capabilities_url(endpoint, service=service).address
    lower = read_url(modern.replace("SERVICE=", "service=").replace("REQUEST=", "request="))
    return Question(lower or endpoint, REFUSALS, _misses_a_parameter, _LOWER_CASE)


def as_linked(candidate: Candidate) -> tuple[Question, ...]:
    """Return the request of a candidate's link as it is written, if it spells GetCapabilities in a way of its own.

    It follows ours: most servers read any spelling, and the link may name an old version.
    """
    link = read_url(candidate.evidence.link)
    words = [value for name, value in query_parameters(link) if name.lower() == "request"] if link else []
    if link is None or not words or words[0] == _CAPABILITIES or words[0].lower() != _CAPABILITIES.lower():
        return ()
    return (Question(link, REFUSALS, deviation=_OWN_SPELLING),)


def _misses_a_parameter(answers: Sequence[ClassifiedAnswer], _: Candidate) -> bool:
    return any(_MISSED.search(answer.classification.detail) for answer in answers)


def named_for(service: Service, parameters: Mapping[str, str]) -> Mapping[str, str]:
    """Return the parameters of a request by the names that a service knows."""
    if not service.lower_case_names:
        return parameters
    return {name.lower(): value for name, value in parameters.items()}


def is_file(endpoint: Url) -> bool:
    """Return whether an endpoint is a document in a file (`…/wms.xml`), which answers without a request."""
    return endpoint.address.partition("?")[0].lower().endswith(".xml")


def ask(
    candidate: Candidate, questions: Sequence[Question], examine: Examine
) -> Generator[Ask, Page | Failure, list[ClassifiedAnswer]]:
    """Make requests until the answers decide, or a filter refuses us; return all answers."""
    answers: list[ClassifiedAnswer] = []
    for question in questions:
        last = answers[-1] if answers else None
        if last and last.is_refusal:
            break
        if last and not (last.classification.reason in question.after and question.helps(answers, candidate)):
            continue
        url = question.url(answers[-1]) if callable(question.url) else question.url
        page = yield Ask(url)
        answers.append(ClassifiedAnswer(page, _noted(question, _examined(page, examine))))
    return answers


def run(candidate: Candidate, questions: Sequence[Question], examine: Examine) -> Interview:
    """Make requests until the answers decide; the verdict is on the most informative answer."""
    return verdict_on((yield from ask(candidate, questions, examine)), candidate)


def _noted(question: Question, classification: Classification) -> Classification:
    if classification.service is None or not question.deviation:
        return classification
    service = replace(classification.service, lower_case_names=question.deviation == _LOWER_CASE)
    return replace(
        classification, service=service, deviations=(*classification.deviations, Deviation(question.deviation))
    )


def _examined(page: Page | Failure, examine: Examine) -> Classification:
    """Classify an answer; a failure by its code. An XML document that takes text from elsewhere proves nothing."""
    if isinstance(page, Failure):
        return Classification(str(page.code), page.detail)
    classification = examine(page)
    if classification.service is not None and not classification.value and (place := external_entity(page.body)):
        return Classification("external-entity", place, deviations=classification.deviations)
    return classification


def verdict_on(answers: Sequence[ClassifiedAnswer], candidate: Candidate) -> Verdict:
    """Return the verdict on the most informative answer, the first of equals."""
    best = min(answers, key=lambda answer: _telling(answer.classification.reason))
    page, classification = best.page, best.classification
    valid = classification.service is not None
    return Verdict(
        status=Status.VALID if valid else Status.INVALID,
        reason=classification.reason,
        service=with_fingerprint(classification.service) if classification.service is not None else None,
        deviations=classification.deviations,
        http_status=page.status,
        content_type=page.content_type if isinstance(page, Page) else "",
        first_bytes=_first_bytes(page.body) if isinstance(page, Page) else "",
        detail=classification.detail,
        filter=filter_sign(page) if isinstance(page, Page) and not valid else "",
        elapsed_ms=page.elapsed_ms,
        requests=len(answers),
        moved_to=page.location if isinstance(page, Page) else None,
        leads=_leads(classification, candidate),
    )


def _leads(classification: Classification, candidate: Candidate) -> tuple[Candidate, ...]:
    """Return a candidate at the same address, of the kind of the document found there."""
    if classification.other_kind is None or classification.other_kind is candidate.endpoint.kind:
        return ()
    url = candidate.endpoint.url
    return (lead(classification.other_kind, url, url),)


def _telling(reason: str) -> int:
    return _MOST_TELLING.index(reason) if reason in _MOST_TELLING else len(_MOST_TELLING)


def _first_bytes(body: bytes) -> str:
    """Return the first 200 characters, control characters replaced by spaces."""
    text = body[: 4 * _FIRST_CHARS].decode("utf-8", "replace")[:_FIRST_CHARS]
    return "".join(character if character.isprintable() else " " for character in text)


def lead(kind: Kind, url: Url, page: Url, anchor: str = "") -> Candidate:
    """Return the endpoint of this kind at `url`, named by the answer of `page`, as a candidate."""
    return Candidate(service_endpoint(kind, url), Evidence(ANSWER, page.address, url.address, anchor))
