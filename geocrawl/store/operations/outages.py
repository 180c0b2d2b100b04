"""Undo the effects of visits that were made while this machine's network was away.

Such a visit reaches no server, or only a gateway that answers in every server's place. It counts against the probed
service, uses up an attempt of its address and a request of the address's pattern, puts the host into back-off, and
marks its robots.txt as unreachable. None of that is justified when the network itself was away.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from geocrawl.store.catalog.clusters import EndpointClusters
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import Steps, batches, do
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.budgets import Budgets, Caps
from geocrawl.store.frontier.counters import Counters
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.operations.opt_out import FORGETS

_FAILED = """
SELECT id, reason FROM url INDEXED BY url_failed WHERE state = 'failed' AND settled_at >= ?1
AND (http_status IS NULL OR reason = 'http-' || http_status OR reason = 'robots-unreachable')"""
_STILL_FAILED = "SELECT 1 FROM url WHERE id = ? AND state = 'failed'"
_COLUMNS = (
    "status, reason, detail, http_status, deviations, last_probe, probes, "
    "health, health_since, in_a_row, interval_s, due_at"
)
_STANDING = f"SELECT id, {_COLUMNS} FROM endpoint WHERE id = (SELECT endpoint_id FROM url WHERE id = ?)"  # noqa: S608
# Restore an endpoint unless another process has probed it since (`geocrawl probe --save`). ?2: our last probe.
_PUT_BACK = f"""
UPDATE endpoint SET ({_COLUMNS}) = (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
WHERE id = ?1 AND last_probe IS ?2"""  # noqa: S608
_FORGET_PROBES = """
DELETE FROM probe WHERE endpoint_id = ? AND at >= ? AND (http_status IS NULL OR reason = 'http-' || http_status)"""
_FORGET_EVENTS = "DELETE FROM health_event WHERE endpoint_id = ? AND at >= ?"
_BEST = "UPDATE service SET best_id = ? WHERE id = ?"
_FORGET_ROBOTS = "DELETE FROM robots WHERE (status IS NULL OR status >= 500) AND fetched_at >= ?"
# Shorten the back-off of a host that is not leased. ?2: its last error before the outage.
_SHORTEN = "UPDATE host SET next_at = min(next_at, ?3) WHERE name = ?1 AND last_error_at > ?2 AND lease_until = 0"
_END = """
UPDATE host SET errors = ?4, last_error_at = ?2, next_at = min(next_at, ?3), parked = 0
WHERE name = ?1 AND last_error_at > ?2 AND lease_until = 0"""
# Forget the trouble of an address of a host, which would make the next one the host's. ?2: since when.
_END_TROUBLE = """
UPDATE host SET troubled_at = 0, troubled_address = '' WHERE name = ?1 AND troubled_at >= ?2 AND lease_until = 0"""
_WELL = """
SELECT host FROM endpoint WHERE health = 'alive' GROUP BY host ORDER BY max(last_ok) DESC LIMIT ?"""


@dataclass(frozen=True, slots=True)
class Standing:
    """The stored state of an endpoint before a probe."""

    endpoint_id: int
    values: tuple[object, ...]
    """The row's verdict, health and time of the next probe (`_COLUMNS`)."""
    last_probe: float | None


@dataclass(frozen=True, slots=True)
class UnreachedEndpoint:
    """An endpoint whose probes reached no server."""

    standing: Standing
    """The endpoint's state before the first of these probes."""
    since: float
    """When the first of these probes ended, seconds since the epoch."""
    last_probe: float | None
    """When a verdict on the endpoint was last written."""


@dataclass(frozen=True, slots=True)
class UnreachedHost:
    """A host whose visits reached no server, with its politeness before the first of them."""

    name: str
    since: float
    errors: int
    last_error_at: float
    troubled_since: float = math.inf
    """Since when an address's trouble is none of the host's."""


class Outages:
    """Reads the state of endpoints and hosts, and restores it after an outage of this machine's network."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection

    def standing_of(self, url_id: int) -> Standing | None:
        """Return the stored state of the endpoint that the frontier row `url_id` probes; None when there is none."""
        row = self._connection.execute(_STANDING, (url_id,)).fetchone()
        return Standing(row[0], tuple(row[1:]), row[6]) if row else None

    def answering_hosts(self, most: int) -> list[str]:
        """Return at most `most` hosts of living services, the one that answered last at the end."""
        return [row[0] for row in self._connection.execute(_WELL, (most,))][::-1]

    def put_back(self, since: float, reasons: Collection[str], endpoints: Iterable[UnreachedEndpoint]) -> int:
        """Undo what visits changed that ended at `since` (seconds since the epoch) or later for one of `reasons`.

        `endpoints` are restored, and robots.txt answers that failed since then are deleted. Returns how many addresses
        were put back into the queue with all their attempts.
        """
        return do(self._put_back(since, reasons, endpoints))

    def _put_back(self, since: float, reasons: Collection[str], endpoints: Iterable[UnreachedEndpoint]) -> Steps[int]:
        count = 0
        failed = self._connection.execute(_FAILED, (since,)).fetchall()
        for batch in batches(url_id for url_id, reason in failed if reason in reasons):
            with self._database.transaction:
                still = [url_id for url_id in batch if self._connection.execute(_STILL_FAILED, (url_id,)).fetchone()]
                _uncount(self._connection, still)
                _reopen(self._connection, still)
            count += len(still)
            yield
        for some in batches(endpoints):
            with self._database.transaction:
                for touched in some:
                    _put_back_one(self._connection, touched)
            yield
        with self._database.transaction:
            self._connection.execute(_FORGET_ROBOTS, (since,))
        return count

    def shorten_back_offs(self, hosts: Iterable[UnreachedHost], until: float) -> None:
        """End the back-off of these hosts at `until` at the latest, unless it began before the outage."""
        with self._database.transaction:
            self._connection.executemany(_SHORTEN, [(host.name, host.last_error_at, until) for host in hosts])

    def end_back_offs(self, hosts: Iterable[UnreachedHost], now: float) -> None:
        """End the back-off of these hosts now and restore their count of errors."""
        with self._database.transaction:
            ended = list(hosts)
            self._connection.executemany(_END, [(host.name, host.last_error_at, now, host.errors) for host in ended])
            self._connection.executemany(_END_TROUBLE, [(host.name, host.troubled_since) for host in ended])


def _uncount(connection: Connection, ids: Sequence[int]) -> None:
    """Subtract these visits from the requests counted for their patterns' budgets."""
    budgets = Budgets(connection, Caps(0, 0, 0))
    for url_id in ids:
        budgets.uncount(url_id)


def _reopen(connection: Connection, ids: Sequence[int]) -> None:
    hosts, counters = Hosts(connection), Counters(connection)
    queue = Queue(connection, hosts, counters)
    for url_id in ids:
        queue.reopen(url_id, due=True)
    hosts.flush()
    counters.flush()
    if ids:
        connection.execute(sql.COUNT, (FORGETS, 1))  # every process reads its rows again


def _put_back_one(connection: Connection, touched: UnreachedEndpoint) -> None:
    endpoint_id = touched.standing.endpoint_id
    values = (endpoint_id, touched.last_probe, *touched.standing.values)
    if not connection.execute(_PUT_BACK, values).rowcount:
        return
    connection.execute(_FORGET_PROBES, (endpoint_id, touched.since))
    connection.execute(_FORGET_EVENTS, (endpoint_id, touched.since))
    service = connection.execute("SELECT service_id FROM endpoint WHERE id = ?", (endpoint_id,)).fetchone()[0]
    if service is not None:
        connection.execute(_BEST, (EndpointClusters(connection).best_endpoint(service), service))
