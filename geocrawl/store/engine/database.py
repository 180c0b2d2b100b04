"""Open the database: create, upgrade or refuse it, then use one connection for this process.

SQLite in WAL mode: one process writes at a time, readers never wait. Each settlement is one transaction that begins
with the write lock (`BEGIN IMMEDIATE`), so what it read cannot change before it writes. With `synchronous=NORMAL` a
killed process loses nothing that was committed; a power cut may lose the last moments, never the database's
consistency.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.errors import DatabaseFault
from geocrawl.files import make_folder
from geocrawl.ports import Clock
from geocrawl.store.engine.connection import MEMORY, Connection
from geocrawl.store.engine.faults import is_there, no_room
from geocrawl.store.engine.names import refuse_name
from geocrawl.store.engine.owner import this_process
from geocrawl.store.engine.permissions import make_file
from geocrawl.store.engine.transaction import Transaction
from geocrawl.store.engine.upgrade import SCHEMA_FOLDER, upgrade
from geocrawl.store.operations.opt_out import OptOut

if TYPE_CHECKING:
    from geocrawl.settings import Settings

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011")
"""The migrations that this program knows, oldest first: comparing with the last one spares Alembic's import (0.4 s)."""

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -65536",  # KiB: limits SQLite's memory, whatever the queue's size
    "PRAGMA wal_autocheckpoint = 16000",  # pages (64 MiB): one written often is copied into the file once
)


class Database:
    """One connection to the database, with its transactions and the stored facts about the whole database."""

    def __init__(self, path: Path, connection: Connection, clock: Clock, *, joined: bool = False) -> None:
        self.path = path
        self._joined = joined
        self.connection = connection
        self.transaction = Transaction(self)
        """`with database.transaction:` — the write lock is held inside; an exception undoes all of it."""
        self.blocked = OptOut(connection)
        """Hosts that opted out; changes by other processes apply from the next transaction on."""
        self._clock = clock
        self._undo: list[Callable[[], None]] = []

    @classmethod
    def open(cls, path: Path, *, create: bool, clock: Clock) -> Database:
        """Return the database at `path` (`MEMORY`: a new one in memory), its schema brought up to date.

        Raises DatabaseFault when it is missing (and `create` is false), locked for 5 s, read-only, damaged, no
        database of geocrawl, or newer than this program.
        """
        if path == MEMORY:
            return cls(path, _connect(path), clock)
        if not is_there(path) and not create:
            raise DatabaseFault(f"{path}: no such database; `geocrawl crawl URL` makes one, --db names another")
        refuse_name(path, to_write=True)
        _make_folder(path)
        make_file(path)
        return cls(path, _connect(path), clock)

    @classmethod
    def join(cls, path: Path, *, clock: Clock) -> Database:
        """Return the database at `path` for a scratch session: it is neither created nor migrated.

        Raises DatabaseFault when it is missing, damaged, of another program or of another schema than this one's.
        """
        if not is_there(path):
            raise DatabaseFault(f"{path}: no such database")
        connection = Connection.open(path, "rw")
        try:
            version = read_version(connection, path)
            if version != REVISIONS[-1]:
                raise DatabaseFault(f"{path}: has the schema {version}, this program knows {REVISIONS[-1]}")
            connection.execute("PRAGMA synchronous = NORMAL")
        except DatabaseFault:
            connection.close()
            raise
        return cls(path, connection, clock, joined=True)

    def close(self) -> None:
        """Close the connection; what is committed stays."""
        try:
            if not self._joined:
                self.connection.execute("PRAGMA optimize")
        except DatabaseFault:  # only advice for later queries: a full or locked disk is no reason to fail now
            pass
        finally:
            self.connection.close()

    def on_undo(self, callback: Callable[[], None]) -> None:
        """Call `callback` after each rollback, so that caches of rows that were rolled back are cleared."""
        self._undo.append(callback)

    def undone(self) -> None:
        """Run the rollback callbacks."""
        for callback in self._undo:
            callback()

    # ----------------------------------------------------------------------- facts about the whole

    def meta(self, name: str) -> str | None:
        """Return the fact stored under this name, as text; None when there is none."""
        value = self.meta_bytes(name)
        return None if value is None else value.decode()

    def meta_bytes(self, name: str) -> bytes | None:
        """Return the fact stored under this name; None when there is none."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else bytes(row[0])

    def set_meta(self, name: str, value: str | bytes) -> None:
        """Store a fact under a name, in a separate transaction."""
        with self.transaction:
            self.write_meta(name, value)

    def write_meta(self, name: str, value: str | bytes) -> None:
        """Store a fact under a name, inside the caller's transaction."""
        data = value.encode() if isinstance(value, str) else value
        self.connection.execute(
            "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            (name, data),
        )

    def delete_meta(self, name: str) -> None:
        """Delete a fact, inside the caller's transaction."""
        self.connection.execute("DELETE FROM meta WHERE name = ?", (name,))

    # ----------------------------------------------------------------------- runs

    def start_run(self, strategy: str, settings: Settings) -> int:
        """Record that a run begins; return its number."""
        with self.transaction:
            row = self.connection.execute(
                "INSERT INTO run (started_at, owner, strategy, settings) VALUES (?, ?, ?, ?) RETURNING id",
                (self._clock.now(), this_process().text, strategy, _changed_settings(settings)),
            ).fetchone()
        return int(row[0])

    def end_run(self, run: int, *, pages: int, services: int, stopped: str) -> None:
        """Record how a run ended."""
        with self.transaction:
            self.connection.execute(
                "UPDATE run SET ended_at = ?, pages = ?, services = ?, stopped = ? WHERE id = ?",
                (self._clock.now(), pages, services, stopped, run),
            )


