"""Maintain a catalogue: queue failed addresses again, release a quarantined site, merge and split services."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from geocrawl.app import wiring
from geocrawl.app.session import MAINTENANCE, Session, with_stored_depth
from geocrawl.fetch.clock import SystemClock
from geocrawl.ports import Clock
from geocrawl.settings import Settings
from geocrawl.store import Connection, Store
from geocrawl.store.maintenance.migrate import TableSum
from geocrawl.store.maintenance.migrate import migrate as copy
from geocrawl.store.read.show import Address
from geocrawl.urls.database import Place


def retry(settings: Settings, path: Place, *, host: str | None, reason: str | None) -> int:
    """Queue failed addresses again. Returns how many.

    `host`: only those of this host; `reason`: only those with this reason code; None: all.
    """
    clock = SystemClock()
    with Store.open(path, clock=clock, create=False) as store:
        return _session(settings, store, clock).frontier.retry(host=host, reason=reason)


def release(settings: Settings, path: Place, site: str) -> int | None:
    """Release a quarantined site. Returns how many of its addresses wait again, None when it is not quarantined."""
    clock = SystemClock()
    with Store.open(path, clock=clock, create=False) as store:
        return _session(settings, store, clock).frontier.release_site(site)


def _session(settings: Settings, store: Store, clock: Clock) -> Session:
    return wiring.make_session(with_stored_depth(settings, store), store, clock, MAINTENANCE)


def migrate(source: str, target: str, tell: Callable[[str, int], object] | None = None) -> Mapping[str, TableSum]:
    """Copy a whole catalogue into an empty or missing database; return the number and hash of the rows of each table,
    which are the same in both. `tell(table, rows)` is called after each table."""
    return copy(source, target, SystemClock(), tell or (lambda table, rows: None))


def decide_same(
    path: Place, choose: Callable[[Connection], Sequence[tuple[Address, Address]]], *, same: bool
) -> Sequence[tuple[Address, Address]]:
    """Record a person's decision that the endpoints of each pair are one service, or are not. Returns the pairs.

    `choose(connection)` reads the pairs from the database.
    """
    clock = SystemClock()
    with Store.open(path, clock=clock, create=False) as store:
        decided = choose(store.connection)
        catalog = store.catalog()
        for one, other in decided:
            catalog.decide(one.endpoint_id, other.endpoint_id, same=same, at=clock.now())
        return decided
