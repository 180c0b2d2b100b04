"""Count what the daemon does, and add the counts to those of the day (UTC) in the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from geocrawl.model import Entry, FrontierStats, Lease, Purpose, Settled, Status, Visit
from geocrawl.ports import Clock, Observer, StoreRunner
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from geocrawl.wording import day_of


class CountingObserver:
    """`ports.Observer` that counts visits and bytes, and passes everything on to another observer."""

    def __init__(self, inner: Observer, *, ended: Callable[[Visit], object]) -> None:
        """Begin to count. The observer calls `ended` for each settled visit."""
        self._inner = inner
        self._ended = ended
        self._counts = Counter[str]()

    def count(self, name: str) -> int:
        """Return one of the counts (pages, bytes …) since the last `drain`."""
        return self._counts[name]

    def received(self, received_bytes: int) -> None:
        """Count received bytes."""
        self._counts["bytes"] += received_bytes

    def drain(self) -> Mapping[str, int]:
        """Return all counts, and begin at zero again."""
        counts, self._counts = self._counts, Counter[str]()
        return dict(counts)

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """Pass on that a run begins."""
        self._inner.started(stats, notes)

    def noted(self, text: str) -> None:
        """Pass on a line for a person."""
        self._inner.noted(text)

    def leased(self, lease: Lease) -> None:
        """Pass on that a visit begins."""
        self._inner.leased(lease)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        """Count a settled visit and pass it on."""
        counts = self._counts
        if entry.purpose is Purpose.PROBE:
            counts["probes"] += visit.found is not None
            counts["valid"] += visit.found is Status.VALID
        elif visit.is_page_answered:
            counts["pages"] += 1
        else:
            counts["failures"] += visit.http_status is None
        counts["not modified"] += visit.not_modified
        counts["new endpoints"] += result.new_candidates
        self._ended(visit)
        self._inner.settled(entry, visit, result)


class DayCounts:
    """The counts of the current day (UTC): those in the database, and those still to be written there."""

    def __init__(self, lock: DaemonLock, store: StoreRunner, clock: Clock, observer: CountingObserver) -> None:
        """Read the day's counts so far, before a loop runs. `store` writes through `lock`."""
        self._lock = lock
        self._store = store
        self._clock = clock
        self._observer = observer
        self._day = day_of(clock.now())
        self._drained = Counter(lock.counts(self._day))
        """The day's counts that the observer no longer has."""
        self._unwritten: list[tuple[str, Mapping[str, int]]] = []
        """Days and counts that are still to be written."""

    @property
    def day(self) -> str:
        """Return the day that is counted, as it is stored."""
        return self._day

    def total(self, name: str) -> int:
        """Return one of the day's counts: pages, bytes …"""
        return self._drained[name] + self._observer.count(name)

    def begin_day(self) -> None:
        """Begin a new day when midnight is past."""
        day = day_of(self._clock.now())
        if day != self._day:
            self._drain()
            self._day, self._drained = day, Counter()

    async def write(self) -> None:
        """Add what was counted since the last write to the database. Raises DatabaseFault; no count is lost then."""
        self._drain()
        while self._unwritten:
            day, counts = self._unwritten.pop(0)
            try:
                await self._store.run(self._lock.count, day, counts)
            except BaseException:
                self._unwritten.append((day, counts))
                raise

    def _drain(self) -> None:
        counts = self._observer.drain()
        self._drained.update(counts)
        if counts:
            self._unwritten.append((self._day, counts))
