"""Lock a database for one daemon, pass it people's requests (pause, reload), and count what it does by day.

The lock is a row of `meta` with machine, process and a heartbeat. The lock of a dead daemon is replaced: at once when
its process is gone from this machine, else when its heartbeat is old.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from geocrawl.errors import EnvironmentFault
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.owner import Owner, this_process
from geocrawl.wording import moment

BEAT_S = 5.0
"""Seconds between two heartbeats."""
STALE_S = 60.0
"""A daemon on another machine without a heartbeat for so long counts as dead."""
_LEASE, _PAUSED, _RELOAD = "daemon:lease", "daemon:paused", "daemon:reload"


@dataclass(frozen=True, slots=True)
class Holder:
    """The daemon that has the lock of a database, as the row in `meta` describes it."""

    machine: str
    pid: int
    since: float
    beat: float
    started_ticks: int
    """Kernel ticks from boot to the start of the process: distinguish it from a later process with the same number."""
    state: str = ""
    """What the daemon does at present, as a line for a person."""
    boot: str = ""
    namespace: str = ""
    """As in `Owner`; '' in the rows of former versions."""

    @property
    def owner(self) -> Owner:
        """Return the process of the daemon."""
        return Owner(self.machine, self.pid, self.started_ticks, self.boot, self.namespace)

    def is_this_process(self) -> bool:
        """Return whether the daemon is this process, which could not release the lock before."""
        here = this_process()
        return (self.machine, self.pid, self.namespace or here.namespace) == (here.machine, here.pid, here.namespace)

    def is_dead(self, now: float) -> bool:
        """Return whether the daemon ended without releasing the lock: whether its process is gone, or, where that
        cannot be seen (on another machine, in another container), whether its heartbeat is old."""
        running = self.owner.is_running(this_process())
        return not -STALE_S < now - self.beat < STALE_S if running is None else not running


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

    def beat(self, now: float, state: str) -> bool:
        """Write a heartbeat. Returns False when another daemon has the lock now, so that this one must end."""
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
        return True

    def release(self) -> None:
        """Release the lock, unless another daemon has it now."""
        mine, self._mine = self._mine, None
        if mine is None:
            return
        with self._database.transaction:
            holder = read_holder(self._connection)
            if holder is not None and (holder.machine, holder.pid) == (mine.machine, mine.pid):
                self._connection.execute("DELETE FROM meta WHERE name = ?", (_LEASE,))

    def paused(self) -> bool:
        """Return whether a person paused the daemon."""
        return is_paused(self._connection)

    def reloads(self) -> int:
        """Return how many reloads people have requested so far."""
        return int(_meta(self._connection, _RELOAD) or 0)

    def count(self, day: str, counts: Mapping[str, int]) -> None:
        """Add to the counts of a day (YYYY-MM-DD)."""
        with self._database.transaction:
            self._connection.executemany(
                "INSERT INTO daily (day, name, value) VALUES (?, ?, ?) "
                "ON CONFLICT (day, name) DO UPDATE SET value = daily.value + excluded.value",
                [(day, name, value) for name, value in counts.items() if value],
            )

    def counts(self, day: str) -> dict[str, int]:
        """Return the counts of a day (YYYY-MM-DD) by name."""
        return counts_of_day(self._connection, day)

    def _write(self, holder: Holder) -> None:
        self._database.write_meta(_LEASE, json.dumps(asdict(holder)))


# --------------------------------------------------------------------------- from outside


def read_holder(connection: Connection) -> Holder | None:
    """Return the daemon that has the lock, alive or not; None when there is none."""
    text = _meta(connection, _LEASE)
    return Holder(**json.loads(text)) if text else None


def alive_holder(connection: Connection, now: float) -> Holder | None:
    """Return the daemon that runs on the database; None when none does."""
    holder = read_holder(connection)
    return None if holder is None or holder.is_dead(now) else holder


def is_paused(connection: Connection) -> bool:
    """Return whether a person paused the daemon."""
    return _meta(connection, _PAUSED) == "1"


def ask_to_pause(database: Database, *, pause: bool) -> None:
    """Pause the daemon or let it continue, from its next heartbeat on and also after a restart."""
    database.set_meta(_PAUSED, "1" if pause else "")


def ask_to_reload(database: Database) -> None:
    """Make the daemon read its configuration again at its next heartbeat."""
    with database.transaction:
        database.write_meta(_RELOAD, str(int(_meta(database.connection, _RELOAD) or 0) + 1))


def counts_of_day(connection: Connection, day: str) -> dict[str, int]:
    """Return the counts of a day (YYYY-MM-DD) by name: pages, probes, valid, failures …"""
    return dict(connection.execute("SELECT name, value FROM daily WHERE day = ?", (day,)).fetchall())


def _meta(connection: Connection, name: str) -> str:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return bytes(row[0]).decode() if row else ""
