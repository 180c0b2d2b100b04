"""Run statements on SQLite and translate its errors: nothing outside this package sees `sqlite3` or its exceptions.

The wrapping costs 0.2 µs a statement and 0.01 µs a row.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from geocrawl.errors import DatabaseFault
from geocrawl.store.database.connection import (
    BUSY_S,
    NO_VALUES,
    SNAPSHOT_S,
    Connection,
    DatabaseSize,
    OpenSnapshot,
    Rows,
    Statement,
    Values,
)
from geocrawl.store.database.migrations import known_revision
from geocrawl.store.database.sqlite.faults import ERRORS, Error, copy_fault, damage, fault, file_identity, moved
from geocrawl.store.database.sqlite.files import refuse_name
from geocrawl.store.database.sqlite.held_name import HeldName, is_held

MEMORY = Path(":memory:")
"""The path of a database in memory: each connection to it is a database of its own."""
LOG_PAGES = 16_000
"""Pages of 4 KiB after which the write-ahead log is copied into the file: a page written often is copied once."""
LOG_BYTES = LOG_PAGES * 4096
"""Length to which the log's file is cut when the log begins again: it is longer while a reader keeps it from that."""
_CACHED_STATEMENTS = 256
_ASK_AGAIN_S = 0.0002
"""Pause before a lock is asked for again: part of a settlement, which takes 0.5 ms. SQLite's own wait sleeps for 1 ms,
then 2, 5, 10 … up to 100, so connections do not use it (`timeout=0`)."""
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY})
"""Errors that end when another process gives its lock up."""


class SqliteRows(Rows):
    """The rows of an executed statement; SQLite goes on executing it while they are read, so reading may fail."""

    __slots__ = ("_path",)

    def __init__(self, cursor: sqlite3.Cursor, path: Path) -> None:
        self._cursor = cursor
        self._path = path

    def __iter__(self) -> Iterator[Any]:
        try:
            # `yield from` would close the cursor with this generator, which may be after the database was closed.
            for row in self._cursor:  # noqa: UP028
                yield row
        except ERRORS as error:
            raise fault(self._path, error) from error

    def fetchone(self) -> Any:
        """Return the next row, None after the last one."""
        try:
            return self._cursor.fetchone()
        except ERRORS as error:
            raise fault(self._path, error) from error

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        try:
            rows: list[Any] = self._cursor.fetchall()
            return rows
        except ERRORS as error:
            raise fault(self._path, error) from error


