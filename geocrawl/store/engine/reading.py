"""Open the database to read it, for commands that show what is stored.

The file is opened read-only and nothing is created.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geocrawl.errors import DatabaseFault
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import read_version
from geocrawl.store.engine.faults import is_there


@contextmanager
def open_readonly(path: Path) -> Iterator[Connection]:
    """Yield a read-only connection, which is closed at the end.

    Raises DatabaseFault when the file is missing, empty, no database of geocrawl, or written by a newer geocrawl.
    """
    if not is_there(path):
        raise DatabaseFault(f"{path}: no such database; `geocrawl crawl URL` makes one, --db names another")
    connection = _connect(path)
    try:
        if read_version(connection, path) is None:
            raise DatabaseFault(f"{path}: is empty; `geocrawl crawl URL` fills it, --db names another")
        yield connection
    finally:
        connection.close()


def _connect(path: Path) -> Connection:
    connection = Connection.open(path, "ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except DatabaseFault:
        connection.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        # On a read-only medium WAL's side files cannot be made; nobody writes there, so none are needed.
        connection = Connection.open(path, "ro&immutable=1")
    return connection


def stored_strategy(connection: Connection) -> str:
    """Return the name of the strategy that ranked the queue; '' before the first crawl."""
    return stored_fact(connection, "strategy")


def stored_topic(connection: Connection) -> str:
    """Return the name of the topic that was chosen for that strategy; '' for none."""
    return stored_fact(connection, "topic")


def stored_fact(connection: Connection, name: str) -> str:
    """Return a fact about the whole database (table `meta`) as text; '' when it is not known."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return bytes(row[0]).decode() if row else ""
