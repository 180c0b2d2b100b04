"""The one place that wires parts together: settings in, running crawls and surveys out.

Everything else is handed its parts; only this file knows which class stands behind a port.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import signal
import socket
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl import __version__
from geocrawl.crawl import Crawler, Summary, take_up
from geocrawl.harvest import Beginning, beginning
from geocrawl.model import Candidate, Evidence, Kind, Lesson, Purpose, Rank, Relevance, State, Url
from geocrawl.outcome import Harvested, Outcome
from geocrawl.ports import Waiting
from geocrawl.refusals import Refusals, records_bound, text_rule
from geocrawl.survey import Surveyor
from geocrawl.visit import PageVisitor

if TYPE_CHECKING:
    from geocrawl.detect import Detector
    from geocrawl.fetch.carrier import Transport
    from geocrawl.fetch.fetcher import PoliteFetcher
    from geocrawl.fetch.record import WarcRecorder
    from geocrawl.ports import Clock, Observer, RobotsStore, Strategy
    from geocrawl.priority.topics import Topic
    from geocrawl.settings import Settings
    from geocrawl.store.database import Database
    from geocrawl.store.runs import OtherRun
    from geocrawl.store.why import Why


# --------------------------------------------------------------------------- crawl


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a crawl takes from outside, when it is not the machine's clock and the real web."""

    clock: Clock
    transport: Transport
    pages_counted: Callable[[], int]
    """The number that `max_pages` is held against."""


def crawl(
    settings: Settings,
    path: Path,
    seeds: Sequence[Url],
    *,
    again: bool = False,
    observer: Observer,
    within: Surroundings | None = None,
    record: Path | None = None,
) -> Outcome:
    """Crawl from `seeds` (or go on with what waits) until a limit, the end or a signal; `within` another web, if given.

    `record`: a WARC file to which every answer is appended.
    Raises UsageError for settings that cannot be meant, DatabaseFault for a database that cannot be used.
    """
    from geocrawl.store.runs import earlier_runs

    clock = within.clock if within else _clock()
    with _open(path, clock) as database:
        session = _Session(settings, database, clock, within=within)
        run = database.start_run(session.strategy.name, settings)
        notes = session.take_over(earlier_runs(database.connection, run, _owner(), clock.now()))
        queued = session.add_seeds(seeds, again=again)
        if seeds and not queued:
            notes.append("All given pages were visited before; --again visits them anew.")
        if not seeds and session.frontier.ready_at() is None:
            notes.append("Nothing waits: give a page to start from, such as geocrawl crawl https://www.example.org/")
        observer.started(session.frontier.stats, notes)
        summary = asyncio.run(session.run(observer, max_pages=settings.max_pages, record=record))
        database.end_run(run, pages=summary.pages, services=summary.valid, stopped=summary.stopped)
        stats = session.frontier.stats()
        return Outcome(
            summary=summary,
            strategy=session.strategy.name,
            database=path,
            seeds=len(seeds),
            waiting=stats.states.get(State.WAITING, 0),
            services=session.catalog.counts().get("valid", 0),
            no_seed_answered=bool(queued) and not any(session.answered(url) for url in seeds),
            notes=tuple(notes),
        )


