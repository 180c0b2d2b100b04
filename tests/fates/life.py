"""Run the real daemon in virtual time, and do to it what happens to daemons in ninety days.

The daemon's scheduler, jobs, crawl, store and notices are the real ones, with its ordinary settings; only its ticks are
rarer. Its operator adds watches, merges and splits services, and removes hosts on request.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import sqlite3
import sys
import time
import traceback
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import apscheduler.schedulers.base
import apscheduler.triggers.interval
import pytest

from geocrawl.app import maintenance, wiring
from geocrawl.app.crawl import claim
from geocrawl.app.session import Environment
from geocrawl.daemon import service as daemon_service
from geocrawl.daemon.budget import budget_of, without_limits
from geocrawl.daemon.jobs import Jobs
from geocrawl.daemon.notify import Notifier
from geocrawl.daemon.service import Configured, Daemon, Tick
from geocrawl.errors import PassingFault
from geocrawl.fetch.paced_host import RetryAfterMemory
from geocrawl.model.health import DAY_S, HOUR_S
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.database.connection import Statement
from geocrawl.store.upkeep import backup
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from geocrawl.store.upkeep.forget import forget
from geocrawl.store.upkeep.seeds import NewSeed, add_seeds
from geocrawl.store.upkeep.watch_paces import HostLoads
from geocrawl.store.upkeep.watches import Watches
from tests.fates.fates import ON_THE_WAY, MadeService
from tests.fates.web import PORTAL, FateTransport, FateWeb, Request
from tests.simulation.database import SimulatedStore
from tests.simulation.processes import PROCESS, Process, Processes, ProcessKilledError
from tests.simulation.scheduler import START, SimulatedClock, SimulatedLoop
from tests.support.answers import url
from tests.support.soak import Silent

TICKS = (
    Tick("heartbeat", HOUR_S, at_once=True),
    Tick("reprobe", HOUR_S, at_once=True),
    Tick("watches", 3 * HOUR_S),
    Tick("revisit", 6 * HOUR_S),
    Tick("refresh", 6 * HOUR_S),
    Tick("retention", HOUR_S),
    Tick("crawl", HOUR_S, at_once=True),
)
SETTINGS = Settings(strategy="gws", maps=False, siblings=0, workers=4)
_MOST_STEPS = 1 << 60


class DaemonLoop(SimulatedLoop):
    """A loop of a daemon, to which nobody sends signals."""

    def add_signal_handler(self, number: int, callback: Any, *values: Any) -> None:
        """Do nothing."""

    def remove_signal_handler(self, number: int) -> bool:
        """Do nothing."""
        return False


@dataclass(frozen=True, slots=True)
class Restored:
    """A backup that was put back."""

    made_at: float
    """Day."""
    at: float


@dataclass(frozen=True, slots=True)
class WrongClock:
    """A time in which the daemon's clock was wrong."""

    since: float
    """Day."""
    until: float
    by: float
    """Days."""


@dataclass(slots=True)
class Trouble:
    """What the database does for a while: busy, full or away."""

    kind: str = ""
    until: float = 0.0


