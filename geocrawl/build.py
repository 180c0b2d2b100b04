"""What can be done, as functions: settings in, a whole crawl, survey or harvest out.

`parts` knows which class stands behind a port, `session` puts them together for one database.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl import parts
from geocrawl.crawl import Summary, take_up
from geocrawl.harvest import Beginning, beginning
from geocrawl.model import Candidate, Kind, Relevance, State, Url
from geocrawl.opening import Wait
from geocrawl.outcome import Harvested, Outcome
from geocrawl.ports import Waiting
from geocrawl.refusals import records_bound, text_rule
from geocrawl.session import Session, Surroundings
from geocrawl.settings import DEFAULT_STRATEGY
from geocrawl.utc import date_of, day_of

if TYPE_CHECKING:
    from geocrawl.ports import Clock, Observer
    from geocrawl.settings import Settings
    from geocrawl.store.addresses import Address
    from geocrawl.store.database import Database
    from geocrawl.store.why import Why


# --------------------------------------------------------------------------- crawl


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
    clock = within.clock if within else parts.system_clock()
    wait = _wait(settings, path, clock, observer)
    run: int | None = None

    def begin(database: Database) -> _Begun:
        nonlocal run
        session = Session(settings, database, clock, within=within)
        run = run or database.start_run(session.strategy.name, settings)  # once, however often the rest is begun
        return _begin(session, database, clock, run, seeds, again=again)

    with wait.prepared(begin) as begun:
        database, session = begun.database, begun.session
        observer.started(session.frontier.stats, begun.notes)
        summary = asyncio.run(session.run(observer, wait, max_pages=settings.max_pages, record=record))
        wait.through(
            lambda: database.end_run(begun.run, pages=summary.pages, services=summary.valid, stopped=summary.stopped)
        )
        stats = session.frontier.stats()
        return Outcome(
            summary=summary,
            strategy=session.strategy.name,
            database=path,
            seeds=len(seeds),
            waiting=stats.states.get(State.WAITING, 0),
            services=session.catalog.counts().get("valid", 0),
            no_seed_answered=bool(begun.queued) and not any(session.answered(url) for url in seeds),
            notes=begun.notes,
        )


def _wait(settings: Settings, path: Path, clock: Clock, observer: Observer) -> Wait:
    """Patience with another's lock and a full disk, as long as a person has it."""
    from geocrawl.store.patience import Patience

    return Wait(path, clock, Patience(clock, settings.database_patience_s), observer.noted)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A crawl that is ready to run."""

    database: Database
    session: Session
    run: int
    queued: int
    notes: tuple[str, ...]


def _begin(
    session: Session, database: Database, clock: Clock, run: int, seeds: Sequence[Url], *, again: bool
) -> _Begun:
    """Make the database ours and queue the seeds."""
    from geocrawl.store.runs import earlier_runs

    notes = session.take_over(earlier_runs(database.connection, run, parts.owner(), clock.now()))
    queued = session.add_seeds(seeds, again=again)
    notes += [f"{host} is left alone on request (`geocrawl forget --list`)." for host in _forgotten(database, seeds)]
    if seeds and not queued:
        notes.append("All given pages were visited before; --again visits them anew.")
    if not seeds and session.frontier.ready_at() is None:
        notes.append("Nothing waits: give a page to start from, such as geocrawl crawl https://www.example.org/")
    return _Begun(database, session, run, queued, tuple(notes))


def _forgotten(database: Database, seeds: Sequence[Url]) -> list[str]:
    return sorted({url.host for url in seeds if database.blocked.covers(url.host)})


# --------------------------------------------------------------------------- probe


def given_candidate(url: Url, kind: Kind | None = None) -> Candidate:
    """What a person typed, as a candidate: whatever its address looks like, it is asked as what they call it."""
    return parts.make_detector().given(url, kind)


def survey(
    settings: Settings,
    path: Path,
    candidates: Sequence[Candidate],
    *,
    observer: Observer,
    follows: Callable[[Candidate, Candidate], bool],
    beside: Path | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> Summary:
    """Probe the candidates, and what `follows(asked, named)` of the endpoints that they name, until each has a verdict
    or a signal comes.

    `beside`: a catalogue whose politeness is shared, when it is there (`guest.Guest`, which tells `say` about it).
    """
    clock = parts.system_clock()
    wait = _wait(settings, path, clock, observer)
    with parts.guest_of(beside, settings, clock, say) as guest:

        def begin(database: Database) -> Session:
            stored = replace(_as_stored(settings, database), siblings=0)
            if guest is not None:  # our own lease has to outlast the wait for another's
                stored = replace(stored, lease_s=2 * stored.lease_s)
            session = Session(stored, database, clock, learning=False, follows=follows, guest=guest)
            session.frontier.add_candidates(candidates, again=True)
            return session

        with wait.prepared(begin) as session:
            return asyncio.run(session.run(observer, wait, max_pages=0))


def harvest(
    settings: Settings,
    path: Path,
    url: Url,
    *,
    since: str = "",
    observer: Observer,
    within: Surroundings | None = None,
) -> Harvested:
    """Read the pages of records of the catalogue at `url`, nothing else, and probe what they name.

    `since`: a day (YYYY-MM-DD) from which on records count, "last" for that of the last whole harvest, '' for all. What
    was interrupted in this database is gone on with. `within` another web, if given.
    """
    clock = within.clock if within else parts.system_clock()
    wait, name = _wait(settings, path, clock, observer), f"harvest:{url.identity}"

    def begin(database: Database) -> tuple[Database, Session, str, Beginning, int]:
        stored = _as_stored(settings, database)
        day = (database.meta(name) or "") if since == "last" else since
        first = beginning(url, parts.make_detector().of_url(url), since=day)
        into = not first.counted
        session = Session(
            stored, database, clock, learning=False, within=within, records_only=True, into_catalogues=into
        )
        bound = records_bound(stored)
        waiting = session.frontier.add_records(first.pages, within=lambda page: bound(page) and first.holds(page))
        if first.kind is not None:
            session.frontier.add_candidates([session.detector.given(url, first.kind)], again=into)
        return database, session, day, first, waiting

    with wait.prepared(begin) as (database, session, day, first, waiting):
        observer.started(session.frontier.stats, _harvest_notes(waiting, first, day))
        run = wait.through(lambda: database.start_run("harvest", settings))
        today = day_of(clock.now())
        summary = asyncio.run(session.run(observer, wait, max_pages=settings.max_pages))
        wait.through(
            lambda: database.end_run(run, pages=summary.pages, services=summary.valid, stopped=summary.stopped)
        )
        if summary.stopped == "done" and summary.pages:
            wait.through(lambda: database.set_meta(name, today))
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
    clock = parts.system_clock()
    with parts.open_database(path, clock, create=False) as database:
        return Session(_as_stored(settings, database), database, clock, learning=False).frontier.retry(
            host=host, reason=reason
        )


def release(settings: Settings, path: Path, site: str) -> int | None:
    """Let a site that was held be asked again; returns how many addresses wait again, None when it is not held."""
    clock = parts.system_clock()
    with parts.open_database(path, clock, create=False) as database:
        return Session(_as_stored(settings, database), database, clock, learning=False).frontier.release_site(site)


def decide_same(
    path: Path, choose: Callable[[sqlite3.Connection], Sequence[tuple[Address, Address]]], *, same: bool
) -> Sequence[tuple[Address, Address]]:
    """Keep a person's word that the endpoints of each pair are one service, or are not; returns the pairs."""
    from geocrawl.store.addresses import decide
    from geocrawl.store.catalog import SqlCatalog

    clock = parts.system_clock()
    with parts.open_database(path, clock, create=False) as database:
        decided = choose(database.connection)
        decide(SqlCatalog(database, clock), decided, same=same, at=clock.now())
        return decided


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
    from geocrawl.store.blocked import BlockedHosts
    from geocrawl.store.lessons import read_lessons, read_state
    from geocrawl.store.reading import stored_strategy, stored_topic

    stored = stored_strategy(connection)
    name = settings.strategy or stored or DEFAULT_STRATEGY
    strategy = parts.make_strategy(replace(settings, topic=settings.topic or stored_topic(connection)), name)
    if strategy.learns and name == stored:
        take_up(strategy, read_state(connection), read_lessons(connection), lambda _, ranks: deque(ranks, maxlen=0))
    is_blocked = BlockedHosts(connection).covers(url.host)
    refused = "forgotten" if is_blocked else text_rule(settings, date_of(parts.system_clock().now()))(url)
    page, parent = found.page, found.parent
    if page is None:
        return name, {}, refused
    relevance = Relevance.HIGH if parent is None else Relevance(parent.relevance or 0)
    reasons = strategy.explain(Waiting(page.id, url, page.anchor, page.depth, relevance))
    return name, reasons, refused
