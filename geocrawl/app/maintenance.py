"""Maintain a catalogue: queue failed addresses again, release a quarantined site, merge and split services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.app.session import MAINTENANCE, Session, with_stored_depth
from geocrawl.store.engine.connection import Connection

if TYPE_CHECKING:
    from geocrawl.ports import Clock
    from geocrawl.settings import Settings
    from geocrawl.store.engine.database import Database
    from geocrawl.store.queries.addresses import Address


def retry(settings: Settings, path: Path, *, host: str | None, reason: str | None) -> int:
    """Queue failed addresses again. Returns how many.

    `host`: those of this host alone; `reason`: those with this reason code alone; None: all.
    """
    clock = wiring.system_clock()
    with wiring.open_database(path, clock, create=False) as database:
        return _session(settings, database, clock).frontier.retry(host=host, reason=reason)


def release(settings: Settings, path: Path, site: str) -> int | None:
    """Release a quarantined site. Returns how many of its addresses wait again, None when it is not quarantined."""
    clock = wiring.system_clock()
    with wiring.open_database(path, clock, create=False) as database:
        return _session(settings, database, clock).frontier.release_site(site)


def _session(settings: Settings, database: Database, clock: Clock) -> Session:
    return wiring.make_session(with_stored_depth(settings, database), database, clock, MAINTENANCE)


def decide_same(
    path: Path, choose: Callable[[Connection], Sequence[tuple[Address, Address]]], *, same: bool
) -> Sequence[tuple[Address, Address]]:
    """Record a person's decision that the endpoints of each pair are one service, or are not. Returns the pairs.

    `choose(connection)` reads the pairs from the database.
    """
    from geocrawl.store.catalog.catalog import Catalog
    from geocrawl.store.queries.addresses import decide

    clock = wiring.system_clock()
    with wiring.open_database(path, clock, create=False) as database:
        decided = choose(database.connection)
        decide(Catalog(database, clock), decided, same=same, at=clock.now())
        return decided
