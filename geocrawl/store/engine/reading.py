"""Opening the database to read it, for people and other programs.

The file is opened read-only and nothing is created; plain statements, so that a command starts in a moment. Answers are
frozen values: no row leaves this room.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geocrawl.errors import DatabaseFault
from geocrawl.store.engine.database import read_version
from geocrawl.store.engine.faults import BUSY_S, fault, is_there


@contextmanager
def open_readonly(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can write nothing, closed at the end; SQLite's errors inside become DatabaseFault.

    DatabaseFault when the file is missing, not ours, or of a schema that this program does not know.
    """
    if not is_there(path):
        raise DatabaseFault(f"{path}: no such database; `geocrawl crawl URL` makes one, --db names another")
    connection = None
    try:
        connection = _connect(path)
        if read_version(connection, path) is None:
            raise DatabaseFault(f"{path}: is empty; `geocrawl crawl URL` fills it, --db names another")
        yield connection
    except sqlite3.Error as error:
        raise fault(path, error) from error
    finally:
        if connection is not None:
            connection.close()


def _connect(path: Path) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        # On a read-only medium WAL's side files cannot be made; nobody writes there, so none are needed.
        connection = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, isolation_level=None)
    return connection


def stored_strategy(connection: sqlite3.Connection) -> str:
    """Name of the strategy that ranked what waits; '' before the first crawl."""
    return stored_fact(connection, "strategy")


def stored_topic(connection: sqlite3.Connection) -> str:
    """Name of the topic that was chosen for it; '' for none."""
    return stored_fact(connection, "topic")


def stored_fact(connection: sqlite3.Connection, name: str) -> str:
    """A fact about the whole database (table `meta`); '' when it is not known."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return bytes(row[0]).decode() if row else ""


def dicts(connection: sqlite3.Connection, statement: str, *values: object) -> Iterator[dict[str, Any]]:
    """The rows of a statement, each as column name → value."""
    cursor = connection.execute(statement, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield dict(zip(names, row, strict=True))
