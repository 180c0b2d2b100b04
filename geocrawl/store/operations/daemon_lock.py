"""Who runs on this database: the daemon's lease, what people ask of it, and its figures by day.

One daemon a database. The holder's row in `meta` carries machine, process and a heartbeat; a dead holder's is taken
over: at once when its process is gone from this machine, else when the heartbeat is old.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from geocrawl.errors import EnvironmentFault
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.owner import Owner, this_process
from geocrawl.utc import moment

BEAT_S = 5.0
"""Between two signs of life."""
STALE_S = 60.0
"""A holder on another machine that was silent for so long is taken for dead."""
_LEASE, _PAUSED, _RELOAD = "daemon:lease", "daemon:paused", "daemon:reload"


@dataclass(frozen=True, slots=True)
class Holder:
    """The daemon that holds a database."""

    machine: str
    pid: int
    since: float
    beat: float
    started_ticks: int
    """Kernel ticks from boot to the start of the process: tells it from another one with the same number later."""
    state: str = ""
    """What it does, a line for a person."""
    boot: str = ""
    namespace: str = ""
    """As in `Owner`; '' in the rows of former versions."""

    @property
    def owner(self) -> Owner:
        """The process of the daemon."""
        return Owner(self.machine, self.pid, self.started_ticks, self.boot, self.namespace)

    def is_this_process(self) -> bool:
        """Return whether the daemon is this process, which could not give the lock back."""
        here = this_process()
        return (self.machine, self.pid, self.namespace or here.namespace) == (here.machine, here.pid, here.namespace)

    def is_dead(self, now: float) -> bool:
        """Return whether the daemon ended without giving the lock back: by its process, or by its silence where that
        cannot be asked for (on another machine, in another container)."""
        running = self.owner.is_running(this_process())
        return not -STALE_S < now - self.beat < STALE_S if running is None else not running


class Keeper:
    """The lease of one daemon, and the other words that go through the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._mine: Holder | None = None

    def take(self, now: float) -> None:
        """Become the holder. Raises EnvironmentFault, naming the other one, when it is alive."""
        self._demand_free(now)  # before the lock is waited for: somebody else may hold that for long
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
            f"since {moment(other.since)} UTC; `geocrawl status` tells more"
        )

    def beat(self, now: float, state: str) -> bool:
        """Give a sign of life; False when somebody else holds the database now, and we must end."""
        if self._mine is None:
            return False
        with self._database.transaction:
            held = read_holder(self._connection)
            if held is None or (held.machine, held.pid, held.since) != (
                self._mine.machine,
                self._mine.pid,
                self._mine.since,
            ):
                return False
            self._mine = replace(self._mine, beat=now, state=state)
            self._write(self._mine)
        return True

    def give_back(self) -> None:
        """End being the holder."""
        mine, self._mine = self._mine, None
        if mine is None:
            return
        with self._database.transaction:
            held = read_holder(self._connection)
            if held is not None and (held.machine, held.pid) == (mine.machine, mine.pid):
                self._connection.execute("DELETE FROM meta WHERE name = ?", (_LEASE,))

    def paused(self) -> bool:
        """Whether a person wants the daemon to rest."""
        return is_paused(self._connection)

    def reloads(self) -> int:
        """How often a reload was asked for so far."""
        return int(_meta(self._connection, _RELOAD) or 0)

    def count(self, day: str, figures: Mapping[str, int]) -> None:
        """Add to the figures of a day."""
        with self._database.transaction:
            self._connection.executemany(
                "INSERT INTO daily (day, name, value) VALUES (?, ?, ?) "
                "ON CONFLICT (day, name) DO UPDATE SET value = value + excluded.value",
                [(day, name, value) for name, value in figures.items() if value],
            )

    def _write(self, holder: Holder) -> None:
        self._database.write_meta(_LEASE, json.dumps(asdict(holder)))


# --------------------------------------------------------------------------- from outside


def read_holder(connection: Connection) -> Holder | None:
    """The daemon whose lease stands in the database, alive or not."""
    text = _meta(connection, _LEASE)
    return Holder(**json.loads(text)) if text else None


def alive_holder(connection: Connection, now: float) -> Holder | None:
    """The daemon that runs on the database; None when none does."""
    holder = read_holder(connection)
    return None if holder is None or holder.is_dead(now) else holder


def is_paused(connection: Connection) -> bool:
    """Whether a person wants the daemon to rest."""
    return _meta(connection, _PAUSED) == "1"


def ask_to_pause(database: Database, *, pause: bool) -> None:
    """Let the daemon rest, or go on; it heeds that at its next heartbeat, also after a restart."""
    database.set_meta(_PAUSED, "1" if pause else "")


def ask_to_reload(database: Database) -> None:
    """Let the daemon read its configuration anew."""
    with database.transaction:
        database.write_meta(_RELOAD, str(int(_meta(database.connection, _RELOAD) or 0) + 1))


def figures_of(connection: Connection, day: str) -> dict[str, int]:
    """pages, probes, valid, failures … of a day (YYYY-MM-DD)."""
    return dict(connection.execute("SELECT name, value FROM daily WHERE day = ?", (day,)).fetchall())


def _meta(connection: Connection, name: str) -> str:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return bytes(row[0]).decode() if row else ""
