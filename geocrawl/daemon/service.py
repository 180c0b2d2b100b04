"""Run the daemon: APScheduler runs its recurring jobs; the crawl is one of them.

What is due is stored in the database, and `jobs` queues it. The heartbeat renews the daemon's lock on the database,
reads people's requests (pause, resume, reload), writes the day's counts and how the jobs stand, and resets systemd's
watchdog.
After SIGTERM the visits under way are settled, or released at the end of the settling time.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from geocrawl.app import fetchers, wiring
from geocrawl.app.fetchers import session_renderer
from geocrawl.app.retry_policy import RetryPolicy
from geocrawl.app.session import Session
from geocrawl.crawler.loop import Crawler
from geocrawl.crawler.report import RunSummary
from geocrawl.daemon.budget import NO_LIMIT, Budget, CountingObserver, DayCounts
from geocrawl.daemon.jobs import Jobs
from geocrawl.daemon.notify import Notifier
from geocrawl.errors import DatabaseFault, GeocrawlError, PassingFault
from geocrawl.model import FrontierStats
from geocrawl.ports import Clock, Observer
from geocrawl.resources import collect_all
from geocrawl.store import Store
from geocrawl.store.database.processes import JobRun
from geocrawl.store.upkeep.daemon_lock import BEAT_S, DaemonLock
from geocrawl.wording import counted


@dataclass(frozen=True, slots=True)
class Tick:
    """A job of the daemon and how often it is done."""

    name: str
    every_s: float
    at_once: bool = False
    """Whether it is also done at the start of the daemon."""


TICKS = (
    Tick("heartbeat", BEAT_S, at_once=True),
    Tick("reprobe", 10.0, at_once=True),
    Tick("metrics", 60.0, at_once=True),
    Tick("watches", 15.0),
    Tick("revisit", 600.0),
    Tick("refresh", 3600.0),
    Tick("retention", 3600.0),
    Tick("crawl", 5.0, at_once=True),
)
"""The jobs of a daemon. A crawl lasts until nothing is ready or the budget is spent; the next one follows within 5 s.
"""


_STEP_S = 1.0
"""A wall clock that goes on by more or less than the monotonic one, by so much between two jobs, was set."""


class _Scheduler(AsyncIOScheduler):  # type: ignore[misc]  # untyped
    """Runs jobs at intervals, and all of them at once after the wall clock was set, forwards or back: when the next one
    is due was reckoned by a clock that was wrong. Whoever waits for a job wakes in time, as timers are monotonic."""

    _wall_ahead_s: float | None = None
    """The wall clock's time minus the monotonic one when jobs were looked at last."""

    def _process_jobs(self) -> float | None:
        wall_ahead_s = time.time() - time.monotonic()
        if self._wall_ahead_s is not None and abs(wall_ahead_s - self._wall_ahead_s) > _STEP_S:
            for job in self.get_jobs():
                if job.next_run_time:  # one that is paused has none
                    job.modify(next_run_time=datetime.now(UTC))
        self._wall_ahead_s = wall_ahead_s
        wait_s: float | None = super()._process_jobs()
        return wait_s


def make_scheduler(
    tick: Callable[[str], Awaitable[None]], watchdog_s: float, ticks: Sequence[Tick] = TICKS
) -> AsyncIOScheduler:
    """Return a scheduler that calls `tick` with each name, the heartbeat at least every `watchdog_s` (if not 0).

    Missed calls of a tick are replaced by one call, and a tick that is still running is not called again.
    """
    quiet = logging.getLogger("geocrawl.scheduler")
    quiet.setLevel(logging.ERROR)  # else each tick that waits for the database warns again and again
    scheduler = _Scheduler(timezone=UTC, logger=quiet)
    for job in ticks:
        scheduler.add_job(
            tick,
            "interval",
            args=(job.name,),
            seconds=min(job.every_s, watchdog_s) if job.name == "heartbeat" and watchdog_s else job.every_s,
            id=job.name,
            **({"next_run_time": datetime.now(UTC)} if job.at_once else {}),
            replace_existing=True,
            coalesce=True,
            max_instances=1,
            misfire_grace_time=None,
        )
    return scheduler


Configured = tuple["Session", Jobs, Budget]
"""The parts of a daemon that its settings decide."""

