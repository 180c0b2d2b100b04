"""Probe WCS 1.0.0 (OGC 03-065r6), 1.1 (07-067r5) and 2.0 (09-110r4): request capabilities."""

from __future__ import annotations

from geocrawl.model import Candidate, Kind
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.ows.answer import examine
from geocrawl.probe.wcs.reader import wcs_form

_VERSIONS = (None, "2.0.1", "1.1.1", "1.0.0")


class WcsProbe:
    """Proves WCS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WCS

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.WCS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request capabilities until the answers decide; at most four requests."""
        form = wcs_form()
        questions = interview.by_version(candidate.endpoint.url, "WCS", _VERSIONS)
        return interview.run(candidate, questions, lambda page: examine(page, form))
