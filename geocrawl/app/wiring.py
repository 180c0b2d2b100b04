"""Make sessions and their loops: choose the classes that implement the ports (`fetchers.py` makes the fetcher).

All other modules receive their parts as arguments.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from geocrawl.app.retry_policy import RetryPolicy, as_lines
from geocrawl.app.session import CRAWL, Environment, LatestStats, Session, SessionKind
from geocrawl.crawler.guesses import Guesses, ScriptBudget
from geocrawl.crawler.learning import Learning
from geocrawl.crawler.loop import Crawler, CrawlLimits
from geocrawl.crawler.page_visit import PageVisitor, ScriptedPages
from geocrawl.crawler.probe_visit import ProbeVisitor
from geocrawl.crawler.refusals import Refusals
from geocrawl.detect import Detector
from geocrawl.errors import DatabaseFault
from geocrawl.fetch.guard import refusal_by_text
from geocrawl.model import Purpose
from geocrawl.page.document import PageReader, is_empty_without_script, may_be_followed
from geocrawl.ports import (
    Clock,
    Fetcher,
    LevelMeasure,
    MeasuresLevels,
    Observer,
    Politeness,
    ReadingPool,
    Renderer,
    Strategy,
)
from geocrawl.priority import registry
from geocrawl.priority.strategies.ipagerank import PageFilter, make_page_filter
from geocrawl.priority.topics import demand_topic, find_topic, topics_folder
from geocrawl.probe.decoding import read_picture
from geocrawl.probe.registry import content_check_of, content_checks, declarations, probes
from geocrawl.reading import InLoop, ReadingLimits, ReadingProcesses
from geocrawl.settings import DEFAULT_STRATEGY, SLOW_S, Settings
from geocrawl.store import FrontierOptions, Store
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import date_of

IN_MEMORY = "sqlite://"
_RETRY_S, _LIST_RETRY_S = 1.0, 120.0
"""The longest wait for a retry of a crawl, and of a harvest, whose list goes on after its page that failed."""
READING_TIME_S, READING_MEMORY_BYTES = 60.0, 1 << 30
"""CPU time for reading one answer (by the clock five times that), and memory of a process that reads."""


def make_strategy(settings: Settings, name: str) -> Strategy:
    """Return the named strategy with its settings (`--set`) and shipped models. Raises UsageError for unknown names."""
    topic = find_topic(settings.topic, topics_folder()) if settings.topic else None
    return registry.make_strategy(name, settings.set, topic=topic, max_depth=settings.max_depth)


def make_detector(detect: str = "all") -> Detector:
    """Return the detector of candidates of all kinds that have a probe, or that of the setting `detect`."""
    if detect == "paper":
        from geocrawl.detect.detector import QueryDetector

        return QueryDetector()
    return Detector(declarations())


# --------------------------------------------------------------------------- database


def retry_policy(settings: Settings, path: DatabaseUrl, clock: Clock, observer: Observer) -> RetryPolicy:
    """Return the retry policy of an interactive command: wait up to `database_patience_s` for a database that is locked
    or whose disk is full."""
    return RetryPolicy(path, clock, as_lines(observer.noted), limit_s=settings.database_patience_s)


@contextmanager
def shared_politeness(
    catalogue: DatabaseUrl | None, settings: Settings, clock: Clock, say: Callable[[str], object]
) -> Iterator[Politeness]:
    """Yield the politeness of a catalogue; one in memory without a catalogue, or when it cannot be written now
    (`say` is told)."""
    store: Store | None = None
    with ExitStack() as stack:
        try:
            if catalogue is not None and Store.exists(catalogue):
                store = stack.enter_context(Store.join(catalogue, clock=clock))
                store.demand_writable()
        except DatabaseFault as error:
            say(f"{error}. Continuing without it: delays between requests are not shared with other processes")
            store = None
        store = store or stack.enter_context(Store.open(IN_MEMORY, clock=clock))
        yield store.politeness(settings)


# --------------------------------------------------------------------------- session


def make_session(
    settings: Settings,
    store: Store,
    clock: Clock,
    kind: SessionKind = CRAWL,
    *,
    environment: Environment | None = None,
    guest_of: Politeness | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> Session:
    """Return a session with the settings' strategy and topic, or else those with which the database was crawled.

    `environment`: replaces the machine's clock and the real web. `guest_of`: politeness of a catalogue that the session
    shares; `say` is given a line for a person when it waits for a host. Raises UsageError for invalid settings.
    """
    if environment is not None:
        store.stay_in_loop()
    settings = replace(settings, ignore_robots=settings.ignore_robots and kind.named_only)
    stored_strategy, stored_topic = store.facts.strategy(), store.facts.topic()
    if stored_topic and not settings.topic:
        demand_topic(stored_topic, store.path)
        settings = replace(settings, topic=stored_topic)
    strategy = make_strategy(settings, settings.strategy or stored_strategy or DEFAULT_STRATEGY)
    catalog = store.catalog()
    frontier = store.frontier(settings, catalog, _frontier_options(settings, strategy, kind))
    return Session(
        kind=kind,
        settings=settings,
        store=store,
        clock=clock,
        strategy=strategy,
        stored_strategy=stored_strategy,
        stored_topic=stored_topic,
        learning=Learning(strategy, frontier, store.runner, settings.dump_every),
        frontier=frontier,
        stats=LatestStats(frontier.stats, store.runner),
        catalog=catalog,
        detector=make_detector(settings.detect),
        reader=_make_reader(settings, strategy),
        pool=_make_reading_pool(settings, environment),
        environment=environment,
        guest_of=guest_of,
        say=say,
    )


def _frontier_options(settings: Settings, strategy: Strategy, kind: SessionKind) -> FrontierOptions:
    """Return what a strategy, in a session of this kind, asks of the frontier."""
    return FrontierOptions(
        by_depth=strategy.by_depth,
        by_yield=strategy.by_yield,
        learns=kind.learns and strategy.learns,
        stride=strategy.stride,
        records_only=kind.records_only,
        not_permitted=refusal_by_text(settings),
        named_only=kind.named_only,
    )


def _make_reader(settings: Settings, strategy: Strategy) -> PageReader:
    """Return the reader of pages, which reads what the strategy needs of them."""
    return PageReader(
        respect_nofollow=settings.respect_nofollow,
        max_scripts=settings.max_scripts_per_page,
        headline="headline" in strategy.needs or settings.store_pages,
        prose="prose" in strategy.needs,
        tag_paths="tag_paths" in strategy.needs,
    )


def _make_page_filter(settings: Settings) -> PageFilter:
    """Return the filter that decides which pages are kept, the same for every strategy."""
    return make_page_filter(
        find_topic(settings.topic, topics_folder()) if settings.topic else None, settings.store_pages_min_score
    )


def _make_reading_pool(settings: Settings, environment: Environment | None) -> ReadingPool:
    """Return the processes that read large and odd answers; none within an environment, whose time is virtual."""
    if environment is not None:
        return InLoop(read_picture)
    return ReadingProcesses(
        processes=settings.reading_processes,
        in_loop_bytes=settings.reading_in_loop_bytes,
        limits=ReadingLimits(READING_TIME_S, READING_MEMORY_BYTES),
        decode=read_picture,
    )


def make_crawler(
    session: Session,
    observer: Observer,
    fetcher: Fetcher,
    *,
    max_pages: int,
    renderer: Renderer | None = None,
    rendered: Counter[str] | None = None,
    pages_counted: Callable[[], int] | None = None,
    patience_s: float | None = None,
    outage_patience_s: float | None = None,
    slow_s: float | None = None,
) -> Crawler:
    """Return the session's loop, ready to run once.

    `renderer`: runs the scripts of pages. `rendered`: how many pages of each host were read so, counted on; None: none
    yet. `pages_counted`: as in `Crawler`. `patience_s`: the setting by default;
    `outage_patience_s`: the same by default; `slow_s`: as in `CrawlLimits`, by default as the setting `wait` says.
    """
    settings, environment = session.settings, session.environment
    patience_s = settings.patience_s if patience_s is None else patience_s
    limits = CrawlLimits(
        workers=settings.workers,
        max_waiting=settings.max_waiting,
        max_pages=max_pages,
        max_time_s=settings.max_time_s,
        patience_s=patience_s,
        outage_patience_s=patience_s if outage_patience_s is None else outage_patience_s,
        slow_s=(math.inf if settings.wait else SLOW_S) if slow_s is None else slow_s,
        idle_s=environment.idle_s if environment else 1.0,
        settle_s=settings.settle_s,
        retry_first_s=settings.retry_first_s,
        retry_wait_s=_LIST_RETRY_S if session.kind.records_only else _RETRY_S,
    )
    guesses = Guesses(session.detector, settings.guesses, html_only=session.kind.records_only)
    return Crawler(
        queue=session.frontier,
        store=session.store.runner,
        learning=session.learning,
        fetcher=fetcher,
        visitors={
            Purpose.PAGE: _make_page_visitor(session, renderer, Counter() if rendered is None else rendered, guesses),
            Purpose.PROBE: _make_probe_visitor(session, guesses),
        },
        observer=observer,
        clock=session.clock,
        limits=limits,
        pages_counted=pages_counted or (environment.pages_counted if environment else None),
    )


def _levels(settings: Settings, strategy: Strategy) -> LevelMeasure:
    """Return the measure of levels: the strategy's own if it has one."""
    if isinstance(strategy, MeasuresLevels):
        return strategy.levels
    topic = find_topic(settings.topic, topics_folder()) if settings.topic else None
    return registry.make_levels(topic)


