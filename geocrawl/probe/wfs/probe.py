"""Probe WFS 1.0.0 (OGC 02-058), 1.1.0 (04-094) and 2.0 (09-025r2): request capabilities.

A server answers a request without VERSION in its highest version (2.0.2, 7.6.2.7); if that fails, each version is
requested explicitly.
"""

from __future__ import annotations

from geocrawl.model import Candidate, Kind
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.ows.answer import examine
from geocrawl.probe.wfs.reader import wfs_form

VERSIONS = (None, "2.0.0", "1.1.0", "1.0.0")


class WfsProbe:
    """Proves WFS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WFS

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.WFS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request capabilities until the answers decide; at most five requests."""
        form = wfs_form()
        endpoint = candidate.endpoint.url
        questions = interview.by_version(endpoint, "WFS", VERSIONS)
        lower_case = () if interview.is_file(endpoint) else (interview.lower_case_question(endpoint, "WFS"),)
        return interview.run(candidate, (*questions, *lower_case), lambda page: examine(page, form))
