"""Run statements on SQLite and translate its errors: nothing outside this package sees `sqlite3` or its exceptions.

Every statement goes through `Connection`, every row through `Rows`. An error of SQLite leaves them as a DatabaseFault
that names the database and what helps, as a PassingFault where waiting helps (`faults.py`). The wrapping costs 0.2 µs a
statement and 0.01 µs a row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from geocrawl.store.engine.faults import BUSY_S, copy_fault, fault
from geocrawl.store.engine.names import refuse_name

if TYPE_CHECKING:
    from sqlalchemy import ClauseElement

    from geocrawl.store.engine.core import Binder, Compiler

Values = Sequence[Any] | Mapping[str, Any]
"""Values for the placeholders of one statement, by position or by name."""

_NO_VALUES: Mapping[str, Any] = MappingProxyType({})
MEMORY = Path(":memory:")
"""The path of a database in memory: each connection to it is a database of its own."""
_CACHED_STATEMENTS = 256


class Rows:
    """The rows of an executed statement, each a tuple, read as they are asked for."""

    __slots__ = ("_cursor", "_path")

    def __init__(self, cursor: sqlite3.Cursor, path: Path) -> None:
        self._cursor = cursor
        self._path = path

    def __iter__(self) -> Iterator[Any]:
        try:
            # `yield from` would close the cursor with this generator, which may be after the database was closed.
            for row in self._cursor:  # noqa: UP028
                yield row
        except sqlite3.Error as error:
            raise fault(self._path, error) from error

    def fetchone(self) -> Any:
        """Return the next row, None after the last one."""
        try:
            return self._cursor.fetchone()
        except sqlite3.Error as error:
            raise fault(self._path, error) from error

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        try:
            return self._cursor.fetchall()
        except sqlite3.Error as error:
            raise fault(self._path, error) from error

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Yield the rows that are left, each as column name → value."""
        names = self.columns
        for row in self:
            yield dict(zip(names, row, strict=True))

    @property
    def columns(self) -> list[str]:
        """Return the columns' names in the order of a row's values."""
        return [column[0] for column in self._cursor.description]

    @property
    def rowcount(self) -> int:
        """Return the number of rows that an INSERT, UPDATE or DELETE changed."""
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int:
        """Return the id of the row that an INSERT made."""
        assert self._cursor.lastrowid is not None, "only asked after an INSERT"
        return self._cursor.lastrowid


class Connection:
    """One connection to a database; outside `Transaction` each statement commits by itself."""

    __slots__ = ("_compiler", "_execute", "_raw", "path")

    def __init__(self, raw: sqlite3.Connection, path: Path) -> None:
        """Wrap a connection; `path` is the database's name in errors."""
        self.path = path
        self._raw = raw
        self._execute = raw.execute
        self._compiler: Compiler | None = None

    @classmethod
    def open(cls, path: Path, mode: str = "rwc", *, busy_s: float | None = None) -> Connection:
        """Open the file at `path`. `mode` is that of SQLite's URIs: `rwc` makes the file, `rw` and `ro` demand it; `ro`
        writes nothing, and with `&immutable=1` appended it also expects that nobody else writes. `busy_s`: how long a
        statement waits for another process's lock, `BUSY_S` by default.

        Raises DatabaseFault when it cannot be opened or has several names (`names.py`), UsageError for the name of
        another database's side file."""
        if path != MEMORY:
            refuse_name(path, to_write=mode.startswith("rw"))
        try:
            raw = sqlite3.connect(
                str(MEMORY) if path == MEMORY else f"{path.absolute().as_uri()}?mode={mode}",
                uri=path != MEMORY,
                timeout=BUSY_S if busy_s is None else busy_s,
                isolation_level=None,
                cached_statements=_CACHED_STATEMENTS,
            )
        except sqlite3.Error as error:
            raise fault(path, error) from error
        return cls(raw, path)

    def execute(self, statement: str, values: Values = ()) -> Rows:
        """Execute one statement; return its rows."""
        try:
            return Rows(self._execute(statement, values), self.path)
        except sqlite3.Error as error:
            raise fault(self.path, error) from error

    def executemany(self, statement: str, values: Iterable[Values]) -> Rows:
        """Execute a writing statement once for each element of `values`; `rowcount` is the sum."""
        try:
            return Rows(self._raw.executemany(statement, values), self.path)
        except sqlite3.Error as error:
            raise fault(self.path, error) from error

    def run(self, statement: ClauseElement, values: Mapping[str, Any] = _NO_VALUES) -> Rows:
        """Execute a statement of SQLAlchemy Core, compiled at its first use (`core.py`); return its rows. An INSERT or
        UPDATE writes the columns that `values` names."""
        text, binder = self._compiled(statement, values)
        return self.execute(text, binder(values))

    def run_many(self, statement: ClauseElement, values: Sequence[Mapping[str, Any]]) -> None:
        """Execute a writing statement of SQLAlchemy Core once for each element of `values`, which name the same."""
        if values:
            text, binder = self._compiled(statement, values[0])
            self.executemany(text, map(binder, values))

    def _compiled(self, statement: ClauseElement, values: Mapping[str, Any]) -> tuple[str, Binder]:
        if self._compiler is None:
            from geocrawl.store.engine.core import Compiler  # SQLAlchemy's import takes 0.3 s: not for `status`

            self._compiler = Compiler()
        return self._compiler.compiled(statement, values)

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open: a full disk may have undone it already."""
        return self._raw.in_transaction

    def copy_into(self, other: Connection, pages_a_step: int) -> None:
        """Copy the whole database into the empty one behind `other`, also while others write to this one."""
        try:
            self._raw.backup(other._raw, pages=pages_a_step)
        except sqlite3.Error as error:
            raise copy_fault(self.path, other.path, error) from error

    def interrupt_when(self, is_over: Callable[[], bool] | None) -> None:
        """Abort long statements with an error once `is_over()` is true; None lets them run again."""
        self._raw.set_progress_handler(is_over, 100_000 if is_over else 0)

    def trace(self, callback: Callable[[str], object] | None) -> None:
        """Call `callback` with the text of every statement that SQLite begins; None stops that. For measurements."""
        self._raw.set_trace_callback(callback)

    def close(self) -> None:
        """Close the connection; an open transaction is undone."""
        self._raw.close()
