"""Keep what a crawl knows, in SQLite or PostgreSQL: the frontier, the catalogue, robots.txt, the state of hosts.

Other rooms import from this file alone: `Store`, which opens a database by its URL and gives its parts, and the types
of these parts and of what they return. A name is loaded when it is first used, so that `status` loads no frontier.

- `schema/` describes the tables and migrates older files;
- `engine/` opens the database, runs transactions and translates its errors; one folder an engine;
- `frontier/` decides which URL is next and writes what a visit brought;
- `catalog/` writes what probes found out about services;
- `queries/` reads for people and programs: modules named after commands, which create and change nothing;
- `search/` keeps the search index and answers what `geocrawl.search` asks;
- `maintenance/` maintains a database: backup, opt-out, retention, start pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from geocrawl.lazy_names import lazy_names

if TYPE_CHECKING:
    from geocrawl.store.engine.connection import OpenSnapshot
    from geocrawl.store.engine.opt_out import BlockedHost
    from geocrawl.store.frontier.options import FrontierOptions
    from geocrawl.store.maintenance.daemon_lock import BEAT_S, DaemonLock
    from geocrawl.store.maintenance.migrate import TableSum
    from geocrawl.store.maintenance.seeds import NewSeed, SeedRow
    from geocrawl.store.maintenance.watches import MOST_FAILURES, Watches
    from geocrawl.store.queries.addresses import Address
    from geocrawl.store.queries.export import ExportRow
    from geocrawl.store.queries.history import EndpointHistory, Survival
    from geocrawl.store.queries.kinds import KindCount
    from geocrawl.store.queries.news import NewsRow
    from geocrawl.store.queries.published import Selection
    from geocrawl.store.queries.queries import Queries
    from geocrawl.store.queries.runs import OtherRun, WorkingProcess
    from geocrawl.store.queries.show import EndpointRow, LayerRow, ServiceDetail
    from geocrawl.store.queries.statistics import Growth, SoftwareGrowth, Statistics
    from geocrawl.store.queries.status import CatalogStatus, Run
    from geocrawl.store.queries.why import UrlRow, Why
    from geocrawl.store.queries.workers import Worker
    from geocrawl.store.store import Store

_MODULES = {
    "engine.connection": "OpenSnapshot",
    "frontier.options": "FrontierOptions",
    "maintenance.daemon_lock": "BEAT_S DaemonLock",
    "maintenance.migrate": "TableSum",
    "engine.opt_out": "BlockedHost",
    "maintenance.seeds": "NewSeed SeedRow",
    "maintenance.watches": "MOST_FAILURES Watches",
    "queries.addresses": "Address",
    "queries.export": "ExportRow",
    "queries.history": "EndpointHistory Survival",
    "queries.kinds": "KindCount",
    "queries.published": "Selection",
    "queries.news": "NewsRow",
    "queries.queries": "Queries",
    "queries.runs": "OtherRun WorkingProcess",
    "queries.show": "EndpointRow LayerRow ServiceDetail",
    "queries.statistics": "Growth SoftwareGrowth Statistics",
    "queries.status": "CatalogStatus Run",
    "queries.why": "UrlRow Why",
    "queries.workers": "Worker",
    "store": "Store",
}
"""Module of this package → names in it that other rooms import."""

__all__ = [
    "BEAT_S",
    "MOST_FAILURES",
    "Address",
    "BlockedHost",
    "CatalogStatus",
    "DaemonLock",
    "EndpointHistory",
    "EndpointRow",
    "ExportRow",
    "FrontierOptions",
    "Growth",
    "KindCount",
    "LayerRow",
    "NewSeed",
    "NewsRow",
    "OpenSnapshot",
    "OtherRun",
    "Queries",
    "Run",
    "SeedRow",
    "Selection",
    "ServiceDetail",
    "SoftwareGrowth",
    "Statistics",
    "Store",
    "Survival",
    "TableSum",
    "UrlRow",
    "Watches",
    "Why",
    "Worker",
    "WorkingProcess",
]

if not TYPE_CHECKING:  # a type checker would accept any name of this package
    __getattr__ = lazy_names(__name__, _MODULES)
