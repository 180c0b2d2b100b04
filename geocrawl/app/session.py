"""One crawl, survey or harvest on one database: its parts, put together and run."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.crawler.learning import Learning
from geocrawl.crawler.loop import Crawler
from geocrawl.crawler.page_visit import PageVisitor
from geocrawl.crawler.scope import Refusals
from geocrawl.crawler.summary import RunSummary
from geocrawl.errors import PassingFault
from geocrawl.model import Candidate, Evidence, Purpose, Rank, State, Url
from geocrawl.settings import DEFAULT_STRATEGY
from geocrawl.urls import AddressRules
from geocrawl.utc import date_of

if TYPE_CHECKING:
    from geocrawl.app.retry_policy import RetryPolicy
    from geocrawl.app.shared_politeness import SharedPoliteness
    from geocrawl.fetch.carrier import Transport
    from geocrawl.ports import Clock, Fetcher, Observer, RobotsStore, Strategy
    from geocrawl.settings import Settings
    from geocrawl.store.engine.database import Database
    from geocrawl.store.queries.runs import OtherRun


@dataclass(frozen=True, slots=True)
class Environment:
    """What a crawl takes from outside, when it is not the machine's clock and the real web."""

    clock: Clock
    transport: Transport
    pages_counted: Callable[[], int]
    """The number that `max_pages` is held against."""


