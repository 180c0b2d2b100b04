"""Probe a WMS-C: request the tile sets of a WMS 1.1.1 (OSGeo WMS Tiling Client Recommendation, 2006).

The tile sets are in the vendor's part of the capabilities: `VendorSpecificCapabilities/TileSet`. Some servers list them
only when requested with `tiled=true`.
"""

from __future__ import annotations

from geocrawl.model import Candidate, Kind
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.answer import examine
from geocrawl.probe.interview import Question
from geocrawl.probe.wmsc.reader import read_wmsc
from geocrawl.urls import request_url


class WmscProbe:
    """Proves WMS-C endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.WMSC

    def recognise(self, candidate: Candidate) -> float:
        """Return 1 for a candidate of this kind, 0.5 for a weak one, 0 for any other."""
        return interview.fits(Kind.WMSC, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Request the capabilities of WMS 1.1.1 with tile sets. One request."""
        asked = {"SERVICE": "WMS", "REQUEST": "GetCapabilities", "VERSION": "1.1.1", "TILED": "true"}
        question = Question("1.1.1", request_url(candidate.endpoint.url, asked))
        return interview.run(candidate, (question,), lambda page: examine(page, read_wmsc))
