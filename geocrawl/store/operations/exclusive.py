"""Keep everybody else out of a database while its file is replaced or removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from geocrawl.errors import EnvironmentFault, PassingFault
from geocrawl.files import SIDE_FILES
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.owner import Owner, is_dead, this_process
from geocrawl.store.engine.sqlite.connection import SqliteConnection
from geocrawl.store.engine.sqlite.faults import holder
from geocrawl.store.engine.sqlite.integrity import has_facts
from geocrawl.store.operations.daemon_lock import alive_holder
from geocrawl.store.queries.runs import earlier_runs

_BUSY_S = 1.0
"""How long to wait for others to close the database."""
_ANY_RUN = 1 << 62
"""A number that comes after those of all runs."""
_HOLDERS = "SELECT DISTINCT lease_owner FROM host WHERE lease_until > ? AND lease_owner IS NOT NULL"


@contextmanager
def alone(place: Path, now: float) -> Iterator[Connection | None]:
    """Keep all others out of the database while its file is replaced or removed; yield the connection that locks it,
    None when there is no database.

    What its write-ahead log holds is written into the file first, and the log is removed. A file too damaged for that
    stays as it is, and is not locked. Raises EnvironmentFault, naming who, while anybody has it open.
    """
    if not place.exists():
        yield None
        return
    with closing(SqliteConnection.open(place, "rw", busy_s=_BUSY_S)) as connection:
        if has_facts(connection):
            _refuse_users(connection, place, now)
            _lock(connection, place)
        yield connection


def _refuse_users(connection: Connection, place: Path, now: float) -> None:
    """Raise EnvironmentFault while a daemon, a crawl or a process that holds a lease runs on the database."""
    here = this_process()
    daemon = alive_holder(connection, now)
    if daemon is not None:
        raise EnvironmentFault(
            f"{place}: a daemon runs on it (process {daemon.pid} on {daemon.machine}); stop it first"
        )
    for run in earlier_runs(connection, _ANY_RUN, here, now):
        raise EnvironmentFault(f"{place}: {run} crawls on it; stop it first")
    for (text,) in connection.execute(_HOLDERS, (now,)).fetchall():
        if not is_dead(text, here):
            raise EnvironmentFault(f"{place}: {Owner.read(text)} works on it; stop it first")


def _lock(connection: Connection, place: Path) -> None:
    """Lock the whole file; SQLite leaves the mode with a write-ahead log only when nobody else has the file open."""
    try:
        mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
        if mode == "delete":
            connection.execute("BEGIN EXCLUSIVE")
            return
    except PassingFault as fault:
        if "locked" not in str(fault):
            raise
    raise EnvironmentFault(f"{place}: {holder(place)} has it open; stop it first")


def with_sides(path: Path) -> list[Path]:
    """Return the path of a database and those of its side files."""
    return [path.with_name(path.name + suffix) for suffix in ("", *SIDE_FILES)]