class Life:
    """The daemon's life among these services."""

    most_watched = 300
    """Number of services that are watched."""
    settings = SETTINGS

    def __init__(
        self,
        services: list[MadeService],
        days: int,
        seed: int,
        folder: Path,
        ticks: Sequence[Tick] = TICKS,
        *,
        watched_from: float = 2.0,
        every_s: float | None = None,
    ) -> None:
        """`watched_from`: day since when services are watched. `every_s`: how often a watched one is asked; None: at
        the pace of its health."""
        self._ticks = ticks
        self._watched_from, self._every_s = watched_from, every_s
        self.services = services
        self.days = days
        self.folder = folder
        self.place = folder / "catalogue.db"
        self.notices = folder / "told"
        """A folder, which may be away for a while; the notices in it are moved to `told` of the runs' end."""
        self.lot = random.Random(f"life {seed}")
        self.loop = DaemonLoop(random.Random(f"order {seed}"), disorder=0.3)
        self.web = FateWeb(services, self.today)
        self.processes = Processes()
        self.requests: list[Request] = []
        self.log: list[str] = []
        """What the daemon said and what was done to it."""
        self.done: list[str] = []
        """What was done to the daemon."""
        self.restored: list[Restored] = []
        self.forgotten: dict[str, float] = {}
        """Hosts that opted out, and on which day: what happened before may have taken its time."""
        self.wrong_clocks: list[WrongClock] = []
        self.ways: list[tuple[float, float]] = []
        """Since and until which day the network on the way answered in place of all servers."""
        self.watched: dict[int, MadeService] = {}
        """Number of a watch → whom it watches."""
        self.failures: list[str] = []
        self.every_day: Callable[[], object] = lambda: None
        """Called once a day."""
        self._trouble = Trouble()
        self._kill_in = 0
        """Statements until the daemon is killed; 0: it is not."""
        self.process: Process | None = None
        self._daemon: Daemon | None = None
        self._task: asyncio.Task[None] | None = None
        self._store: SimulatedStore | None = None
        self._backups: list[tuple[float, Path]] = []
        self._kept: list[object] = []
        """What killed processes left behind, whose last words nobody may hear."""

    def today(self) -> float:
        """Return the day of the run, from 0."""
        return self.loop.time() / DAY_S

    def _do(self, what: str, text: str = "") -> None:
        """Note what is done to the daemon."""
        self.done.append(what)
        self.say(f"{what.upper()} {text}")

    def say(self, text: str) -> None:
        """Write a line of the log."""
        self.log.append(f"day {self.today():7.3f}  {text}")

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return what a statement reads from the catalogue."""
        connection = sqlite3.connect(f"file:{self.place}?mode=ro", uri=True)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    def run(self) -> None:
        """Live through all days. Notes failures."""
        self.notices.mkdir()
        with self.processes.installed(), self.loop.installed(), self._hours_simulated(), self._failures_heard():
            self.loop.run(self.live(), most_s=(self.days + 10) * DAY_S, most_steps=_MOST_STEPS)
            self.failures += self.loop.errors

    # ----------------------------------------------------------------------- what happens

    async def live(self) -> None:
        """Live through all days."""
        self.begin()
        events = [*self._troubles(), *self._orders(), (self._watched_from, self._watch)]
        events += [(float(day), self._observed) for day in range(1, self.days + 1)]
        for day, event in sorted(events, key=lambda each: each[0]):
            await asyncio.sleep(max(0.0, day - self.today()) * DAY_S)
            await event()
        await self.stop()

    def begin(self) -> None:
        """Start the daemon on a new catalogue with one start page."""
        with Store.open(self.place, clock=SimulatedClock(self.loop)) as store:
            add_seeds(store.database, [NewSeed(url(f"http://{PORTAL}/"))], START)
        self._start()

    async def _observed(self) -> None:
        self.every_day()

    def _troubles(self) -> Iterator[tuple[float, Callable[[], Awaitable[None]]]]:
        """Yield what goes wrong, one or two things a day, and each kind at least once in thirty days."""
        kinds = (
            *(self._restart, self._kill, self._kill, self._database_fails, self._database_fails, self._database_fails),
            *(self._clock_steps, self._back_up, self._back_up, self._restore, self._recipient_away),
            *(self._way_answers, self._reload),
        )
        for first in range(3, self.days, 15):
            for kind in kinds:
                yield self.lot.uniform(first, min(first + 15, self.days - 1)), kind

    def _orders(self) -> Iterator[tuple[float, Callable[[], Awaitable[None]]]]:
        """Yield what the operator does."""

        def decided(service: MadeService, same: bool) -> Callable[[], Awaitable[None]]:
            return lambda: self._decide(service, same=same)

        def forgotten(service: MadeService) -> Callable[[], Awaitable[None]]:
            return lambda: self._forget(service)

        for each in self.services:
            for day, same in each.decisions:
                yield day, decided(each, same)
            for day, behaviour in each.phases:
                if behaviour == "forgotten":
                    yield day, forgotten(each)

    # ----------------------------------------------------------------------- the daemon

    def _start(self) -> None:
        self.process = self.processes.start(f"daemon{len(self._kept)}")
        context = Context()
        context.run(PROCESS.set, self.process)
        self._task = self.loop.create_task(self._work(self.process), context=context)
        self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if error := task.exception():
            lines = traceback.format_exception(error)
            self.failures.append(f"day {self.today():.3f}: the daemon ended: {''.join(lines[-4:])}")

    async def _work(self, process: Process) -> None:
        clock = SimulatedClock(self.loop, process)
        store = await self._opened(clock)
        lock = DaemonLock(store.database)
        lock.acquire(clock.now())
        transport = FateTransport(self.web, self.loop, process, self.requests)
        environment = Environment(clock, transport, lambda: 0, idle_s=10.0, resolver=transport)
        rests = RetryAfterMemory()

        def configured() -> Configured:
            session = wiring.make_session(without_limits(self.settings), store, clock, environment=environment)
            session = replace(session, rests=rests)
            jobs = Jobs(self.settings, store, session.frontier, clock, self._logged)
            claim(session)
            jobs.check_clock()
            session.add_stored_seeds()
            return session, jobs, budget_of(self.settings, session.strategy.name)

        session, jobs, budget = configured()
        self._daemon = Daemon(
            *(session, jobs, lock),
            store=store,
            clock=clock,
            budget=budget,
            notifier=Notifier({}),
            observer=Silent(),
            log=self._logged,
            reload=configured,
            ticks=self._ticks,
        )
        await self._daemon.run()
        process.alive = False
        store.close_at_once()

    async def _opened(self, clock: SimulatedClock) -> SimulatedStore:
        await self._until(lambda: not self.trouble)
        self._store = SimulatedStore.opened(self.place, clock)
        self._store.use(self.loop, DaemonInterruptions(self), lambda call, result: None)
        return self._store

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():  # noqa: ASYNC110 - in virtual time that costs nothing
            await asyncio.sleep(5.0)

    def _logged(self, event: str, **values: object) -> None:
        self.say(f"{event} {values or ''}")

    async def stop(self) -> None:
        """Stop the daemon as a signal does, once the database can be written."""
        assert self._daemon is not None and self._task is not None
        await self._until(lambda: not self.trouble)
        self._daemon.stop("signal")
        await self._task

    async def _restart(self) -> None:
        self._do("restart")
        await self.stop()
        await asyncio.sleep(self.lot.choice((5.0, 600.0, 6 * HOUR_S)))
        self._start()

    async def _reload(self) -> None:
        """Let the daemon read its configuration again, twice within minutes."""
        for _ in range(2):
            self._do("reload")
            assert self._daemon is not None
            self._daemon.reload()
            await asyncio.sleep(120.0)

    async def _kill(self) -> None:
        """Kill the daemon at one of its next statements, and start it again."""
        self._kill_in = self.lot.randrange(1, 400)
        killed = self.process
        assert killed is not None
        await self._until(lambda: not killed.alive)
        await asyncio.sleep(self.lot.choice((0.0, 10.0, HOUR_S)))
        self._start()

    def count_statement(self, process: Process) -> None:
        """Kill the daemon if this is the statement. Raises ProcessKilledError in a process that was killed."""
        if self._kill_in and process is self.process:
            self._kill_in -= 1
            if not self._kill_in:
                self._do("kill")
                process.alive = False
                self._kept += [self._daemon, self._task, self._store]
                assert self._store is not None
                self._store.close_at_once()
        if not process.alive:
            raise ProcessKilledError

    # ----------------------------------------------------------------------- troubles

    @property
    def trouble(self) -> str:
        """Return what the database does now: busy, full, away; '' for nothing."""
        return self._trouble.kind if self.loop.time() < self._trouble.until else ""

    async def _database_fails(self) -> None:
        lasts_s = self.lot.choice((20.0, 600.0, 3 * HOUR_S))
        self._trouble = Trouble(self.lot.choice(("busy", "full", "away")), self.loop.time() + lasts_s)
        self._do(f"database {self._trouble.kind}", f"for {lasts_s:g} s")

    def stall(self, seconds: float) -> None:
        """Let time pass while the daemon waits for a lock."""
        self.loop.advance(seconds)

    def lose_transaction(self, *, commits: bool) -> None:
        """Undo the daemon's transaction, as a server does; `commits`: the answer alone was lost."""
        assert self._store is not None
        if self._store.raw.in_transaction:
            self._store.raw.execute("COMMIT" if commits else "ROLLBACK")

    async def _clock_steps(self) -> None:
        assert self.process is not None
        by_s = self.lot.choice((-400 * DAY_S, -DAY_S, -HOUR_S, -300.0, 300.0, HOUR_S, DAY_S, 40 * DAY_S, 400 * DAY_S))
        self._do("clock step", f"by {by_s / DAY_S:g} days")
        self.process.wrong_by_s, since = by_s, self.today()
        await asyncio.sleep(self.lot.choice((60.0, HOUR_S, 5 * HOUR_S)))
        self.process.wrong_by_s = 0.0
        self.wrong_clocks.append(WrongClock(since, self.today(), by_s / DAY_S))
        self.say("the clock is right again")

    async def _way_answers(self) -> None:
        """Let the network on the way answer in place of all servers."""
        name, hours = self.lot.choice(tuple(ON_THE_WAY)), self.lot.choice((2, 12))
        self._do("way", f"answers for {hours} hours: {name}")
        self.web.on_the_way, since = ON_THE_WAY[name], self.today()
        await asyncio.sleep(hours * HOUR_S)
        self.web.on_the_way = None
        self.ways.append((since, self.today()))
        self.say("the way is free again")

    async def _back_up(self) -> None:
        self._do("backup")
        target = self.folder / f"backup{len(self._backups)}.db"
        backup.back_up(self.place, target)
        self._backups.append((self.today(), target))

    async def _restore(self) -> None:
        """Put the last backup back, if it is not older than a few days."""
        if not self._backups or self.today() - self._backups[-1][0] > 4:
            return
        made, path = self._backups[-1]
        self._do("backup put back", f"of day {made:.2f}")
        await self.stop()
        found = maintenance.restore(self.settings, path, self.place)
        if found.unread:
            self.failures.append(f"restore: {found.unread}")
        self.restored.append(Restored(made, self.today()))
        self._start()

    async def _recipient_away(self) -> None:
        self._do("recipient away")
        away = self.folder / "away"
        self.notices.rename(away)
        await asyncio.sleep(self.lot.choice((HOUR_S, 20 * HOUR_S)))
        away.rename(self.notices)
        self.say("the recipient is back")

    # ----------------------------------------------------------------------- the operator

    @contextmanager
    def operator(self) -> Iterator[Store]:
        """Open the catalogue beside the daemon."""
        with Store.open(self.place, clock=SimulatedClock(self.loop), create=False) as store:
            yield store

    def endpoint(self, store: Store, host: str) -> tuple[int, int] | None:
        """Return the numbers of the endpoint at a host and of its service."""
        statement = "SELECT id, service_id FROM endpoint WHERE host = ? AND service_id IS NOT NULL"
        row = store.connection.execute(statement, (host,)).fetchone()
        return None if row is None else (row[0], row[1])

    async def _watch(self) -> None:
        """Watch the first services of each fate, and the twins that a person merges."""
        with self.operator() as store:
            watches, loads = Watches(store.database), HostLoads(store.connection, self.settings)
            for each in self.services[: self.most_watched]:
                is_merged = each.twin is not None and each.twin.document != each.document
                if (each.twin is None or is_merged or not each.host.startswith("b.")) and (
                    found := self.endpoint(store, each.host)
                ):
                    recipient = f"file:{self.notices}/{each.number}"
                    wanted = found[1], recipient, "", lambda query: (), self._now()
                    added = watches.add(*wanted, every_s=self._every_s, settings=self.settings, loads=loads)
                    self.watched[added.id] = each
            watches.set_paces(self.settings, self._now())

    async def _decide(self, each: MadeService, *, same: bool) -> None:
        assert each.twin is not None
        with self.operator() as store:
            one, other = self.endpoint(store, each.host), self.endpoint(store, each.twin.host)
            if one is None or other is None:
                self.failures.append(f"{each.host}: it or its twin is not in the catalogue")
                return
            self._do("merged" if same else "split", each.host)
            store.catalog().decide((one[0], other[0]), same=same, at=self._now())

    async def _forget(self, each: MadeService) -> None:
        self._do("host forgotten", each.host)
        with self.operator() as store:
            forget(store.database, each.host, "asked by mail", self._now())
        self.forgotten[each.host] = self.today()

    def _now(self) -> float:
        return START + self.loop.time()

    # ----------------------------------------------------------------------- virtual time for the scheduler

    @contextmanager
    def _hours_simulated(self) -> Iterator[None]:
        """Let the daemon see its own clock, which may be wrong."""
        loop = self.loop

        def wall_time() -> float:
            process = PROCESS.get()
            return START + loop.time() + (process.wrong_by_s if process else 0.0)

        class Hours(datetime):
            @classmethod
            def now(cls, tz: Any = UTC) -> Self:
                return cls.fromtimestamp(wall_time(), tz)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "time", wall_time)
            for module in (apscheduler.schedulers.base, apscheduler.triggers.interval, daemon_service):
                patch.setattr(module, "datetime", Hours)
            yield

    @contextmanager
    def _failures_heard(self) -> Iterator[None]:
        """Note what the scheduler logs: jobs that raised. Drop what killed processes left behind without a word."""
        heard, scheduler = _Heard(self), logging.getLogger("apscheduler")
        scheduler.propagate = False
        scheduler.addHandler(heard)
        hook, sys.unraisablehook = sys.unraisablehook, lambda raised: None
        try:
            yield
        finally:
            heard.setLevel(logging.CRITICAL)  # of coroutines that end now
            for process in self.processes:
                process.alive = False
            self.loop.forget()
            self._kept.clear()
            self._daemon = self._task = self._store = None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                gc.unfreeze()  # a reload leaves all objects frozen, outside `long_run`
                gc.collect()
            scheduler.removeHandler(heard)
            scheduler.propagate = True
            sys.unraisablehook = hook


