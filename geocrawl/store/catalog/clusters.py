"""One service, many addresses: which endpoints are one, why, and which address is the best.

Every pair of endpoints that are alike stands as an edge in `same_service` with its signal. A cluster is what edges
connect, strongest first, as long as it joins no two endpoints that a person has called different: so it can be undone,
and it does not depend on the order in which endpoints were probed. A person's word stands as an edge of its own and is
never removed by a probe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from geocrawl.model import Service, Url
from geocrawl.store.catalog.matching import SIGNALS, Description, host_of, items_hash, likeness, telling_items
from geocrawl.store.engine.connection import Connection
from geocrawl.urls import display_order, read_url, spelling_group

MOST_ALIKE = 8
"""Endpoints that one is compared with: the first of each kind of likeness. More are connected through these."""
_COLUMNS = "endpoint_id, key, kind, family, fingerprint, items, telling, calls_itself, provider"
_DESCRIBE = f"INSERT OR REPLACE INTO description ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_ALIKE = f"""
SELECT * FROM (SELECT {_COLUMNS} FROM description
  WHERE kind = ?1 AND fingerprint = ?2 AND endpoint_id <> ?4 ORDER BY endpoint_id LIMIT ?5)
UNION SELECT * FROM (SELECT {_COLUMNS} FROM description
  WHERE kind = ?1 AND family = ?3 AND endpoint_id <> ?4 ORDER BY endpoint_id LIMIT ?5)"""  # noqa: S608
_FORGET = "DELETE FROM same_service WHERE ?1 IN (first_id, second_id) AND signal <> 'person'"
_ADD_EDGE = (
    "INSERT OR REPLACE INTO same_service (first_id, second_id, signal, detail, same, at) VALUES (?, ?, ?, ?, ?, ?)"
)
_EDGES = "SELECT first_id, second_id, signal, same FROM same_service WHERE first_id = ?1 OR second_id = ?1"
_MEMBERS = """
SELECT other.id FROM endpoint e JOIN endpoint other ON other.service_id = e.service_id WHERE e.id = ?"""
_NEIGHBOURS = """
SELECT DISTINCT e.service_id FROM same_service s JOIN endpoint e ON e.id IN (s.first_id, s.second_id)
WHERE ?1 IN (s.first_id, s.second_id) AND e.id <> ?1 AND e.service_id IS NOT NULL"""
_PARTED = "SELECT 1 FROM same_service WHERE same = 0 LIMIT 1"
_MOST_RANKED = 200
"""Addresses of a service that are ranked for the best: the shortest."""
_CANDIDATES = f"""
SELECT id, url, status = 'valid', coalesce(last_ok, 0) FROM endpoint WHERE service_id = ?
ORDER BY status = 'valid' DESC, length(url), url LIMIT {_MOST_RANKED}"""  # noqa: S608


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """A decided pair, ordered by how strongly it holds."""

    strength: int
    first: int
    second: int
    same: bool


class Clusters:
    """Keeps descriptions and edges; every method works inside the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def describe(self, endpoint_id: int, key: str, service: Service, at: float) -> bool:
        """Keep what an endpoint says of itself now, and its edges; returns whether that is new."""
        now = Description(
            endpoint_id=endpoint_id,
            key=key,
            kind=str(service.kind),
            family=spelling_group(key),
            fingerprint=service.fingerprint,
            items=items_hash(service),
            telling=telling_items(service),
            calls_itself=host_of(service.online_resource),
            provider=service.provider.strip(),
        )
        if self._known(endpoint_id) == now:
            return False
        self._keep(now, at)
        return True

    def decide(self, one: int, other: int, *, same: bool, at: float) -> None:
        """Keep a person's word about two endpoints; it takes the place of what they said before."""
        first, second = sorted((one, other))
        detail = "a person says so"
        self._connection.execute(_ADD_EDGE, (first, second, "person", detail, int(same), at))

    def neighbours(self, endpoint_id: int) -> tuple[int, ...] | None:
        """The services that an endpoint without one is joined to by its edges; None when a person parted any endpoints,
        so that only `around` can tell."""
        if self._connection.execute(_PARTED).fetchone():
            return None
        return tuple(sorted(row[0] for row in self._connection.execute(_NEIGHBOURS, (endpoint_id,))))

    def around(self, endpoint_id: int) -> list[tuple[int, ...]]:
        """The clusters, as they are now, of all endpoints that this one is or was together with; each in order."""
        reached, edges, waiting = {endpoint_id}, set[Edge](), [endpoint_id]
        together = set[int]()
        while waiting:
            current = waiting.pop()
            found = set[int]()
            if current not in together:
                together |= (found := {row[0] for row in self._connection.execute(_MEMBERS, (current,))})
            for edge in self._edges(current):
                edges.add(edge)
                if edge.same:
                    found |= {edge.first, edge.second}
            waiting += found - reached
            reached |= found
        return partition(reached, edges)

    def best(self, service_id: int) -> int | None:
        """The endpoint of a service whose address is best: valid before not, then last valid, then the plainest."""
        ranked = []
        for number, address, valid, last_ok in self._connection.execute(_CANDIDATES, (service_id,)):
            url: Url | None = read_url(address)
            assert url is not None, "an address that was written by read_url is read by it"
            ranked.append((not valid, 0.0 if valid else -last_ok, display_order(url), number))
        return min(ranked)[-1] if ranked else None

    def _known(self, endpoint_id: int) -> Description | None:
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM description WHERE endpoint_id = ?",  # noqa: S608
            (endpoint_id,),
        ).fetchone()
        return Description(*row) if row else None

    def _keep(self, now: Description, at: float) -> None:
        values = (
            now.endpoint_id,
            now.key,
            now.kind,
            now.family,
            now.fingerprint,
            now.items,
            now.telling,
            now.calls_itself,
            now.provider,
        )
        self._connection.execute(_DESCRIBE, values)
        self._connection.execute(_FORGET, (now.endpoint_id,))
        alike = (now.kind, now.fingerprint, now.family, now.endpoint_id, MOST_ALIKE)
        for row in self._connection.execute(_ALIKE, alike).fetchall():
            other = Description(*row)
            found = likeness(now, other)
            if found is not None:
                first, second = sorted((now.endpoint_id, other.endpoint_id))
                self._connection.execute(_ADD_EDGE, (first, second, found.signal, found.detail, 1, at))

    def _edges(self, endpoint_id: int) -> Iterator[Edge]:
        for first, second, signal, same in self._connection.execute(_EDGES, (endpoint_id,)):
            yield Edge(SIGNALS.index(signal) if signal in SIGNALS else len(SIGNALS), first, second, bool(same))


def partition(endpoints: Iterable[int], edges: Iterable[Edge]) -> list[tuple[int, ...]]:
    """Endpoints in clusters: joined along the edges, the strongest first, never two that are said to be different.

    The same for any order of the arguments; clusters and their members in order of number.
    """
    cluster = {number: {number} for number in endpoints}
    ordered: Sequence[Edge] = sorted(edges)
    apart = [(edge.first, edge.second) for edge in ordered if not edge.same]
    for edge in ordered:
        one, other = cluster.get(edge.first), cluster.get(edge.second)
        if not edge.same or one is None or other is None or one is other:
            continue
        if any((a in one and b in other) or (a in other and b in one) for a, b in apart):
            continue
        one |= other
        cluster.update(dict.fromkeys(other, one))
    return sorted({tuple(sorted(members)) for members in cluster.values()})
