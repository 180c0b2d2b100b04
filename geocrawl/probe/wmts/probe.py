"""Probe WMTS 1.0.0 (OGC 07-057r7): request capabilities by KVP and RESTful.

A RESTful service is a document in a file (`…/1.0.0/WMTSCapabilities.xml`, 10.2.2 and annex D) and is requested
unchanged. An endpoint that does not answer KVP may be the root of a RESTful service, so the document below it is
requested last.
"""

from __future__ import annotations

from geocrawl.model import Candidate, Kind, Url
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.interview import Question
from geocrawl.probe.ows.answer import examine
from geocrawl.probe.wmts.reader import wmts_form
from geocrawl.urls import read_url

_VERSIONS = ("1.0.0", None)


class WmtsProbe:
    """Proves WMTS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WMTS

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.WMTS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request capabilities until the answers decide; at most four requests."""
        form = wmts_form()
        return interview.run(candidate, _questions(candidate.endpoint.url), lambda page: examine(page, form))


def _questions(endpoint: Url) -> tuple[Question, ...]:
    questions = interview.by_version(endpoint, "WMTS", _VERSIONS)
    if interview.is_file(endpoint):
        return questions
    lower_case, document = interview.lower_case_question(endpoint, "WMTS"), restful_document(endpoint)
    elsewhere = (Question(None, document, other_place=True),) if document else ()
    return (*questions, lower_case, *elsewhere)


def restful_document(endpoint: Url) -> Url | None:
    """Return the address of the capabilities of a RESTful service with this root."""
    place, _, query = endpoint.address.partition("?")
    root = place.rstrip("/").removesuffix("/1.0.0")
    return read_url(f"{root}/1.0.0/WMTSCapabilities.xml" + (f"?{query}" if query else ""))
