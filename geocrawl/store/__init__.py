"""Keep what a crawl knows, in SQLite or PostgreSQL: the frontier, the catalogue, robots.txt, the state of hosts.

Other rooms open a database with `Store`, and give its `connection` to functions of `read` and `search`, its `database`
to those of `maintenance`; the other folders are private to this room.

- `schema/` describes the tables and migrates older databases;
- `engine/` opens the database, runs transactions and translates its errors; one folder an engine;
- `search/` keeps the search index and answers what `geocrawl.search` asks;
- `catalog/` writes what probes found out about services;
- `frontier/` decides which URL is next and writes what a visit brought;
- `read/` reads for people and programs, and changes nothing;
- `maintenance/` maintains a database: backup, opt-out, retention, start pages, watches, the daemon's lock.
"""

from typing import TYPE_CHECKING

from geocrawl.store.engine.connection import Connection, OpenSnapshot
from geocrawl.store.engine.database import Database, stored_strategy, stored_topic
from geocrawl.store.engine.opt_out import BlockedHost, OptOut, read_blocked
from geocrawl.store.frontier.options import FrontierOptions
from geocrawl.store.store import Store

if TYPE_CHECKING:  # names of types: `status` loads no frontier
    from geocrawl.store.catalog.catalog import Catalog
    from geocrawl.store.frontier.frontier import SqlFrontier
    from geocrawl.store.frontier.shared_run import SharedRun

__all__ = [
    "BlockedHost",
    "Catalog",
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
