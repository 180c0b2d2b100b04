"""Run statements on PostgreSQL through psycopg, and connect again after the server was away.

A connection whose peer is gone without a word (a cable, a crashed machine, a firewall that forgot it) looks like one
that waits. TCP asks the peer itself after ten quiet seconds and gives up after 25; the server is told to do the same,
so it ends the transaction of a client that vanished.
"""

from __future__ import annotations

import os
import re
import socket
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from itertools import count
from typing import Any, cast

import psycopg
from psycopg.adapt import AdaptersMap, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumperUnknown

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
from geocrawl.store.database.postgres.faults import ERRORS, fault
from geocrawl.urls.database import ServerDatabase

SCHEMA = "geocrawl"
"""The schema of the database in which all tables are."""
WRITERS = 7_160_451
"""The advisory lock of writing transactions: one writes alone, as in SQLite, or those that lock rows share it."""
LIVES = 7_160_452
"""The class of the advisory locks that processes hold while they live."""
_WRITER_IDLE_S, _READER_IDLE_S = 30, 60
"""Seconds after which the server ends a transaction whose process does nothing: a writer's stops all others."""
_CUT_S, _ASKS_AFTER_S, _ASKS_EVERY_S = 25, 10, 5
"""Seconds after which TCP gives up a peer that answers nothing, and those until and between its questions."""
_ASKS = (_CUT_S - _ASKS_AFTER_S) // _ASKS_EVERY_S
_SERVER_SETTINGS = (
    f"SET tcp_keepalives_idle = {_ASKS_AFTER_S}; SET tcp_keepalives_interval = {_ASKS_EVERY_S}; "
    f"SET tcp_keepalives_count = {_ASKS}; SET tcp_user_timeout = '{_CUT_S}s'; "
)
"""The server's side of a connection; it ignores them for UNIX sockets."""
_OURS = {
    "application_name": "geocrawl",
    "connect_timeout": 10,
    "keepalives_idle": _ASKS_AFTER_S,
    "keepalives_interval": _ASKS_EVERY_S,
    "keepalives_count": _ASKS,
    "tcp_user_timeout": 1000 * _CUT_S,
}
"""Parameters of a connection where the URL says nothing else."""
_PLACEHOLDER = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|(?P<mark>\?\d*|(?<![:\w]):[a-z_]\w*)""", re.IGNORECASE)


@lru_cache(maxsize=500)
def numbered(statement: str) -> tuple[str, tuple[int | str, ...]]:
    """Return a statement that was written as text, with `$1` and so on for its placeholders `?`, `?2` and `:name`, and
    the position or the name of the value of each."""
    numbers, positions = dict[int | str, int](), count()

    def number(found: re.Match[str]) -> str:
        if not (mark := found["mark"]):
            return found[0]  # what is quoted
        name = mark[1:] if mark[0] == ":" else int(mark[1:]) - 1 if mark[1:] else next(positions)
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    return _PLACEHOLDER.sub(number, statement), tuple(numbers)


def _lock_of(owner: str) -> int:
    return zlib.crc32(owner.encode()) & 0x7FFF_FFFF


class PostgresConnection(Connection):
    """A connection to a PostgreSQL database, with the interface of a connection to SQLite."""

    __slots__ = ("_later", "_lock_ms", "_raw", "_reads_only", "server")

    engine = "postgresql"
    limits_size = False

    def __init__(self, server: ServerDatabase, *, reads_only: bool = False) -> None:
        """Connect. `reads_only`: the server refuses to write. Raises DatabaseFault when that fails."""
        super().__init__(server)
        self.server = server
        self._reads_only = reads_only
        self._lock_ms = round(BUSY_S * 1000)
        self._later: list[tuple[str, Any]] = []
        """Writing statements that are sent with the next one: each way to the server and back takes time."""
        self._raw = self._connected()

    # ----------------------------------------------------------------------- statements

    def execute(self, statement: Statement, values: Values = ()) -> Rows:
        """Execute one statement; return its rows."""
        if statement == "ROLLBACK":
            self._later.clear()
        try:
            cursor = self._sent(*self._bound(statement, values))
        except ERRORS as error:
            raise self._fault(error) from error
        return Rows(cursor)

    def write(self, statement: Statement, values: Values = ()) -> None:
        """Execute a writing statement with the next `execute`, inside a transaction."""
        self._later.append(self._bound(statement, values))

    def _bound(self, statement: Statement, values: Values) -> tuple[str, Any]:
        """Return a statement's text, and its values in the order of their placeholders."""
        if isinstance(statement, str):
            text, names = numbered(statement)
            return text, [values[name] for name in names] or None  # type: ignore[index]
        named = cast(Mapping[str, Any], values or NO_VALUES)
        prepared = self._prepared(statement, named)
        return prepared.text(named), prepared.bind(named)

    def write_many(self, statement: Statement, values: Iterable[Values]) -> None:
        """Execute a writing statement with the next `execute`, once for each element of `values`."""
        for each in values:
            self.write(statement, each)

    def _sent(self, text: str, values: Any) -> psycopg.Cursor[Any]:
        """Send a statement after those that wait, in one go; return its cursor when all are done."""
        later, self._later = self._later, []
        if not later:
            return self._live().execute(text, values)
        with self._raw.pipeline():
            for each in later:
                self._raw.execute(*each)
            return self._raw.execute(text, values)

    def executemany(self, statement: Statement, values: Iterable[Values]) -> Rows:
        """Execute a writing statement once for each element of `values`; `rowcount` is the sum."""
        bound = [self._bound(statement, value) for value in values]
        cursor = self._live().cursor()
        if not bound:
            return Rows(cursor)
        try:
            self._send_later()
            if len(bound) == 1:
                cursor.execute(*bound[0])
            else:
                cursor.executemany(bound[0][0], [row for _, row in bound])
        except ERRORS as error:
            raise self._fault(error) from error
        return Rows(cursor)

    def add_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows of values for these columns with COPY: a statement for each takes four times as long."""
        names = ", ".join(f'"{name}"' for name in columns)
        try:
            self._send_later()
            with self._live().cursor().copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        except ERRORS as error:
            raise self._fault(error) from error

    def command(self, text: str) -> None:
        """Execute commands of PostgreSQL that have no values, as they are."""
        try:
            self._send_later()
            self._live().execute(text)
        except ERRORS as error:
            raise self._fault(error) from error

    def _send_later(self) -> None:
        """Send the statements that wait."""
        if self._later:
            self._sent(*self._later.pop())

    # ----------------------------------------------------------------------- transactions

    def begin(self, *, shared: bool = False) -> None:
        """Begin a transaction, and wait until no other process writes; `shared`: until none writes alone."""
        self._later.clear()
        self.command(f"BEGIN; SELECT pg_advisory_xact_lock{'_shared' if shared else ''}({WRITERS})")

    def wait_for_lock(self, milliseconds: int) -> None:
        """Let `begin` wait for other writers for so long."""
        self._lock_ms = milliseconds
        self.command(f"SET lock_timeout = {milliseconds}")

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open; the server has undone that of a lost connection."""
        return not self._raw.closed and self._raw.info.transaction_status != TransactionStatus.IDLE

    @contextmanager
    def by_index(self) -> Iterator[None]:
        """Let statements inside read no whole table where an index serves, as connections that write always do.

        The planner takes a long text for as cheap to read as a number: it reads all texts rather than an index."""
        if self._reads_only:
            self.command("SET enable_seqscan = off")
        try:
            yield
        finally:
            if self._reads_only and not self._raw.closed:
                with suppress(DatabaseFault):  # what ended the statement is what is to be told
                    self.command("SET enable_seqscan = on")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Show the database as it is now to all statements inside, whatever others write meanwhile."""
        self.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            self.command("ROLLBACK")

    # ----------------------------------------------------------------------- the database as a whole

    def version(self) -> str | None:
        """Return the schema's revision; None for a database without our tables.

        Raises DatabaseFault for one that a newer geocrawl wrote."""
        if self.execute(f"SELECT to_regclass('{SCHEMA}.alembic_version')").fetchone()[0] is None:
            return None
        row = self.execute("SELECT version_num FROM alembic_version").fetchone()
        return None if row is None else known_revision(self.server, row[0])

    def check(self, limit_s: float) -> bool:
        """Return False: the server looks after its files, `pg_amcheck` and checksums look for damage."""
        self.execute("SELECT count(*) FROM alembic_version")
        return False

    def size(self) -> DatabaseSize:
        """Return the size of the database on the server's disk; PostgreSQL does not count what is free in it."""
        taken = int(self.execute("SELECT pg_database_size(current_database())").fetchone()[0])
        return DatabaseSize(taken, taken)

    def open_snapshot(self, older_than_s: float = SNAPSHOT_S) -> OpenSnapshot | None:
        """Return the session that keeps the server from removing old versions of rows, the oldest one."""
        return oldest_snapshot(self, older_than_s)

    def server_time(self) -> float:
        """Return the time by the server's clock, in seconds since the epoch, half a round trip ago at most."""
        return float(self.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()[0])

    def number_on(self) -> None:
        """Set the tables' own sequences beyond the highest numbers there are."""
        owned = self.execute(
            "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = CAST(? AS regnamespace) AND c.relkind = 'r' AND a.attnum > 0 "
            "AND pg_get_serial_sequence(c.oid::regclass::text, a.attname) IS NOT NULL",
            (SCHEMA,),
        ).fetchall()
        for table, column in owned:
            self.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), "  # noqa: S608 names of our own tables
                f"coalesce(max({column}), 0) + 1, false) "
                f"FROM {table}"
            )

    def hold(self, owner: str) -> bool:
        """Hold the advisory lock of a process, which the server gives up with this session."""
        row = self.execute(f"SELECT pg_try_advisory_lock({LIVES}, CAST(? AS integer))", (_lock_of(owner),)).fetchone()
        return bool(row[0])

    def is_held(self, owner: str) -> bool:
        """Return whether a session holds the advisory lock of a process."""
        row = self.execute(
            "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
            "AND classid = CAST(? AS oid) AND objid = CAST(? AS oid)",
            (LIVES, _lock_of(owner)),
        ).fetchone()
        return row is not None

    def cut_off(self) -> None:
        """End the connection under the statement that another thread waits for; the next statement makes a new one."""
        with suppress(psycopg.Error, OSError), socket.socket(fileno=os.dup(self._raw.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection; an open transaction is undone."""
        with suppress(psycopg.Error):
            self._raw.close()

    # ----------------------------------------------------------------------- the connection itself

    def _live(self) -> psycopg.Connection[Any]:
        """Return the connection, made again when it was lost."""
        if self._raw.closed:
            self._raw = self._connected()
        return self._raw

    def _connected(self) -> psycopg.Connection[Any]:
        idle_s = _READER_IDLE_S if self._reads_only else _WRITER_IDLE_S
        try:
            raw: psycopg.Connection[Any] = psycopg.Connection.connect(
                autocommit=True,
                cursor_factory=psycopg.RawCursor,
                context=_adapters(),
                prepare_threshold=2,
                **{**_OURS, **conninfo_to_dict(self.server.url)},  # type: ignore[arg-type]
            )
            # A plan that was made while a table was small reads all of it, and is kept while the table grows.
            whole_tables = "on" if self._reads_only else "off"
            raw.execute(
                f"SET search_path = {SCHEMA}; SET lock_timeout = {self._lock_ms}; SET client_min_messages = warning; "
                f"{_SERVER_SETTINGS}SET idle_in_transaction_session_timeout = '{idle_s}s'; SET jit = off; "
                f"SET enable_seqscan = {whole_tables}; "
                f"SET default_transaction_read_only = {'on' if self._reads_only else 'off'}"
            )
        except psycopg.Error as error:
            raise fault(self.server, error, connected=False) from None  # the error may quote the URL
        return raw

    def _fault(self, error: psycopg.Error | UnicodeEncodeError) -> DatabaseFault:
        return fault(self.server, error)


class _IntDumper(Int8Dumper):
    """Sends every int, and every bool, as a 64-bit number: flags are 0 and 1, and statements keep one plan."""

    def dump(self, obj: Any) -> bytes:
        """Return the digits."""
        return b"%d" % obj

    def quote(self, obj: Any) -> bytes:
        """Return the digits, in text."""
        return b"%d" % obj


class _TextDumper(StrDumperUnknown):
    """Sends text of whatever type the statement expects, without NUL, which PostgreSQL's text cannot hold."""

    def dump(self, obj: str) -> Any:
        """Return the text in UTF-8."""
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


class _NumericLoader(Loader):
    """Reads sums and averages as int or float."""

    def load(self, data: Any) -> int | float:
        """Return the number."""
        text = bytes(data)
        return float(text) if b"." in text or b"N" in text else int(text)


@cache
def _adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    for kind in (int, bool):
        adapters.register_dumper(kind, _IntDumper)
    adapters.register_dumper(str, _TextDumper)
    adapters.register_loader("numeric", _NumericLoader)
    return adapters


# A transaction with a snapshot (xmin), or one that has written (xid), holds VACUUM back; one with neither does not. Of
# other users' sessions only a member of pg_read_all_stats sees these columns.
_OLDEST = """
SELECT pid, usename, application_name, state, age FROM
  (SELECT pid, usename, application_name, state, date_part('epoch', clock_timestamp() - xact_start) AS age
   FROM pg_stat_activity
   WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
     AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)) sessions
WHERE age >= ? ORDER BY age DESC LIMIT 1"""


def oldest_snapshot(connection: Connection, older_than_s: float) -> OpenSnapshot | None:
    """Return the oldest open transaction of another session of this database that holds VACUUM back, if it is older
    than so many seconds; else None."""
    row = connection.execute(_OLDEST, (older_than_s,)).fetchone()
    if row is None:
        return None
    pid, user, program, state, age = row
    holder = f"{program or 'a program without a name'}, user {user}, {state}"
    return OpenSnapshot(holder=holder, pid=int(pid), age_s=float(age), log_bytes=None)