class _Session:
    """The parts of one crawl on one database."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        clock: Clock,
        *,
        learning: bool = True,
        within: Surroundings | None = None,
        follows: Callable[[Candidate, Candidate], bool] = lambda asked, named: True,
        records_only: bool = False,
    ) -> None:
        """`learning`: false where no pages are visited, so that the strategy need not be what it was. `follows`: as in
        `Surveyor`. `records_only`: only a harvest's pages are visited."""
        from geocrawl.page.document import PageReader
        from geocrawl.store.catalog import SqlCatalog
        from geocrawl.store.frontier import SqlFrontier
        from geocrawl.store.robots import SqlRobots

        self._settings = settings
        self._database = database
        self._clock = clock
        self._within = within
        self._follows = follows
        self._robots = SqlRobots(database)
        self._former = database.meta("strategy")
        self._former_topic = database.meta("topic") or ""
        self._topic = settings.topic or self._former_topic
        if self._topic != settings.topic:
            _demand_topic(self._topic, database.path)
        settings = replace(settings, topic=self._topic)
        self.strategy: Strategy = make_strategy(settings, settings.strategy or self._former or "gws")
        self.catalog = SqlCatalog(database, clock)
        self.frontier = SqlFrontier(
            database,
            settings,
            clock,
            catalog=self.catalog,
            by_depth=self.strategy.by_depth,
            learns=learning and self.strategy.learns,
            stride=self.strategy.stride,
            owner=_owner(),
            records_only=records_only,
        )
        self._records_only = records_only
        self._undumped = 0
        self.detector = _detector()
        self._reader = PageReader(
            respect_nofollow=settings.respect_nofollow,
            max_scripts=settings.max_scripts_per_page,
            headline="headline" in self.strategy.needs,
            prose="prose" in self.strategy.needs,
        )

    def take_over(self, others: Sequence[OtherRun] = ()) -> list[str]:
        """Make the database ours: name the strategy, rank anew what another one left. Returns notes for a person.

        While `others` crawl on it, the order is theirs and they alone learn. Raises UsageError for another strategy.
        """
        from geocrawl.errors import UsageError

        notes = []
        name = self.strategy.name
        same = (self._former, self._former_topic) == (name, self._topic)
        if others and not same:
            raise UsageError(
                f"{self._database.path}: {others[0]} crawls on this database; let it end before you change its "
                "strategy or topic, or name another --db"
            )
        if others and self.strategy.learns:
            self.frontier.keep_no_lessons()
            notes.append(f"Also at work on this database: {others[0]}. That crawl learns, this one follows its order.")
        if same:
            self._undumped = take_up(self.strategy, self.frontier.learnt(), self.frontier.lessons(), self._rerank)
        else:
            self.frontier.forget_lessons()
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

    def _rerank(self, lesson: Lesson, ranks: Iterator[tuple[int, Rank | None]]) -> None:
        """Rank the queue anew where the last process did not come to it."""
        if lesson.number > self.frontier.revised():
            self.frontier.rerank(ranks, through=lesson.number)
        else:
            deque(ranks, maxlen=0)

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
        from geocrawl.store.lifecycle import HARVEST_TIER

        return Rank(HARVEST_TIER) if self._records_only else self.strategy.seed_rank()

    def answered(self, url: Url) -> bool:
        """Whether a seed was fetched in the end, as a page or as an endpoint."""
        return self.frontier.was_answered(url)

    async def run(self, observer: Observer, *, max_pages: int, record: Path | None = None) -> Summary:
        """The loop itself, with signals settled."""
        s = self._settings
        within = self._within
        recorder = _recorder(record, self.frontier.seeds()) if record else None
        fetcher = _fetcher(s, self._robots, self._clock, within.transport if within else None, recorder)
        crawler = Crawler(
            frontier=self.frontier,
            strategy=self.strategy,
            visitors={
                Purpose.PAGE: PageVisitor(
                    fetcher=fetcher,
                    reader=self._reader,
                    recogniser=self.detector,
                    strategy=self.strategy,
                    refusals=Refusals(s, self.frontier.seeds(), _today(self._clock)),
                    clock=self._clock,
                    max_redirects=s.max_redirects,
                    retry_first_s=s.retry_first_s,
                    store_from=s.store_pages_min_score if s.store_pages else None,
                    records_only=self._records_only,
                ),
                Purpose.PROBE: _surveyor(s, fetcher, self.detector, self._clock, self._records_rank(), self._follows),
            },
            observer=observer,
            clock=self._clock,
            workers=s.workers,
            max_pages=max_pages,
            max_time_s=s.max_time_s,
            patience_s=s.patience_s,
            settle_s=s.settle_s,
            pages_counted=within.pages_counted if within else None,
            dump_every=s.dump_every,
            undumped=self._undumped,
        )
        return await _run_until_signal(crawler, fetcher)


def _called(strategy: str, topic: str) -> str:
    return f"{strategy} (topic {topic})" if topic else strategy


