"""Recognise a WMS by the query of a link alone, as the paper of gws does (Shen et al. 2015): `detect=paper`."""

from __future__ import annotations

from itertools import islice

from geocrawl.detect.addresses import query_words, strong
from geocrawl.detect.detector import MOST_CANDIDATES, Detector, with_evidence
from geocrawl.model import Candidate, Document, Endpoint, Kind, Link, Page, Url

REQUESTS = frozenset({"getcapabilities", "getmap", "getfeatureinfo"})
"""Values of REQUEST that make a link a candidate, whatever service it names."""


class QueryDetector(Detector):
    """Recognises links with `service=WMS` or one of three requests, and guesses nothing."""

    def __init__(self) -> None:
        """Make a detector that knows no kind but WMS."""
        super().__init__(())

    def candidates(self, document: Document) -> tuple[tuple[Candidate, int | None], ...]:
        """Return the candidates among the links that readers of a page can click, each with the index of its link."""
        found = (
            (with_evidence(candidate, document, link), index)
            for index, link in enumerate(document.links)
            if link.where in ("a", "area") and (candidate := self.of_url(link.url)) is not None
        )
        return tuple(islice(found, MOST_CANDIDATES))

    def siblings(self, endpoint: Endpoint) -> tuple[Candidate, ...]:
        """Return (): the paper asks for nothing beside a service."""
        return ()

    def guesses(self, page: Page) -> tuple[Candidate | Link, ...]:
        """Return (): the paper knows no software."""
        return ()

    def instead(self, refused: Candidate) -> tuple[Candidate, ...]:
        """Return (): what is refused is no service."""
        return ()

    def _recognise(self, url: Url) -> Candidate | None:
        words = query_words(url) if "?" in url.address else {}
        if words.get("service") == "wms" or words.get("request") in REQUESTS:
            return strong(Kind.WMS, url)
        return None
