"""Open a file: create, upgrade or refuse it.

SQLite in WAL mode: one process writes at a time, readers never wait. Transactions begin with the write lock (`BEGIN
IMMEDIATE`). With `synchronous=NORMAL` a killed process loses nothing that was committed; a power cut may lose the last
moments, never the database's consistency.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from geocrawl.errors import DatabaseFault
from geocrawl.files import make_folder
from geocrawl.store.database.connection import BUSY_S, Connection
from geocrawl.store.database.migrations import REVISIONS, migrate_tables
from geocrawl.store.database.sqlite.connection import LOG_BYTES, LOG_PAGES, MEMORY, SqliteConnection
from geocrawl.store.database.sqlite.faults import fault, is_there, no_room
from geocrawl.store.database.sqlite.files import make_file, open_to_group, refuse_name

__all__ = ["is_there", "join_database", "open_database", "reading_connection"]

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -65536",  # KiB: limits SQLite's memory, whatever the queue's size
    f"PRAGMA wal_autocheckpoint = {LOG_PAGES}",
    f"PRAGMA journal_size_limit = {LOG_BYTES}",
)


def open_database(path: Path, *, create: bool) -> Connection:
    """Return a connection to the file at `path` (`MEMORY`: a new database in memory), its schema brought up to date.

    Raises DatabaseFault as `Database.open` does.
    """
    if path == MEMORY:
        return _connect(path)
    if not is_there(path) and not create:
        raise DatabaseFault(_absence_of(path))
    refuse_name(path, to_write=True)
    _make_folder(path)
    make_file(path)
    return _connect(path)


def _absence_of(path: Path) -> str:
    """Return a message about a path without a database."""
    if path.is_dir():
        return f"{path}: is a folder; --db names a file in it"
    return f"{path}: no such database; `geocrawl crawl URL` makes one, --db names another"


def join_database(path: Path) -> Connection:
    """Return a connection to the file at `path` as it is. Raises DatabaseFault as `Database.join` does."""
    if not is_there(path):
        raise DatabaseFault(f"{path}: no such database")
    connection = SqliteConnection.open(path, "rw")
    try:
        version = connection.version()
        if version != REVISIONS[-1]:
            raise DatabaseFault(f"{path}: has the schema {version}, this program knows {REVISIONS[-1]}")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")
    except DatabaseFault:
        connection.close()
        raise
    return connection


def reading_connection(path: Path) -> Connection:
    """Return a connection that writes nothing. Raises DatabaseFault as `database.reading_connection` does."""
    if not is_there(path):
        raise DatabaseFault(_absence_of(path))
    open_to_group(path)  # for a reader, too, SQLite makes side files with the database's permissions
    connection = SqliteConnection.open(path, "ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except DatabaseFault:
        connection.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        # On a read-only medium WAL's side files cannot be made; nobody writes there, so none are needed.
        connection = SqliteConnection.open(path, "ro&immutable=1")
    return connection


def _make_folder(path: Path) -> None:
    try:
        make_folder(path.parent)
    except OSError as error:
        raise no_room(path, error) or DatabaseFault(f"{path.parent}: {error.strerror}; name another --db") from error


def _connect(path: Path) -> Connection:
    connection = SqliteConnection.open(path)
    try:
        version = connection.version()
        if version is None:
            _create(connection)
        elif version != REVISIONS[-1]:
            _upgrade(path)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: Connection) -> None:
    """Create the tables of an empty database.

    Two processes that start together do it once: the second finds the tables when it gets the write lock.
    """
    from geocrawl.store.database.sqlite.layout import layout  # imports the schema: 0.3 s

    connection.begin()
    try:
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in layout():
                connection.execute(statement)
            connection.execute("INSERT INTO alembic_version (version_num) VALUES (?)", (REVISIONS[-1],))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has undone it already
            connection.execute("ROLLBACK")
        raise


def _upgrade(path: Path) -> None:
    """Bring the schema up to date, in one transaction: two processes that start together do it once.

    Raises DatabaseFault when the database cannot be written.
    """
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import DBAPIError

    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(path, timeout=BUSY_S, isolation_level=None))
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        migrate_tables(engine)
    except DBAPIError as error:
        if isinstance(error.orig, sqlite3.Error):
            raise fault(path, error.orig) from error
        raise
