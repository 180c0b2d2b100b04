"""Keep what a crawl knows, in one SQLite file: the frontier, the catalogue, robots.txt, the state of hosts.

Other rooms import from this file alone: `Store`, which opens a database by its URL and gives its parts, and the types
of these parts and of what they return. A name is loaded when it is first used, so that `status` loads no frontier.

- `schema/` describes the tables and migrates older files;
- `engine/` opens the file, runs transactions and translates SQLite's errors;
- `frontier/` decides which URL is next and writes what a visit brought;
- `catalog/` writes what probes found out about services;
- `queries/` reads for people and programs: modules named after commands, which create and change nothing;
- `operations/` maintains a database: backup, opt-out, retention, start pages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geocrawl.store.operations.daemon_lock import BEAT_S, DaemonLock
    from geocrawl.store.operations.opt_out import BlockedHost
    from geocrawl.store.operations.outages import Outages, Standing, UnreachedEndpoint, UnreachedHost
    from geocrawl.store.operations.seeds import NewSeed, SeedRow
    from geocrawl.store.queries.addresses import Address
    from geocrawl.store.queries.history import EndpointHistory, Survival
    from geocrawl.store.queries.kinds import KindCount
    from geocrawl.store.queries.queries import Queries
    from geocrawl.store.queries.runs import OtherRun, WorkingProcess
    from geocrawl.store.queries.search import BBox, Found, SearchResult
    from geocrawl.store.queries.show import EndpointRow, ServiceDetail
    from geocrawl.store.queries.status import CatalogStatus, Run
    from geocrawl.store.queries.why import UrlRow, Why
    from geocrawl.store.store import Store

_MODULES = {
    "operations.daemon_lock": "BEAT_S DaemonLock",
    "operations.opt_out": "BlockedHost",
    "operations.outages": "Outages Standing UnreachedEndpoint UnreachedHost",
    "operations.seeds": "NewSeed SeedRow",
    "queries.addresses": "Address",
    "queries.history": "EndpointHistory Survival",
    "queries.kinds": "KindCount",
    "queries.queries": "Queries",
    "queries.runs": "OtherRun WorkingProcess",
    "queries.search": "BBox Found SearchResult",
    "queries.show": "EndpointRow ServiceDetail",
    "queries.status": "CatalogStatus Run",
    "queries.why": "UrlRow Why",
    "store": "Store",
}
"""Module of this package → names in it that other rooms import."""

__all__ = [
    "BEAT_S",
    "Address",
    "BBox",
    "BlockedHost",
    "CatalogStatus",
    "DaemonLock",
    "EndpointHistory",
    "EndpointRow",
    "Found",
    "KindCount",
    "NewSeed",
    "OtherRun",
    "Outages",
    "Queries",
    "Run",
    "SearchResult",
    "SeedRow",
    "ServiceDetail",
    "Standing",
    "Store",
    "Survival",
    "UnreachedEndpoint",
    "UnreachedHost",
    "UrlRow",
    "Why",
    "WorkingProcess",
]

if not TYPE_CHECKING:  # a type checker would accept any name of this package

    def __getattr__(name: str) -> object:
        """Return a public name, from the module that defines it."""
        for module, names in _MODULES.items():
            if name in names.split():
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
