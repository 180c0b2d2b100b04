"""Lock a database for one daemon, pass it people's requests (pause, reload), and count what it does by day.

The lock is a row of `meta` with machine, process and a heartbeat. The lock of a dead daemon is replaced: at once when
its process is gone from this machine, else when its heartbeat is old.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from geocrawl.errors import EnvironmentFault
from geocrawl.store.database.constructs import upsert
from geocrawl.store.database.database import Database, stored_fact
from geocrawl.store.database.owner import this_process
from geocrawl.store.database.processes import (
    DAEMON_JOBS,
    DAEMON_LOCK,
    DAEMON_PAUSED,
    Holder,
    JobRun,
    counts_of_day,
    is_paused,
    read_holder,
    read_jobs,
)
from geocrawl.store.database.schema.tables import DAILY
from geocrawl.wording import moment

BEAT_S = 5.0
"""Seconds between two heartbeats."""
_RELOAD = "daemon:reload"
_COUNT = upsert(DAILY, "day", "name", add=["value"])


class DaemonLock:
    """The lock of one daemon on one database, with the requests and the counts that go through the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._mine: Holder | None = None

    def acquire(self, now: float) -> None:
        """Acquire the lock. Raises EnvironmentFault, which names the other daemon, when another one runs."""
        self._demand_free(now)  # before waiting for SQLite's write lock, which the other daemon may have for long
        with self._database.transaction:
            self._demand_free(now)
            me = this_process()
            self._mine = Holder(me.machine, me.pid, now, now, me.started, boot=me.boot, namespace=me.namespace)
            self._write(self._mine)

    def _demand_free(self, now: float) -> None:
        other = read_holder(self._connection)
        if other is None or other.is_dead(now) or other.is_this_process():
            return
        raise EnvironmentFault(
            f"{self._database.path}: a daemon runs on it already: {other.owner}, "
            f"since {moment(other.since)} UTC; `geocrawl status` shows more"
        )

    def beat(self, now: float, state: str, jobs: Sequence[JobRun] = ()) -> bool:
        """Write a heartbeat and how the jobs stand. Returns False when another daemon has the lock now, so that this
        one must end."""
        if self._mine is None:
            return False
        with self._database.transaction:
            holder = read_holder(self._connection)
            if holder is None or (holder.machine, holder.pid, holder.since) != (
                self._mine.machine,
                self._mine.pid,
                self._mine.since,
            ):
                return False
            self._mine = replace(self._mine, beat=now, state=state)
            self._write(self._mine)
            self._database.write_meta(DAEMON_JOBS, json.dumps([asdict(job) for job in jobs]))
        return True

    def release(self) -> None:
        """Release the lock, unless another daemon has it now."""
        mine, self._mine = self._mine, None
        if mine is None:
            return
        with self._database.transaction:
            holder = read_holder(self._connection)
            if holder is not None and (holder.machine, holder.pid) == (mine.machine, mine.pid):
                self._database.delete_meta(DAEMON_LOCK)

    def paused(self) -> bool:
        """Return whether a person paused the daemon."""
        return is_paused(self._connection)

    def jobs(self) -> tuple[JobRun, ...]:
        """Return the jobs as the last heartbeat of this or a former daemon wrote them."""
        return read_jobs(self._connection)

    def reloads(self) -> int:
        """Return how many reloads people have requested so far."""
        return int(stored_fact(self._connection, _RELOAD) or 0)

    def count(self, day: str, counts: Mapping[str, int]) -> None:
        """Add to the counts of a day (YYYY-MM-DD)."""
        with self._database.transaction:
            rows = [{"day": day, "name": name, "value": value} for name, value in counts.items() if value]
            self._connection.executemany(_COUNT, rows)

    def counts(self, day: str) -> dict[str, int]:
        """Return the counts of a day (YYYY-MM-DD) by name."""
        return counts_of_day(self._connection, day)

    def _write(self, holder: Holder) -> None:
        self._database.write_meta(DAEMON_LOCK, json.dumps(asdict(holder)))


# --------------------------------------------------------------------------- from outside


def ask_to_pause(database: Database, *, pause: bool) -> None:
    """Pause the daemon or let it continue, from its next heartbeat on and also after a restart."""
    database.set_meta(DAEMON_PAUSED, "1" if pause else "")


def ask_to_reload(database: Database) -> None:
    """Make the daemon read its configuration again at its next heartbeat."""
    with database.transaction:
        database.write_meta(_RELOAD, str(int(stored_fact(database.connection, _RELOAD) or 0) + 1))
