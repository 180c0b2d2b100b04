"""Give each run a database of either engine, and each process a store on it whose calls can be interrupted.

Every awaited call of the store lets the scheduler choose who goes on; every statement may fail, or be the last one of
its process. Transactions never await, so at most one is open in the whole simulation, on PostgreSQL, too: none waits
for the lock of another connection of the same thread.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from geocrawl.ports import Clock
from geocrawl.store import Store
from geocrawl.store.database.connection import Connection, Statement
from geocrawl.store.database.runner import InLoop
from geocrawl.store.database.steps import ChunkedWork
from geocrawl.urls.database import DatabaseUrl, place_of
from tests.simulation.scheduler import SimulatedClock, SimulatedLoop
from tests.support.postgres import Server, running_server

T = TypeVar("T")
P = ParamSpec("P")


class Engine(Protocol):
    """Makes databases."""

    name: str

    def database(self) -> AbstractContextManager[DatabaseUrl]:
        """Return a new database with our tables, removed in the end."""

    def rows(self, place: DatabaseUrl, statement: str) -> list[tuple[Any, ...]]:
        """Return what a statement reads, on a connection of its own."""

    def integrity(self, place: DatabaseUrl) -> str:
        """Return 'ok' for a sound database."""


class Sqlite:
    """Databases in files, in memory where the system has a folder for that."""

    name = "sqlite"

    def __init__(self, folder: Path) -> None:
        """Make an empty database in `folder`, to be copied."""
        self._folder = folder
        self._template = folder / "template.db"
        self._reader: tuple[DatabaseUrl, sqlite3.Connection] | None = None
        Store.open(self._template, clock=SimulatedClock(SimulatedLoop(cast(Any, None), disorder=0.0))).close()

    @contextmanager
    def database(self) -> Iterator[DatabaseUrl]:
        """Return a new database."""
        path = self._folder / "crawl.db"
        shutil.copyfile(self._template, path)
        try:
            yield path
        finally:
            if self._reader is not None:
                self._reader[1].close()
                self._reader = None
            for each in self._folder.glob("crawl.db*"):
                each.unlink()

    def rows(self, place: DatabaseUrl, statement: str) -> list[tuple[Any, ...]]:
        """Return what a statement reads."""
        if self._reader is None:
            self._reader = place, sqlite3.connect(f"file:{place}?mode=ro", uri=True, isolation_level=None)
        return self._reader[1].execute(statement).fetchall()

    def integrity(self, place: DatabaseUrl) -> str:
        """Return 'ok' for a sound database."""
        if broken := self.rows(place, "PRAGMA foreign_key_check"):
            return f"rows that refer to none: {broken}"
        return str(self.rows(place, "PRAGMA integrity_check")[0][0])


class Postgres:
    """Databases of a server."""

    name = "postgres"

    def __init__(self, server: Server) -> None:
        self._server = server
        self._reader: Any = None

    @contextmanager
    def database(self) -> Iterator[DatabaseUrl]:
        """Return a new database."""
        url = self._server.new_catalogue()
        try:
            yield place_of(url)
        finally:
            if self._reader is not None:
                self._reader.close()
                self._reader = None
            self._server.drop(url)

    def rows(self, place: DatabaseUrl, statement: str) -> list[tuple[Any, ...]]:
        """Return what a statement reads."""
        import psycopg

        if self._reader is None:
            url = cast(Any, place).url
            self._reader = psycopg.connect(url, autocommit=True, options="-c search_path=geocrawl,public")
        return list(self._reader.execute(statement).fetchall())

    def integrity(self, place: DatabaseUrl) -> str:
        """Return 'ok': the server looks after its files itself."""
        return "ok"


@contextmanager
def engine_named(name: str) -> Iterator[Engine]:
    """Yield an engine; the test skips, or the command ends, where it is not installed."""
    if name == "postgres":
        with running_server() as server:
            yield Postgres(server)
        return
    folder = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="geocrawl-simulation-", dir=folder) as made:
        yield Sqlite(Path(made))


class Interruptions(Protocol):
    """What may happen to a process at its statements."""

    def at_opening(self) -> None:
        """Raise what happens to a process that connects."""

    def at_statement(self, statement: Statement) -> None:
        """Raise what happens before a statement."""

    def while_alive(self) -> None:
        """Raise ProcessKilledError in a process that was killed."""


class InterruptedConnection:
    """A connection of one process, each of whose statements may fail; in place of an `engine.connection.Connection`."""

    def __init__(self, inner: Connection, interruptions: Interruptions) -> None:
        self.inner = inner
        self._interruptions = interruptions

    def execute(self, statement: Statement, values: Any = ()) -> Any:
        self._interruptions.at_statement(statement)
        return self.inner.execute(statement, values)

    def executemany(self, statement: Statement, values: Any) -> Any:
        self._interruptions.at_statement(statement)
        return self.inner.executemany(statement, values)

    def write(self, statement: Statement, values: Any = ()) -> None:
        self._interruptions.at_statement(statement)
        self.inner.write(statement, values)

    def write_many(self, statement: Statement, values: Any) -> None:
        self._interruptions.at_statement(statement)
        self.inner.write_many(statement, values)

    def begin(self, *, shared: bool = False) -> None:
        self._interruptions.at_statement("BEGIN")
        self.inner.begin(shared=shared)

    def close(self) -> None:
        self.inner.close()

    def __getattr__(self, name: str) -> Any:
        self._interruptions.while_alive()
        return getattr(self.inner, name)


class Interleaved(InLoop):
    """Lets the scheduler choose who goes on around each call of the store, as its thread does."""

    def __init__(self, clock: Clock, loop: SimulatedLoop, note: Callable[[str, object], None]) -> None:
        """`note` is called with the name and the result of each call."""
        super().__init__(clock)
        self._loop = loop
        self._note = note

    async def run(self, call: Callable[P, T], /, *values: P.args, **named: P.kwargs) -> T:
        await self._let_others_by()
        result = await super().run(call, *values, **named)
        await self._let_others_by()
        return result

    async def run_steps(self, work: ChunkedWork[T]) -> T:
        result = await super().run_steps(work)
        self._note(getattr(work, "__name__", ""), result)
        return result

    async def _let_others_by(self) -> None:
        for _ in range(self._loop.rng.choice((0, 0, 1, 1, 2))):
            await asyncio.sleep(0)


class SimulatedStore(Store):
    """A store of one process."""

    loop: SimulatedLoop
    note: Callable[[str, object], None]

    @classmethod
    def opened(cls, place: DatabaseUrl, clock: Clock) -> SimulatedStore:
        """Return the store at a place. No thread beats for it: that would lock the database for a moment of the
        machine's time, which in virtual time, where nobody waits, is longer than the longest wait."""
        store = cls.open(place, clock=clock)
        assert isinstance(store, cls)
        store.database.life.has_thread = False
        return store

    def use(self, loop: SimulatedLoop, interruptions: Interruptions, note: Callable[[str, object], None]) -> None:
        """Interrupt all that follows."""
        self.loop, self.note = loop, note
        self.database.connection = cast(Any, InterruptedConnection(self.database.connection, interruptions))

    @property
    def raw(self) -> Connection:
        """Return the connection behind the interrupted one."""
        connection: Any = self.database.connection
        return cast(Connection, connection.inner if isinstance(connection, InterruptedConnection) else connection)

    def close_at_once(self) -> None:
        """End the connection, as the end of its process does."""
        self.raw.close()
        if (beating := self.database.life.connection) is not None:
            self.database.life.connection = None
            beating.close()

    def stay_in_loop(self) -> None:
        """Let others go on around each call."""
        self.database.runner = Interleaved(self.clock, self.loop, self.note)
