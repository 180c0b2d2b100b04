"""Read the addresses of a service: why they are one service, which is the best, what a person decided."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import BindParameter, and_, bindparam, func, or_, select

from geocrawl.model import Url
from geocrawl.store.engine.connection import Connection
from geocrawl.store.schema.tables import ENDPOINT, SAME_SERVICE, SERVICE
from geocrawl.urls import service_keys


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
    """An endpoint that answers, or answered at some time."""

    endpoint_id: int
    kind: str
    url: str
    service_id: int


_ONE, _OTHER = ENDPOINT.alias("one"), ENDPOINT.alias("other")
_THIS: BindParameter[int] = bindparam("service")
_MINE = select(ENDPOINT.c.id).where(ENDPOINT.c.service_id == _THIS)
_WHY_SAME = (
    select(
        *(_ONE.c.url, _OTHER.c.url, SAME_SERVICE.c.signal, SAME_SERVICE.c.detail),
        *(SAME_SERVICE.c.same, SAME_SERVICE.c.at),
    )
    .select_from(
        SAME_SERVICE.join(_ONE, _ONE.c.id == SAME_SERVICE.c.first_id).join(
            _OTHER, _OTHER.c.id == SAME_SERVICE.c.second_id
        )
    )
    # The first condition holds whenever the second does: it lets SQLite look up pairs by their endpoints.
    .where(or_(SAME_SERVICE.c.first_id.in_(_MINE), SAME_SERVICE.c.second_id.in_(_MINE)))
    .where(
        or_(
            and_(_ONE.c.service_id == _THIS, _OTHER.c.service_id == _THIS),
            and_(SAME_SERVICE.c.signal == "person", or_(_ONE.c.service_id == _THIS, _OTHER.c.service_id == _THIS)),
        )
    )
    .order_by(
        *(SAME_SERVICE.c.signal != "person", SAME_SERVICE.c.first_id, SAME_SERVICE.c.second_id),
        SAME_SERVICE.c.signal,
    )
)
_BEST = (
    select(ENDPOINT.c.url)
    .select_from(SERVICE.join(ENDPOINT, ENDPOINT.c.id == SERVICE.c.best_id))
    .where(SERVICE.c.id == bindparam("service"))
)
_ADDRESS = (ENDPOINT.c.id, ENDPOINT.c.kind, ENDPOINT.c.url, ENDPOINT.c.service_id)
_OF_SERVICE = (
    select(*_ADDRESS)
    .select_from(ENDPOINT.join(SERVICE, SERVICE.c.id == ENDPOINT.c.service_id))
    .where(SERVICE.c.id == bindparam("service"))
    .order_by(ENDPOINT.c.id != func.coalesce(SERVICE.c.best_id, 0), ENDPOINT.c.id)
)


def why_same(connection: Connection, service_id: int) -> tuple[SameRow, ...]:
    """Return the evidence that a service's addresses are one, and first what a person decided about any of them."""
    return tuple(
        SameRow(first, second, signal, detail, bool(same), at)
        for first, second, signal, detail, same, at in connection.run(_WHY_SAME, {"service": service_id})
    )


def best_address(connection: Connection, service_id: int) -> str:
    """Return the address of a service to show and use (`EndpointClusters.best_endpoint`); '' when it has none."""
    row = connection.run(_BEST, {"service": service_id}).fetchone()
    return row[0] if row else ""


def addresses_of(connection: Connection, service_id: int) -> tuple[Address, ...]:
    """Return the addresses of a service, the best first."""
    return tuple(Address(*row) for row in connection.run(_OF_SERVICE, {"service": service_id}))


def addresses_at(connection: Connection, url: Url) -> tuple[Address, ...]:
    """Return the endpoints at an address that answered at some time, one a kind."""
    answered = ENDPOINT.c.service_id.is_not(None)
    statement = select(*_ADDRESS).where(ENDPOINT.c.key.in_(service_keys(url)), answered).order_by(ENDPOINT.c.id)
    return tuple(Address(*row) for row in connection.run(statement))
