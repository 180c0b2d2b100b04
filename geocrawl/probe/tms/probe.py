"""Probe a Tile Map Service: request the document at its address (OSGeo TMS Specification 1.0.0).

By the specification the root's address ends with a slash; servers differ in their answers without the slash, so the
other spelling is requested when the first one is not found.
"""

from __future__ import annotations

from dataclasses import replace

from geocrawl.model import Candidate, Kind, Page, Status, Url
from geocrawl.ports import Ask, Interview
from geocrawl.probe import interview
from geocrawl.probe.answer import examine
from geocrawl.probe.interview import Answer
from geocrawl.probe.stream import read_whole
from geocrawl.probe.tms.reader import leads_of, read_tms
from geocrawl.urls import read_url

_OTHER_SPELLING_MAY_HELP = frozenset({"http-400", "http-404", "http-500", "html", "exception", "empty"})


class TmsProbe:
    """Proves tile map services (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.TMS

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.TMS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request the address unchanged, then with the final slash added or removed. Two requests at most."""
        answers: list[Answer] = []
        for url in (candidate.endpoint.url, other_spelling(candidate.endpoint.url)):
            if answers and answers[-1].finding.reason not in _OTHER_SPELLING_MAY_HELP:
                break
            page = yield Ask(url)
            answers.append(Answer(page, interview.examined(page, lambda page: examine(page, read_tms))))
        verdict = interview.verdict_on(answers, candidate)
        page = answers[-1].page
        if verdict.status is not Status.VALID or not isinstance(page, Page):
            return verdict
        root = read_whole(page).root
        leads = leads_of(root, page.final) if root is not None else ()
        own = candidate.endpoint.key
        return replace(verdict, leads=(*verdict.leads, *(each for each in leads if each.endpoint.key != own)))


def other_spelling(url: Url) -> Url:
    """Return the address with a final slash of the path added, or removed if there is one."""
    place, mark, query = url.address.partition("?")
    return read_url((place[:-1] if place.endswith("/") else f"{place}/") + mark + query) or url
