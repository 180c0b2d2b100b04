"""Decide which endpoints are one service, store the reasons, and choose the best of a service's addresses.

Each two endpoints that match are an edge in the table `same_service`, with the signal by which they match. Clusters are
formed by adding edges, the strongest first, unless an edge would join endpoints that a person has called different. So
clusters can be undone and do not depend on the order in which endpoints were probed. A person's decision is an edge of
its own, which no probe removes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from geocrawl.model import Service
from geocrawl.store.catalog import statements as sql
from geocrawl.store.catalog.matching import SIGNALS, Description, describe, match
from geocrawl.store.engine.clauses import insert
from geocrawl.store.engine.connection import Connection
from geocrawl.store.stored_url import stored_url
from geocrawl.urls import display_order

MOST_COMPARED = 8
"""Most endpoints of the same document, and of the same family of addresses, with which an endpoint is compared. Others
are connected through these."""
MOST_REGROUPED = 1_000
"""Most endpoints of one service that are regrouped together: those with the lowest ids, with which the others were
compared. A server with a host name for everybody has as many endpoints as it likes."""
_MOST_RANKED = 200
"""Addresses of a service among which the best is chosen: the shortest."""


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """A decision that two endpoints are one service or are not; edges are ordered by the strength of their evidence."""

    strength: int
    first: int
    second: int
    same: bool


class EndpointClusters:
    """Stores descriptions and edges; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def keep_description(self, endpoint_id: int, key: str, service: Service, at: float) -> bool:
        """Write an endpoint's present description and its edges. Returns whether the description has changed."""
        now = describe(endpoint_id, key, service)
        row = self._connection.execute(sql.DESCRIPTION, {"endpoint": endpoint_id}).fetchone()
        if row is not None and Description(*row) == now:
            return False
        fields = asdict(now)
        self._connection.execute(insert("description", fields, sql.KEEP_DESCRIPTION), fields)
        self._connection.execute(sql.FORGET_EDGES, {"endpoint": endpoint_id})
        for other in self._compared_with(now):
            matched = match(now, other)
            if matched is not None:
                self._keep_edge(endpoint_id, other.endpoint_id, matched.signal, matched.detail, same=True, at=at)
        return True

    def decide(self, one: int, other: int, *, same: bool, at: float) -> None:
        """Write a person's decision about two endpoints; it replaces former decisions about them."""
        self._keep_edge(one, other, "person", "a person says so", same=same, at=at)

    def joined_services(self, endpoint_id: int) -> tuple[int, ...] | None:
        """Return the services to which edges join an endpoint without a service, in order.

        None when a person has called any endpoints different, so that only `clusters_around` can decide.
        """
        if self._connection.execute(sql.ANY_DIFFERENT).fetchone():
            return None
        joined = self._connection.execute(sql.JOINED_SERVICES, {"endpoint": endpoint_id})
        return tuple(sorted(row[0] for row in joined))

    def clusters_around(self, endpoint_id: int) -> list[tuple[int, ...]]:
        """Return the clusters of all endpoints that are or were one service with this one; see `partition`. Of more
        than `MOST_REGROUPED` endpoints, only so many are looked at."""
        reached, edges, waiting = {endpoint_id}, set[Edge](), [endpoint_id]
        of_seen_services = set[int]()
        while waiting:
            current = waiting.pop()
            found = set[int]()
            if current not in of_seen_services:
                of_seen_services |= (found := self._same_now(current))
            for edge in self._edges(current):
                edges.add(edge)
                if edge.same:
                    found |= {edge.first, edge.second}
            new = sorted(found - reached)[: MOST_REGROUPED - len(reached)]
            waiting += new
            reached |= set(new)
        return partition(reached, edges)

    def best_endpoint(self, service_id: int) -> int | None:
        """Return the endpoint whose address is the best of a service: valid, then last valid, then the plainest
        address; None for a service without endpoints."""
        ranked = []
        asked = {"service": service_id, "most": _MOST_RANKED}
        for number, address, valid, last_ok in self._connection.execute(sql.ADDRESSES, asked):
            ranked.append((not valid, 0.0 if valid else -last_ok, display_order(stored_url(address)), number))
        return min(ranked)[-1] if ranked else None

    def _compared_with(self, now: Description) -> list[Description]:
        values = {
            "kind": now.kind,
            "endpoint": now.endpoint_id,
            "fingerprint": now.fingerprint,
            "family": now.family,
            "most": MOST_COMPARED,
        }
        return [Description(*row) for row in self._connection.execute(sql.COMPARED, values).fetchall()]

    def _keep_edge(self, one: int, other: int, signal: str, detail: str, *, same: bool, at: float) -> None:
        first, second = sorted((one, other))
        pair = {"first_id": first, "second_id": second}
        edge = {**pair, "signal": signal, "detail": detail, "same": int(same), "at": at}
        self._connection.execute(sql.KEEP_EDGE, edge)

    def _same_now(self, endpoint_id: int) -> set[int]:
        asked = {"endpoint": endpoint_id, "most": MOST_REGROUPED}
        return {row[0] for row in self._connection.execute(sql.SAME_NOW, asked)}

    def _edges(self, endpoint_id: int) -> Iterator[Edge]:
        asked = {"endpoint": endpoint_id, "most": MOST_REGROUPED}
        for first, second, signal, same in self._connection.execute(sql.EDGES, asked):
            yield Edge(SIGNALS.index(signal) if signal in SIGNALS else len(SIGNALS), first, second, bool(same))


def partition(endpoints: Iterable[int], edges: Iterable[Edge]) -> list[tuple[int, ...]]:
    """Return the endpoints in clusters: joined along the edges, the strongest first, never two that are different.

    The same for any order of the arguments; clusters and their members are in ascending order.
    """
    cluster = {number: {number} for number in endpoints}
    ordered: Sequence[Edge] = sorted(edges)
    different = [(edge.first, edge.second) for edge in ordered if not edge.same]
    for edge in ordered:
        one, other = cluster.get(edge.first), cluster.get(edge.second)
        if not edge.same or one is None or other is None or one is other:
            continue
        if any((a in one and b in other) or (a in other and b in one) for a, b in different):
            continue
        one |= other
        cluster.update(dict.fromkeys(other, one))
    return sorted({tuple(sorted(members)) for members in cluster.values()})
