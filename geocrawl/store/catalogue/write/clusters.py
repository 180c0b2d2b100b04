"""Decide which endpoints are one service, store the reasons, and choose the best of a service's addresses.

Each two endpoints that match (`match`) are an edge in the table `same_service`, with the signal by which they match.
Clusters are formed by adding edges, the strongest first, unless an edge would join endpoints that a person has called
different. So clusters can be undone and do not depend on the order in which endpoints were probed. A person's decision
is an edge of its own, which no probe removes.

The same document at two addresses of one site is evidence when it names enough distinctive items. A title is no
evidence, and neither is a document of few items, or of the sample data that map servers are shipped with: many servers
have the same. Where addresses differ only in their spelling (`www.`, the case of a path), less evidence is needed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Select, and_, bindparam, delete, exists, func, insert, or_, select, union

from geocrawl.model import Service
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import upsert
from geocrawl.store.database.keys import stored_url
from geocrawl.store.database.schema.tables import CHANGE, DESCRIPTION, ENDPOINT, LAYER, SAME_SERVICE
from geocrawl.urls import display_order, site_of, spelling_differences, spelling_group

# --------------------------------------------------------------------------- two endpoints


DISTINCTIVE_ITEMS = 3
"""A document with fewer distinctive items is not enough to distinguish one service from another."""
_SAMPLE_DATA = ("topp:", "tiger:", "sf:", "nurc:", "cite:", "cgf:", "spearfish", "tike:", "ne:")
"""Beginnings of layer names in the sample data that GeoServer and other servers are shipped with."""
_GENERIC_NAME = re.compile(r"\A(?:layer|default|test|group|map)?[ _-]?[0-9]*\Z", re.IGNORECASE)

SIGNALS = ("person", "redirect", "document", "host", "path", "port", "node", "layers")
"""Why two endpoints are one service, the strongest first."""


@dataclass(frozen=True, slots=True)
class Description:
    """A row of the table `description`: an endpoint's description of itself when it was last valid, for matching."""

    endpoint_id: int
    key: str
    kind: str
    family: str
    """`urls.spelling_group` of the key: addresses of one family may be spellings of one address."""
    fingerprint: str
    """Hash of the whole description without addresses (`Service.fingerprint`)."""
    items: str
    """Hash of the provider and the names of the items."""
    telling: int
    """How many of the items are distinctive (`_is_distinctive`)."""
    calls_itself: str
    """Host of the online resource that the document names; '' for none."""
    provider: str


@dataclass(frozen=True, slots=True)
class Match:
    """Why two endpoints are one service."""

    signal: str
    """One of `SIGNALS`."""
    detail: str
    """A sentence for people."""


def describe(endpoint_id: int, key: str, service: Service) -> Description:
    """Return the row of an endpoint that describes `service`."""
    return Description(
        endpoint_id=endpoint_id,
        key=key,
        kind=str(service.kind),
        family=spelling_group(key),
        fingerprint=service.fingerprint,
        items=_items_hash(service),
        telling=_count_distinctive(service),
        calls_itself=_host_of(service.online_resource),
        provider=service.provider.strip(),
    )


def _items_hash(service: Service) -> str:
    """Return 16 hexadecimal digits over the provider and the names of all items, in any order; '' without items."""
    names = sorted({layer.name for layer in service.layers if layer.name})
    text = json.dumps([service.provider, names], ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16] if names else ""


def _count_distinctive(service: Service) -> int:
    layers = {(layer.name, layer.title) for layer in service.layers if layer.name}
    return sum(_is_distinctive(name, title) for name, title in layers)


def _host_of(address: str) -> str:
    """Return the host of an address that a document names, in lower case; '' when it has none."""
    try:
        return (urlsplit(address.strip()).hostname or "").lower()
    except ValueError:
        return ""


def match(one: Description, other: Description) -> Match | None:
    """Return the signal by which two endpoints are one service; None without one. Their order does not matter."""
    if one.kind != other.kind:
        return None
    same_document = bool(one.fingerprint) and one.fingerprint == other.fingerprint
    says_enough = min(one.telling, other.telling) >= DISTINCTIVE_ITEMS
    if one.family == other.family:
        return _match_in_family(one, other, same_document, says_enough)
    if not (same_document and says_enough):
        return None
    if _same_place(one, other):
        return Match("document", f"the same document with {one.telling} items of its own, on one site")
    if one.calls_itself and one.calls_itself == other.calls_itself in (_host(one), _host(other)):
        return Match("document", f"the same document with {one.telling} items; both say they are {one.calls_itself}")
    return None


def _match_in_family(one: Description, other: Description, same_document: bool, says_enough: bool) -> Match | None:
    """Match two addresses that differ in their spelling only. Another node or port may be another server, so more of
    its document has to agree."""
    differ = spelling_differences(one.key, other.key)
    may_be_others = bool({"node", "port"} & set(differ))
    named = " and ".join(differ)
    signal = differ[-1] if differ else "path"
    if same_document and (says_enough or not may_be_others):
        return Match(signal, f"the same document, and the addresses differ in {named} only")
    if says_enough and one.items and one.items == other.items:
        least = min(one.telling, other.telling)
        return Match("layers", f"the same {least} items and provider, and the addresses differ in {named} only")
    return None


