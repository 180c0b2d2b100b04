"""Decide how much the daemon may do when, and count what it does: hours, pages and bytes of the day (UTC)."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from geocrawl.model import Entry, Purpose, SettlementResult, Status, Visit
from geocrawl.ports import Clock, Observer, Observers, StoreRunner
from geocrawl.priority.registry import setup_of
from geocrawl.settings import PAGES_SHARE, Settings
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from geocrawl.wording import day_of, read_hours

NO_LIMIT = 10**15
"""An effectively unlimited number of pages."""


@dataclass(frozen=True, slots=True)
class Hours:
    """A window of the day in minutes since midnight UTC. It crosses midnight when `from_min` > `to_min`, and is the
    whole
    day when both are equal."""

    from_min: int = 0
    to_min: int = 0

    def include(self, now: float) -> bool:
        """Return whether a time (seconds since the epoch) is in the window."""
        moment = dt.datetime.fromtimestamp(now, dt.UTC)
        minute = moment.hour * 60 + moment.minute
        if self.from_min == self.to_min:
            return True
        if self.from_min < self.to_min:
            return self.from_min <= minute < self.to_min
        return minute >= self.from_min or minute < self.to_min


@dataclass(frozen=True, slots=True)
class Budget:
    """The daemon's limits on requests. Hours and pages do not limit probes: services are probed at any hour."""

    hours: Hours
    pages_per_day: int
    """0: no limit."""
    traffic_per_day_bytes: int = 0
    """0: no limit."""
    pages_per_run: int = 0
    """Pages after which a run of the loop ends and the next one begins: those after which a preset's paper stops.
    0: no limit."""

    def why_no_pages(self, now: float, pages: int, received_bytes: int) -> str:
        """Return why no page may be visited at `now`, after so many pages and bytes of the day; '' when one may."""
        if not self.hours.include(now):
            return "outside its hours"
        if self.pages_per_day and pages >= self.pages_per_day:
            return "the day's limit of pages is reached"
        if self.traffic_per_day_bytes and received_bytes >= PAGES_SHARE * self.traffic_per_day_bytes:
            return "nine tenths of the day's traffic is spent"
        return ""

    def is_traffic_spent(self, received_bytes: int) -> bool:
        """Return whether the day's traffic is spent, so that no more requests are allowed today."""
        return 0 < self.traffic_per_day_bytes <= received_bytes


def budget_of(settings: Settings, strategy: str) -> Budget:
    """Return the budget that the settings name; the paper of a preset `strategy` limits the pages of a run."""
    per_run = settings.max_pages if setup_of(strategy).get("max_pages") else 0
    return Budget(Hours(*read_hours(settings.hours)), settings.pages_per_day, settings.traffic_per_day_bytes, per_run)


def without_limits(settings: Settings) -> Settings:
    """Return the settings without the limits of one run: a daemon has daily budgets instead."""
    return replace(settings, max_pages=NO_LIMIT, max_time_s=0.0)


class CountingObserver(Observers):
    """`ports.Observer` that counts visits and bytes, and passes everything on to another observer."""

    def __init__(self, inner: Observer, *, ended: Callable[[Visit], object]) -> None:
        """Begin to count. The observer calls `ended` for each settled visit."""
        super().__init__((inner,))
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

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
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
        super().settled(entry, visit, result)


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
