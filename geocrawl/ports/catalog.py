"""Write to the catalogue what pages and probes found, and query it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from geocrawl.model import Candidate, Verdict, Visit


class CatalogWriter(Protocol):
    """Writes candidates and verdicts. Every method works inside the transaction of a settlement."""

    def note(self, candidate: Candidate, at: float) -> int:
        """Write a candidate's evidence; return the id of its endpoint, which is added when it is new."""

    def write(self, endpoint_id: int, candidate: Candidate, verdict: Verdict, at: float) -> None:
        """Write the verdict of a probe and the service that it describes."""

    def write_not_modified(self, endpoint_id: int, visit: Visit) -> None:
        """Write that an endpoint answered "not modified" (304)."""

    def write_unasked(self, endpoint_id: int, reason: str, at: float) -> None:
        """Write why an endpoint was not probed."""


class CatalogQueries(Protocol):
    """Queries of the catalogue that a crawl needs."""

    def counts(self) -> Mapping[str, int]:
        """Return how many services there are by status."""

    def candidate(self, endpoint_id: int) -> Candidate:
        """Return a known endpoint as a candidate for its next probe."""

    def was_answered(self, key: str) -> bool:
        """Return whether an endpoint of this key has a verdict."""
