"""Use a database through one connection for this process: transactions and stored facts.

Each settlement is one transaction that begins with the lock of writers, so what it read cannot change before it writes.
The engines open their databases in `sqlite/opening.py` and `postgres/opening.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sqlalchemy import bindparam, delete, select

from geocrawl.errors import DatabaseFault, PassingFault, needs_extra
from geocrawl.store.database.connection import BUSY_S, Connection, Statement, Values
from geocrawl.store.database.constructs import upsert
from geocrawl.store.database.life import Life
from geocrawl.store.database.opt_out import OptOut
from geocrawl.store.database.runner import InLoop, StoreThread
from geocrawl.store.database.schema.tables import META
from geocrawl.store.database.sqlite import opening as sqlite
from geocrawl.store.database.sqlite.connection import MEMORY
from geocrawl.urls.database import DatabaseUrl, ServerDatabase

if TYPE_CHECKING:
    from geocrawl.ports import Clock

_of_name = META.c.name == bindparam("name")
_FACT = select(META.c.value).where(_of_name)
_WRITE_FACT = upsert(META, "name")
_DELETE_FACT = delete(META).where(_of_name)


@runtime_checkable
class FollowingClock(Protocol):
    """A clock that can go by that of a database's server."""

    def follow(self, server_time: float) -> None:
        """Show `server_time` (seconds since the epoch) now, and go on from there."""


class Transaction:
    """A transaction: `with transaction:` takes the write lock, commits at the end, and rolls back after an
    exception.

    A shared one writes beside others that share the lock, where the engine can: whoever uses it locks the rows on which
    its changes rest before it reads them."""

    _HASTE_MS = 100
    """Milliseconds to wait for the lock after a wait that failed, until the lock is free again: many full waits in a
    row would block the process for minutes."""

    def __init__(self, database: Database, *, shared: bool = False) -> None:
        self._database = database
        self._shared = shared
        self._in_vain = False
        self._is_first = True
        self._postponed = 0

    def __enter__(self) -> None:
        connection = self._database.connection
        try:
            connection.begin(shared=self._shared)
            self._database.blocked.look()
            if self._is_first:  # `migrate` takes no database into which anybody has written, so no later one need look
                refuse_half(self._database.path, connection)
                self._is_first = False
            self._postponed = len(self._database.postponed)
            for statement, values in self._database.postponed[: self._postponed]:
                connection.write(statement, values)
        except DatabaseFault as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if not self._in_vain and isinstance(error, PassingFault):
                self._in_vain = True
                connection.wait_for_lock(self._HASTE_MS)
            raise
        if self._in_vain:
            self._in_vain = False
            connection.wait_for_lock(round(self._database.busy_s * 1000))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection = self._database.connection
        if error is None:
            try:
                connection.execute("COMMIT")
                del self._database.postponed[: self._postponed]
                return
            except DatabaseFault:
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self) -> None:
        connection = self._database.connection
        if connection.in_transaction:  # a full disk has undone it already
            connection.execute("ROLLBACK")


