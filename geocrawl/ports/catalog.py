"""Query the catalogue during a crawl; settlements write it, within the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from geocrawl.model import Candidate


class CatalogQueries(Protocol):
    """Connection of the catalogue that a crawl needs."""

    def counts(self) -> Mapping[str, int]:
        """Return how many services there are by status."""

    def candidate(self, endpoint_id: int) -> Candidate:
        """Return a known endpoint as a candidate for its next probe."""

    def was_answered(self, key: str) -> bool:
        """Return whether an endpoint of this key has a verdict."""
