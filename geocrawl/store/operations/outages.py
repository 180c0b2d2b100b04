"""What our own network's absence changed is put back, as if nobody had been asked.

A probe that reached nobody counts against its service, an address loses a try and its pattern a request, a host rests,
and its robots.txt is taken for unreachable. When it turns out that the network itself was away, none of that is true.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from geocrawl.store.catalog.clusters import EndpointClusters
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.budgets import Budgets, Caps
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.operations.opt_out import FORGETS

_FAILED = """
SELECT id, reason FROM url INDEXED BY url_failed WHERE state = 'failed' AND settled_at >= ?1 AND http_status IS NULL"""
_COLUMNS = (
    "status, reason, detail, http_status, deviations, last_probe, probes, "
    "health, health_since, in_a_row, interval_s, due_at"
)
_STANDING = f"SELECT id, {_COLUMNS} FROM endpoint WHERE id = (SELECT endpoint_id FROM url WHERE id = ?)"  # noqa: S608
# Only where nobody else has asked the endpoint since (`geocrawl probe --save`): ?2 is our last probe of it.
_PUT_BACK = f"""
UPDATE endpoint SET ({_COLUMNS}) = (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
WHERE id = ?1 AND last_probe IS ?2"""  # noqa: S608
_FORGET_PROBES = "DELETE FROM probe WHERE endpoint_id = ? AND at >= ? AND http_status IS NULL"
_FORGET_EVENTS = "DELETE FROM health_event WHERE endpoint_id = ? AND at >= ?"
_BEST = "UPDATE service SET best_id = ? WHERE id = ?"
_FORGET_ROBOTS = "DELETE FROM robots WHERE status IS NULL AND fetched_at >= ?"
# Of a host that nobody holds. ?2: its last error before.
_SHORTEN = "UPDATE host SET next_at = min(next_at, ?3) WHERE name = ?1 AND last_error_at > ?2 AND lease_until = 0"
_END = """
UPDATE host SET errors = ?4, last_error_at = ?2, next_at = min(next_at, ?3), parked = 0
WHERE name = ?1 AND last_error_at > ?2 AND lease_until = 0"""
_WELL = """
SELECT host FROM endpoint WHERE health = 'alive' GROUP BY host ORDER BY max(last_ok) DESC LIMIT ?"""


@dataclass(frozen=True, slots=True)
class Standing:
    """An endpoint before it was asked."""

    endpoint_id: int
    values: tuple[object, ...]
    """Its verdict, its health and when it is due, as they stand in the row."""
    last_probe: float | None


@dataclass(frozen=True, slots=True)
class Touched:
    """An endpoint that was asked in vain."""

    standing: Standing
    """Before the first time."""
    since: float
    """The first time, seconds since the epoch."""
    last_probe: float | None
    """When a verdict on it was last written."""


@dataclass(frozen=True, slots=True)
class Rested:
    """A host that was asked in vain, with what politeness knew of it before."""

    name: str
    since: float
    errors: int
    last_error_at: float


def standing_of(connection: Connection, url_id: int) -> Standing | None:
    """How the endpoint of a probe's row stands."""
    row = connection.execute(_STANDING, (url_id,)).fetchone()
    return Standing(row[0], tuple(row[1:]), row[6]) if row else None


def well_hosts(connection: Connection, most: int) -> list[str]:
    """Hosts of living services, the one that answered last at the end."""
    return [row[0] for row in connection.execute(_WELL, (most,))][::-1]


def put_back(database: Database, since: float, reasons: Collection[str], endpoints: Iterable[Touched]) -> int:
    """Undo what visits from `since` on (seconds since the epoch) changed that ended for one of `reasons`; returns how
    many addresses wait again, as ones that were never tried."""
    connection = database.connection
    with database.transaction:
        ids = [row[0] for row in connection.execute(_FAILED, (since,)).fetchall() if row[1] in reasons]
        _uncount(connection, ids)
        _reopen(connection, ids)
        for touched in endpoints:
            _put_back_one(connection, touched)
        connection.execute(_FORGET_ROBOTS, (since,))
    return len(ids)


def shorten_rests(database: Database, hosts: Iterable[Rested], until: float) -> None:
    """None of these hosts rests beyond `until` for having been asked in vain."""
    with database.transaction:
        database.connection.executemany(_SHORTEN, [(host.name, host.last_error_at, until) for host in hosts])


def end_rests(database: Database, hosts: Iterable[Rested], now: float) -> None:
    """These hosts may be asked as if they had not been asked in vain."""
    with database.transaction:
        database.connection.executemany(_END, [(host.name, host.last_error_at, now, host.errors) for host in hosts])


def _uncount(connection: Connection, ids: Sequence[int]) -> None:
    """Take back what these visits counted towards the budgets of their patterns."""
    budgets = Budgets(connection, Caps(0, 0, 0))
    for url_id in ids:
        budgets.uncount(url_id)


def _reopen(connection: Connection, ids: Sequence[int]) -> None:
    hosts, tally = Hosts(connection), Counters(connection)
    queue = Queue(connection, hosts, tally)
    for url_id in ids:
        queue.reopen(url_id, due=True)
    hosts.flush()
    tally.flush()
    if ids:
        connection.execute(sql.COUNT, (FORGETS, 1))  # every process looks its rows up anew


def _put_back_one(connection: Connection, touched: Touched) -> None:
    endpoint_id = touched.standing.endpoint_id
    values = (endpoint_id, touched.last_probe, *touched.standing.values)
    if not connection.execute(_PUT_BACK, values).rowcount:
        return
    connection.execute(_FORGET_PROBES, (endpoint_id, touched.since))
    connection.execute(_FORGET_EVENTS, (endpoint_id, touched.since))
    service = connection.execute("SELECT service_id FROM endpoint WHERE id = ?", (endpoint_id,)).fetchone()[0]
    if service is not None:
        connection.execute(_BEST, (EndpointClusters(connection).best_endpoint(service), service))
