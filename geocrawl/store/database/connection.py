"""Define a connection to a database, which both engines implement, and the rows that a statement returns.

Statements are SQLAlchemy Core's, compiled for the engine (`core.py`), or text that the engine understands, whose
placeholders both write as SQLite does. Every statement goes through `Connection`, every row through `Rows`, so that
nothing outside this package sees a driver or its exceptions: an error leaves as a DatabaseFault that names the database
and what helps, as a PassingFault where waiting helps.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from geocrawl.store.database.core import compiler

if TYPE_CHECKING:
    from sqlalchemy import ClauseElement

    from geocrawl.urls.database import DatabaseUrl

Values = Sequence[Any] | Mapping[str, Any]
"""Values for the placeholders of one statement, by position or by name; of SQLAlchemy's, by name."""
Statement = Union[str, "ClauseElement"]
"""A statement of SQLAlchemy Core (`core.py`), or plain text."""

BUSY_S = 5.0
"""How long a statement waits for another process's lock."""
NO_VALUES: Mapping[str, Any] = MappingProxyType({})


class DatabaseSize(NamedTuple):
    """The size of a database."""

    file_bytes: int
    """Bytes on the disk."""
    used_bytes: int
    """Bytes without what is free to be used again, where the engine knows it."""


SNAPSHOT_S = 300.0
"""Age from which an open snapshot is worth telling; our own readers of rows end sooner, long exports may not."""


@dataclass(frozen=True, slots=True)
class OpenSnapshot:
    """A reader of an old state, or a transaction left open, which keeps the engine from cleaning up."""

    holder: str
    """The session on the server, such as `psql, user anna, idle in transaction`; '' on SQLite, which does not know its
    readers."""
    pid: int | None
    """The server's process of that session."""
    age_s: float | None
    """How long the session's transaction is open."""
    log_bytes: int | None
    """Length of SQLite's write-ahead log, which grows meanwhile; None on a server."""


class Rows:
    """The rows of an executed statement, each a tuple, read as they are asked for: a driver's cursor (PEP 249)."""

    __slots__ = ("_cursor",)

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows that are left."""
        return iter(self._cursor)

    def fetchone(self) -> Any:
        """Return the next row, None after the last one."""
        return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        rows: list[Any] = self._cursor.fetchall()
        return rows

    def dicts(self) -> Iterator[dict[str, Any]]:
        """Yield the rows that are left, each as column name → value."""
        names = self.columns
        for row in self:
            yield dict(zip(names, row, strict=True))

    @property
    def columns(self) -> list[str]:
        """Return the columns' names in the order of a row's values."""
        return [column[0] for column in self._cursor.description or ()]

    @property
    def rowcount(self) -> int:
        """Return the number of rows that an INSERT, UPDATE or DELETE changed."""
        return max(int(self._cursor.rowcount), 0)


class Connection(ABC):
    """One connection to a database; outside a transaction each statement commits by itself."""

    __slots__ = ("_prepared", "path")

    engine = "sqlite"
    """sqlite or postgresql: what the few statements that differ are chosen by."""
    limits_size = True
    """Whether rows can be deleted until the database is small enough: whether `size` shrinks with them."""

    def __init__(self, path: DatabaseUrl) -> None:
        """Make a connection; `path` is the database's name in errors."""
        self.path = path
        self._prepared = compiler(self.engine).prepared

    # ----------------------------------------------------------------------- statements

    @abstractmethod
    def execute(self, statement: Statement, values: Values = ()) -> Rows:
        """Execute one statement; return its rows. SQLAlchemy's INSERT or UPDATE that says no columns itself writes
        those that `values` names."""

    @abstractmethod
    def executemany(self, statement: Statement, values: Iterable[Values]) -> Rows:
        """Execute a writing statement once for each element of `values`, which have the same names; `rowcount` is the
        sum."""

    def write(self, statement: Statement, values: Values = ()) -> None:
        """Execute a writing statement inside a transaction whose outcome nobody asks for.

        It may be sent with the next `execute`, which sees its effect and raises its error."""
        self.execute(statement, values)

    def write_many(self, statement: Statement, values: Iterable[Values]) -> None:
        """Execute a writing statement as `write` does, once for each element of `values`."""
        self.executemany(statement, values)

    def add_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows of values for these columns, in the way that is the fastest one for many."""
        names, marks = ", ".join(f'"{name}"' for name in columns), ", ".join("?" * len(columns))
        self.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)  # noqa: S608 our own names

    # ----------------------------------------------------------------------- transactions

    @abstractmethod
    def begin(self, *, shared: bool = False) -> None:
        """Begin a transaction that may write: no other process writes until it ends.

        `shared`: others that share may write too, where the engine lets them; the caller locks the rows that it
        changes."""

    @abstractmethod
    def wait_for_lock(self, milliseconds: int) -> None:
        """Let `begin` wait for other writers for so long."""

    @property
    @abstractmethod
    def in_transaction(self) -> bool:
        """Return whether a transaction is open: a full disk may have undone it already."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[None]:
        """Show the database as it is now to all statements inside, whatever others write meanwhile."""

    def by_index(self) -> AbstractContextManager[None]:
        """Let statements inside read no whole table where an index serves; where the engine needs to be told."""
        return nullcontext()

    def foreign_keys_off(self) -> AbstractContextManager[None]:
        """Check no foreign keys, where tables have them, in a transaction inside, which looks after them itself."""
        return nullcontext()

    # ----------------------------------------------------------------------- the database as a whole

    @abstractmethod
    def version(self) -> str | None:
        """Return the schema's revision; None for a database without tables.

        Raises DatabaseFault for a database of another program and for one that a newer geocrawl wrote."""

    @abstractmethod
    def check(self, limit_s: float) -> bool:
        """Check for damage for at most `limit_s` seconds; return whether the whole database was checked.

        Raises DatabaseFault for damage."""

    @abstractmethod
    def size(self) -> DatabaseSize:
        """Return the size of the database."""

    @abstractmethod
    def open_snapshot(self, older_than_s: float = SNAPSHOT_S) -> OpenSnapshot | None:
        """Return what keeps the engine from cleaning up, as far as it is seen; None for nothing.

        `older_than_s`: a session of a server counts from this age on; SQLite's readers count by what they have cost."""

    def server_time(self) -> float | None:
        """Return the time by the clock of the database's server, in seconds since the epoch; None without a server."""
        return None

    def now(self) -> float:
        """Return the time by the clock that all who use the database share: its server's, or this machine's."""
        at = self.server_time()
        return time.time() if at is None else at

    def advise(self) -> None:  # noqa: B027 a server needs none
        """Let the engine look at what its query planner should know, if it is time to and a server does not do it."""

    @abstractmethod
    def number_on(self) -> None:
        """Number new rows after the highest numbers there are, because rows were written with numbers of their own."""

    def make_room(self) -> None:  # noqa: B027 a server needs none
        """Give back what the engine itself takes on a full disk, such as a log that is written already; a server keeps
        its log itself."""

    def hold(self, owner: str) -> bool:
        """Hold the name of a process for as long as this connection lasts, so that its end is known at once; return
        whether that is possible. To be called again: the connection may have been lost."""
        return False

    def is_held(self, owner: str) -> bool | None:
        """Return whether a process, which held its name when it last beat, lives; None when that cannot be seen."""
        return None

    @abstractmethod
    def cut_off(self) -> None:
        """End the statement that another thread executes now: it raises PassingFault there."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection; an open transaction is undone."""
