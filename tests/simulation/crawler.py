"""Run one simulated crawler: what `geocrawl crawl` does, in a process that may be killed and started again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from geocrawl.app import fetchers, wiring
from geocrawl.app.crawl import claim
from geocrawl.app.session import Environment, Session
from geocrawl.errors import PassingFault
from geocrawl.model import Entry, FrontierStats, Lease, SettlementResult, Visit
from geocrawl.settings import Settings
from geocrawl.store.database.life import BEAT_S
from geocrawl.store.upkeep.clock_limits import shorten_waits
from geocrawl.urls import read_url
from tests.simulation.database import SimulatedStore
from tests.simulation.network import SimulatedTransport
from tests.simulation.processes import PROCESS, Process
from tests.simulation.scheduler import SimulatedClock

if TYPE_CHECKING:
    from geocrawl.crawler.loop import Crawler
    from tests.simulation.run import Run

T = TypeVar("T")
_IDLE_S = 1.0
_GIVES_PLACE_AFTER_S = 3.0
"""A visit that has waited for an answer for longer takes no worker's place."""
NO_LIMIT = 1 << 60
_THE_RUN = 1
"""Number of the first run, in which all take part that crawl together."""


class SimulatedCrawler:
    """One process that crawls. It is its own observer (`ports.Observer`)."""

    def __init__(self, run: Run, process: Process, settings: Settings, *, together: bool = False) -> None:
        self.process = process
        self.settings = settings
        self.pages = 0
        """Pages answered."""
        self.ended = ""
        """Why the run ended; '' while it has not."""
        self._run = run
        self._together = together
        self._clock = SimulatedClock(run.loop, process)
        self._crawler: Crawler | None = None

    @property
    def has_place(self) -> bool:
        """Return whether a worker of this crawler could begin a visit now."""
        crawler, process = self._crawler, self.process
        if crawler is None or self.ended or crawler.stopping or process.paused or not process.alive:
            return False
        return crawler.under_way - self._run.network.silent(process, _GIVES_PLACE_AFTER_S) < self.settings.workers

    def stop(self, *, at_once: bool) -> None:
        """Stop as a signal does."""
        if self._crawler is not None and self.process.alive:
            self._crawler.stop("signal", at_once=at_once)

    def forget(self) -> None:
        """Drop the loop of the crawl, and all tasks with it."""
        self._crawler = None

    async def crawl(self, seeds: Sequence[str]) -> None:
        """Crawl to the end. The caller has chosen the context, which becomes that of the process."""
        PROCESS.set(self.process)
        store = await self._until_written(self._open)
        beating = asyncio.create_task(self._beat(store))
        try:
            session, number = await self._until_written(lambda: self._begin(store, seeds))
            fetcher = fetchers.make_session_fetcher(session)
            most = NO_LIMIT if self._together else self.settings.max_pages or NO_LIMIT
            crawler = wiring.make_crawler(session, self, fetcher, max_pages=most)
            self._crawler, begun = crawler, self._run.loop.time()
            try:
                stopped = await self._retrying(session, crawler)
            finally:
                await fetcher.close()
            if 0 < self.settings.max_time_s < self._run.loop.time() - begun - 1.0:
                self._run.fail(f"{self.process.name} crawled for {self._run.loop.time() - begun:.1f} s")
            await self._until_written(session.learning.end)
            await self._until_written(lambda: store.end_run(number, pages=self.pages, services=0, stopped=stopped))
            self.ended = stopped or "?"
            self._say(f"ends: {self.ended}, {self.pages} pages")
        finally:
            beating.cancel()
            if self.process.alive:
                store.close()

    async def _beat(self, store: SimulatedStore) -> None:
        """Do what the thread of the heartbeat does, in virtual time."""
        while True:
            await asyncio.sleep(BEAT_S)
            if not self._run.database_fault():
                store.database.life.beat()

    def _open(self) -> SimulatedStore:
        interruptions = self._run.interruptions(self.process)
        interruptions.at_opening()
        store = SimulatedStore.opened(self._run.place, self._clock)
        self._run.opened(self.process, store)
        store.use(self._run.loop, interruptions, self._note)
        return store

    def _begin(self, store: SimulatedStore, seeds: Sequence[str]) -> tuple[Session, int]:
        transport = SimulatedTransport(self._run.network, self.process)
        environment = Environment(self._clock, transport, lambda: self.pages, idle_s=_IDLE_S, resolver=transport)
        session = wiring.make_session(self.settings, store, self._clock, environment=environment)
        number = store.start_run(session.strategy.name, self.settings)
        if self._together:
            session.frontier.share_run(_THE_RUN, self.settings.max_pages)
        claim(session, store.earlier_runs(number))
        shorten_waits(store.database, self.settings, self._clock.now())
        session.add_seeds([url for url in map(read_url, seeds) if url is not None], again=False)
        return session, number

    async def _retrying(self, session: Session, crawler: Crawler) -> str:
        retrying = wiring.retry_policy(self.settings, self._run.place, self._clock, self)
        while True:
            before = crawler.summary.visits
            try:
                return (await crawler.run()).stopped
            except PassingFault as fault:
                self._say(f"waits for the database: {fault}")
                if crawler.summary.visits > before:
                    retrying.reset()
                await retrying.until_writable(
                    fault, session.store, session.frontier.release_all, lambda: crawler.stopping
                )

    async def _until_written(self, attempt: Callable[[], T]) -> T:
        """Repeat what a fault of the database prevented."""
        while True:
            try:
                return attempt()
            except PassingFault:
                await asyncio.sleep(1.0)

    def _say(self, text: str) -> None:
        self._run.say(self.process.name, text)

    def _note(self, call: str, result: object) -> None:
        if call == "_lease_in_steps":
            self._run.watch.attempted(self.process, isinstance(result, Lease))

    # ----------------------------------------------------------------------- ports.Observer

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """Do nothing."""

    def noted(self, text: str) -> None:
        """Write a line for a person into the trace."""
        self._say(f"says: {text.splitlines()[0] if text else ''}")
        self._run.watch.noted(self.process, text)

    def leased(self, lease: Lease) -> None:
        """Write a lease into the trace."""
        self._say(f"leases {lease.entry.purpose} {lease.entry.url.address} (token {lease.token})")

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        """Count a settled visit."""
        self.pages += visit.is_page_answered
        self._run.watch.settled(entry, visit)
        self._say(f"settles {entry.purpose} {entry.url.address}: {visit.state} {visit.reason or ''}")