_PATIENCE_S = 30.0
"""The longest wait of one run for hosts in back-off, if `patience_s` is not shorter: the daemon runs the loop again in
any case."""


class BudgetedCrawl:
    """Runs a session's loop again and again, each time until nothing is ready or the budget is spent.

    Pages are visited in the allowed hours and up to the day's limits, probes as long as bytes are left. A run ends with
    the day, although something may always be ready, and after the pages of a run: what is limited or fixed for one run
    (content requests and siblings of a host, the date by which calendars are judged) starts afresh in the next run.
    """

    def __init__(
        self, session: Session, budget: Budget, *, observer: CountingObserver, day: DayCounts, clock: Clock
    ) -> None:
        self._budget = budget
        self._observer = observer
        self._day = day
        self._clock = clock
        self._crawler: Crawler | None = None
        self._interrupted = ""
        """Why the run is to end, also if that is known before its loop runs."""
        self._begun_on = day.day
        self._pages_before = 0
        """The day's pages before the run began."""
        self._rendered: Counter[str] = Counter()
        """By host: the day's pages that were read in a browser. The loop runs many times a day."""
        self.session = session

    def change(self, session: Session, budget: Budget) -> None:
        """Use another session and budget from the next run on (after a reload)."""
        self.session, self._budget = session, budget

    @property
    def is_traffic_spent(self) -> bool:
        """Return whether the day's traffic is spent, so that no more requests are allowed today."""
        return self._budget.is_traffic_spent(self._day.total("bytes"))

    def why_no_pages(self) -> str:
        """Return why no page may be visited now, in words; '' when one may."""
        return self._budget.why_no_pages(self._clock.now(), self._day.total("pages"), self._day.total("bytes"))

    @property
    def waits_for(self) -> str:
        """Return which fault of this machine prevents visits now; '' for none."""
        return self._crawler.waits_for if self._crawler else ""

    def interrupt(self, reason: str) -> None:
        """Let the visits under way settle, then end the run, if there is one."""
        self._interrupted = reason
        if self._crawler is not None:
            self._crawler.stop(reason)

    async def run(self) -> RunSummary:
        """Run the loop once. Raises PassingFault when the database cannot be written for now."""
        self._interrupted = ""
        self._day.begin_day()
        if self._day.day != self._begun_on:
            self._rendered.clear()
        self._begun_on = self._day.day
        self._pages_before = self._day.total("pages")
        fetcher = fetchers.make_session_fetcher(self.session, on_received=self._count_received)
        try:
            async with session_renderer(self.session, self._observer.noted) as renderer:
                self._crawler = await self.session.store.runner.run(
                    wiring.make_crawler,
                    self.session,
                    self._observer,
                    fetcher,
                    max_pages=self._budget.pages_per_day or NO_LIMIT,
                    renderer=renderer,
                    rendered=self._rendered,
                    pages_counted=self._pages_counted,
                    patience_s=min(_PATIENCE_S, self.session.settings.patience_s),
                    outage_patience_s=math.inf,
                    slow_s=math.inf,
                )
                if self._interrupted:
                    self._crawler.stop(self._interrupted)
                return await self._crawler.run()
        finally:
            self._crawler = None
            await fetcher.close()

    def _pages_counted(self) -> int:
        """Return the day's pages; while no page may be visited, a number that exceeds every limit."""
        self._day.begin_day()
        if self._day.day != self._begun_on:
            self.interrupt("a new day begins")
        most = self._budget.pages_per_run
        if most and self._day.total("pages") - self._pages_before >= most:
            self.interrupt(f"{counted(most, 'page')} are read, after which the paper's crawl ends")
        return NO_LIMIT if self._interrupted or self.why_no_pages() else self._day.total("pages")

    def _count_received(self, received_bytes: int) -> None:
        """Count received bytes; once the day's limit is reached, stop leasing new visits."""
        self._observer.received(received_bytes)
        if self.is_traffic_spent:
            self.interrupt("the day's traffic is spent")


