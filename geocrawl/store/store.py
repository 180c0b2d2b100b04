"""Open a database by its URL, and provide its parts.

Commands and the daemon use a database only through `Store`, so that they know neither SQLite nor which modules of this
package do the work. Parts are imported when they are needed: reading the status loads no frontier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.errors import DatabaseFault
from geocrawl.store.engine.database import Database
from geocrawl.urls.database import Place, file_of, place_of

if TYPE_CHECKING:
    from types import TracebackType

    from geocrawl.errors import PassingFault
    from geocrawl.model import Url
    from geocrawl.ports import Clock, HostLeases, OptOuts, RobotsStore
    from geocrawl.settings import Settings
    from geocrawl.store.catalog.catalog import Catalog
    from geocrawl.store.engine.connection import Connection
    from geocrawl.store.engine.opt_out import OptOut
    from geocrawl.store.frontier.frontier import AwaitedFrontier, SqlFrontier
    from geocrawl.store.frontier.options import FrontierOptions
    from geocrawl.store.maintenance.clock_limits import ClockLimits
    from geocrawl.store.maintenance.daemon_lock import DaemonLock
    from geocrawl.store.maintenance.facts import Facts
    from geocrawl.store.maintenance.forget import Removed
    from geocrawl.store.maintenance.migrate import TableSum
    from geocrawl.store.maintenance.retention import Retention
    from geocrawl.store.maintenance.seeds import NewSeed
    from geocrawl.store.maintenance.watches import Watches
    from geocrawl.store.read.processes import OtherRun
    from geocrawl.store.read.show import Address


class Store:
    """One open database. Close it, or use it in a `with` statement."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self._clock = clock

    @classmethod
    def open(cls, url: str | Place, *, clock: Clock, create: bool = True) -> Store:
        """Open the database at `url`, and upgrade its schema if needed. `create`: create a missing database.

        `url` is `sqlite:///path` (four slashes before an absolute path), `sqlite://` for a new one in memory, a path,
        or `postgresql://user@host/name`. Raises UsageError for another scheme, DatabaseFault for a database that cannot
        be used.
        """
        from geocrawl.store.search.upkeep import index_missing

        store = cls(Database.open(place_of(url), create=create, clock=clock), clock)
        index_missing(store.database)
        return store

    @classmethod
    def join(cls, url: str | Place, *, clock: Clock) -> Store:
        """Open the database at `url` as it is: it is neither created nor upgraded.

        Raises DatabaseFault when it is missing, damaged, of another program or of another schema.
        """
        return cls(Database.join(place_of(url), clock=clock), clock)

    @staticmethod
    @contextmanager
    def open_readonly(url: str | Place) -> Iterator[Connection]:
        """Open the database at `url` for the functions of `store.read`, and close it at the end; nothing is created or
        changed.

        Raises DatabaseFault when it is missing, not ours, or of a schema that this program does not know.
        """
        from geocrawl.store.engine.database import open_readonly

        with open_readonly(place_of(url)) as connection:
            yield connection

    @staticmethod
    def exists(url: str | Place) -> bool:
        """Return whether there is a database at `url`. Raises DatabaseFault when that cannot be determined."""
        from geocrawl.store.engine.database import exists

        return exists(place_of(url))

    @property
    def path(self) -> Place:
        """Return the database's place, as named in messages."""
        return self.database.path

    def close(self) -> None:
        """Close the database; what is committed stays."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ----------------------------------------------------------------------- crawling

    def catalog(self) -> Catalog:
        """Return the catalogue, which settlements write and a crawl queries (`ports.CatalogQueries`)."""
        from geocrawl.store.catalog.catalog import Catalog

        return Catalog(self.database, self._clock)

    def frontier(self, settings: Settings, catalog: Catalog, options: FrontierOptions | None = None) -> SqlFrontier:
        """Return the queue for commands and for learning (`ports.Frontier`)."""
        from geocrawl.store.frontier.frontier import SqlFrontier
        from geocrawl.store.frontier.options import FrontierOptions

        return SqlFrontier(self.database, settings, self._clock, catalog=catalog, options=options or FrontierOptions())

    def queue(self, frontier: SqlFrontier) -> AwaitedFrontier:
        """Return a frontier as the loop awaits it (`ports.CrawlQueue`)."""
        from geocrawl.store.frontier.frontier import AwaitedFrontier

        return AwaitedFrontier(frontier)

    def opt_outs(self) -> OptOuts:
        """Return the hosts that opted out as the loop awaits them (`ports.OptOuts`)."""
        from geocrawl.store.frontier.frontier import AwaitedOptOuts

        return AwaitedOptOuts(self.opt_out)

    def host_leases(self, settings: Settings) -> HostLeases:
        """Return the hosts' leases for a session that shares this database's politeness."""
        from geocrawl.store.frontier.host_leases import SharedLeases

        return SharedLeases(self.database, settings)

    def robots(self) -> RobotsStore:
        """Return the store of robots.txt answers."""
        from geocrawl.store.frontier.host_leases import SqlRobots

        return SqlRobots(self.database)

    def shared_robots(self, own: RobotsStore) -> RobotsStore:
        """Return a store of robots.txt answers that reads and writes both this database's and `own`."""
        from geocrawl.store.frontier.host_leases import SharedRobots

        return SharedRobots(self.database, own)

    # ----------------------------------------------------------------------- runs

    def start_run(self, strategy: str, settings: Settings) -> int:
        """Record that a run begins; return its number."""
        return self.database.start_run(strategy, settings)

    def end_run(self, run: int, *, pages: int, services: int, stopped: str) -> None:
        """Record how a run ended."""
        self.database.end_run(run, pages=pages, services=services, stopped=stopped)

    def earlier_runs(self, run: int) -> list[OtherRun]:
        """Return the crawls of other processes that began before `run` and still run, the earliest first."""
        from geocrawl.store.engine.owner import this_process
        from geocrawl.store.read.processes import earlier_runs

        return earlier_runs(self.database.connection, run, this_process(), self._clock.now())

    @property
    def owner(self) -> str:
        """Return the text by which this process owns leases and runs (`engine.owner.Owner`)."""
        from geocrawl.store.engine.owner import this_process

        return this_process().text

    def begin_helping(self, crawl: str) -> None:
        """Note that this process helps the crawl of another one, its `owner`."""
        from geocrawl.store.maintenance.helping import begin_helping

        begin_helping(self.database, crawl, self._clock.now())

    def end_helping(self) -> None:
        """Note that this process helps no longer."""
        from geocrawl.store.maintenance.helping import end_helping

        end_helping(self.database)

    # ----------------------------------------------------------------------- reading and operating

    @property
    def connection(self) -> Connection:
        """Return the connection from which the functions of `store.read` read."""
        return self.database.connection

    @cached_property
    def facts(self) -> Facts:
        """Return the stored facts about the whole database."""
        from geocrawl.store.maintenance.facts import Facts

        return Facts(self.database)

    @property
    def opt_out(self) -> OptOut:
        """Return the hosts that opted out, as known to this process."""
        return self.database.blocked

    def forget(self, host: str, reason: str, at: float) -> Removed:
        """Remove a host and its subdomains, and never visit them again; return what was removed."""
        from geocrawl.store.maintenance.forget import forget

        return forget(self.database, host, reason, at)

    def undo_forget(self, host: str) -> bool:
        """Allow a host again, as a new one; return whether it had opted out."""
        from geocrawl.store.maintenance.forget import undo

        return undo(self.database, host)

    def add_seeds(self, seeds: Iterable[NewSeed], at: float) -> int:
        """Store start pages for the daemon; return how many are new."""
        from geocrawl.store.maintenance.seeds import add_seeds

        return add_seeds(self.database, seeds, at)

    def remove_seeds(self, urls: Iterable[Url]) -> int:
        """Drop start pages of the daemon; return how many there were. What was found from them stays."""
        from geocrawl.store.maintenance.seeds import remove_seeds

        return remove_seeds(self.database, urls)

    def decide_same(self, pairs: Sequence[tuple[Address, Address]], *, same: bool, at: float) -> None:
        """Store a person's decision that the endpoints of each pair are one service, or are not."""
        catalog = self.catalog()
        for one, other in pairs:
            catalog.decide(one.endpoint_id, other.endpoint_id, same=same, at=at)

    def daemon_lock(self) -> DaemonLock:
        """Return the lock that one daemon at a time has."""
        from geocrawl.store.maintenance.daemon_lock import DaemonLock

        return DaemonLock(self.database)

    def pause_daemon(self, *, pause: bool) -> None:
        """Pause the daemon, or let it continue; it obeys at its next heartbeat, and also after a restart."""
        from geocrawl.store.maintenance.daemon_lock import ask_to_pause

        ask_to_pause(self.database, pause=pause)

    def reload_daemon(self) -> None:
        """Make the daemon read its configuration again."""
        from geocrawl.store.maintenance.daemon_lock import ask_to_reload

        ask_to_reload(self.database)

    def watches(self) -> Watches:
        """Return the watches, which tell people of changes."""
        from geocrawl.store.maintenance.watches import Watches

        return Watches(self.database)

    def clock_limits(self, settings: Settings) -> ClockLimits:
        """Return the operation that limits times that a wrong clock wrote."""
        from geocrawl.store.maintenance.clock_limits import ClockLimits

        return ClockLimits(self.database, settings)

    def retention(self, settings: Settings) -> Retention:
        """Return the operation that deletes old probes, and rows that exceed the limit on the size."""
        from geocrawl.store.maintenance.retention import Retention

        return Retention(self.database, keep_days=settings.keep_probes_days, max_bytes=settings.max_db_bytes)

    # ----------------------------------------------------------------------- the database as a whole

    def quick_check(self, limit_s: float) -> bool:
        """Check for damage for at most `limit_s` seconds; return whether the whole database was checked. Raises
        DatabaseFault for damage."""
        return self.database.connection.check(limit_s)

    def index_again(self) -> int:
        """Make the search index anew from the catalogue; return how many services it has."""
        from geocrawl.store.search.upkeep import index_again

        return index_again(self.database)

    def try_write(self, write: Callable[[], object]) -> PassingFault | None:
        """Call `write`; return the temporary fault that still prevents it, None when `write` succeeded. Raises
        DatabaseFault for a lasting fault."""
        from geocrawl.store.engine.database import try_write

        return try_write(self.database, write)

    @staticmethod
    def back_up(url: str | Place, target: Path) -> int:
        """Write a consistent, checked copy of the database at `url`; return its size in bytes.

        Raises DatabaseFault for a database that cannot be read, EnvironmentFault for a target that cannot be written.
        """
        from geocrawl.store.maintenance.backup import back_up

        return back_up(file_of(url, "a backup"), target)

    @staticmethod
    def remove_if_only_of(url: str | Place, hosts: Set[str], now: float) -> None:
        """Remove the database at `url`, if there is one, unless it holds other hosts than these.

        Raises DatabaseFault when it does, or is not ours; EnvironmentFault while anybody uses it.
        """
        from geocrawl.store.maintenance.backup import remove_if_only_of

        remove_if_only_of(file_of(url, "removing a database"), hosts, now)

    @staticmethod
    def migrate(
        source: str | Place, target: str | Place, clock: Clock, tell: Callable[[str, int], object]
    ) -> Mapping[str, TableSum]:
        """Copy everything from the database at `source` into the empty or missing one at `target`, and compare both;
        return the number and hash of each table's rows. `tell(table, rows)` is called after each table.

        Raises DatabaseFault when the target is not empty, somebody works on the source, or a table arrived otherwise.
        """
        from geocrawl.store.maintenance.migrate import migrate

        if not Store.exists(source):
            raise DatabaseFault(f"{place_of(source)}: no such catalogue to copy; the first argument names it")
        with Store.open(source, clock=clock, create=False) as one, Store.open(target, clock=clock) as other:
            return migrate(one.database, other.database, clock.now(), tell)

    @staticmethod
    def restore(source: Path, url: str | Place, now: float) -> Path | None:
        """Put a copy in the place of the database at `url`; return where the former one was kept, None without one.

        Raises DatabaseFault for a damaged copy or one of a newer geocrawl, EnvironmentFault while a daemon runs.
        """
        from geocrawl.store.maintenance.backup import restore

        return restore(source, file_of(url, "restoring a backup"), now)
