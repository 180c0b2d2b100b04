"""Carry what one database promises over into a copy that takes its place: opt-outs, quarantine, decisions, a pause.

A backup is older than the promises that hosts and people were given since. Whoever restores it wants its data, and not
to visit again a host that has asked to be left alone.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy import bindparam, select

from geocrawl.store.catalogue.write.verdicts import CatalogueWriter
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import upsert
from geocrawl.store.database.database import Database
from geocrawl.store.database.opt_out import BlockedHost, read_blocked
from geocrawl.store.database.processes import is_paused
from geocrawl.store.database.schema.tables import ENDPOINT, SAME_SERVICE, SITE
from geocrawl.store.frontier.frontier import SqlFrontier
from geocrawl.store.upkeep.daemon_lock import ask_to_pause
from geocrawl.store.upkeep.forget import forget

_SITES = (
    select(SITE.c.name, SITE.c.held_at, SITE.c.held_for, SITE.c.released)
    .where(SITE.c.held_at.is_not(None))
    .order_by(SITE.c.name)
)
_SITE = select(SITE.c.hosts, SITE.c.held_at, SITE.c.held_for, SITE.c.released).where(SITE.c.name == bindparam("name"))
_HOLD = upsert(SITE, "name")
_ONE, _OTHER = ENDPOINT.alias("one"), ENDPOINT.alias("other")
_DECISIONS = (
    select(_ONE.c.kind, _ONE.c.key, _OTHER.c.kind, _OTHER.c.key, SAME_SERVICE.c.same, SAME_SERVICE.c.at)
    .join_from(SAME_SERVICE, _ONE, _ONE.c.id == SAME_SERVICE.c.first_id)
    .join(_OTHER, _OTHER.c.id == SAME_SERVICE.c.second_id)
    .where(SAME_SERVICE.c.signal == "person")
    .order_by(SAME_SERVICE.c.at, SAME_SERVICE.c.first_id, SAME_SERVICE.c.second_id)
)
_VALID_ENDPOINT = select(ENDPOINT.c.id).where(
    ENDPOINT.c.kind == bindparam("kind"), ENDPOINT.c.key == bindparam("key"), ENDPOINT.c.last_ok.is_not(None)
)


@dataclass(frozen=True, slots=True)
class QuarantinedOnce:
    """A site that was quarantined, and perhaps released since."""

    name: str
    held_at: float
    """Since when, in seconds since the epoch."""
    held_for: str
    """The pattern of its services' addresses."""
    released: int


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision about two endpoints, each named by kind and key."""

    one: tuple[str, str]
    other: tuple[str, str]
    same: bool
    at: float


@dataclass(frozen=True, slots=True)
class Promises:
    """What a database promises to hosts and people."""

    opt_outs: tuple[BlockedHost, ...]
    sites: tuple[QuarantinedOnce, ...]
    decisions: tuple[Decision, ...]
    paused: bool


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """Counts of what a copy lacked and was given."""

    opt_outs: int
    sites: int
    decisions: int


def read_promises(connection: Connection) -> Promises:
    """Return what a database promises. Raises DatabaseFault when it cannot be read."""
    return Promises(
        tuple(read_blocked(connection)),
        tuple(QuarantinedOnce(*row) for row in connection.execute(_SITES).fetchall()),
        _read_decisions(connection),
        is_paused(connection),
    )


def _read_decisions(connection: Connection) -> tuple[Decision, ...]:
    rows = connection.execute(_DECISIONS).fetchall()
    return tuple(Decision((a, b), (c, d), bool(same), at) for a, b, c, d, same, at in rows)


def carry_over(promises: Promises, database: Database, catalog: CatalogueWriter, frontier: SqlFrontier) -> CarriedOver:
    """Write promises into a database that nobody else uses, and remove what it holds of the hosts that opted out.

    `catalog` and `frontier` are that database's; addresses of released sites wait in its queue again. What the database
    promises itself stays: an opt-out ends by `geocrawl forget --undo` alone.
    """
    if promises.paused != is_paused(database.connection):
        ask_to_pause(database, pause=promises.paused)
    known = {each.host for each in read_blocked(database.connection)}
    new = [opt_out for opt_out in promises.opt_outs if opt_out.host not in known]
    for each in new:
        forget(database, each.host, each.reason, each.at)
    sites = sum(_hold(site, database, frontier) for site in promises.sites)
    decided = _read_decisions(database.connection)
    decisions = sum(_decide(decision, database, catalog) for decision in promises.decisions if decision not in decided)
    return CarriedOver(len(new), sites, decisions)


def _hold(site: QuarantinedOnce, database: Database, frontier: SqlFrontier) -> bool:
    """Quarantine or release a site as it was; return whether that changed anything."""
    hosts, *held = database.connection.execute(_SITE, {"name": site.name}).fetchone() or (0,)
    if held == [site.held_at, site.held_for, site.released]:
        return False
    with database.transaction:
        database.connection.execute(_HOLD, {"hosts": hosts, **asdict(site)})
    if site.released:
        frontier.release_site(site.name)
    return True


def _decide(decision: Decision, database: Database, catalog: CatalogueWriter) -> bool:
    """Store a decision about two endpoints if the database knows both; return whether it does."""
    ids = []
    for kind, key in (decision.one, decision.other):
        row = database.connection.execute(_VALID_ENDPOINT, {"kind": kind, "key": key}).fetchone()
        if row is None:
            return False
        ids.append(row[0])
    catalog.decide((ids[0], ids[1]), same=decision.same, at=decision.at)
    return True
