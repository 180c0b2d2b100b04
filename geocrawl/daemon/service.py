"""The daemon itself: one loop that crawls while there is something to do, and the ticks beside it.

APScheduler holds the ticks only, under fixed ids, made anew at each start: what is due stands in the tables. The
heartbeat keeps the lease on the database, hears what people ask for (pause, resume, reload), writes the day's figures
and tells systemd that we live. SIGTERM ends within the settling time: visits under way are settled or given back.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from geocrawl.daemon.budget import Budget, day_of
from geocrawl.daemon.work import Done, Work
from geocrawl.model import Entry, FrontierStats, Lease, Purpose, Settled, Status, Visit
from geocrawl.store.keeper import BEAT_S, figures_of

if TYPE_CHECKING:
    from geocrawl.crawl import Crawler
    from geocrawl.daemon.notify import Notifier
    from geocrawl.ports import Clock, Observer
    from geocrawl.session import Session
    from geocrawl.settings import Settings
    from geocrawl.store.database import Database
    from geocrawl.store.keeper import Keeper

IDLE_S = 5.0
"""Between two runs of the loop when nothing is ready."""
_NO_LIMIT = 1 << 60


@dataclass(frozen=True, slots=True)
class Tick:
    """A named moment that comes again and again."""

    name: str
    every_s: float


TICKS = (
    Tick("heartbeat", BEAT_S),
    Tick("reprobe", 60.0),
    Tick("revisit", 600.0),
    Tick("refresh", 3600.0),
    Tick("retention", 3600.0),
)
"""The crawl itself is no tick: its loop runs all the time, within its budget."""


class Daemon:
    """Runs until it is stopped."""

    def __init__(
        self,
        session: Session,
        work: Work,
        keeper: Keeper,
        *,
        database: Database,
        clock: Clock,
        budget: Budget,
        notifier: Notifier,
        observer: Observer,
        log: Callable[..., object],
        reload: Callable[[], tuple[Session, Work, Budget]],
    ) -> None:
        """`log(event, **values)` writes a line. `reload` reads the configuration anew, or raises UsageError."""
        self._session, self._work, self._budget = session, work, budget
        self._keeper = keeper
        self._database = database
        self._clock = clock
        self._notifier = notifier
        self._observer = _Counting(observer)
        self._log = log
        self._make_anew = reload
        self._reloads = keeper.reloads()
        self._crawler: Crawler | None = None
        self._ending = ""
        self._reload_wanted = False
        self._paused = keeper.paused()
        self._today = day_of(clock.now())
        self._spent = figures_of(database.connection, self._today).get("pages", 0)
        self._state = "starting"

    def stop(self, reason: str) -> None:
        """End: visits under way are settled, or given back after the settling time."""
        self._ending = self._ending or reason
        self._interrupt(reason)

    def reload(self) -> None:
        """Read the configuration anew as soon as the visits under way are settled."""
        self._reload_wanted = True
        self._interrupt("reload")

    async def run(self) -> str:
        """Run until stopped; returns why it ended."""
        scheduler = self._scheduler()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop, "signal")
        loop.add_signal_handler(signal.SIGHUP, self.reload)
        scheduler.start()
        self._notifier.ready()
        self._log("started", process=os.getpid())
        self.tick("reprobe")
        try:
            while not self._ending:
                await self._turn()
        finally:
            self._notifier.stopping(f"ending: {self._ending or 'error'}")
            scheduler.shutdown(wait=False)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)
            self._write_figures()
            self._keeper.give_back()
        return self._ending

    def _scheduler(self) -> Any:
        from apscheduler.schedulers.asyncio import AsyncIOScheduler

        scheduler = AsyncIOScheduler(timezone="UTC")
        watchdog_s = self._notifier.watchdog_s
        for tick in TICKS:
            seconds = min(tick.every_s, watchdog_s) if tick.name == "heartbeat" and watchdog_s else tick.every_s
            scheduler.add_job(
                self._tick_in_loop,
                "interval",
                args=(tick.name,),
                seconds=seconds,
                id=tick.name,
                replace_existing=True,
                coalesce=True,
                max_instances=1,
                misfire_grace_time=None,
            )
        return scheduler

    async def _tick_in_loop(self, name: str) -> None:
        self.tick(name)

    def tick(self, name: str) -> None:
        """Do what this tick is for, now."""
        if name == "heartbeat":
            self._beat()
            return
        done: Done = getattr(self._work, name)()
        if any(done.figures.values()):
            self._log(f"tick {name}", **done.figures)

    # ----------------------------------------------------------------------- one turn of the loop

    async def _turn(self) -> None:
        if self._reload_wanted:
            self._reload_now()
        if self._paused:
            self._state = "paused"
            await self._clock.sleep(1.0)
            return
        fetcher = self._session.fetcher()
        try:
            self._crawler = self._session.crawler(
                self._observer, fetcher, max_pages=self._limit(), pages_counted=self._pages_counted
            )
            self._state = "crawling"
            summary = await self._crawler.run()
            self._session.ended(self._crawler)
        finally:
            self._crawler = None
            await fetcher.close()
        if not self._ending:
            self._state = {"max-pages": "day's budget spent or outside its hours: probes only"}.get(
                summary.stopped, "nothing is ready"
            )
            await self._idle()

    async def _idle(self) -> None:
        """Sleep, but not through a stop or a reload."""
        for _ in range(int(IDLE_S)):
            if self._ending or self._reload_wanted:
                return
            await self._clock.sleep(1.0)

    def _limit(self) -> int:
        return self._budget.pages_per_day or _NO_LIMIT

    def _pages_counted(self) -> int:
        """Pages of today; as many as it takes while no page may be visited at this hour."""
        now = self._clock.now()
        if day_of(now) != self._today:
            self._write_figures()
            self._today, self._spent = day_of(now), 0
        return self._spent + self._observer.pages if self._budget.hours.hold(now) else _NO_LIMIT

    def _interrupt(self, reason: str) -> None:
        if self._crawler is not None:
            self._crawler.stop(reason)

    def _reload_now(self) -> None:
        from geocrawl.errors import GeocrawlError

        self._reload_wanted = False
        self._notifier.reloading()
        try:
            self._session, self._work, self._budget = self._make_anew()
            self._log("configuration read anew")
        except GeocrawlError as error:
            self._log("configuration not read anew: the former one stays", error=str(error))
        self._notifier.ready()

    # ----------------------------------------------------------------------- heartbeat

    def _beat(self) -> None:
        if not self._keeper.beat(self._clock.now(), self._state):
            self.stop("the database was taken over by another daemon")
            return
        self._write_figures()
        paused = self._keeper.paused()
        if paused != self._paused:
            self._paused = paused
            self._log("paused" if paused else "going on")
            if paused:
                self._interrupt("paused")
        if self._keeper.reloads() != self._reloads:
            self._reloads = self._keeper.reloads()
            self.reload()
        self._notifier.alive(f"{self._state}; today {self._spent:,} pages")

    def _write_figures(self) -> None:
        figures = self._observer.take()
        self._spent += figures.get("pages", 0)
        self._keeper.count(self._today, figures)


class _Counting:
    """Counts what happens, and passes it on."""

    def __init__(self, inner: Observer) -> None:
        self._inner = inner
        self._figures = Counter[str]()

    @property
    def pages(self) -> int:
        """Pages since the figures were taken last."""
        return self._figures["pages"]

    def take(self) -> Mapping[str, int]:
        """The figures since the last time."""
        figures, self._figures = self._figures, Counter[str]()
        return dict(figures)

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        self._inner.started(stats, notes)

    def leased(self, lease: Lease) -> None:
        self._inner.leased(lease)

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        figures = self._figures
        if entry.purpose is Purpose.PROBE:
            figures["probes"] += visit.verdict is not None
            figures["valid"] += visit.verdict is not None and visit.verdict.status is Status.VALID
        elif visit.http_status is not None and not 300 <= visit.http_status < 400:
            figures["pages"] += 1
        else:
            figures["failures"] += visit.http_status is None
        figures["new endpoints"] += result.new_candidates
        self._inner.settled(entry, visit, result)


def budget_of(settings: Settings) -> Budget:
    """The budget that the settings name. Raises UsageError for hours that cannot be meant."""
    from geocrawl.daemon.budget import Hours
    from geocrawl.errors import UsageError

    try:
        return Budget(Hours.read(settings.hours), settings.pages_per_day)
    except ValueError as error:
        raise UsageError(f"hours = {settings.hours!r}: {error}") from None


def without_limits(settings: Settings) -> Settings:
    """A daemon's settings: it has a budget a day instead of limits of one run."""
    return replace(settings, max_pages=_NO_LIMIT, max_time_s=0.0)
