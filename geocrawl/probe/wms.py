"""The interview of a WMS: which GetCapabilities request comes next, and the verdict on the answers.

Most candidates of a crawl are dead or well, and one request tells. Another is made only when it can plausibly help: an
exception or an error may come of a version that the server does not know, HTML and an empty answer of a server that
fails on VERSION. The order is 1.3.0, none, 1.1.1, 1.0.0 (WMS 1.3.0, 6.2.4; 1.0.0 is asked with WMTVER and
REQUEST=capabilities); an answer that a change of version did not change ends the interview. There are four requests at
most.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from geocrawl.model import Candidate, Failure, Kind, Page, Status, Url, Verdict
from geocrawl.ports import Ask, Interview
from geocrawl.probe.wms_answer import Finding, examine
from geocrawl.urls import capabilities_url, read_url

_MAY_CHANGE = frozenset({"exception", "http-400", "http-406", "http-500", "http-501", "html", "empty"})
"""Reasons that another version may change."""
_SELDOM_CHANGE = frozenset({"html", "empty"})
"""… but so seldom that they are worth one more request, and none where only the path looked like a service."""
_MOST_TELLING = (
    "ok",
    "truncated",
    "protected",
    "moved",
    "exception",
    "other-kind",
    "not-capabilities",
    "html",
    "empty",
)
_OLD = re.compile(r"wmtver|request=capabilities|request=map\b|\b1\.0\.0\b", re.IGNORECASE)
_FIRST_CHARS = 200


@dataclass(frozen=True, slots=True)
class _Question:
    version: str | None
    url: Url


@dataclass(frozen=True, slots=True)
class _Answer:
    page: Page | Failure
    finding: Finding


class WmsProbe:
    """Proves WMS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WMS

    def recognise(self, candidate: Candidate) -> float:
        """1 for a candidate of this kind, half of it for a weak one, 0 for any other."""
        if candidate.endpoint.kind is not Kind.WMS:
            return 0.0
        return 0.5 if candidate.weak else 1.0

    def interview(self, candidate: Candidate) -> Interview:
        """Ask until the answers tell; see the text on top for the order."""
        address = candidate.endpoint.url.address
        answers: list[_Answer] = []
        for question in _questions(candidate.endpoint.url):
            if answers and not _worth_asking(question, answers, candidate):
                continue
            page = yield Ask(question.url)
            answers.append(_Answer(page, _examine(page, address)))
        return _verdict(answers)


def _questions(endpoint: Url) -> tuple[_Question, ...]:
    """All that could be asked, in order. A capabilities document in a file is first asked as it stands."""
    questions = [
        _Question("1.3.0", capabilities_url(endpoint, version="1.3.0")),
        _Question(None, capabilities_url(endpoint)),
        _Question("1.1.1", capabilities_url(endpoint, version="1.1.1")),
        _Question("1.0.0", _oldest_request(endpoint)),
    ]
    if is_file(endpoint):
        return _Question(None, endpoint), questions[0]
    return tuple(questions)


def is_file(endpoint: Url) -> bool:
    """Whether an endpoint is a document in a file (`…/wms.xml`), which answers without a request."""
    return endpoint.address.partition("?")[0].lower().endswith(".xml")


def _oldest_request(endpoint: Url) -> Url:
    """GetCapabilities as WMS 1.0.0 (6.2.5) asks for it."""
    modern = capabilities_url(endpoint).address
    old = modern.replace("REQUEST=GetCapabilities", "WMTVER=1.0.0&REQUEST=capabilities")
    return read_url(old) or endpoint


def _examine(page: Page | Failure, address: str) -> Finding:
    if isinstance(page, Failure):
        return Finding(str(page.code), page.detail)
    return examine(page, address)


def _worth_asking(question: _Question, answers: list[_Answer], candidate: Candidate) -> bool:
    """Whether the answers so far leave hope that another version is answered better."""
    last = answers[-1].finding
    if last.reason not in _MAY_CHANGE or (len(answers) > 1 and _same(answers[-1], answers[-2])):
        return False
    if last.reason in _SELDOM_CHANGE and (len(answers) > 1 or candidate.weak):
        return False
    if question.version == "1.0.0":
        return any(_OLD.search(text) for text in (candidate.evidence.link, *(each.finding.detail for each in answers)))
    return True


def _same(one: _Answer, other: _Answer) -> bool:
    """Whether a change of version changed nothing."""
    return (one.finding.reason, one.finding.detail) == (other.finding.reason, other.finding.detail)


def _verdict(answers: list[_Answer]) -> Verdict:
    """On the answer that says most; the first of equals."""
    best = min(answers, key=lambda answer: _telling(answer.finding.reason))
    page, finding = best.page, best.finding
    valid = finding.service is not None
    return Verdict(
        status=Status.VALID if valid else Status.INVALID,
        reason=finding.reason,
        service=finding.service,
        deviations=finding.deviations,
        http_status=page.status,
        content_type=page.content_type if isinstance(page, Page) else "",
        first_bytes=_first_bytes(page.body) if isinstance(page, Page) else "",
        detail=finding.detail,
        elapsed_ms=page.elapsed_ms,
        requests=len(answers),
        moved_to=page.location if isinstance(page, Page) else None,
    )


def _telling(reason: str) -> int:
    return _MOST_TELLING.index(reason) if reason in _MOST_TELLING else len(_MOST_TELLING)


def _first_bytes(body: bytes) -> str:
    """The first 200 characters, control characters replaced by spaces."""
    text = body[: 4 * _FIRST_CHARS].decode("utf-8", "replace")[:_FIRST_CHARS]
    return "".join(character if character.isprintable() else " " for character in text)
