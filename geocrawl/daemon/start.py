"""Starting the daemon: the database opened, held and looked over, then the parts put together.

A database that is locked, or has no room, when the daemon starts is waited for as it is later. systemd is told so: with
`Type=notify` the start lasts until `READY=1`, and would be given up after TimeoutStartSec (15 min) were it not extended
before each pause (EXTEND_TIMEOUT_USEC, sd_notify(3)). Another daemon and damage end it at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.app.claim import claim
from geocrawl.app.retry_policy import RetryPolicy
from geocrawl.app.session import Session
from geocrawl.daemon.budget import Budget, budget_of, without_limits
from geocrawl.daemon.jobs import Work
from geocrawl.daemon.notify import Notifier
from geocrawl.daemon.service import Daemon
from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.store.engine.integrity import quick_check
from geocrawl.store.operations.daemon_lock import Keeper
from geocrawl.urls import read_url

if TYPE_CHECKING:
    from geocrawl.model import Url
    from geocrawl.ports import Observer
    from geocrawl.settings import Settings
    from geocrawl.store.engine.database import Database

Log = Callable[..., object]
Made = tuple[Session, Work, Budget]

_CHECK_S = 20.0
"""Longest look at the whole file: damage is better found at the start than in the middle of a night."""
_ATTEMPT_S = 60.0
"""More than one try to start takes: 5 s for a lock, the look at the file."""


@dataclass(frozen=True, slots=True)
class _Start:
    """What a start has come to."""

    database: Database
    keeper: Keeper
    made: Made


def run_daemon(settings: Settings, path: Path, *, reread: Callable[[], Settings], observer: Observer, log: Log) -> str:
    """Run the daemon on a database until it is stopped; returns why it ended. `reread` gives the settings anew.

    Raises EnvironmentFault when another daemon holds the database, DatabaseFault when that is damaged or cannot be
    opened, UsageError for settings that cannot be meant.
    """
    clock, notifier = wiring.system_clock(), Notifier()

    def before_pause(fault: PassingFault, pause_s: float) -> None:
        notifier.starting(f"waiting for the database: {fault}", pause_s + _ATTEMPT_S)

    def prepare(database: Database) -> _Start:
        keeper = Keeper(database)
        keeper.take(clock.now())
        try:
            if not quick_check(database.connection, path, _CHECK_S):
                log("the database is large: only a part of it was looked over; `geocrawl backup FILE` checks all")
            return _Start(database, keeper, _parts(settings, database, log))
        except BaseException:
            _give_back(keeper)
            raise

    with RetryPolicy(path, clock, log, before_pause=before_pause).opened(prepare) as start:
        session, work, budget = start.made
        try:
            observer.started(session.frontier.stats, ())
            running = Daemon(
                session,
                work,
                start.keeper,
                database=start.database,
                clock=clock,
                budget=budget,
                notifier=notifier,
                observer=observer,
                log=log,
                reload=lambda: _parts(reread(), start.database, log),
            )
            return asyncio.run(running.run())
        finally:
            _give_back(start.keeper)


def _parts(settings: Settings, database: Database, log: Log) -> Made:
    """What the settings decide of a daemon."""
    clock = wiring.system_clock()
    session = wiring.make_session(without_limits(settings), database, clock)
    for note in claim(session):
        log(note)
    queued = session.add_seeds(_stored_seeds(database), again=False)
    log("ready", database=str(database.path), strategy=session.strategy.name, start_pages_queued=queued)
    if session.frontier.ready_at() is None:
        log("nothing waits: give the daemon pages to start from with `geocrawl seeds add URL`")
    return session, Work(settings, database, session.frontier, clock, log), budget_of(settings)


def _stored_seeds(database: Database) -> list[Url]:
    addresses = database.connection.execute("SELECT address FROM seed ORDER BY added_at, identity").fetchall()
    return [url for url in (read_url(address) for (address,) in addresses) if url is not None]


def _give_back(keeper: Keeper) -> None:
    with suppress(DatabaseFault):  # what went wrong before is what a person is to read
        keeper.give_back()
