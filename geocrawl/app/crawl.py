"""Run a crawl: settings and start pages in, a report out. A crawl first claims its database for its strategy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.app.fetchers import demand_browser
from geocrawl.app.findings import demand_usable, queue_of
from geocrawl.app.run import NO_LIMIT, run_session
from geocrawl.app.session import Environment, Session
from geocrawl.config import without_effect
from geocrawl.crawler.report import CrawlReport, RunSummary
from geocrawl.errors import UsageError
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import FailureCode, State, Url
from geocrawl.ports import Observer
from geocrawl.settings import Settings
from geocrawl.store.database.processes import OtherRun
from geocrawl.store.upkeep.clock_limits import shorten_waits
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import counted

if TYPE_CHECKING:
    from geocrawl.app.processes import Processes, Task
    from geocrawl.store import SharedRun, Store

_CLOCKS_DIFFER_S = 2.0
"""Difference between this machine's clock and that of the database's server from which on it is told."""


def run_crawl(
    settings: Settings,
    path: DatabaseUrl,
    seeds: Sequence[Url],
    *,
    again: bool = False,
    observer: Observer,
    environment: Environment | None = None,
    record: Path | None = None,
    processes: Processes | None = None,
) -> CrawlReport:
    """Crawl from `seeds`, or continue with the queue, until a limit, the end or a signal. Returns a report.

    `again`: visit seeds that were visited before, too. `environment`: replaces the machine's clock and the real web.
    `record`: a WARC file to which every answer is appended. `processes`: further ones that take part. Raises UsageError
    for invalid settings, DatabaseFault for an unusable database, EnvironmentFault for a wanted browser that is missing.
    """
    clock = environment.clock if environment else SystemClock()
    retrying = wiring.retry_policy(settings, path, clock, observer)
    own = processes.own if processes else settings
    demand_usable(own, record)  # before a database is made
    run: int | None = None

    def begin(store: Store) -> _ReadyCrawl:
        nonlocal run
        session = wiring.make_session(own, store, clock, environment=environment)
        demand_browser(session)
        run = run or store.start_run(session.strategy.name, settings)  # one row for all retries
        shared = session.frontier.share_run(run, settings.max_pages) if processes else None
        return _begin(session, run, shared, seeds, again=again)

    with retrying.opened(begin) as begun:
        session = begun.session
        observer.started(session.stats, begun.notes)
        if processes:
            processes.start(begun.run)
        most = NO_LIMIT if processes else settings.max_pages or NO_LIMIT
        summary = run_session(
            session, observer, retrying, max_pages=most, run=begun.run, record=record, processes=processes
        )
        if begun.shared:
            retrying.call(begun.shared.end)
        retrying.call(lambda: session.frontier.age_health(session.clock.now()))
        return _report(begun, summary, seeds)


def take_part(task: Task, observer: Observer) -> None:
    """Take part in a crawl that another process began, until its end (`processes.py`)."""
    settings, clock = task.timed_settings(), SystemClock()
    retrying = wiring.retry_policy(settings, task.place, clock, observer)

    def join(store: Store) -> tuple[Session, SharedRun]:
        session = wiring.make_session(settings, store, clock)
        shared = session.frontier.share_run(task.run, settings.max_pages)
        session.learning.restore()
        return session, shared

    with retrying.opened(join) as (session, shared):
        run_session(session, observer, retrying, max_pages=NO_LIMIT, record=task.record, shared=shared)


@dataclass(frozen=True, slots=True)
class _ReadyCrawl:
    """A crawl that is ready to run."""

    session: Session
    run: int
    """Number of the run in the database."""
    shared: SharedRun | None
    """The run as its processes share it; None for a crawl by one."""
    queued: int
    """How many of the seeds will be visited."""
    notes: tuple[str, ...]


def _begin(session: Session, run: int, shared: SharedRun | None, seeds: Sequence[Url], *, again: bool) -> _ReadyCrawl:
    """Claim the database and queue the seeds."""
    notes = claim(session, session.store.earlier_runs(run))
    if unused := without_effect(session.settings, "crawl"):
        notes.append(f"Settings without effect in a crawl: {', '.join(unused)}.")
    session.frontier.age_health(session.clock.now())
    if off := shorten_waits(session.store.database, session.settings, session.clock.now()):
        counts = ", ".join(f"{name} {count:,}" for name, count in off.items())
        notes.append(f"A wrong clock wrote times far in the future; they were shortened ({counts}).")
    if session.settings.allow_private and (opened := session.frontier.retry(reason=FailureCode.GUARD)):
        notes.append(f"Private addresses are allowed now: {counted(opened, 'address')} skipped before will be asked.")
    queued = session.add_seeds(seeds, again=again)
    opted_out = sorted({url.host for url in seeds if session.store.opt_out.covers(url.host)})
    notes += [f"{host} has opted out and is not visited (`geocrawl forget --list`)." for host in opted_out]
    if seeds and not queued:
        notes.append("All given pages were visited before; --again visits them again.")
    is_empty = not seeds and session.frontier.ready_at() is None
    if is_empty and (stored := session.add_stored_seeds()):
        queued, is_empty = stored, False
        notes.append(f"The queue was empty: {counted(stored, 'start page')} of `geocrawl seeds list` begin it.")
    if is_empty:
        notes.append("The queue is empty: give a page to start from, such as geocrawl crawl https://www.example.org/")
    return _ReadyCrawl(session, run, shared, queued, tuple(notes))


def _report(begun: _ReadyCrawl, summary: RunSummary, seeds: Sequence[Url]) -> CrawlReport:
    session = begun.session
    stats = session.frontier.stats()
    retries, next_retry_at = session.frontier.retries()
    return CrawlReport(
        summary=summary,
        strategy=session.strategy.name,
        database=session.store.path,
        seeds=len(seeds),
        waiting=stats.states.get(State.WAITING, 0),
        probes_waiting=stats.probes_waiting,
        services=session.catalog.counts().get("valid", 0),
        no_seed_answered=bool(begun.queued)
        and summary.stopped != "signal"  # it says nothing about pages that had no time to answer
        and not any(session.frontier.was_answered(url) for url in seeds),
        notes=begun.notes,
        left=tuple(session.frontier.waiting_hosts()),
        retries=retries,
        next_retry_at=next_retry_at,
        queue=queue_of(stats, session.settings.set),
    )


def claim(session: Session, others: Sequence[OtherRun] = ()) -> list[str]:
    """Record the session's strategy in its database and rank the queue by it. Returns notes for a person.

    While `others` crawl on the database, the session keeps their strategy. One of them learns from the visits of all.
    Raises UsageError when its strategy or topic differs from theirs.
    """
    strategy, topic = session.strategy, session.settings.topic
    former, former_topic = session.stored_strategy, session.stored_topic
    if others and not former:  # the other crawl has just begun, and has not written its strategy yet
        former, former_topic = others[0].strategy, topic
    is_same = (former, former_topic) == (strategy.name, topic)
    _refuse_another_order(session, others, is_same=is_same)
    notes = []
    if is_same:
        notes = session.learning.restore()
        if others and session.strategy.learns:
            notes.append(_who_learns(others[0], here=session.learning.leads))
        if session.learning.begins_again:  # an earlier version may have had other tiers
            session.frontier.rerank((w.id, strategy.rank(w)) for w in session.frontier.waiting())
            # Some strategies learn their topic from the start pages.
            session.frontier.add_seeds(session.frontier.seeds(), strategy.seed_rank(), again=True)
    else:
        session.frontier.clear_feedback()
        session.frontier.clear_yields()
        session.learning.begin()
    waiting = session.frontier.stats().states.get(State.WAITING, 0)
    if former and not is_same:
        count = session.frontier.rerank((w.id, strategy.rank(w)) for w in session.frontier.waiting())
        now, before = _named(strategy.name, topic), _named(former, former_topic)
        notes.append(f"Strategy {now} instead of {before}: {counted(count, 'waiting address')} reranked.")
    elif waiting:
        notes.append(f"Continuing with {counted(waiting, 'waiting address')}, strategy {strategy.name}.")
    session.store.facts.write_strategy(strategy.name, topic)
    if abs(ahead_s := session.store.database.clock_ahead_s) > _CLOCKS_DIFFER_S:
        notes.append(
            f"This machine's clock is {abs(ahead_s):,.0f} s {'ahead of' if ahead_s > 0 else 'behind'} that of the "
            "database's server, by which all times are taken; set it (NTP)."
        )
    return notes


def _refuse_another_order(session: Session, others: Sequence[OtherRun], *, is_same: bool) -> None:
    """Raise UsageError when the session would change the order of the crawls that are under way."""
    if others and not is_same:
        raise UsageError(
            f"{session.store.path}: {others[0]} crawls on this database; let it end before you change its "
            "strategy or topic, or name another --db"
        )


def _who_learns(other: OtherRun, *, here: bool) -> str:
    """Return a line that names another crawl, and which of the crawls learns."""
    learner = "This crawl learns from the visits of all" if here else "Another one learns, also from this one's visits"
    return f"Another crawl uses this database: {other}. {learner}."


def _named(strategy: str, topic: str) -> str:
    return f"{strategy} (topic {topic})" if topic else strategy
