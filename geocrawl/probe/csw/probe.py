"""Probe CSW 2.0.2 (OGC 07-006r1) and 3.0 (12-176r7): request capabilities, and name the first page of records.

Version 2.0.2 is requested first: nearly every catalogue supports it, and those with 3.0 answer both. REQUEST is spelt
exactly as in the standard, because some servers compare the value case-sensitively. A catalogue has no list of
contents: its items are the types of record that GetRecords names.
"""

from __future__ import annotations

from dataclasses import replace

from geocrawl.model import Candidate, Kind, Link, Service, Status, Url
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.csw.reader import csw_form
from geocrawl.probe.ows.answer import examine
from geocrawl.urls import RECORDS, get_records_url

_VERSIONS = ("2.0.2", None, "3.0.0")


class CswProbe:
    """Proves CSW endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.CSW

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.CSW, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request capabilities until the answers decide, three at most. `pages` is the first page of records."""
        form = csw_form()
        questions = interview.by_version(candidate.endpoint.url, "CSW", _VERSIONS)
        verdict = yield from interview.run(candidate, questions, lambda page: examine(page, form))
        if verdict.status is not Status.VALID or verdict.service is None:
            return verdict
        return replace(verdict, pages=_first_records(candidate.endpoint.url, verdict.service))


def _first_records(endpoint: Url, service: Service) -> tuple[Link, ...]:
    if interview.is_file(endpoint):
        return ()
    address = get_records_url(endpoint, version=service.version)
    return (Link(address, anchor=service.title, context=service.provider, where=RECORDS),)
