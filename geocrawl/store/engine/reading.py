"""Open the database to read it, for commands that show what is stored; nothing is created."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from geocrawl.errors import DatabaseFault
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import reading_connection
from geocrawl.urls.database import Place


@contextmanager
def open_readonly(place: Place) -> Iterator[Connection]:
    """Yield a read-only connection, which is closed at the end.

    Raises DatabaseFault when the database is missing, empty, not of geocrawl, or written by a newer geocrawl.
    """
    connection = reading_connection(place)
    try:
        if connection.version() is None:
            raise DatabaseFault(f"{place}: is empty; `geocrawl crawl URL` fills it, --db names another")
        yield connection
    finally:
        connection.close()


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
