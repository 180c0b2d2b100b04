"""Hear what a run does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from geocrawl.model import Entry, FrontierStats, Lease, Settled, Visit


class Observer(Protocol):
    """Is told what happens, for progress displays, logs and recordings."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """`stats` may be asked at any time; `notes` are lines for a person (what is resumed, what was re-ranked)."""

    def noted(self, text: str) -> None:
        """Is given a line for a person while the run goes on."""

    def leased(self, lease: Lease) -> None: ...

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None: ...
