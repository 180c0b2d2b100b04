"""Run a scenario: the crowd, what is done to it, and a last crawler that visits what is left."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import random
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from geocrawl.settings import Settings
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.sqlite.connection import SqliteConnection
from geocrawl.urls.database import DatabaseUrl
from tests.simulation.crawler import SimulatedCrawler
from tests.simulation.database import Engine, SimulatedStore
from tests.simulation.faults import ProcessInterruptions, kill_at
from tests.simulation.network import Network
from tests.simulation.processes import PROCESS, Process, Processes
from tests.simulation.scenario import Fault, Scenario, wrong_by_s
from tests.simulation.scheduler import START, SimulatedLoop, StuckError
from tests.simulation.watch import Watch
from tests.simulation.web import make_web

MOST_S, MOST_STEPS = 1_800.0, 400_000
"""Virtual time and steps in which a crowd, or one round of the last crawler, has to end."""
_ROUNDS = 30
_DAY_S = 86_400.0


@dataclass(slots=True)
class Result:
    """What came of a run."""

    scenario: Scenario
    failures: list[str] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    digest: str = ""
    """Hash of the trace: the same for every run of a seed."""
    seconds: float = 0.0
    """Virtual time of the crowd."""
    steps: int = 0
    longest_idle_s: float = 0.0
    settled: int = 0
    attempts: int = 0
    """Attempts to lease."""
    urls: set[tuple[Any, ...]] = field(default_factory=set)
    catalogue: set[tuple[Any, ...]] = field(default_factory=set)


class Run:
    """One run of a scenario on one database."""

    def __init__(self, scenario: Scenario, engine: Engine, place: DatabaseUrl) -> None:
        self.scenario = scenario
        self.engine = engine
        self.place = place
        self.loop = SimulatedLoop(random.Random(f"order {scenario.seed}"), disorder=scenario.disorder)
        self.trace: list[str] = []
        self.failures: list[str] = []
        self.network = Network(make_web(scenario.web), self.loop, self.say, self._sent)
        self.processes = Processes()
        self.crawlers: list[SimulatedCrawler] = []
        self.watch = Watch(self)
        self.is_over = False
        """Whether the crowd has ended."""
        self._stores: dict[Process, SimulatedStore] = {}
        self._numbers: dict[Process, int] = {}
        self._faults = list(scenario.faults)
        self._killed: dict[Process, asyncio.Future[float]] = {}
        self._kept: list[asyncio.Task[None]] = []
        self.loop.before_step = self._before_step

    def say(self, who: str, text: str) -> None:
        """Write a line of the trace."""
        self.trace.append(f"{self.loop.time():10.3f} {self.loop.steps:7d} {who:6} {text}")

    def fail(self, text: str) -> None:
        """Note a failure."""
        self.failures.append(text)
        self.say("FAIL", text)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Return what a statement reads from the database."""
        return self.engine.rows(self.place, statement)

    def utc(self) -> float:
        """Return the true time in seconds since the epoch."""
        return START + self.loop.time()

    def settings(self, workers: int) -> Settings:
        """Return the settings of a crawler: the ordinary ones, with shorter waits."""
        return Settings(
            strategy=self.scenario.strategy,
            workers=workers,
            max_pages=self.scenario.max_pages,
            max_time_s=self.scenario.max_time_s,
            requests_per_host_per_day=self.scenario.requests_per_day,
            delay_s=self.scenario.delay_s,
            max_depth=40,
            maps=False,
            patience_s=45.0,
            wait=True,
            retry_first_s=10.0,
            backoff_first_s=5.0,
            backoff_max_s=30.0,
            robots_error_ttl_s=20.0,
            trouble_window_s=30.0,
            lease_s=40.0,
            dns_timeout_s=4.0,
            total_timeout_s=12.0,
            dump_every=10,
        )

    # ----------------------------------------------------------------------- faults

    def interruptions(self, process: Process) -> ProcessInterruptions:
        """Return what interrupts a process at its statements."""
        number = self._numbers.get(process, -1)
        return ProcessInterruptions(self, process, kill_at(self._faults, number) if number >= 0 else 0)

    def database_fault(self) -> str:
        """Return the fault that the database has now; '' for none."""
        now = self.loop.time()
        for fault in self.scenario.faults:
            if fault.crawler < 0 and fault.at <= now < fault.at + fault.for_s and not self.is_over:
                return fault.kind
        return ""

    def stall(self, seconds: float) -> None:
        """Let time pass while a process blocks, and all others with it in this one thread."""
        self.loop.advance(seconds)
        for process in self.processes:
            process.stalled_at = self.loop.time()

    def opened(self, process: Process, store: SimulatedStore) -> None:
        """Note the store of a process."""
        self._stores[process] = store

    def lose_connection(self, process: Process, *, commits: bool) -> None:
        """Undo the transaction of a process, as a server does; `commits`: the answer alone was lost."""
        connection = self._stores[process].raw
        if connection.in_transaction:
            connection.execute("COMMIT" if commits else "ROLLBACK")

    def kill(self, process: Process, where: str) -> None:
        """Kill a process: its connections end, and its transaction is undone."""
        self.say(process.name, f"is killed {where}")
        process.alive = False
        self.network.killed(process)
        if process in self._stores:
            self._stores[process].close_at_once()
        killed = self._killed.get(process)
        if killed is not None and not killed.done():
            killed.set_result(2.0)

    def _before_step(self, process: Process) -> None:
        if not self._faults:
            return
        number = self._numbers.get(process, -1)
        if self._take(Fault("kill", number, process.steps)):
            self.kill(process, "")
        elif fault := self._take(Fault("pause", number, process.steps)):
            self._pause(process, fault.for_s)

    def _sent(self, process: Process) -> None:
        if fault := self._take(Fault("pause-request", self._numbers.get(process, -1), process.requests)):
            self._pause(process, fault.for_s)

    def _pause(self, process: Process, seconds: float) -> None:
        self.say(process.name, f"is paused for {seconds:g} s")
        self.loop.pause(process, seconds)

    def _take(self, due: Fault) -> Fault | None:
        """Take a fault off the list whose step or request has come; None without one."""
        for fault in self._faults:
            if (fault.kind, fault.crawler, fault.at) == (due.kind, due.crawler, due.at):
                self._faults.remove(fault)
                return fault
        return None

    async def _at_its_time(self, fault: Fault) -> None:
        await asyncio.sleep(fault.at)
        mine = [each for each in self.crawlers if self._numbers.get(each.process) == fault.crawler]
        if not mine:
            return
        crawler = mine[-1]
        self.say(crawler.process.name, f"{fault.kind} {fault.for_s:g}")
        if fault.kind in ("stop", "cut"):
            crawler.stop(at_once=fault.kind == "cut")
            return
        crawler.process.wrong_by_s = wrong_by_s(fault)
        await asyncio.sleep(abs(fault.for_s))
        crawler.process.wrong_by_s = 0.0

    # ----------------------------------------------------------------------- the crowd

    async def _supervise(self, number: int) -> None:
        """Run a crawler until it ends by itself; start it again when it is killed."""
        await asyncio.sleep(self.scenario.starts_s[number])
        life = 0
        while True:
            process = self.processes.start(f"c{number}.{life}")
            self._numbers[process] = number
            life += 1
            settings = self.settings(self.scenario.workers[number])
            crawler = SimulatedCrawler(self, process, settings, together=self.scenario.together)
            restart_s = await self._ended(crawler)
            if restart_s is None:
                return
            await asyncio.sleep(restart_s)

    async def _ended(self, crawler: SimulatedCrawler) -> float | None:
        """Run one process; return after how long to start it again, None when it was not killed."""
        self.crawlers.append(crawler)
        context = Context()
        context.run(PROCESS.set, crawler.process)
        task = self.loop.create_task(crawler.crawl(self.network.web.seeds), context=context)
        killed: asyncio.Future[float] = self.loop.create_future()
        self._killed[crawler.process] = killed
        await asyncio.wait([task, killed], return_when=asyncio.FIRST_COMPLETED)
        if not crawler.process.alive:
            self._kept.append(task)
            return killed.result()
        crawler.process.alive = False  # it exits
        if error := task.exception():
            lines = traceback.format_exception(error)
            self.fail(f"{crawler.process.name} ended with an exception: {''.join(lines[-3:])}")
        return None

    async def _crowd(self) -> None:
        watching = asyncio.ensure_future(self.watch.look())
        timed = [asyncio.ensure_future(self._at_its_time(each)) for each in self._faults if each.kind in _TIMED]
        await asyncio.gather(*(self._supervise(number) for number in range(len(self.scenario.workers))))
        for each in (watching, *timed):
            each.cancel()

    async def _last(self) -> None:
        """Let one crawler without limits visit what is left."""
        process = self.processes.start("last")
        settings = replace(self.settings(1), max_pages=0, max_time_s=0.0)
        await self._ended(SimulatedCrawler(self, process, settings))

    def is_settled(self) -> bool:
        """Return whether no address waits or will be tried again, and no lease is left."""
        (left,) = self.rows(
            "SELECT (SELECT count(*) FROM url WHERE state = 'waiting' OR retry_at IS NOT NULL) + "
            "(SELECT count(*) FROM host WHERE lease_until > 0)"
        )[0]
        return not left

    def run(self) -> None:
        """Run the crowd, then the last crawler day by day until all is settled. Notes failures."""
        with self.processes.installed(), self.loop.installed(), self._locks(), self._cleaned_up():
            try:
                self.loop.run(self._crowd(), most_s=MOST_S, most_steps=MOST_STEPS)
                self.is_over = True
                self.watch.crowd_ended()
                for _ in range(_ROUNDS):
                    if self.is_settled():
                        break
                    self.loop.advance(_DAY_S)
                    self.say("run", "the next day")
                    self.loop.run(self._last(), most_s=MOST_S, most_steps=MOST_STEPS)
                else:
                    self.fail(f"after {_ROUNDS} days addresses wait, or hosts are leased")
            except StuckError as stuck:
                self.fail(str(stuck))
            for error in self.loop.errors:
                self.fail(error)

    @contextmanager
    def _locks(self) -> Iterator[None]:
        """Let heartbeats alone say who was killed, in every third run: not every file system has locks."""
        with pytest.MonkeyPatch.context() as patch:
            if self.scenario.fault == "kill" and self.scenario.seed % 3 == 0:
                patch.setattr(SqliteConnection, "hold", Connection.hold)
            yield

    @contextmanager
    def _cleaned_up(self) -> Iterator[None]:
        """Drop what killed processes left behind without a word."""
        gc.disable()
        try:
            yield
        finally:
            hook, sys.unraisablehook = sys.unraisablehook, lambda raised: None
            try:
                for process in self.processes:
                    process.alive = False
                for store in self._stores.values():
                    store.close_at_once()
                self.loop.forget()
                for crawler in self.crawlers:
                    crawler.forget()
                if self._kept or self.failures or asyncio.all_tasks(self.loop):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", RuntimeWarning)
                        self._kept.clear()
                        self._killed.clear()
                        while gc.collect():  # ends the coroutines that nobody awaits any more
                            pass
            finally:
                gc.enable()
                sys.unraisablehook = hook

    def digest(self) -> str:
        """Return the hash of the trace."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()[:16]


_TIMED = ("stop", "cut", "clock")