def _same_place(one: Description, other: Description) -> bool:
    """Return whether both are on one host, or on hosts of one site by a provider that is named."""
    one_host, other_host = _host(one), _host(other)
    return one_host == other_host or (bool(one.provider) and site_of(one_host) == site_of(other_host))


def _host(description: Description) -> str:
    authority = description.key.partition("/")[0]
    host, colon, port = authority.rpartition(":")
    return host.strip("[]") if colon and not port.endswith("]") else authority.strip("[]")


def _is_distinctive(name: str, title: str) -> bool:
    """Return whether few other services have an item of this name."""
    if name.lower().startswith(_SAMPLE_DATA):
        return False
    return not (_GENERIC_NAME.match(name.strip()) and _GENERIC_NAME.match(title.strip()))


# --------------------------------------------------------------------------- all endpoints


MOST_COMPARED = 8
"""Most endpoints of the same document, and of the same family of addresses, with which an endpoint is compared. Others
are connected through these."""
MOST_REGROUPED = 1_000
"""Most endpoints of one service that are regrouped together: those with the lowest ids, with which the others were
compared. A server with a host name for everybody has as many endpoints as it likes."""
_SHARE_AFTER_MOVE = 0.5
"""Share of items that a service must have kept when it moved: layers are added and dropped on such an occasion."""
_MOST_RANKED = 200
"""Addresses of a service among which the best is chosen: the shortest."""
_DESCRIBED = [DESCRIPTION.c[field.name] for field in fields(Description)]
_is_kept = DESCRIPTION.c.endpoint_id == bindparam("endpoint")
_READ_DESCRIPTION = select(*_DESCRIBED).where(_is_kept)
_KEEP_DESCRIPTION = upsert(DESCRIPTION, "endpoint_id")


def _others(name: str) -> Select[Any]:
    """Return the query for descriptions of other endpoints of a kind that are equal in this column."""
    other = select(*_DESCRIBED).where(DESCRIPTION.c.kind == bindparam("kind"), ~_is_kept)
    equal = other.where(DESCRIPTION.c[name] == bindparam(name))
    return select(equal.order_by(DESCRIPTION.c.endpoint_id).limit(MOST_COMPARED).subquery(f"same_{name}"))


