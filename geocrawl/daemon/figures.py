"""Counting what happens, between the crawl and whoever looks on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from geocrawl.model import Entry, FrontierStats, Lease, Purpose, Settled, Status, Visit

if TYPE_CHECKING:
    from geocrawl.ports import Observer


class Counting:
    """`ports.Observer` that counts, and passes all on to another one."""

    def __init__(self, inner: Observer, heed: Callable[[Entry, Visit], object]) -> None:
        """`heed` is called for each settled visit."""
        self._inner = inner
        self._heed = heed
        self._figures = Counter[str]()

    @property
    def pages(self) -> int:
        """Pages since the figures were taken last."""
        return self._figures["pages"]

    def take(self) -> Mapping[str, int]:
        """The figures since the last time."""
        figures, self._figures = self._figures, Counter[str]()
        return dict(figures)

    def put_back(self, figures: Mapping[str, int]) -> None:
        """They could not be written: they are taken again."""
        self._figures.update(figures)

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """A run begins."""
        self._inner.started(stats, notes)

    def leased(self, lease: Lease) -> None:
        """A visit begins."""
        self._inner.leased(lease)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        """A visit has ended, and all it brought is written."""
        figures = self._figures
        if entry.purpose is Purpose.PROBE:
            figures["probes"] += visit.verdict is not None
            figures["valid"] += visit.verdict is not None and visit.verdict.status is Status.VALID
        elif visit.http_status is not None and not 300 <= visit.http_status < 400:
            figures["pages"] += 1
        else:
            figures["failures"] += visit.http_status is None
        figures["new endpoints"] += result.new_candidates
        self._heed(entry, visit)
        self._inner.settled(entry, visit, result)