async def _run_until_signal(crawler: Crawler, fetcher: PoliteFetcher) -> Summary:
    """Run; Ctrl-C or SIGTERM lets the visits under way settle, then ends."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, crawler.stop, "signal")
    try:
        return await crawler.run()
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
        await fetcher.close()


# --------------------------------------------------------------------------- probe


def given_candidate(url: Url, kind: Kind | None = None) -> Candidate:
    """What a person typed, as a candidate: whatever its address looks like, it is asked as what they call it."""
    return _detector().given(url, kind)


def survey(
    settings: Settings,
    path: Path,
    candidates: Sequence[Candidate],
    *,
    observer: Observer,
    follows: Callable[[Candidate, Candidate], bool],
) -> Summary:
    """Probe the candidates, and what `follows(asked, named)` of the endpoints that they name, until each has a verdict
    or a signal comes."""
    clock = _clock()
    with _open(path, clock) as database:
        settings = replace(_as_stored(settings, database), siblings=0)
        session = _Session(settings, database, clock, learning=False, follows=follows)
        session.frontier.add_candidates(candidates, again=True)
        return asyncio.run(session.run(observer, max_pages=0))


def harvest(settings: Settings, path: Path, url: Url, *, since: str, observer: Observer) -> Harvested:
    """Read the pages of records of the catalogue at `url`, nothing else, and probe what they name.

    `since`: a day (YYYY-MM-DD) from which on records count, "last" for that of the last whole harvest, '' for all. What
    was interrupted in this database is gone on with.
    """
    clock = _clock()
    with _open(path, clock) as database:
        session = _Session(_as_stored(settings, database), database, clock, learning=False, records_only=True)
        name = f"harvest:{url.identity}"
        day = (database.meta(name) or "") if since == "last" else since
        first = beginning(url, session.detector.of_url(url), since=day)
        bound = records_bound(settings)
        waiting = session.frontier.add_records(first.pages, within=lambda page: bound(page) and first.holds(page))
        if not first.counted:  # nothing is known of it: an OGC API says what it is, and whether it has records
            session.frontier.add_candidates([session.detector.given(url, first.kind)], again=True)
        observer.started(session.frontier.stats, _harvest_notes(waiting, first, day))
        run = database.start_run("harvest", settings)
        today = _today(clock).isoformat()
        summary = asyncio.run(session.run(observer, max_pages=settings.max_pages))
        database.end_run(run, pages=summary.pages, services=summary.valid, stopped=summary.stopped)
        if summary.stopped == "done" and summary.pages:
            database.set_meta(name, today)
        services = session.catalog.counts().get("valid", 0)
        return Harvested(summary, path, services, since=day if first.since else "")


def _harvest_notes(waiting: int, first: Beginning, day: str) -> list[str]:
    notes = [f"Going on with {waiting:,} pages of records that wait."] if waiting > len(first.pages) else []
    if day and not first.since:
        notes.append("This kind of catalogue cannot be asked for what was changed since a day: all of it is read.")
    return notes


# --------------------------------------------------------------------------- maintenance and explanation


def retry(settings: Settings, path: Path, *, host: str | None, reason: str | None) -> int:
    """Put failed addresses back into the queue; returns how many."""
    clock = _clock()
    with _open(path, clock, create=False) as database:
        return _Session(_as_stored(settings, database), database, clock, learning=False).frontier.retry(
            host=host, reason=reason
        )


def _as_stored(settings: Settings, database: Database) -> Settings:
    """The settings with the last crawl's depth limit: only a crawl changes which pages wait."""
    depth = database.meta("max_depth")
    return replace(settings, max_depth=int(depth)) if depth else settings


