"""Harvest a catalogue: read its pages of records and nothing else, and probe the services that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.app.harvest_start import HarvestStart, find_start
from geocrawl.app.run import NO_LIMIT, run_session
from geocrawl.app.session import Environment, Session, SessionKind, with_stored_depth
from geocrawl.crawler.report import HarvestReport
from geocrawl.crawler.scope import records_bound
from geocrawl.model import Url
from geocrawl.urls.database import Place
from geocrawl.wording import counted, day_of

if TYPE_CHECKING:
    from geocrawl.crawler.summary import RunSummary
    from geocrawl.ports import Observer
    from geocrawl.settings import Settings
    from geocrawl.store import Store


def run_harvest(
    settings: Settings,
    path: Place,
    url: Url,
    *,
    since: str = "",
    observer: Observer,
    environment: Environment | None = None,
) -> HarvestReport:
    """Read the pages of records of the catalogue at `url`, and probe the services that they name.

    A harvest that was interrupted in this database is continued. `since`: read only records changed on this day
    (YYYY-MM-DD) or later, "last" for the day of the last complete harvest, '' for all. `environment`: replaces the
    machine's clock and the real web. Raises UsageError for invalid settings, DatabaseFault for an unusable database.
    """
    clock = environment.clock if environment else wiring.system_clock()
    retrying = wiring.retry_policy(settings, path, clock, observer)

    def begin(store: Store) -> _Begun:
        day = store.facts.harvested_on(url.identity) if since == "last" else since
        start = find_start(url, wiring.make_detector().of_url(url), since=day)
        kind = SessionKind(records_only=True, reads_found_catalogues=not start.is_counted)
        stored = with_stored_depth(settings, store)
        session = wiring.make_session(stored, store, clock, kind, environment=environment)
        return _Begun(session, start, day, _queue(session, url, start))

    with retrying.opened(begin) as begun:
        store, today = begun.session.store, day_of(clock.now())
        observer.started(begun.session.frontier.stats, _notes(begun))
        run = retrying.call(lambda: store.start_run("harvest", settings))
        summary = run_session(begun.session, observer, retrying, max_pages=settings.max_pages or NO_LIMIT, run=run)
        if summary.stopped == "done" and summary.records:
            retrying.call(lambda: store.facts.write_harvested(url.identity, today))
        return _report(begun, summary)


@dataclass(frozen=True, slots=True)
class _Begun:
    """A harvest that is ready to run."""

    session: Session
    start: HarvestStart
    day: str
    """The day since which records are wanted; '' for all."""
    waiting: int
    """Pages of records in the queue."""


def _queue(session: Session, url: Url, start: HarvestStart) -> int:
    """Queue the catalogue's first pages of records and probe the catalogue itself. Returns how many pages wait."""
    bound = records_bound(session.settings)
    waiting = session.frontier.add_records(start.pages, within=lambda page: bound(page) and start.holds(page))
    if start.kind is not None:
        given = session.detector.candidate_at(url, start.kind)
        session.frontier.add_candidates([given], again=session.kind.reads_found_catalogues)
    return waiting


def _report(begun: _Begun, summary: RunSummary) -> HarvestReport:
    session, since = begun.session, begun.day if begun.start.since else ""
    return HarvestReport(summary, session.store.path, session.catalog.counts().get("valid", 0), since=since)


def _notes(begun: _Begun) -> list[str]:
    notes = []
    if begun.waiting > len(begun.start.pages):
        notes.append(f"Continuing with {counted(begun.waiting, 'queued page')} of records.")
    if begun.day and not begun.start.since:
        notes.append("This kind of catalogue cannot filter by date of change: all of it is read.")
    return notes
