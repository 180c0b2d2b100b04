"""Lock a database for one daemon, pass it people's requests (pause, reload), and count what it does by day.

The lock is a row of `meta` that names a process. It lasts for as long as that lives (`store/database/life.py`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from geocrawl.errors import EnvironmentFault
from geocrawl.store.database.constructs import upsert
from geocrawl.store.database.database import Database, stored_fact
from geocrawl.store.database.life import STOP, Owner, is_alive
from geocrawl.store.database.processes import (
    DAEMON_JOBS,
    DAEMON_LOCK,
    DAEMON_PAUSED,
    Holder,
    JobRun,
    WorkingProcess,
    counts_of_day,
    is_paused,
    read_holder,
    read_jobs,
)
from geocrawl.store.database.schema.tables import DAILY
from geocrawl.wording import moment

BEAT_S = 5.0
"""Seconds between two notes of what the daemon does."""
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
        self._database.life.begin()
        with self._database.transaction:
            self._demand_free(now)
            me = Owner.read(self._database.life.owner)
            self._mine = Holder(me.machine, me.pid, me.token, now, now)
            self._write(self._mine)

    def _demand_free(self, now: float) -> None:
        other = read_holder(self._connection)
        if other is None or other.process == self._database.life.owner:
            return
        if not is_alive(self._connection, other.process, now):
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
            if holder is None or holder.process != self._mine.process:
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
            if holder is not None and holder.process == mine.process:
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


_LOOK_S = 0.1


def end_process(database: Database, process: WorkingProcess, wait_s: float) -> bool:
    """Ask a process on the database to end, wherever it runs, which it reads with its next beat; return whether it has
    ended within `wait_s` seconds."""
    owner, connection = process.owner.text, database.connection
    database.set_meta(STOP + owner, b"")
    ends_at = time.monotonic() + wait_s
    while is_alive(connection, owner, connection.now()):
        if time.monotonic() >= ends_at:
            return False
        time.sleep(_LOOK_S)
    return True