class Session:
    """The parts of one crawl on one database."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        clock: Clock,
        *,
        learning: bool = True,
        within: Environment | None = None,
        follows: Callable[[Candidate, Candidate], bool] = lambda asked, named: True,
        records_only: bool = False,
        into_catalogues: bool = True,
        guest: SharedPoliteness | None = None,
    ) -> None:
        """`learning`: false where no pages are visited, so that the strategy need not be what it was. `follows`: as
        `wants_lead` of
        `ProbeVisitor`. `records_only`: only a harvest's pages are visited, those of catalogues that its probes
        find with `into_catalogues`; else these wait for a crawl. `guest`: of another catalogue, whose politeness is
        shared."""
        from geocrawl.page.document import PageReader
        from geocrawl.store.catalog.catalog import SqlCatalog
        from geocrawl.store.frontier.frontier import SqlFrontier
        from geocrawl.store.frontier.robots import SqlRobots

        self._settings = settings
        self._database = database
        self._clock = clock
        self._within = within
        self._follows = follows
        self._robots: RobotsStore = guest.robots(SqlRobots(database)) if guest else SqlRobots(database)
        self._guest = guest
        self._rules = AddressRules(settings.allow, settings.deny)
        self.detector = wiring.make_detector()
        self._former = database.meta("strategy")
        self._former_topic = database.meta("topic") or ""
        self._topic = settings.topic or self._former_topic
        if self._topic != settings.topic:
            wiring.demand_topic(self._topic, database.path)
        settings = replace(settings, topic=self._topic)
        self.strategy: Strategy = wiring.make_strategy(settings, settings.strategy or self._former or DEFAULT_STRATEGY)
        self.catalog = SqlCatalog(database, clock)
        self.frontier = SqlFrontier(
            database,
            settings,
            clock,
            catalog=self.catalog,
            by_depth=self.strategy.by_depth,
            learns=learning and self.strategy.learns,
            stride=self.strategy.stride,
            owner=wiring.owner(),
            records_only=records_only,
        )
        self._records_only = records_only
        self._into_catalogues = into_catalogues
        self._learning = Learning(self.strategy, self.frontier, settings.dump_every)
        self._reader = PageReader(
            respect_nofollow=settings.respect_nofollow,
            max_scripts=settings.max_scripts_per_page,
            headline="headline" in self.strategy.needs,
            prose="prose" in self.strategy.needs,
        )

    def claim(self, others: Sequence[OtherRun] = ()) -> list[str]:
        """Make the database ours: name the strategy, rank anew what another one left. Returns notes for a person.

        While `others` crawl on it, the order is theirs and they alone learn. Raises UsageError for another strategy.
        """
        from geocrawl.errors import UsageError

        notes = []
        name = self.strategy.name
        if others and not self._former:  # one that has just begun, and has not said so in the database yet
            self._former, self._former_topic = others[0].strategy, self._topic
        same = (self._former, self._former_topic) == (name, self._topic)
        if others and not same:
            raise UsageError(
                f"{self._database.path}: {others[0]} crawls on this database; let it end before you change its "
                "strategy or topic, or name another --db"
            )
        if others and self.strategy.learns:
            self.frontier.stop_recording_feedback()
            notes.append(f"Also at work on this database: {others[0]}. That crawl learns, this one follows its order.")
        if same:
            self._learning.restore()
        else:
            self.frontier.clear_feedback()
        stats = self.frontier.stats()
        waiting = stats.states.get(State.WAITING, 0)
        if self._former and not same:
            count = self.frontier.rerank((w.id, self.strategy.rank(w)) for w in self.frontier.waiting())
            now, before = _called(name, self._topic), _called(self._former, self._former_topic)
            notes.append(f"Strategy {now} instead of {before}: {count:,} waiting addresses ranked anew.")
        elif waiting:
            notes.append(f"Going on with {waiting:,} waiting addresses, strategy {name}.")
        self._database.set_meta("strategy", name)
        self._database.set_meta("topic", self._topic)
        return notes

    def add_seeds(self, seeds: Sequence[Url], *, again: bool) -> int:
        """Queue start pages; one that is itself a service's address is probed too. Returns how many are queued."""
        pages, endpoints = [], []
        for url in seeds:
            candidate = self.detector.of_url(url)
            if candidate is not None:
                endpoints.append(replace(candidate, evidence=Evidence("given", "", url.address)))
            if candidate is None or candidate.weak:
                pages.append(url)
        queued = self.frontier.add_seeds(pages, self.strategy.seed_rank(), again=again)
        return queued + self.frontier.add_candidates(endpoints, again=again)

    def _records_rank(self) -> Rank:
        """Of the first page of records of a catalogue that a probe finds."""
        from geocrawl.store.frontier.lifecycle import HARVEST_TIER

        return Rank(HARVEST_TIER) if self._records_only and self._into_catalogues else self.strategy.seed_rank()

    def answered(self, url: Url) -> bool:
        """Whether a seed was fetched in the end, as a page or as an endpoint."""
        return self.frontier.was_answered(url)

    def fetcher(
        self, record: Path | None = None, heard: Callable[[int], object] = lambda received_bytes: None
    ) -> Fetcher:
        """The connections of one run; the caller closes them. `heard` is told of the bytes that come."""
        recorder = wiring.make_recorder(record, self.frontier.seeds()) if record else None
        transport = self._within.transport if self._within else None
        fetcher = wiring.make_fetcher(
            self._settings, self._robots, self._clock, transport, recorder, self._barred, heard
        )
        return self._guest.fetcher(fetcher) if self._guest else fetcher

    def _barred(self, url: Url) -> str:
        """Why an address may not be asked, whatever leads there: on request, or by the operator's lists."""
        is_forgotten = self._database.blocked.covers(url.host) or (self._guest and self._guest.covers(url.host))
        return "forgotten" if is_forgotten else self._rules.reason(url)

    def crawler(
        self,
        observer: Observer,
        fetcher: Fetcher,
        *,
        max_pages: int,
        pages_counted: Callable[[], int] | None = None,
    ) -> Crawler:
        """The loop, ready to run. `pages_counted`: the number that `max_pages` is held against, if not its own."""
        s = self._settings
        return Crawler(
            frontier=self.frontier,
            learning=self._learning,
            visitors={
                Purpose.PAGE: PageVisitor(
                    fetcher=fetcher,
                    reader=self._reader,
                    recogniser=self.detector,
                    strategy=self.strategy,
                    refusals=Refusals(s, self.frontier.seeds(), date_of(self._clock.now())),
                    clock=self._clock,
                    max_redirects=s.max_redirects,
                    retry_first_s=s.retry_first_s,
                    store_from=s.store_pages_min_score if s.store_pages else None,
                    records_only=self._records_only,
                ),
                Purpose.PROBE: wiring.make_probe_visitor(
                    s, fetcher, self.detector, self._clock, self._records_rank(), self._follows
                ),
            },
            observer=observer,
            clock=self._clock,
            workers=s.workers,
            max_pages=max_pages,
            max_time_s=s.max_time_s,
            patience_s=s.patience_s,
            settle_s=s.settle_s,
            pages_counted=pages_counted or (self._within.pages_counted if self._within else None),
        )

    async def run(
        self, observer: Observer, retrying: RetryPolicy, *, max_pages: int, record: Path | None = None
    ) -> RunSummary:
        """Run the loop until it ends or a signal comes; `retrying`: for a database that cannot be written for now."""
        fetcher = self.fetcher(record)
        crawler = self.crawler(observer, fetcher, max_pages=max_pages)
        return await _until_signal(crawler, fetcher, lambda: self._run_retrying(crawler, retrying))

    async def _run_retrying(self, crawler: Crawler, retrying: RetryPolicy) -> RunSummary:
        """Run the loop; after a fault of the database, wait and make the visits that were under way again."""
        while True:
            before = crawler.visits
            try:
                return await crawler.run()
            except PassingFault as error:
                if crawler.visits > before:
                    retrying.reset()
                await retrying.until_writable(
                    error, self._database, self.frontier.give_back_all, lambda: crawler.stopping
                )


def as_stored(settings: Settings, database: Database) -> Settings:
    """The settings with the last crawl's depth limit: only a crawl changes which pages wait."""
    depth = database.meta("max_depth")
    return replace(settings, max_depth=int(depth)) if depth else settings


def _called(strategy: str, topic: str) -> str:
    return f"{strategy} (topic {topic})" if topic else strategy


async def _until_signal(crawler: Crawler, fetcher: Fetcher, run: Callable[[], Awaitable[RunSummary]]) -> RunSummary:
    """`run`; Ctrl-C or SIGTERM lets the visits under way settle, then ends."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, crawler.stop, "signal")
    try:
        return await run()
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
        await fetcher.close()
