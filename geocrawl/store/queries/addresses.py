"""The addresses of services for people: why several are one, which is the best, what a person said of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from geocrawl.model import Url
from geocrawl.store.engine.connection import Connection
from geocrawl.urls import service_keys

if TYPE_CHECKING:
    from geocrawl.store.catalog.catalog import Catalog


@dataclass(frozen=True, slots=True)
class SameRow:
    """Why two addresses are one service, or are not."""

    first: str
    second: str
    signal: str
    """document, layers; host, path, port, node: what the addresses differ in; person."""
    detail: str
    same: bool
    at: float


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint that answers or did."""

    endpoint_id: int
    kind: str
    url: str
    service_id: int


_WHY_SAME = """
SELECT a.url, b.url, s.signal, s.detail, s.same, s.at FROM same_service s
JOIN endpoint a ON a.id = s.first_id JOIN endpoint b ON b.id = s.second_id
WHERE a.service_id = ?1 AND b.service_id = ?1 OR s.signal = 'person' AND ?1 IN (a.service_id, b.service_id)
ORDER BY s.signal <> 'person', s.first_id, s.second_id, s.signal"""
_BEST = "SELECT coalesce((SELECT url FROM endpoint WHERE id = s.best_id), '') FROM service s WHERE s.id = ?"
_OF_SERVICE = """
SELECT e.id, e.kind, e.url, e.service_id FROM endpoint e JOIN service s ON s.id = e.service_id
WHERE s.id = ? ORDER BY e.id <> coalesce(s.best_id, 0), e.id"""


def why_same(connection: Connection, service_id: int) -> tuple[SameRow, ...]:
    """The evidence that a service's addresses are one, and what a person said of any of them, that first."""
    return tuple(
        SameRow(first, second, signal, detail, bool(same), at)
        for first, second, signal, detail, same, at in connection.execute(_WHY_SAME, (service_id,))
    )


def best_address(connection: Connection, service_id: int) -> str:
    """The address of a service to show and use: valid, HTTPS, a name, the shortest (`Clusters.best`); '' for none."""
    row = connection.execute(_BEST, (service_id,)).fetchone()
    return row[0] if row else ""


def addresses_of(connection: Connection, service_id: int) -> tuple[Address, ...]:
    """The addresses of a service, the best first."""
    return tuple(Address(*row) for row in connection.execute(_OF_SERVICE, (service_id,)))


def addresses_at(connection: Connection, url: Url) -> tuple[Address, ...]:
    """The endpoints at an address that answered at some time, one a kind."""
    keys = service_keys(url)
    marks = ", ".join("?" * len(keys))
    columns = "id, kind, url, service_id"
    statement = f"SELECT {columns} FROM endpoint WHERE key IN ({marks}) AND service_id IS NOT NULL ORDER BY id"  # noqa: S608
    return tuple(Address(*row) for row in connection.execute(statement, keys))


def pairs(ones: Sequence[Address], others: Sequence[Address]) -> list[tuple[Address, Address]]:
    """Each of these with each of those, of one kind; none with itself."""
    return [
        (one, other)
        for one in ones
        for other in others
        if one.kind == other.kind and one.endpoint_id != other.endpoint_id
    ]


def decide(catalog: Catalog, decided: Sequence[tuple[Address, Address]], *, same: bool, at: float) -> None:
    """Keep a person's word on these pairs; it holds over probes and crawls until a person says otherwise."""
    for one, other in decided:
        catalog.decide(one.endpoint_id, other.endpoint_id, same=same, at=at)