class SqliteConnection(Connection):
    """One connection to a file, or to a database in memory."""

    __slots__ = ("_execute", "_held", "_identity", "_raw", "_wait_s", "file")

    def __init__(self, raw: sqlite3.Connection, path: Path, wait_s: float = BUSY_S) -> None:
        """Wrap a connection; `path` is the database's name in errors, `wait_s` how long it waits for a lock."""
        super().__init__(path)
        self.file = path
        self._raw = raw
        self._execute = raw.execute
        self._wait_s = wait_s
        self._identity = file_identity(path)
        self._held: HeldName | None = None

    @classmethod
    def open(cls, path: Path, mode: str = "rwc", *, busy_s: float | None = None) -> SqliteConnection:
        """Open the file at `path`. `mode` is that of SQLite's URIs: `rwc` makes the file, `rw` and `ro` demand it; `ro`
        writes nothing, and with `&immutable=1` appended it also expects that nobody else writes. `busy_s`: how long a
        statement waits for another process's lock, `BUSY_S` by default.

        Raises DatabaseFault when it cannot be opened or has several names (`files.py`), UsageError for the name of
        another database's side file."""
        if path != MEMORY:
            refuse_name(path, to_write=mode.startswith("rw"))
        wait_s = BUSY_S if busy_s is None else busy_s
        try:
            raw = sqlite3.connect(
                str(MEMORY) if path == MEMORY else f"{path.absolute().as_uri()}?mode={mode}",
                uri=path != MEMORY,
                timeout=0,
                isolation_level=None,
                check_same_thread=False,  # one thread at a time: `store/database/runner.py`
                cached_statements=_CACHED_STATEMENTS,
            )
        except ERRORS as error:
            raise fault(path, error) from error
        return cls(raw, path, wait_s)

    def execute(self, statement: Statement, values: Values = ()) -> Rows:
        """Execute one statement; return its rows. Waits while another process has a lock that it needs."""
        if not isinstance(statement, str):
            named = cast(Mapping[str, Any], values or NO_VALUES)
            prepared = self._prepared(statement, named)
            statement, values = prepared.parts[0], prepared.bind(named)
        try:
            return SqliteRows(self._execute(statement, values), self.file)
        except ERRORS as error:
            if not _is_locked(error):
                raise fault(self.file, error) from error
        return self._execute_when_free(statement, values)

    def _execute_when_free(self, statement: str, values: Values) -> Rows:
        ends_at = time.monotonic() + self._wait_s
        while True:
            time.sleep(_ASK_AGAIN_S)
            try:
                return SqliteRows(self._execute(statement, values), self.file)
            except ERRORS as error:
                if not _is_locked(error) or time.monotonic() >= ends_at:
                    raise fault(self.file, error) from error

    def executemany(self, statement: Statement, values: Iterable[Values]) -> Rows:
        """Execute a writing statement once for each element of `values`; `rowcount` is the sum."""
        if not isinstance(statement, str):
            rows = cast(list[Mapping[str, Any]], list(values))
            if not rows:
                return SqliteRows(self._raw.cursor(), self.file)
            prepared = self._prepared(statement, rows[0])
            statement, values = prepared.parts[0], map(prepared.bind, rows)
        try:
            return SqliteRows(self._raw.executemany(statement, values), self.file)
        except ERRORS as error:
            raise fault(self.file, error) from error

    # ----------------------------------------------------------------------- transactions

    def begin(self, *, shared: bool = False) -> None:
        """Begin a transaction with the write lock, which SQLite shares with nobody.

        Raises DatabaseFault when the file was deleted or replaced since it was opened: SQLite would go on writing to
        what nobody finds any more."""
        self.execute("BEGIN IMMEDIATE")
        found = file_identity(self.file)
        if found != (self._identity or found):
            raise moved(self.file)
        self._identity = found  # SQLite makes a new file when it is first written

    def wait_for_lock(self, milliseconds: int) -> None:
        """Let statements wait for another process's lock for so long."""
        self._wait_s = milliseconds / 1000

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open: a full disk may have undone it already."""
        return self._raw.in_transaction

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Show the database as it is now to all statements inside, whatever others write meanwhile."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("ROLLBACK")

    @contextmanager
    def foreign_keys_off(self) -> Iterator[None]:
        """Check no foreign keys in a transaction inside."""
        self.execute("PRAGMA foreign_keys = OFF")
        try:
            yield
        finally:
            self.execute("PRAGMA foreign_keys = ON")

    # ----------------------------------------------------------------------- the database as a whole

    def version(self) -> str | None:
        """Return the schema's revision; None for an empty database.

        Raises DatabaseFault for a database of another program and for one that a newer geocrawl wrote."""
        tables = {row[0] for row in self.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            return None
        row = (
            self.execute("SELECT version_num FROM alembic_version").fetchone() if "alembic_version" in tables else None
        )
        if row is None and tables != {"alembic_version"}:
            raise DatabaseFault(f"{self.file}: is a database of another program; name another --db")
        return None if row is None else known_revision(self.file, row[0])

    def check(self, limit_s: float) -> bool:
        """Check the pages of the file for at most `limit_s` seconds; return whether all were checked.

        Raises DatabaseFault for damage."""
        until = time.monotonic() + limit_s
        self._raw.set_progress_handler(lambda: time.monotonic() > until, 100_000)
        try:
            problems = [row[0] for row in self.execute("PRAGMA quick_check(3)")]
        except DatabaseFault as error:
            if "interrupted" in str(error.__cause__):
                return False
            raise
        finally:
            self._raw.set_progress_handler(None, 0)
        if problems != ["ok"]:
            raise damage(self.file, "; ".join(problems))
        return True

    def size(self) -> DatabaseSize:
        """Return the database's size by SQLite's own count, without the write-ahead log (see `open_snapshot`)."""
        page, pages, free = (
            int(self.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("page_size", "page_count", "freelist_count")
        )
        return DatabaseSize(page * pages, page * (pages - free))

    def open_snapshot(self, older_than_s: float = SNAPSHOT_S) -> OpenSnapshot | None:
        """Return how long the write-ahead log is when a reader keeps it from beginning again: when it is twice as long
        as at the time at which it is copied into the file."""
        try:
            log_bytes = self.file.with_name(self.file.name + "-wal").stat().st_size
        except OSError:
            return None
        if log_bytes < 2 * LOG_BYTES:
            return None
        return OpenSnapshot(holder="", pid=None, age_s=None, log_bytes=log_bytes)

    def advise(self) -> None:
        """Let SQLite look at tables that its query planner knows too little of."""
        self.execute("PRAGMA optimize")

    def number_on(self) -> None:
        """Number the next settlement after the last one of all hosts. Other numbers follow the highest one anyway."""
        self.execute(
            "INSERT INTO counter (name, value) SELECT 'turn', max(turn) FROM host WHERE turn > 0 HAVING max(turn) > 0 "
            "ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)"
        )

    def make_room(self) -> None:
        """Empty the write-ahead log (at most 64 MiB)."""
        self.execute(f"PRAGMA busy_timeout = {round(self._wait_s * 1000)}")  # readers of an old state may end soon
        try:
            self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self.execute("PRAGMA busy_timeout = 0")

    def copy_into(self, other: SqliteConnection, pages_a_step: int) -> None:
        """Copy the whole database into the empty one behind `other`, also while others write to this one."""
        try:
            self._raw.backup(other._raw, pages=pages_a_step)
        except ERRORS as error:
            raise copy_fault(self.file, other.file, error) from error

    def trace(self, callback: Callable[[str], object] | None) -> None:
        """Call `callback` with the text of every statement that SQLite begins; None stops that. For measurements."""
        self._raw.set_trace_callback(callback)

    def cut_off(self) -> None:
        """End the statement that another thread executes now."""
        self._raw.interrupt()

    def hold(self, owner: str) -> bool:
        """Hold the lock of a file beside the database; return False where the file system has no locks."""
        try:
            if self._held is None or not self._held.is_there:
                self._held = HeldName(self.file, owner)
        except OSError:
            return False
        return True

    def is_held(self, owner: str) -> bool | None:
        """Return whether a process has the lock of its file."""
        return is_held(self.file, owner)

    def close(self) -> None:
        """Close the connection; an open transaction is undone."""
        self._raw.close()
        if self._held is not None:
            self._held.release()
            self._held = None


def _is_locked(error: Error) -> bool:
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode in _LOCKED
