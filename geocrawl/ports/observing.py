"""Observe what a run does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from geocrawl.model import Entry, FrontierStats, Lease, Settled, Visit


class Observer(Protocol):
    """Receives the events of a run, for progress displays, logs and recordings."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """Note the start of a run. `stats` may be called at any time during it; `notes` are lines for a person (what is
        resumed, what was reranked)."""

    def noted(self, text: str) -> None:
        """Show a line to a person during the run."""

    def leased(self, lease: Lease) -> None: ...

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None: ...