class _Heard(logging.Handler):
    """Makes failures of the scheduler's errors."""

    def __init__(self, life: Life) -> None:
        super().__init__(logging.ERROR)
        self._life = life

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and isinstance(record.exc_info[1], ProcessKilledError | asyncio.CancelledError):
            return  # a job that ended with its daemon
        text = logging.Formatter().format(record)
        self._life.failures.append(f"day {self._life.today():.3f}: the scheduler: {text}")


class DaemonInterruptions:
    """`simulation.database.Interruptions` of the daemon: kills, and what the database does."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self.process = PROCESS.get()

    def at_opening(self) -> None:
        """Do nothing: a daemon that starts waits until the database is there."""

    def at_statement(self, statement: Statement) -> None:
        """Raise what happens before a statement."""
        self.while_alive()
        trouble = self._life.trouble
        if statement == "ROLLBACK" or not trouble:
            return
        if trouble == "busy" and statement == "BEGIN":
            self._life.stall(5.0)
            raise PassingFault("the database: locked (simulated)")
        if trouble == "full" and not isinstance(statement, str) and self._life.lot.random() < 0.5:
            raise PassingFault("the database: the disk is full (simulated)")
        if trouble == "away":
            self._life.lose_transaction(commits=statement == "COMMIT" and self._life.lot.random() < 0.5)
            raise PassingFault("the database: the connection was lost (simulated)")

    def while_alive(self) -> None:
        """Count the statement; raise ProcessKilledError in a process that was killed."""
        if self.process is not None:
            self._life.count_statement(self.process)