_COMPARED = union(_others("fingerprint"), _others("family"))
_first, _second = SAME_SERVICE.c.first_id, SAME_SERVICE.c.second_id
_of_endpoint = or_(_first == bindparam("endpoint"), _second == bindparam("endpoint"))
_former, _present = ENDPOINT.alias("former"), ENDPOINT.alias("present")
_has_moved_here = and_(_former.c.moved_to == bindparam("key"), _former.c.id != bindparam("endpoint"))
_FORGET_EDGES = delete(SAME_SERVICE).where(
    _of_endpoint,
    SAME_SERVICE.c.signal != "person",
    or_(
        SAME_SERVICE.c.signal != "redirect",
        ~exists().where(_has_moved_here, or_(_former.c.id == _first, _former.c.id == _second)),
    ),
)
"""Forget what was found about an endpoint. What a person decided stays, and that another endpoint has moved to it."""
_MOVED_HERE = select(_former.c.id).where(_has_moved_here, _former.c.kind == bindparam("kind")).order_by(_former.c.id)
_EDGES_BETWEEN = select(SAME_SERVICE.c.signal, SAME_SERVICE.c.same).where(
    _first == bindparam("first_id"), _second == bindparam("second_id")
)
_NAMES_OF_LAYERS = (
    select(LAYER.c.name)
    .distinct()
    .join_from(ENDPOINT, LAYER, LAYER.c.service_id == ENDPOINT.c.service_id)
    .where(ENDPOINT.c.id == bindparam("endpoint"), LAYER.c.name != "")
)
_OF_MOVE = select(_former.c.service_id, _former.c.masked_url, _present.c.masked_url).where(
    _former.c.id == bindparam("former"), _present.c.id == bindparam("present")
)
_ADD_CHANGE = insert(CHANGE)
_KEEP_EDGE = upsert(SAME_SERVICE, "first_id", "second_id", "signal")
_EDGES = (
    select(_first, _second, SAME_SERVICE.c.signal, SAME_SERVICE.c.same)
    .where(_of_endpoint)
    .order_by(SAME_SERVICE.c.signal != "person", _first, _second)
    .limit(MOST_REGROUPED)
)
"""Read the edges of an endpoint, a person's first."""
_other = ENDPOINT.alias("other")
_SAME_NOW = (
    select(_other.c.id)
    .join_from(ENDPOINT, _other, _other.c.service_id == ENDPOINT.c.service_id)
    .where(ENDPOINT.c.id == bindparam("endpoint"))
    .order_by(_other.c.id)
    .limit(MOST_REGROUPED)
)
"""Find the endpoints of the service of an endpoint."""
_JOINED_SERVICES = (
    select(ENDPOINT.c.service_id)
    .distinct()
    .join_from(SAME_SERVICE, ENDPOINT, ENDPOINT.c.id.in_([_first, _second]))
    .where(_of_endpoint, ENDPOINT.c.id != bindparam("endpoint"), ENDPOINT.c.service_id.is_not(None))
)
"""Find the services to which edges join an endpoint."""
_ANY_DIFFERENT = select(_first).where(SAME_SERVICE.c.same == 0).limit(1)
_is_valid = ENDPOINT.c.status == "valid"
_ADDRESSES = (
    select(ENDPOINT.c.id, ENDPOINT.c.url, _is_valid, func.coalesce(ENDPOINT.c.last_ok, 0))
    .where(ENDPOINT.c.service_id == bindparam("service"))
    .order_by(_is_valid.desc().nulls_last(), func.length(ENDPOINT.c.url), ENDPOINT.c.url)
    .limit(_MOST_RANKED)
)
"""Rank the addresses of a service: valid ones first, then the shortest."""


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
        row = self._connection.execute(_READ_DESCRIPTION, {"endpoint": endpoint_id}).fetchone()
        if row is not None and Description(*row) == now:
            return False
        self._connection.execute(_KEEP_DESCRIPTION, asdict(now))
        here = {"endpoint": endpoint_id, "key": key}
        self._connection.execute(_FORGET_EDGES, here)
        for other in self._compared_with(now):
            matched = match(now, other)
            if matched is not None:
                self._keep_edge(endpoint_id, other.endpoint_id, matched.signal, matched.detail, same=True, at=at)
        names = {layer.name for layer in service.layers if layer.name}
        for (former,) in self._connection.execute(_MOVED_HERE, {**here, "kind": now.kind}).fetchall():
            self.keep_move(former, endpoint_id, at, names)
        return True

    def keep_move(self, former: int, present: int, at: float, names: set[str] | None = None) -> bool:
        """Write that an endpoint which says that it has moved for good is one service with its target, which is valid,
        and note the move. Returns False, and writes nothing, where the target describes other items, or a person has
        called the two different. `names`: of the target's items; None: as stored."""
        first, second = sorted((former, present))
        edges = dict(self._connection.execute(_EDGES_BETWEEN, {"first_id": first, "second_id": second}).fetchall())
        if edges.get("person") == 0:
            return False
        if "redirect" in edges:
            return True
        before, now = self._names(former), self._names(present) if names is None else names
        if len(before & now) < _SHARE_AFTER_MOVE * max(len(before), len(now), 1):
            return False
        detail = "the former address redirects to the other one for good, which offers the same items"
        self._keep_edge(former, present, "redirect", detail, same=True, at=at)
        pair = {"former": former, "present": present}
        service, before_url, after_url = self._connection.execute(_OF_MOVE, pair).fetchone()
        change = {"endpoint_id": former, "service_id": service, "at": at, "what": "moved", "name": ""}
        self._connection.execute(_ADD_CHANGE, {**change, "before": before_url, "after": after_url})
        return True

    def _names(self, endpoint_id: int) -> set[str]:
        return {row[0] for row in self._connection.execute(_NAMES_OF_LAYERS, {"endpoint": endpoint_id})}

    def decide(self, one: int, other: int, *, same: bool, at: float) -> None:
        """Write a person's decision about two endpoints; it replaces former decisions about them."""
        self._keep_edge(one, other, "person", "a person says so", same=same, at=at)

    def joined_services(self, endpoint_id: int) -> tuple[int, ...] | None:
        """Return the services to which edges join an endpoint without a service, in order.

        None when a person has called any endpoints different, so that only `clusters_around` can decide.
        """
        if self._connection.execute(_ANY_DIFFERENT).fetchone():
            return None
        joined = self._connection.execute(_JOINED_SERVICES, {"endpoint": endpoint_id})
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
        for number, address, valid, last_ok in self._connection.execute(_ADDRESSES, {"service": service_id}):
            ranked.append((not valid, 0.0 if valid else -last_ok, display_order(stored_url(address)), number))
        return min(ranked)[-1] if ranked else None

    def _compared_with(self, now: Description) -> list[Description]:
        values = {
            "kind": now.kind,
            "endpoint": now.endpoint_id,
            "fingerprint": now.fingerprint,
            "family": now.family,
        }
        return [Description(*row) for row in self._connection.execute(_COMPARED, values).fetchall()]

    def _keep_edge(self, one: int, other: int, signal: str, detail: str, *, same: bool, at: float) -> None:
        first, second = sorted((one, other))
        pair = {"first_id": first, "second_id": second}
        edge = {**pair, "signal": signal, "detail": detail, "same": int(same), "at": at}
        self._connection.execute(_KEEP_EDGE, edge)

    def _same_now(self, endpoint_id: int) -> set[int]:
        return {row[0] for row in self._connection.execute(_SAME_NOW, {"endpoint": endpoint_id})}

    def _edges(self, endpoint_id: int) -> Iterator[Edge]:
        for first, second, signal, same in self._connection.execute(_EDGES, {"endpoint": endpoint_id}):
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
