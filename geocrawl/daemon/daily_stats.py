"""Counting what happens, between the crawl and whoever looks on, and the day that it belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from geocrawl.errors import DatabaseFault
from geocrawl.model import Entry, FrontierStats, Lease, Purpose, Settled, Status, Visit
from geocrawl.store.operations.daemon_lock import figures_of
from geocrawl.utc import day_of

if TYPE_CHECKING:
    from geocrawl.ports import Clock, Observer
    from geocrawl.store.engine.database import Database
    from geocrawl.store.operations.daemon_lock import Keeper


class Counting:
    """`ports.Observer` that counts, and passes all on to another one."""

    def __init__(
        self, inner: Observer, *, begun: Callable[[Lease], object], ended: Callable[[Entry, Visit], object]
    ) -> None:
        """`begun` is called for each lease, `ended` for each settled visit."""
        self._inner = inner
        self._begun = begun
        self._ended = ended
        self._figures = Counter[str]()

    def since(self, name: str) -> int:
        """One of the figures (pages, bytes …) since they were taken last."""
        return self._figures[name]

    def received(self, count: int) -> None:
        """So many bytes came."""
        self._figures["bytes"] += count

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

    def noted(self, text: str) -> None:
        """A line for a person."""
        self._inner.noted(text)

    def leased(self, lease: Lease) -> None:
        """A visit begins."""
        self._begun(lease)
        self._inner.leased(lease)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        """A visit has ended, and all it brought is written."""
        figures = self._figures
        if entry.purpose is Purpose.PROBE:
            figures["probes"] += visit.found is not None
            figures["valid"] += visit.found is Status.VALID
        elif visit.is_page_answered:
            figures["pages"] += 1
        else:
            figures["failures"] += visit.http_status is None
        figures["not modified"] += visit.not_modified
        figures["new endpoints"] += result.new_candidates
        self._ended(entry, visit)
        self._inner.settled(entry, visit, result)


class Day:
    """The figures of this day (UTC): those in the database, and those that are still to be written there."""

    def __init__(self, database: Database, keeper: Keeper, clock: Clock, counting: Counting) -> None:
        self._keeper = keeper
        self._clock = clock
        self._counting = counting
        self._day = day_of(clock.now())
        self._written = Counter(figures_of(database.connection, self._day))

    def so_far(self, name: str) -> int:
        """One of the day's figures: pages, bytes …"""
        return self._written[name] + self._counting.since(name)

    def look(self) -> None:
        """Begin a new one when midnight is past. Raises DatabaseFault when the last figures cannot be written."""
        day = day_of(self._clock.now())
        if day != self._day:
            self.write()
            self._day, self._written = day, Counter()

    def write(self) -> None:
        """Add to the database what was counted since the last time. Raises DatabaseFault; nothing is lost then."""
        figures = self._counting.take()
        try:
            self._keeper.count(self._day, figures)
        except DatabaseFault:
            self._counting.put_back(figures)
            raise
        self._written.update(figures)
