"""Keep services and answer for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from geocrawl.model import Candidate, Verdict, Visit


class CatalogWriter(Protocol):
    """Keeps what probes proved. Every method works inside the transaction of a settlement."""

    def note(self, candidate: Candidate, at: float) -> int:
        """Keep a candidate's evidence; return the id of its endpoint, which is added when it is new."""

    def write(self, endpoint_id: int, candidate: Candidate, verdict: Verdict, at: float) -> None:
        """Keep the verdict of a probe and the service that it described."""

    def write_not_modified(self, endpoint_id: int, visit: Visit) -> None:
        """Keep that an endpoint answered as it did before."""

    def write_unasked(self, endpoint_id: int, reason: str, at: float) -> None:
        """Keep why an endpoint was not asked."""


class CatalogQueries(Protocol):
    """Answers what a crawl asks of the catalogue."""

    def counts(self) -> Mapping[str, int]:
        """Return how many services there are by status."""

    def candidate(self, endpoint_id: int) -> Candidate:
        """Return a known endpoint as a candidate for its next probe."""

    def was_answered(self, key: str) -> bool:
        """Return whether an endpoint of this key has a verdict."""