class Daemon:
    """One daemon on one database. Runs until it is stopped."""

    def __init__(
        self,
        session: Session,
        jobs: Jobs,
        lock: DaemonLock,
        *,
        store: Store,
        clock: Clock,
        budget: Budget,
        notifier: Notifier,
        observer: Observer,
        log: Callable[..., object],
        reload: Callable[[], Configured],
        ticks: Sequence[Tick] = TICKS,
    ) -> None:
        """Set up the daemon. `log(event, **values)` writes a line. `reload` reads the configuration again, or raises
        UsageError.
        """
        self._scheduler = make_scheduler(self._tick, notifier.watchdog_s, ticks)
        self._runs = {run.name: run for run in lock.jobs()}
        self._jobs = jobs
        self._lock = lock
        self._store = store
        self._alive_every_s = min(BEAT_S, notifier.watchdog_s or BEAT_S)
        self._clock = clock
        self._notifier = notifier
        self._log = log
        self._read_configuration = reload
        counting = CountingObserver(observer, ended=lambda visit: self._retrying.reset())
        self._day = DayCounts(lock, store.runner, clock, counting)
        self._crawl = BudgetedCrawl(session, budget, observer=counting, day=self._day, clock=clock)
        self._retrying = RetryPolicy(store.path, clock, log, before_pause=self._begin_pause)
        self._damage: Exception | None = None
        self._reloads = lock.reloads()
        self._ending = ""
        self._ended, self._crawling = asyncio.Event(), asyncio.Lock()
        self._reload_wanted = False
        self._paused = lock.paused()
        self._state = "starting"

    def stats(self) -> FrontierStats:
        """Return the counts of the queue as they were a moment ago."""
        return self._crawl.session.stats()

    def stop(self, reason: str) -> None:
        """End the daemon: visits under way are settled, or released at the end of the settling time."""
        self._ending = self._ending or reason
        self._ended.set()
        self._crawl.interrupt(reason)

    def reload(self) -> None:
        """Read the configuration again as soon as the visits under way are settled."""
        self._reload_wanted = True
        self._crawl.interrupt("reload")

    async def run(self) -> str:
        """Run until stopped. Returns why the daemon ended; raises DatabaseFault for a damaged database."""
        async with self._signals_handled():
            self._scheduler.start()
            self._notifier.ready()
            self._log("started", process=os.getpid())
            try:
                await self._ended.wait()
                async with self._crawling:  # its visits are settled first
                    pass
            finally:
                self._notifier.stopping(f"ending: {self._ending or 'error'}")
                self._scheduler.shutdown(wait=False)
        if self._damage is not None:
            raise self._damage
        return self._ending

    @asynccontextmanager
    async def _signals_handled(self) -> AsyncIterator[None]:
        """Stop at SIGINT and SIGTERM, reload at SIGHUP; in the end, leave the database."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop, "signal")
        loop.add_signal_handler(signal.SIGHUP, self.reload)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.remove_signal_handler(number)
            await self._leave()

    async def _leave(self) -> None:
        """Write the last counts and release the lock. Where that fails, the next daemon finds this process dead."""
        try:
            await self._day.write()
            await self._store.runner.run(self._lock.release)
            await self._store.runner.run(self._jobs.metrics)  # publishes up=0
        except DatabaseFault as error:
            self._log("the end could not be written into the database", error=str(error))

    # ----------------------------------------------------------------------- the crawl

    async def _crawl_turn(self) -> None:
        """Crawl until nothing is ready, or wait until the database can be written again. The job has no next run
        meanwhile, so that no run counts as missed. What goes wrong otherwise ends the daemon.
        """
        async with self._crawling:
            self._scheduler.pause_job("crawl")
            try:
                await self._crawl_or_rest()
            except PassingFault as fault:
                release_all = self._crawl.session.frontier.release_all
                await self._retrying.until_writable(fault, self._store, release_all, lambda: bool(self._ending))
                raise
            finally:
                self._scheduler.resume_job("crawl")

    async def _crawl_or_rest(self) -> None:
        if self._reload_wanted:
            await self._reload_now()
        if self._ending:
            return
        if self._paused:
            self._state = "paused"
            return
        self._day.begin_day()
        if self._crawl.is_traffic_spent:
            self._rest_until_midnight()
            return
        self._state = "crawling"
        summary = await self._crawl.run()
        if not self._ending and not self._crawl.is_traffic_spent:
            why = self._crawl.why_no_pages()
            self._state = f"{why}: probes only" if why and summary.stopped == "max-pages" else "nothing is ready"

    def _begin_pause(self, fault: PassingFault, pause_s: float) -> None:
        """Show in the state what the daemon waits for until its next attempt to write."""
        self._state = f"waiting: {fault}"

    def _rest_until_midnight(self) -> None:
        """Send no requests, because the day's traffic is spent; the next run of the crawl notices the day's end."""
        text = "the day's traffic is spent: no requests until midnight UTC"
        if self._state != text:
            self._state = text
            self._log(text, bytes=self._day.total("bytes"))

    async def _reload_now(self) -> None:
        self._reload_wanted = False
        self._notifier.reloading()
        try:
            session, self._jobs, budget = await self._store.runner.run(self._read_configuration)
            self._crawl.change(session, budget)
            collect_all()  # the strategy of the former session alone may hold 100 MB
            self._log("configuration read again")
        except GeocrawlError as error:
            self._log("configuration not read again: the former one stays in force", error=str(error))
        self._notifier.ready()

    # ----------------------------------------------------------------------- jobs

    async def _tick(self, name: str) -> None:
        """Do a job and note how it went. A job that cannot write is skipped, and what it does stays due; a damaged
        database ends the daemon.
        """
        if self._retrying.is_waiting:
            self._notifier.alive(self._state)
            return
        began, before, error = self._clock.now(), self._clock.monotonic(), ""
        try:
            error = await self._do(name)
        except asyncio.CancelledError:
            pass  # the daemon ends; its successor does the job
        except PassingFault as fault:
            error = str(fault)
            if name != "crawl":  # which has waited and said so
                self._log(f"tick {name} skipped", error=error)
                self._notifier.alive(f"waiting: {fault}")
        except Exception as failure:
            error = f"{type(failure).__name__}: {failure}"
            if name != "crawl" and not isinstance(failure, DatabaseFault):
                raise  # the scheduler logs it, and the job runs again at its next time
            self._damage = failure
            self.stop("the database cannot be used" if isinstance(failure, DatabaseFault) else "error")
        finally:
            seconds = self._clock.monotonic() - before
            run = replace(self._runs.get(name, JobRun(name)), last_run=began, seconds=seconds)
            self._runs[name] = replace(run, last_error=error, failed_at=began) if error else run

    async def _do(self, name: str) -> str:
        """Do a job; return for what it waited too long, '' for nothing."""
        if name == "heartbeat":
            return await self._beat()
        if name == "crawl":
            await self._crawl_turn()
            return ""
        job: Callable[[], Any] = getattr(self._jobs, name)
        counts = await (job() if inspect.iscoroutinefunction(job) else self._store.runner.run(job))
        if any(counts.values()):
            self._log(f"tick {name}", **counts)
        return ""

    def _job_runs(self) -> list[JobRun]:
        """Return the jobs, the next one first, those at work last."""
        return [
            replace(
                self._runs.get(job.id, JobRun(job.id)), next_run=job.next_run_time and job.next_run_time.timestamp()
            )
            for job in self._scheduler.get_jobs()
        ]

    async def _beat(self) -> str:
        """Write the heartbeat and heed what people requested; return for what it waited too long, '' for nothing.

        While the database gives no answer, systemd is told so: the daemon is alive.
        """
        state, waited = f"waiting: {fault}" if (fault := self._crawl.waits_for) else self._state, ""
        exchanged = asyncio.ensure_future(self._exchange(state))
        while not (await asyncio.wait((exchanged,), timeout=self._alive_every_s))[0]:
            waits_for = self._store.runner.waits_for
            waited = waits_for or waited  # it may have answered since the last look
            self._notifier.alive(f"waiting: {waits_for}" if waits_for else state)
        if (requests := exchanged.result()) is None:
            self.stop("the database was taken over by another daemon")
            return waited
        paused, reloads = requests
        if paused != self._paused:
            self._paused = paused
            self._log("paused" if paused else "going on")
            if paused:
                self._crawl.interrupt("paused")
        if reloads != self._reloads:
            self._reloads = reloads
            self.reload()
        self._notifier.alive(f"{state}; {counted(self._day.total('pages'), 'page')} today")
        return waited

    async def _exchange(self, state: str) -> tuple[bool, int] | None:
        """Write what the daemon does; return whether people paused it and how often they requested a reload, None when
        another daemon has the lock."""
        run = self._store.runner.run
        if not await run(self._lock.beat, self._clock.now(), state, self._job_runs()):
            return None
        self._day.begin_day()
        await self._day.write()
        await self._crawl.session.stats.refresh()
        return await run(self._lock.paused), await run(self._lock.reloads)
