"""Start the daemon: open its database, lock it against other daemons, check it, and assemble the daemon's parts.

A database that is locked or whose disk is full delays the start, as it delays the daemon later. With `Type=notify`,
systemd waits for `READY=1` and ends the start after TimeoutStartSec (15 min), unless the daemon extends that time
before each pause (EXTEND_TIMEOUT_USEC, sd_notify(3)). Another daemon on the database, or a damaged database, ends the
start at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from geocrawl.app import wiring
from geocrawl.app.crawl import claim
from geocrawl.app.fetchers import demand_browser
from geocrawl.app.findings import demand_usable
from geocrawl.app.retry_policy import RetryPolicy
from geocrawl.config import kept_at_reload, without_effect
from geocrawl.daemon.budget import budget_of, without_limits
from geocrawl.daemon.jobs import Jobs
from geocrawl.daemon.notify import Notifier
from geocrawl.daemon.service import Configured, Daemon
from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.paced_host import RetryAfterMemory
from geocrawl.ports import Clock, Observer
from geocrawl.resources import allow_open_files, long_run
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from geocrawl.urls.database import DatabaseUrl

Log = Callable[..., object]

_CHECK_S = 20.0
"""Longest time for checking the file, seconds: damage is better found at the start than in the middle of a night."""
_ATTEMPT_S = 60.0
"""Seconds, more than one attempt to start needs: 5 s of waiting for a lock, and the check of the file."""


@dataclass(frozen=True, slots=True)
class _ReadyDaemon:
    """A database that is locked and checked, and the parts that the settings decide."""

    store: Store
    lock: DaemonLock
    configured: Configured


def run_daemon(
    settings: Settings, path: DatabaseUrl, *, reread: Callable[[], Settings], observer: Observer, log: Log
) -> str:
    """Run the daemon on a database until it is stopped. Returns why it ended.

    `reread` reads the settings again, for a reload. Raises EnvironmentFault when another daemon runs on the database,
    DatabaseFault when the database is damaged or cannot be opened, UsageError for invalid settings.
    """
    clock, notifier = SystemClock(), Notifier()

    def before_pause(fault: PassingFault, pause_s: float) -> None:
        notifier.starting(f"waiting for the database: {fault}", pause_s + _ATTEMPT_S)

    def prepare(store: Store) -> _ReadyDaemon:
        return _prepare(settings, store, clock, log)

    with RetryPolicy(path, clock, log, before_pause=before_pause).opened(prepare) as prepared:
        session, jobs, budget = prepared.configured
        store, lock, rests = prepared.store, prepared.lock, session.rests
        try:
            daemon = Daemon(
                session,
                jobs,
                lock,
                store=store,
                clock=clock,
                budget=budget,
                notifier=notifier,
                observer=observer,
                log=log,
                reload=lambda: _configure(reread(), store, log, running=settings, rests=rests),
            )
            del prepared, session, jobs  # after a reload nothing is left of them
            observer.started(daemon.stats, ())
            if few := allow_open_files(settings.workers):
                log(few)
            with long_run():
                return asyncio.run(daemon.run())
        finally:
            _release(lock)


def _prepare(settings: Settings, store: Store, clock: Clock, log: Log) -> _ReadyDaemon:
    """Lock the database, check it, and configure the daemon. Releases the lock when one of these fails."""
    lock = DaemonLock(store.database)
    lock.acquire(clock.now())
    try:
        if not store.connection.check(_CHECK_S):
            log("the database is large: only a part of it was checked; `geocrawl backup FILE` checks all")
        return _ReadyDaemon(store, lock, _configure(settings, store, log))
    except BaseException:
        _release(lock)
        raise


def _configure(
    settings: Settings, store: Store, log: Log, running: Settings | None = None, rests: RetryAfterMemory | None = None
) -> Configured:
    """Read and check all settings; then claim the database, queue its start pages, and return the parts of the daemon
    that the settings decide. `running`: the settings with which the daemon was started, `rests`: what asked to be left
    alone since; None at its start.

    Raises UsageError or EnvironmentFault, before anything is changed, for settings that cannot be used.
    """
    demand_usable(settings)
    clock = store.clock
    session = wiring.make_session(without_limits(settings), store, clock)
    if rests is not None:
        session = replace(session, rests=rests)
    demand_browser(session)
    budget = budget_of(settings, session.strategy.name)
    jobs = Jobs(settings, store, session.frontier, clock, log)
    if kept := kept_at_reload(running or settings, settings):
        log("settings that change when the daemon is started again", settings=", ".join(kept))
    without = without_effect(settings, "daemon")
    if unused := [name for name in without if name != "max_pages" or not budget.pages_per_run]:
        log("settings without effect in the daemon", settings=", ".join(unused))
    for note in claim(session):
        log(note)
    jobs.check_clock()
    queued = session.add_stored_seeds()
    log("ready", database=str(store.path), strategy=session.strategy.name, start_pages_queued=queued)
    if session.frontier.ready_at() is None:
        log("the queue is empty: give the daemon pages to start from with `geocrawl seeds add URL`")
    return session, jobs, budget


def _release(lock: DaemonLock) -> None:
    with suppress(DatabaseFault):  # the error that ended the daemon is the one to show
        lock.release()
