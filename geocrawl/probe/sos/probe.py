"""Probe SOS 1.0 (OGC 06-009r6) and 2.0 (12-006): request capabilities."""

from __future__ import annotations

from geocrawl.model import Candidate, Kind
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.ows.answer import examine
from geocrawl.probe.sos.reader import sos_form

_VERSIONS = (None, "2.0.0", "1.0.0")


class SosProbe:
    """Proves SOS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.SOS

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.SOS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request capabilities until the answers decide; at most three requests."""
        form = sos_form()
        questions = interview.by_version(candidate.endpoint.url, "SOS", _VERSIONS)
        return interview.run(candidate, questions, lambda page: examine(page, form))
