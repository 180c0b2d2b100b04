"""Open a database by its URL, and provide the parts with which a crawl works.

Parts are imported when they are needed: reading the status loads no frontier.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, update

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.sanitize import masked
from geocrawl.store.database.connection import BUSY_S
from geocrawl.store.database.database import Database, exists, open_readonly
from geocrawl.store.database.runner import InLoop
from geocrawl.store.database.schema.tables import RUN
from geocrawl.urls.database import DatabaseUrl, place_of

if TYPE_CHECKING:
    from types import TracebackType

    from geocrawl.ports import Clock, Politeness, StoreRunner
    from geocrawl.settings import Settings
    from geocrawl.store.catalogue.write.verdicts import CatalogueWriter
    from geocrawl.store.database.connection import Connection
    from geocrawl.store.database.opt_out import OptOut
    from geocrawl.store.database.processes import OtherRun
    from geocrawl.store.frontier.frontier import SqlFrontier
    from geocrawl.store.frontier.options import FrontierOptions

_START_RUN = insert(RUN).returning(RUN.c.id)
_END_RUN = update(RUN).where(RUN.c.id == bindparam("run"))


class Store:
    """One open database. Close it, or use it in a `with` statement."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self.clock = clock

    @classmethod
    def open(cls, url: str | DatabaseUrl, *, clock: Clock, create: bool = True) -> Store:
        """Open the database at `url`, and upgrade its schema if needed. `create`: create a missing database.

        `url` is `sqlite:///path` (four slashes before an absolute path), `sqlite://` for a new one in memory, a path,
        or `postgresql://user@host/name`. Raises UsageError for another scheme, DatabaseFault for a database that cannot
        be used.
        """
        from geocrawl.store.catalogue.index.upkeep import index_missing

        store = cls(Database.open(place_of(url), create=create, clock=clock), clock)
        index_missing(store.database)
        return store

    @classmethod
    def join(cls, url: str | DatabaseUrl, *, clock: Clock, busy_s: float = BUSY_S) -> Store:
        """Open the database at `url` as it is: it is neither created nor upgraded. `busy_s`: the longest wait for a
        lock.

        Raises DatabaseFault when it is missing, damaged, of another program or of another schema.
        """
        return cls(Database.join(place_of(url), clock=clock, busy_s=busy_s), clock)

    @staticmethod
    @contextmanager
    def open_readonly(url: str | DatabaseUrl) -> Iterator[Connection]:
        """Open the database at `url` for the functions that read, and close it at the end; nothing is created or
        changed.

        Raises DatabaseFault when it is missing, not ours, or of a schema that this program does not know.
        """
        with open_readonly(place_of(url)) as connection:
            yield connection

    @staticmethod
    def exists(url: str | DatabaseUrl) -> bool:
        """Return whether there is a database at `url`. Raises DatabaseFault when that cannot be determined."""
        return exists(place_of(url))

    def try_write(self, write: Callable[[], object]) -> PassingFault | None:
        """Call `write`; return the temporary fault that still prevents it, None when `write` succeeded.

        Raises DatabaseFault for a lasting fault. After a fault, the engine gives back what it takes itself, such as
        SQLite's write-ahead log: its space may be all that is missing on a full disk.
        """
        try:
            write()
        except PassingFault as fault:
            with suppress(DatabaseFault):
                self.connection.make_room()
            return fault
        return None

    @property
    def path(self) -> DatabaseUrl:
        """Return the database's place, as named in messages."""
        return self.database.path

    def close(self) -> None:
        """Close the database; what is committed stays."""
        self.database.close()

    @property
    def runner(self) -> StoreRunner:
        """Return what runs the calls that a loop makes: a thread of this store's own."""
        return self.database.runner

    def tell_waits(self, tell: Callable[..., object]) -> None:
        """Have `tell(event, **values)` write a line when the database gives a loop no answer, and when it does."""
        self.database.runner.tell = tell

    def stay_in_loop(self) -> None:
        """Answer the loop in the loop itself, where time is virtual."""
        self.database.runner = InLoop(self.clock)
        self.database.life.has_thread = False

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ----------------------------------------------------------------------- crawling

    def catalog(self) -> CatalogueWriter:
        """Return the catalogue, which settlements write and a crawl queries."""
        from geocrawl.store.catalogue.write.verdicts import CatalogueWriter

        return CatalogueWriter(self.database)

    def frontier(
        self, settings: Settings, catalog: CatalogueWriter, options: FrontierOptions | None = None
    ) -> SqlFrontier:
        """Return the queue for commands and for learning."""
        from geocrawl.store.frontier.frontier import SqlFrontier
        from geocrawl.store.frontier.options import FrontierOptions

        return SqlFrontier(self.database, settings, self.clock, catalog=catalog, options=options or FrontierOptions())

    def politeness(self, settings: Settings) -> Politeness:
        """Return what all who ask hosts share by this database: leases, delays, opt-outs and robots.txt."""
        from geocrawl.store.frontier.politeness import SqlPoliteness

        return SqlPoliteness(self.database, settings)

    def demand_writable(self) -> None:
        """Raise DatabaseFault when the database cannot be written now."""
        with self.database.transaction:
            pass

    # ----------------------------------------------------------------------- runs

    def start_run(self, strategy: str, settings: Settings) -> int:
        """Record that a run begins; return its number."""
        self.database.life.begin()
        with self.database.transaction:
            row = self.connection.execute(
                _START_RUN,
                {
                    "started_at": self.clock.now(),
                    "owner": self.database.life.owner,
                    "strategy": strategy,
                    "settings": _changed_settings(settings),
                },
            ).fetchone()
        return int(row[0])

    def end_run(self, run: int, *, pages: int, services: int, stopped: str) -> None:
        """Record how a run ended."""
        with self.database.transaction:
            self.connection.execute(
                _END_RUN,
                {"run": run, "ended_at": self.clock.now(), "pages": pages, "services": services, "stopped": stopped},
            )

    def earlier_runs(self, run: int) -> list[OtherRun]:
        """Return the crawls of other processes that began before `run` and still run, the earliest first."""
        from geocrawl.store.database.processes import earlier_runs

        return earlier_runs(self.database.connection, run, self.database.life.owner, self.clock.now())

    def run_reports(self, run: int) -> list[dict[str, Any]]:
        """Return what the other processes of a run have done so far, as each has stored it."""
        from geocrawl.store.frontier.shared_run import SharedRun

        return list(SharedRun(self.database, run).reports_of_others())

    # ----------------------------------------------------------------------- reading and operating

    @property
    def connection(self) -> Connection:
        """Return the connection from which the functions that read read."""
        return self.database.connection

    @cached_property
    def facts(self) -> DatabaseFacts:
        """Return the stored facts about the whole database."""

        return DatabaseFacts(self.database)

    @property
    def opt_out(self) -> OptOut:
        """Return the hosts that opted out, as known to this process."""
        return self.database.blocked