def _make_page_visitor(
    session: Session, renderer: Renderer | None, rendered: Counter[str], guesses: Guesses | None
) -> PageVisitor:
    settings = session.settings
    refusals = Refusals(settings, session.frontier.seeds(), date_of(session.clock.now()))
    return PageVisitor(
        reader=session.reader,
        pool=session.pool,
        judging=session.learning.lock,
        recogniser=session.detector,
        strategy=session.strategy,
        levels=_levels(settings, session.strategy),
        refusals=refusals,
        scripts=ScriptBudget(settings.max_scripts_per_host, settings.host_scripts_bytes),
        clock=session.clock,
        max_redirects=settings.max_redirects,
        retry_first_s=settings.retry_first_s,
        scripted=_make_scripted_pages(session, renderer, refusals, rendered) if renderer else None,
        kept_score=_make_page_filter(settings).kept_score if settings.store_pages else None,
        records_only=session.kind.records_only,
        guesses=guesses,
    )


def _make_scripted_pages(
    session: Session, renderer: Renderer, refusals: Refusals, rendered: Counter[str]
) -> ScriptedPages:
    return ScriptedPages(
        renderer,
        session.detector,
        refusals,
        is_empty=is_empty_without_script,
        may_be_followed=may_be_followed,
        per_host=session.settings.browser_pages_per_host,
        chosen=rendered,
    )


def _make_probe_visitor(session: Session, guesses: Guesses | None) -> ProbeVisitor:
    settings = session.settings
    checks = content_checks(layers=settings.map_layers) if settings.maps else ()
    return ProbeVisitor(
        probes=probes(),
        pool=session.pool,
        content_checks=tuple(map(session.kind.content_check, checks)),
        light_checks=tuple(content_check_of(each.kind, layers=1) for each in checks),
        recogniser=session.detector,
        clock=session.clock,
        retry_first_s=settings.retry_first_s,
        records_rank=session.records_rank(),
        probe_time_s=settings.probe_time_s,
        map_requests=settings.map_requests,
        map_requests_per_host=settings.map_requests_per_host,
        siblings=settings.siblings,
        wants_lead=session.kind.wants_lead,
        guesses=guesses,
    )