def explain(
    settings: Settings, connection: sqlite3.Connection, url: Url, found: Why
) -> tuple[str, Mapping[str, object], str]:
    """(strategy, the parts of the rank, the rule that refuses it or '') of an address that `store.why` looked up.

    A strategy that learns explains with what it has learnt so far.
    """
    from geocrawl.store.lessons import read_lessons, read_state
    from geocrawl.store.reading import stored_strategy, stored_topic

    stored = stored_strategy(connection)
    name = settings.strategy or stored or "gws"
    strategy = make_strategy(replace(settings, topic=settings.topic or stored_topic(connection)), name)
    if strategy.learns and name == stored:
        take_up(strategy, read_state(connection), read_lessons(connection), lambda _, ranks: deque(ranks, maxlen=0))
    refused = text_rule(settings, _today(_clock()))(url)
    page, parent = found.page, found.parent
    if page is None:
        return name, {}, refused
    relevance = Relevance.HIGH if parent is None else Relevance(parent.relevance or 0)
    parts = strategy.explain(Waiting(page.id, url, page.anchor, page.depth, relevance))
    return name, parts, refused


# --------------------------------------------------------------------------- parts


def make_strategy(settings: Settings, name: str) -> Strategy:
    """The named strategy with its settings (`--set`) and shipped models."""
    from geocrawl.priority.registry import make_strategy as make

    return make(name, settings.set, topic=find_topic(settings.topic) if settings.topic else None)


def find_topic(name: str) -> Topic:
    """The shipped topic of this name, or the user's own. Raises UsageError when there is none."""
    from geocrawl.priority.topics import find_topic as find

    return find(name, topics_folder())


def _demand_topic(name: str, path: Path) -> None:
    """Raises UsageError when the topic that a database was crawled for is no more."""
    from geocrawl.errors import UsageError

    try:
        find_topic(name)
    except UsageError as error:
        raise UsageError(
            f"{path}: was crawled for the topic {name}, which is no more; bring it back with `geocrawl topics add "
            f"{name} --text FILE --seeds FILE`, or name another with --topic (`geocrawl topics list` lists them)"
        ) from error


def topics_folder() -> Path | None:
    """Where the user's own topics lie; None for a user without a home."""
    from geocrawl.config import user_folder
    from geocrawl.errors import EnvironmentFault

    try:
        return user_folder("data", os.environ) / "topics"
    except EnvironmentFault:
        return None


def _detector() -> Detector:
    from geocrawl.detect import Detector
    from geocrawl.probe.registry import probes

    return Detector(probe.kind for probe in probes())


def _surveyor(
    settings: Settings,
    fetcher: PoliteFetcher,
    detector: Detector,
    clock: Clock,
    records_rank: Rank,
    follows: Callable[[Candidate, Candidate], bool],
) -> Surveyor:
    from geocrawl.probe.registry import probes, provers

    return Surveyor(
        fetcher=fetcher,
        probes=probes(),
        provers=provers(layers=settings.map_layers) if settings.maps else (),
        recogniser=detector,
        clock=clock,
        retry_first_s=settings.retry_first_s,
        records_rank=records_rank,
        map_requests=settings.map_requests,
        map_requests_per_host=settings.map_requests_per_host,
        siblings=settings.siblings,
        follows=follows,
    )


def _fetcher(
    settings: Settings,
    robots: RobotsStore,
    clock: Clock,
    transport: Transport | None = None,
    recorder: WarcRecorder | None = None,
) -> PoliteFetcher:
    from geocrawl.fetch.fetcher import PoliteFetcher
    from geocrawl.fetch.http import user_agent
    from geocrawl.fetch.proxy import proxy_from_environment

    agent = user_agent(settings, __version__)
    environment = None if transport else proxy_from_environment(os.environ)
    return PoliteFetcher(
        settings, robots, clock, user_agent=agent, environment=environment, transport=transport, recorder=recorder
    )


def _recorder(path: Path, seeds: Iterable[Url]) -> WarcRecorder:
    from geocrawl.fetch.record import WarcRecorder

    return WarcRecorder(path, software=f"geocrawl/{__version__}", seeds=[seed.address for seed in seeds])


def _today(clock: Clock) -> dt.date:
    return dt.datetime.fromtimestamp(clock.now(), dt.UTC).date()


def _clock() -> Clock:
    from geocrawl.fetch.clock import SystemClock

    return SystemClock()


def _owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


@contextmanager
def _open(path: Path, clock: Clock, *, create: bool = True) -> Iterator[Database]:
    from geocrawl.store.database import Database

    database = Database.open(path, create=create, clock=clock)
    try:
        yield database
    finally:
        database.close()
