"""Keep what a crawl knows, in SQLite or PostgreSQL: the frontier, the catalogue, robots.txt, the state of hosts.

Other rooms import from this file `Store`, which opens a database by its URL and gives its parts, and the types of these
parts; and from `read` and `search.index` the functions that read. A name is loaded when it is first used.

- `schema/` describes the tables and migrates older files;
- `engine/` opens the database, runs transactions and translates its errors; one folder an engine;
- `frontier/` decides which URL is next and writes what a visit brought;
- `catalog/` writes what probes found out about services;
- `read/` reads for people and programs: modules named after commands, which create and change nothing;
- `search/` keeps the search index and answers what `geocrawl.search` asks;
- `maintenance/` maintains a database: backup, opt-out, retention, start pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from geocrawl.lazy_names import lazy_names

if TYPE_CHECKING:
    from geocrawl.store.engine.connection import Connection, OpenSnapshot
    from geocrawl.store.engine.database import stored_strategy, stored_topic
    from geocrawl.store.engine.opt_out import BlockedHost, OptOut, read_blocked
    from geocrawl.store.frontier.learner import read_feedback, read_state
    from geocrawl.store.frontier.options import FrontierOptions
    from geocrawl.store.maintenance.daemon_lock import BEAT_S, DaemonLock
    from geocrawl.store.maintenance.migrate import TableSum
    from geocrawl.store.maintenance.seeds import NewSeed, SeedRow, read_seeds, seed_addresses
    from geocrawl.store.maintenance.watches import MOST_FAILURES, Watches
    from geocrawl.store.store import Store

_MODULES = {
    "engine.connection": "Connection OpenSnapshot",
    "engine.database": "stored_strategy stored_topic",
    "frontier.learner": "read_feedback read_state",
    "frontier.options": "FrontierOptions",
    "maintenance.daemon_lock": "BEAT_S DaemonLock",
    "maintenance.migrate": "TableSum",
    "engine.opt_out": "BlockedHost OptOut read_blocked",
    "maintenance.seeds": "NewSeed SeedRow read_seeds seed_addresses",
    "maintenance.watches": "MOST_FAILURES Watches",
    "store": "Store",
}
"""Module of this package → names in it that other rooms import."""

__all__ = [
    "BEAT_S",
    "MOST_FAILURES",
    "BlockedHost",
    "Connection",
    "DaemonLock",
    "FrontierOptions",
    "NewSeed",
    "OpenSnapshot",
    "OptOut",
    "SeedRow",
    "Store",
    "TableSum",
    "Watches",
    "read_blocked",
    "read_feedback",
    "read_seeds",
    "read_state",
    "seed_addresses",
    "stored_strategy",
    "stored_topic",
]

if not TYPE_CHECKING:  # a type checker would accept any name of this package
    __getattr__ = lazy_names(__name__, _MODULES)
