"""Probe a TileJSON 1.0 to 3.0: request the one document that locates and describes a set of tiles."""

from __future__ import annotations

from geocrawl.model import Candidate, Kind
from geocrawl.ports import Ask, Interview
from geocrawl.probe import interview
from geocrawl.probe.json.answer import examine_json, verdict_on
from geocrawl.probe.tilejson.reader import read_tilejson


class TileJsonProbe:
    """Proves TileJSON documents (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.TILEJSON

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.TILEJSON, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request the document. One request."""
        page = yield Ask(candidate.endpoint.url)
        return verdict_on([examine_json(page, read_tilejson)], candidate)