class DatabaseFacts:
    """Reads and writes the facts that commands store about a database. Every method raises DatabaseFault."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def strategy(self) -> str | None:
        """Return the name of the strategy by which the queue is ordered; None before the first crawl."""
        return self._database.meta("strategy")

    def topic(self) -> str:
        """Return the name of that strategy's topic; '' for its own."""
        return self._database.meta("topic") or ""

    def write_strategy(self, name: str, topic: str) -> None:
        """Write by which strategy and topic the queue is ordered."""
        with self._database.transaction:
            self._database.write_meta("strategy", name)
            self._database.write_meta("topic", topic)

    def max_depth(self) -> int | None:
        """Return the depth limit of the last crawl; None before the first."""
        depth = self._database.meta("max_depth")
        return int(depth) if depth else None

    def harvested_on(self, identity: str) -> str:
        """Return the day (YYYY-MM-DD) of the last whole harvest of a catalogue, named by its address's identity; ''
        when there was none."""
        return self._database.meta(f"harvest:{identity}") or ""

    def write_harvested(self, identity: str, day: str) -> None:
        """Write that a catalogue was harvested whole on a day (YYYY-MM-DD)."""
        self._database.set_meta(f"harvest:{identity}", day)

    def was_mined(self, identity: str) -> bool:
        """Return whether a file of an archive was mined whole for this database."""
        return self._database.meta(f"mined:{identity}") is not None

    def write_mined(self, identity: str) -> None:
        """Write that a file of an archive was mined whole."""
        self._database.set_meta(f"mined:{identity}", b"")


def _changed_settings(settings: Settings) -> str:
    """Return the settings that differ from their defaults as JSON, without secrets and sites."""
    default = type(settings)()
    changed = {
        field.name: masked(value) if isinstance(value, str) else value
        for field in fields(settings)
        if (value := getattr(settings, field.name)) != getattr(default, field.name)
        and not field.metadata.get("secret")
        and field.name != "sites"
    }
    return json.dumps(changed, default=str, sort_keys=True)
