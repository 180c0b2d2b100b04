"""Probe WPS 1.0.0 (OGC 05-007r7) and 2.0 (14-065r2): request capabilities."""

from __future__ import annotations

from geocrawl.model import Candidate, Kind
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.ows.answer import examine
from geocrawl.probe.wps.reader import wps_form

_VERSIONS = (None, "1.0.0", "2.0.0")


class WpsProbe:
    """Proves WPS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WPS

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.WPS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request capabilities until the answers decide; at most three requests."""
        form = wps_form()
        questions = interview.by_version(candidate.endpoint.url, "WPS", _VERSIONS)
        return interview.run(candidate, questions, lambda page: examine(page, form))