class Database:
    """One connection to the database, with its transactions and the stored facts about the whole database."""

    def __init__(
        self, path: DatabaseUrl, connection: Connection, clock: Clock, *, joined: bool = False, busy_s: float = BUSY_S
    ) -> None:
        self.path = path
        self._joined = joined
        self.busy_s = busy_s
        """Longest wait for a lock of other processes."""
        if busy_s != BUSY_S:
            connection.wait_for_lock(round(busy_s * 1000))
        self.connection = connection
        self.transaction = Transaction(self)
        """`with database.transaction:` — the write lock is held inside; an exception undoes all of it."""
        self.shared_transaction = Transaction(self, shared=True)
        """`with database.shared_transaction:` — as `transaction`, but other processes write at the same time where the
        engine lets them (PostgreSQL); the caller first locks the rows that it changes, or changes one row only."""
        self.postponed: list[tuple[Statement, Values]] = []
        """Writes for which nobody waits: the next transaction makes them first."""
        self.blocked = OptOut(connection)
        """Hosts that opted out; changes by other processes apply from the next transaction on."""
        self.clock = clock
        server_time = connection.server_time()
        self.clock_ahead_s = 0.0 if server_time is None else clock.now() - server_time
        """By how much this machine's clock was ahead of the server's when the database was opened, in seconds."""
        if server_time is not None and isinstance(clock, FollowingClock):
            clock.follow(server_time)
        self.life = Life(clock, None if path == MEMORY else lambda: _engine(path).join_database(path))
        """The heartbeat of this process on the database, which begins with its first lease or run."""
        self.runner: InLoop = StoreThread(clock, connection)
        """Runs what an event loop asks this database."""

    @classmethod
    def open(cls, place: DatabaseUrl, *, create: bool, clock: Clock) -> Database:
        """Return the database at `place` (`Path(":memory:")`: a new one in memory), its schema brought up to date.

        Raises DatabaseFault when it is missing (and `create` is false), locked for 5 s, read-only, damaged, no
        database of geocrawl, half a copy of one, newer than this program, or its server cannot be used.
        """
        return cls(place, _whole(place, _engine(place).open_database(place, create=create)), clock)

    @classmethod
    def join(cls, place: DatabaseUrl, *, clock: Clock, busy_s: float = BUSY_S) -> Database:
        """Return the database at `place` for a scratch session: it is neither created nor migrated. `busy_s`: the
        longest wait for a lock.

        Raises DatabaseFault when it is missing, damaged, of another program or of another schema than this one's.
        """
        return cls(place, _whole(place, _engine(place).join_database(place)), clock, joined=True)

    def close(self) -> None:
        """End the threads, and close the connection; what is committed stays."""
        self.runner.close()
        self.life.end()
        try:
            if not self._joined:
                self.connection.advise()
        except DatabaseFault:  # only advice for later queries: a full or locked disk is no reason to fail now
            pass
        finally:
            self.connection.close()

    # ----------------------------------------------------------------------- facts about the whole

    def meta(self, name: str) -> str | None:
        """Return the fact stored under this name, as text; None without one."""
        value = self.meta_bytes(name)
        return None if value is None else value.decode()

    def meta_bytes(self, name: str) -> bytes | None:
        """Return the fact stored under this name; None without one."""
        row = self.connection.execute(_FACT, {"name": name}).fetchone()
        return None if row is None else bytes(row[0])

    def set_meta(self, name: str, value: str | bytes) -> None:
        """Store a fact under a name, in a separate transaction."""
        with self.transaction:
            self.write_meta(name, value)

    def write_meta(self, name: str, value: str | bytes) -> None:
        """Store a fact under a name, inside the caller's transaction."""
        data = value.encode() if isinstance(value, str) else value
        self.connection.write(_WRITE_FACT, {"name": name, "value": data})

    def delete_meta(self, name: str) -> None:
        """Delete a fact, inside the caller's transaction."""
        self.connection.write(_DELETE_FACT, {"name": name})


COPIED_FROM = "migrated"
"""Name of the fact that stands in a database while another one is copied into it."""


def refuse_half(place: DatabaseUrl, connection: Connection) -> None:
    """Raise DatabaseFault for a database into which another one is being copied, or was not copied to its end."""
    if source := stored_fact(connection, COPIED_FROM):
        raise DatabaseFault(
            f"{place}: holds only a part of {source}: `geocrawl migrate` is copying it or was stopped; wait for its "
            "end, or remove this copy and repeat the command"
        )


def exists(place: DatabaseUrl) -> bool:
    """Return whether there is a database at `place`. Raises DatabaseFault when that cannot be determined."""
    found: bool = _engine(place).is_there(place)
    return found


def reading_connection(place: DatabaseUrl) -> Connection:
    """Open the database at `place` to read it; nothing is created.

    Raises DatabaseFault when it is missing, no database of geocrawl, or written by a newer geocrawl.
    """
    connection: Connection = _engine(place).reading_connection(place)
    return _whole(place, connection)


def _whole(place: DatabaseUrl, connection: Connection) -> Connection:
    """Return a connection to a database that is not being filled; close it and raise DatabaseFault otherwise."""
    try:
        if connection.version() is not None:
            refuse_half(place, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _engine(place: DatabaseUrl) -> Any:
    """Return the module that opens databases of the engine at `place`; PostgreSQL's driver is loaded only then."""
    if isinstance(place, ServerDatabase):
        try:
            from geocrawl.store.database.postgres import opening as postgres
        except ImportError as error:
            raise needs_extra(str(place), str(error.name), "postgres") from None
        return postgres
    return sqlite


@contextmanager
def open_readonly(place: DatabaseUrl) -> Iterator[Connection]:
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
    row = connection.execute(_FACT, {"name": name}).fetchone()
    return bytes(row[0]).decode() if row else ""
