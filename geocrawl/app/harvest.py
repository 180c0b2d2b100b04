"""Harvest a catalogue: read its pages of records, nothing else, and probe the services that they name."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.app.harvest_start import Beginning, beginning
from geocrawl.app.session import Environment, Session, as_stored
from geocrawl.crawler.report import HarvestReport
from geocrawl.crawler.scope import records_bound
from geocrawl.model import Url
from geocrawl.utc import day_of

if TYPE_CHECKING:
    from geocrawl.ports import Observer
    from geocrawl.settings import Settings
    from geocrawl.store.engine.database import Database


def run_harvest(
    settings: Settings,
    path: Path,
    url: Url,
    *,
    since: str = "",
    observer: Observer,
    within: Environment | None = None,
) -> HarvestReport:
    """Read the pages of records of the catalogue at `url`, nothing else, and probe what they name.

    `since`: a day (YYYY-MM-DD) from which on records count, "last" for that of the last whole harvest, '' for all. What
    was interrupted in this database is gone on with. `within` another web, if given.
    """
    clock = within.clock if within else wiring.system_clock()
    retrying, name = wiring.retry_policy(settings, path, clock, observer), f"harvest:{url.identity}"

    def begin(database: Database) -> tuple[Database, Session, str, Beginning, int]:
        stored = as_stored(settings, database)
        day = (database.meta(name) or "") if since == "last" else since
        first = beginning(url, wiring.make_detector().of_url(url), since=day)
        into = not first.counted
        session = Session(
            stored, database, clock, learning=False, within=within, records_only=True, into_catalogues=into
        )
        bound = records_bound(stored)
        waiting = session.frontier.add_records(first.pages, within=lambda page: bound(page) and first.holds(page))
        if first.kind is not None:
            session.frontier.add_candidates([session.detector.given(url, first.kind)], again=into)
        return database, session, day, first, waiting

    with retrying.opened(begin) as (database, session, day, first, waiting):
        observer.started(session.frontier.stats, _harvest_notes(waiting, first, day))
        run = retrying.call(lambda: database.start_run("harvest", settings))
        today = day_of(clock.now())
        summary = asyncio.run(session.run(observer, retrying, max_pages=settings.max_pages))
        retrying.call(
            lambda: database.end_run(run, pages=summary.pages, services=summary.valid, stopped=summary.stopped)
        )
        if summary.stopped == "done" and summary.pages:
            retrying.call(lambda: database.set_meta(name, today))
        services = session.catalog.counts().get("valid", 0)
        return HarvestReport(summary, path, services, since=day if first.since else "")


def _harvest_notes(waiting: int, first: Beginning, day: str) -> list[str]:
    notes = [f"Going on with {waiting:,} pages of records that wait."] if waiting > len(first.pages) else []
    if day and not first.since:
        notes.append("This kind of catalogue cannot be asked for what was changed since a day: all of it is read.")
    return notes
