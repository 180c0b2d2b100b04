"""The daemon itself: one loop that crawls while there is something to do, and the ticks beside it.

APScheduler holds the ticks only, under fixed ids, made anew at each start: what is due stands in the tables. The
heartbeat keeps the lease on the database, hears what people ask for (pause, resume, reload), writes the day's figures
and tells systemd that we live. SIGTERM ends within the settling time: visits under way are settled or given back.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.app.retry_policy import RetryPolicy
from geocrawl.daemon.budget import NO_LIMIT, Budget
from geocrawl.daemon.daily_stats import Counting, Day
from geocrawl.daemon.jobs import Work
from geocrawl.daemon.network import Network
from geocrawl.daemon.ticks import TICKS, Tick, make_scheduler
from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.model import Entry, Visit

if TYPE_CHECKING:
    from geocrawl.app.session import Session
    from geocrawl.crawler.loop import Crawler
    from geocrawl.daemon.notify import Notifier
    from geocrawl.ports import Clock, Observer
    from geocrawl.store.engine.database import Database
    from geocrawl.store.operations.daemon_lock import Keeper

IDLE_S = 5.0
"""Between two runs of the loop when nothing is ready."""


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
        ticks: Sequence[Tick] = TICKS,
    ) -> None:
        """`log(event, **values)` writes a line. `reload` reads the configuration anew, or raises UsageError."""
        self._ticks = ticks
        self._session, self._work, self._budget = session, work, budget
        self._keeper = keeper
        self._database = database
        self._clock = clock
        self._notifier = notifier
        self._network = Network(database)
        self._observer = Counting(observer, begun=self._network.begun, ended=self._heed)
        self._retrying = RetryPolicy(database.path, clock, log, before_pause=self._begin_pause)
        self._damage: DatabaseFault | None = None
        self._log = log
        self._make_anew = reload
        self._reloads = keeper.reloads()
        self._crawler: Crawler | None = None
        self._ending = ""
        self._reload_wanted = False
        self._paused = keeper.paused()
        self._day = Day(database, keeper, clock, self._observer)
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
        scheduler = make_scheduler(self._tick_in_loop, self._notifier.watchdog_s, self._ticks)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop, "signal")
        loop.add_signal_handler(signal.SIGHUP, self.reload)
        scheduler.start()
        self._notifier.ready()
        self._log("started", process=os.getpid())
        await self._tick_in_loop("reprobe")
        await self._tick_in_loop("metrics")
        try:
            while not self._ending:
                await self.turn()
        finally:
            self._notifier.stopping(f"ending: {self._ending or 'error'}")
            scheduler.shutdown(wait=False)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)
            self._leave()
        if self._damage is not None:
            raise self._damage
        return self._ending

    def _leave(self) -> None:
        """Say in the database that we end; where it cannot be written, the next daemon sees that we are no more."""
        try:
            self._day.write()
            self._keeper.give_back()
            self._work.metrics()  # that nobody is up
        except DatabaseFault as error:
            self._log("the end could not be written into the database", error=str(error))

    async def _tick_in_loop(self, name: str) -> None:
        """A tick that cannot write is left out: what is due stays due. Damage ends the daemon."""
        if self._retrying.is_waiting:
            self._notifier.alive(self._state)
            return
        try:
            self.tick(name)
        except PassingFault as fault:
            self._log(f"tick {name} left out", error=str(fault))
            self._notifier.alive(f"waiting: {fault}")
        except DatabaseFault as damage:
            self._damage = damage
            self.stop("the database cannot be used")

    def tick(self, name: str) -> None:
        """Do what this tick is for, now."""
        if name == "heartbeat":
            self._beat()
            return
        figures: Mapping[str, int] = getattr(self._work, name)()
        if any(figures.values()):
            self._log(f"tick {name}", **figures)

    # ----------------------------------------------------------------------- one turn of the loop

    async def turn(self) -> None:
        """Crawl until nothing is ready, then rest a little; or wait for what does not let us."""
        try:
            self._network.no_visit_is_under_way()
            await self._turn()
            if (figures := self._network.put_back(self._clock.now())) is not None:
                self._log("the network is back", **figures)
        except PassingFault as error:
            await self._retrying.until_writable(
                error, self._database, self._session.frontier.give_back_all, lambda: bool(self._ending)
            )
            return
        outage = self._network.outage
        if outage.suspected and not self._ending:
            seconds = outage.pause_s()
            self._state = outage.text
            self._log(self._state, next_try_in_s=seconds)
            await self._idle(seconds)

    def _begin_pause(self, fault: PassingFault, pause_s: float) -> None:
        """Show in the state what the daemon waits for until its next attempt to write."""
        self._state = f"waiting: {fault}"

    def _heed(self, entry: Entry, visit: Visit) -> None:
        """What a settled visit says of the machine and the network."""
        self._retrying.reset()
        if reason := self._network.heed(entry, visit):
            self._interrupt(reason)

    async def _turn(self) -> None:
        if self._reload_wanted:
            self._reload_now()
        if self._paused:
            self._state = "paused"
            await self._clock.sleep(1.0)
            return
        self._day.look()
        if self._is_traffic_spent():
            await self._rest_until_midnight()
            return
        fetcher = wiring.make_session_fetcher(self._session, on_received=self._count_received)
        try:
            self._crawler = wiring.make_crawler(
                self._session, self._observer, fetcher, max_pages=self._limit(), pages_counted=self._pages_counted
            )
            self._state = "crawling"
            summary = await self._crawler.run()
        finally:
            self._crawler = None
            await fetcher.close()
        if not self._ending and self._network.outage.since is None and not self._is_traffic_spent():
            why = self._why_no_pages()
            self._state = f"{why}: probes only" if why and summary.stopped == "max-pages" else "nothing is ready"
            await self._idle()

    async def _rest_until_midnight(self) -> None:
        """Ask nobody: all that the day may bring has come."""
        text = "the day's traffic is spent: all rests until midnight UTC"
        if self._state != text:
            self._state = text
            self._log(text, bytes=self._day.so_far("bytes"))
        await self._idle()

    async def _idle(self, seconds: float = IDLE_S) -> None:
        """Sleep, but not through a stop or a reload."""
        for _ in range(int(seconds)):
            if self._ending or self._reload_wanted:
                return
            await self._clock.sleep(1.0)

    def _limit(self) -> int:
        return self._budget.pages_per_day or NO_LIMIT

    def _pages_counted(self) -> int:
        """Pages of today; as many as it takes while no page may be visited."""
        self._day.look()
        return NO_LIMIT if self._why_no_pages() else self._day.so_far("pages")

    def _why_no_pages(self) -> str:
        return self._budget.why_no_pages(self._clock.now(), self._day.so_far("pages"), self._day.so_far("bytes"))

    def _count_received(self, count: int) -> None:
        """Count received bytes; once the day's limit is reached, stop leasing new visits."""
        self._observer.received(count)
        if self._is_traffic_spent():
            self._interrupt("the day's traffic is spent")

    def _is_traffic_spent(self) -> bool:
        return self._budget.is_traffic_spent(self._day.so_far("bytes"))

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
        self._day.look()
        self._day.write()
        paused = self._keeper.paused()
        if paused != self._paused:
            self._paused = paused
            self._log("paused" if paused else "going on")
            if paused:
                self._interrupt("paused")
        if self._keeper.reloads() != self._reloads:
            self._reloads = self._keeper.reloads()
            self.reload()
        self._notifier.alive(f"{self._state}; today {self._day.so_far('pages'):,} pages")
