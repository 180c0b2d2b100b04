"""Probe a WMS: request GetCapabilities in the order 1.3.0, no version, 1.1.1, 1.0.0 (WMS 1.3.0, 6.2.4).

The request of version 1.0.0 has other parameters (WMTVER, REQUEST=capabilities), and is made only if an answer hints at
that version, or does not know the request. To a server that misses a parameter which it was sent, the names are sent in
lower case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from geocrawl.model import Candidate, Kind, Url
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.interview import Answer, Question
from geocrawl.probe.wms.reader import examine
from geocrawl.urls import capabilities_url, read_url

_OLD = re.compile(r"wmtver|request=capabilities|request=map\b|\b1\.0\.0\b", re.IGNORECASE)
_UNKNOWN_REQUEST = re.compile(
    r"(?:unknown|invalid|unsupported|illegal|unrecogni[sz]ed|bad)\W+(?:wms\W+)?(?:request|operation)\b"
    r"|\b(?:request|operation)\b.{0,40}(?:unknown|not (?:supported|recogni[sz]ed|known)|invalid)",
    re.IGNORECASE,
)
_OLDEST = "oldest-dialect"


class WmsProbe:
    """Proves WMS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WMS

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.WMS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request capabilities until the answers decide; at most five requests."""

        def can_help(question: Question, answers: Sequence[Answer]) -> bool:
            texts = (candidate.evidence.link, *(each.finding.detail for each in answers))
            if question.deviation == _OLDEST:
                return any(_OLD.search(text) or _UNKNOWN_REQUEST.search(text) for text in texts)
            return True

        return interview.run(candidate, _questions(candidate.endpoint.url), examine, can_help)


def _questions(endpoint: Url) -> tuple[Question, ...]:
    """Return all possible requests, in order."""
    questions = interview.by_version(endpoint, "WMS", ("1.3.0", None, "1.1.1"))
    if interview.is_file(endpoint):
        return questions
    oldest = Question("1.0.0", _oldest_request(endpoint), deviation=_OLDEST)
    return (*questions, oldest, interview.lower_case_question(endpoint, "WMS"))


def _oldest_request(endpoint: Url) -> Url:
    """Return the GetCapabilities request of WMS 1.0.0 (6.2.5)."""
    modern = capabilities_url(endpoint).address
    old = modern.replace("REQUEST=GetCapabilities", "WMTVER=1.0.0&REQUEST=capabilities")
    return read_url(old) or endpoint
