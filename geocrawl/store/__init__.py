"""Keep what a crawl knows, in SQLite or PostgreSQL: the frontier, the catalogue, robots.txt, the state of hosts.

Four rooms stand one upon the other, each imports only what is below:

- `database/` opens a database, runs statements and transactions and translates errors; the schema and the views;
- `catalogue/` writes what probes learn about services, reads it for people and programs, indexes and searches it;
- `frontier/` decides which URL is next and writes what a visit brought;
- `upkeep/` maintains a database: backup, opt-out, retention, start pages, watches, the daemon's lock.

`Store` opens a database with all four.
"""

from typing import TYPE_CHECKING

from geocrawl.store.database.connection import Connection, OpenSnapshot
from geocrawl.store.database.database import Database, stored_strategy, stored_topic
from geocrawl.store.database.opt_out import BlockedHost, OptOut, read_blocked
from geocrawl.store.frontier.options import FrontierOptions
from geocrawl.store.store import Store

if TYPE_CHECKING:  # names of types: `status` loads no frontier
    from geocrawl.store.catalogue.write.verdicts import CatalogueWriter
    from geocrawl.store.frontier.frontier import SqlFrontier
    from geocrawl.store.frontier.shared_run import SharedRun

__all__ = [
    "BlockedHost",
    "CatalogueWriter",
    "Connection",
    "Database",
    "FrontierOptions",
    "OpenSnapshot",
    "OptOut",
    "SharedRun",
    "SqlFrontier",
    "Store",
    "read_blocked",
    "stored_strategy",
    "stored_topic",
]
