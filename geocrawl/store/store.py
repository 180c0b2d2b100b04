"""Open a database by its URL, and give its parts.

This is the store's front door: what commands and the daemon need of a database comes from here, so that they know
neither SQLite nor which modules of this package do the work. Parts are imported when they are asked for: reading the
status loads no frontier.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.config.places import sqlite_path
from geocrawl.store.engine.database import Database

if TYPE_CHECKING:
    from types import TracebackType

    from geocrawl.ports import Clock, HostLeases, RobotsStore
    from geocrawl.settings import Settings
    from geocrawl.store.catalog.catalog import Catalog
    from geocrawl.store.engine.connection import Connection
    from geocrawl.store.frontier.awaited import AwaitedFrontier
    from geocrawl.store.frontier.frontier import SqlFrontier
    from geocrawl.store.operations.daemon_lock import DaemonLock
    from geocrawl.store.operations.retention import Retention


class Store:
    """One open database. Close it, or use it in a `with` statement."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self._clock = clock

    @classmethod
    def open(cls, url: str | Path, *, clock: Clock, create: bool = True) -> Store:
        """Open the database at `url`, its schema brought up to date. `create`: make one where none is.

        `url` is `sqlite:///path` (four slashes before an absolute path), `sqlite://` for a new one in memory, or a
        path. Raises UsageError for another scheme, DatabaseFault for a database that cannot be used.
        """
        return cls(Database.open(_path_of(url), create=create, clock=clock), clock)

    @classmethod
    def join(cls, url: str | Path, *, clock: Clock) -> Store:
        """Open the database at `url` as it is: it is neither made nor brought up to date.

        Raises DatabaseFault when it is missing, damaged, of another program or of another schema.
        """
        return cls(Database.join(_path_of(url), clock=clock), clock)

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
        """Return what writes the catalogue (`ports.CatalogWriter`) and answers a crawl (`ports.CatalogQueries`)."""
        from geocrawl.store.catalog.catalog import Catalog

        return Catalog(self.database, self._clock)

    def frontier(
        self,
        settings: Settings,
        catalog: Catalog,
        *,
        by_depth: bool = False,
        learns: bool = False,
        stride: int = 1,
        owner: str = "",
        records_only: bool = False,
    ) -> SqlFrontier:
        """Return the queue for commands and for learning (`ports.Frontier`). Arguments as in `SqlFrontier`;
        `owner` is this process by default."""
        from geocrawl.store.engine.owner import this_process
        from geocrawl.store.frontier.frontier import SqlFrontier

        return SqlFrontier(
            self.database,
            settings,
            self._clock,
            catalog=catalog,
            by_depth=by_depth,
            learns=learns,
            stride=stride,
            owner=owner or this_process().text,
            records_only=records_only,
        )

    def queue(self, frontier: SqlFrontier) -> AwaitedFrontier:
        """Return a frontier as the loop awaits it (`ports.CrawlQueue`)."""
        from geocrawl.store.frontier.awaited import AwaitedFrontier

        return AwaitedFrontier(frontier)

    def host_leases(self, settings: Settings) -> HostLeases:
        """Return the hosts' leases for a session that shares this database's politeness."""
        from geocrawl.store.frontier.shared_leases import SharedLeases

        return SharedLeases(self.database, settings)

    def robots(self) -> RobotsStore:
        """Return where answers for /robots.txt are kept."""
        from geocrawl.store.frontier.robots import SqlRobots

        return SqlRobots(self.database)

    # ----------------------------------------------------------------------- reading and operating

    @property
    def reading(self) -> Connection:
        """What the functions of `queries/` read from."""
        return self.database.connection

    def daemon_lock(self) -> DaemonLock:
        """Return the lock that one daemon at a time holds."""
        from geocrawl.store.operations.daemon_lock import DaemonLock

        return DaemonLock(self.database)

    def retention(self, settings: Settings) -> Retention:
        """Return what drops old probes, and what a limit on the size leaves no room for."""
        from geocrawl.store.operations.retention import Retention

        return Retention(self.database, keep_days=settings.keep_probes_days, max_bytes=settings.max_db_bytes)


def _path_of(url: str | Path) -> Path:
    return url if isinstance(url, Path) else Path(sqlite_path(url))