def read_version(connection: Connection, path: Path) -> str | None:
    """Return the schema's revision; None for an empty database.

    Raises DatabaseFault for a database of another program and for one that a newer geocrawl wrote.
    """
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return None
    row = (
        connection.execute("SELECT version_num FROM alembic_version").fetchone()
        if "alembic_version" in tables
        else None
    )
    if row is None and tables != {"alembic_version"}:
        raise DatabaseFault(f"{path}: is a database of another program; name another --db")
    if row is not None and row[0] not in REVISIONS:
        raise DatabaseFault(
            f"{path}: was written by a newer geocrawl (schema {row[0]}, this one knows {REVISIONS[-1]}); upgrade it"
        )
    return None if row is None else str(row[0])


def _make_folder(path: Path) -> None:
    try:
        make_folder(path.parent)
    except OSError as error:
        raise no_room(path, error) or DatabaseFault(f"{path.parent}: {error.strerror}; name another --db") from error


def _connect(path: Path) -> Connection:
    connection = Connection.open(path)
    try:
        version = read_version(connection, path)
        if version is None:
            _create(connection)
        elif version != REVISIONS[-1]:
            upgrade(path)
        for pragma in _PRAGMAS:
            connection.execute(pragma)
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: Connection) -> None:
    """Create the tables of an empty database from `schema.sql`, the result of all migrations, without importing
    Alembic.

    Two processes that start together do it once: the second finds the tables when it gets the write lock.
    """
    script = (SCHEMA_FOLDER / "schema.sql").read_text(encoding="utf-8")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            for statement in script.strip().split(";\n\n"):
                connection.execute(statement)
            connection.execute("INSERT INTO alembic_version (version_num) VALUES (?)", (REVISIONS[-1],))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has undone it already
            connection.execute("ROLLBACK")
        raise


def _changed_settings(settings: Settings) -> str:
    """Return the settings that differ from their defaults as JSON, without secrets and sites."""
    default = type(settings)()
    changed = {
        field.name: value
        for field in fields(settings)
        if (value := getattr(settings, field.name)) != getattr(default, field.name)
        and not field.metadata.get("secret")
        and field.name != "sites"
    }
    return json.dumps(changed, default=str, sort_keys=True)
