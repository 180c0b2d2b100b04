"""Maintain a catalogue: queue failed addresses again, release a quarantined site, merge and split services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from geocrawl.app import wiring
from geocrawl.app.session import MAINTENANCE, Session, with_stored_depth
from geocrawl.errors import DatabaseFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.model.details import Address
from geocrawl.ports import Clock
from geocrawl.settings import Settings
from geocrawl.store import Connection, Store
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.upkeep import backup
from geocrawl.store.upkeep.promises import CarriedOver, carry_over, read_promises
from geocrawl.urls.database import DatabaseUrl


def retry(settings: Settings, path: DatabaseUrl, *, host: str | None, reason: str | None) -> int:
    """Queue failed addresses again. Returns how many.

    `host`: only those of this host; `reason`: only those with this reason code; None: all.
    """
    clock = SystemClock()
    with Store.open(path, clock=clock, create=False) as store:
        return _session(settings, store, clock).frontier.retry(host=host, reason=reason)


def release(settings: Settings, path: DatabaseUrl, site: str) -> int | None:
    """Release a quarantined site. Returns how many of its addresses wait again, None when it is not quarantined."""
    clock = SystemClock()
    with Store.open(path, clock=clock, create=False) as store:
        return _session(settings, store, clock).frontier.release_site(site)


def _session(settings: Settings, store: Store, clock: Clock) -> Session:
    return wiring.make_session(with_stored_depth(settings, store), store, clock, MAINTENANCE)


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """Tells what became of the database that a backup replaced."""

    kept: Path | None
    """Where the former database is kept; None when there was none."""
    carried_over: CarriedOver | None
    """What the backup was given of the former database's promises; None when there was no former database."""
    unread: str
    """Why the promises of the former database could not be read; '' when they were."""


def restore(settings: Settings, source: Path, target: DatabaseUrl) -> RestoreReport:
    """Replace the database at `target` by a backup, which keeps what the former one promised to hosts and people."""
    clock, carried, unread = SystemClock(), list[CarriedOver](), list[str]()

    def prepare(former: Connection, copy: Path) -> None:
        try:
            promises = read_promises(former)
        except DatabaseFault as fault:  # a damaged database is why many restore a backup
            unread.append(str(fault))
            return
        with Store.open(copy, clock=clock, create=False) as store:
            frontier = _session(settings, store, clock).frontier
            carried.append(carry_over(promises, store.database, store.catalog(), frontier))

    kept = backup.restore(source, target, clock.now(), prepare)
    return RestoreReport(kept, carried[0] if carried else None, unread[0] if unread else "")


def decide_same(
    path: DatabaseUrl, choose: Callable[[Catalogue], Sequence[tuple[Address, Address]]], *, same: bool
) -> Sequence[tuple[Address, Address]]:
    """Record a person's decision that the endpoints of each pair are one service, or are not. Returns the pairs.

    `choose(catalogue)` reads the pairs.
    """
    clock = SystemClock()
    with Store.open(path, clock=clock, create=False) as store:
        decided = choose(Catalogue(store.connection))
        pairs = [(one.endpoint_id, other.endpoint_id) for one, other in decided]
        store.catalog().decide(*pairs, same=same, at=clock.now())
        return decided
