"""Open a database of a server: make or upgrade our tables, or refuse it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from geocrawl.errors import DatabaseFault
from geocrawl.store.database.migrations import REVISIONS, migrate_tables
from geocrawl.store.database.postgres.connection import SCHEMA, WRITERS, PostgresConnection
from geocrawl.store.database.postgres.faults import fault
from geocrawl.urls.database import ServerDatabase

OLDEST_SERVER = 15
"""The first major version of PostgreSQL that is supported."""
_MAKERS = 7_160_452
"""The advisory lock of a process that makes or upgrades the tables."""


def is_there(server: ServerDatabase) -> bool:
    """Return whether a database has our tables. Raises DatabaseFault when it cannot be used."""
    with _connected(server, reads_only=True) as connection:
        found = connection.version() is not None
    connection.close()
    return found


def open_database(server: ServerDatabase, *, create: bool) -> PostgresConnection:
    """Return a connection, the tables made and brought up to date. Raises DatabaseFault as `Database.open` does."""
    with _connected(server) as connection:
        if connection.version() != REVISIONS[-1]:
            _make_current(connection, create=create)
    return connection


def join_database(server: ServerDatabase) -> PostgresConnection:
    """Return a connection to a database as it is. Raises DatabaseFault as `Database.join` does."""
    with _connected(server) as connection:
        version = connection.version()
        if version != REVISIONS[-1]:
            raise DatabaseFault(f"{server}: has the schema {version}, this program knows {REVISIONS[-1]}")
    return connection


def reading_connection(server: ServerDatabase) -> PostgresConnection:
    """Return a connection that writes nothing. Raises DatabaseFault as `database.reading_connection` does."""
    with _connected(server, reads_only=True) as connection:
        version = connection.version()
        if version is not None and version != REVISIONS[-1]:
            raise DatabaseFault(
                f"{server}: was written by an older geocrawl (schema {version}, this one knows {REVISIONS[-1]}); the "
                "next command that writes to it (`geocrawl seeds add`, `crawl` …) brings it up to date"
            )
    return connection


@contextmanager
def _connected(server: ServerDatabase, *, reads_only: bool = False) -> Iterator[PostgresConnection]:
    """Yield a connection to a server that can be used; it is closed when the block raises."""
    connection = PostgresConnection(server, reads_only=reads_only)
    try:
        version = int(connection.execute("SHOW server_version_num").fetchone()[0]) // 10_000
        if version < OLDEST_SERVER:
            raise DatabaseFault(f"{server}: is PostgreSQL {version}; geocrawl needs {OLDEST_SERVER} or later")
        encoding = connection.execute("SHOW server_encoding").fetchone()[0]
        if encoding != "UTF8":
            raise DatabaseFault(f"{server}: has the encoding {encoding}; make it with `createdb -E UTF8 -T template0`")
        yield connection
    except BaseException:
        connection.close()
        raise


def _make_current(connection: PostgresConnection, *, create: bool) -> None:
    """Make the tables or upgrade them; of processes that start together one does it, and the others wait."""
    connection.command(f"SET lock_timeout = 0; SELECT pg_advisory_lock({_MAKERS})")
    try:
        version = connection.version()
        if version is None:
            if not create:
                raise DatabaseFault(
                    f"{connection.server}: has no tables of geocrawl; `geocrawl crawl URL` makes them, --db names "
                    "another database"
                )
            _make_tables(connection)
        elif version != REVISIONS[-1]:
            _upgrade(connection.server)
    finally:
        if not connection.in_transaction:
            connection.command(f"SELECT pg_advisory_unlock({_MAKERS})")
            connection.wait_for_lock(5_000)


def _make_tables(connection: PostgresConnection) -> None:
    from geocrawl.store.database.postgres.layout import layout  # imports the schema: 0.3 s

    connection.command("BEGIN")
    try:
        connection.command(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.command(layout())
        connection.execute("INSERT INTO alembic_version (version_num) VALUES (?)", (REVISIONS[-1],))
        connection.command("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.command("ROLLBACK")
        raise


def _upgrade(server: ServerDatabase) -> None:
    """Run the migrations that are missing, in one transaction that waits for its turn to write.

    Raises DatabaseFault when that fails."""
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import DBAPIError

    options = f"-c search_path={SCHEMA} -c lock_timeout=0"
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(server.url, options=options))
    turn = f"SELECT pg_advisory_xact_lock({WRITERS})"
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(turn))
    try:
        migrate_tables(engine)
    except DBAPIError as error:
        if isinstance(error.orig, psycopg.Error):
            raise fault(server, error.orig) from None
        raise
