"""Maintain a catalogue: put failed addresses back, release a quarantined site, merge and split services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.app.session import Session, as_stored
from geocrawl.store.engine.connection import Connection

if TYPE_CHECKING:
    from geocrawl.settings import Settings
    from geocrawl.store.queries.addresses import Address


def retry(settings: Settings, path: Path, *, host: str | None, reason: str | None) -> int:
    """Put failed addresses back into the queue; returns how many."""
    clock = wiring.system_clock()
    with wiring.open_database(path, clock, create=False) as database:
        return Session(as_stored(settings, database), database, clock, learning=False).frontier.retry(
            host=host, reason=reason
        )


def release(settings: Settings, path: Path, site: str) -> int | None:
    """Let a site that was held be asked again; returns how many addresses wait again, None when it is not held."""
    clock = wiring.system_clock()
    with wiring.open_database(path, clock, create=False) as database:
        return Session(as_stored(settings, database), database, clock, learning=False).frontier.release_site(site)


def decide_same(
    path: Path, choose: Callable[[Connection], Sequence[tuple[Address, Address]]], *, same: bool
) -> Sequence[tuple[Address, Address]]:
    """Keep a person's word that the endpoints of each pair are one service, or are not; returns the pairs."""
    from geocrawl.store.catalog.catalog import SqlCatalog
    from geocrawl.store.queries.addresses import decide

    clock = wiring.system_clock()
    with wiring.open_database(path, clock, create=False) as database:
        decided = choose(database.connection)
        decide(SqlCatalog(database, clock), decided, same=same, at=clock.now())
        return decided
