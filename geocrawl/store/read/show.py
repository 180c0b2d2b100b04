"""Read a service or an endpoint with all stored data about it: `geocrawl show`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, func, select

from geocrawl.store.engine.connection import Connection, Rows
from geocrawl.store.read.addresses import SameRow, best_address, why_same
from geocrawl.store.schema.tables import ENDPOINT, EVIDENCE, LAYER, PROOF, SERVICE, URL


@dataclass(frozen=True, slots=True)
class LayerRow:
    """A layer with the properties that it states itself."""

    position: int
    parent: int | None
    name: str
    title: str
    abstract: str
    crs: tuple[str, ...]
    styles: tuple[str, ...]
    keywords: tuple[str, ...]
    queryable: bool
    item: str
    """layer, feature-type, coverage, collection, process, offering, record-type, folder."""
    formats: tuple[str, ...]
    box: tuple[float, float, float, float] | None
    """west, south, east, north, degrees."""


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint with its last verdict, and what named it."""

    id: int
    kind: str
    url: str
    service_id: int | None
    status: str | None
    reason: str | None
    detail: str | None
    version: str | None
    http_status: int | None
    deviations: tuple[Mapping[str, str], ...]
    first_seen: float
    last_probe: float | None
    last_ok: float | None
    probes: int
    level: str | None
    """advertised, answers, delivers; None: no content check."""
    proved_at: float | None
    https: bool | None
    cors: str | None
    proof: tuple[Mapping[str, object], ...]
    """layer, crs, outcome, milliseconds, detail, url."""
    entry_id: int | None
    """Id of its probe in the frontier, with which its visits' ids in the log begin; None when it was never queued."""
    evidence: tuple[Mapping[str, object], ...]
    """signal, page, link, anchor, at."""


@dataclass(frozen=True, slots=True)
class ServiceDetail:
    """All stored data about a service."""

    id: int
    kind: str
    title: str
    abstract: str
    keywords: tuple[str, ...]
    provider: str
    contact: Mapping[str, str]
    fees: str
    access_constraints: str
    version: str
    formats: tuple[str, ...]
    online_resource: str
    layer_count: int
    box: tuple[float, float, float, float] | None
    first_seen: float
    last_ok: float
    layers: tuple[LayerRow, ...]
    endpoints: tuple[EndpointRow, ...]
    best: str
    """The address to show and use."""
    same: tuple[SameRow, ...]
    """Why its addresses are one service."""


_SIDES = ("west", "south", "east", "north")
_OF_SERVICE = ("kind", "title", "abstract", "keywords", "provider", "contact", "fees", "access_constraints", "version")
_SERVICE = select(
    SERVICE.c.id,
    *(SERVICE.c[name] for name in (*_OF_SERVICE, "formats", "online_resource", "layer_count", *_SIDES)),
    *(SERVICE.c.first_seen, SERVICE.c.last_ok),
).where(SERVICE.c.id == bindparam("service"))
_LAYERS = (
    select(*(column for column in LAYER.c if column.name != "service_id"))
    .where(LAYER.c.service_id == bindparam("service"))
    .order_by(LAYER.c.position)
)
_FRONTIER_ID = (
    select(func.min(URL.c.id)).where(URL.c.endpoint_id == ENDPOINT.c.id, URL.c.purpose == "probe").scalar_subquery()
)
_VERDICT = ("status", "reason", "detail", "version", "http_status", "deviations")
_TIMES = ("first_seen", "last_probe", "last_ok")
_ENDPOINTS = select(
    *(ENDPOINT.c[name] for name in ("id", "kind", "url", "service_id", *_VERDICT, *_TIMES, "probes")),
    *(ENDPOINT.c[name] for name in ("level", "proved_at", "https", "cors")),
    _FRONTIER_ID.label("entry_id"),
).order_by(ENDPOINT.c.id)
_OF_THIS_SERVICE = _ENDPOINTS.where(ENDPOINT.c.service_id == bindparam("service"))
_AT_THIS_ADDRESS = _ENDPOINTS.where(ENDPOINT.c.key == bindparam("key"))
_SERVICE_AT = (
    select(ENDPOINT.c.service_id)
    .where(ENDPOINT.c.key == bindparam("key"), ENDPOINT.c.service_id.is_not(None))
    .order_by((ENDPOINT.c.kind == bindparam("kind")).desc(), (ENDPOINT.c.status == "valid").desc(), ENDPOINT.c.id)
)
_PROOF = (
    select(
        *(PROOF.c.layer, PROOF.c.crs, PROOF.c.outcome, PROOF.c.elapsed_ms.label("milliseconds")),
        *(PROOF.c.detail, PROOF.c.url),
    )
    .where(PROOF.c.endpoint_id == bindparam("endpoint"))
    .order_by(PROOF.c.position)
)
_EVIDENCE = (
    select(EVIDENCE.c.signal, EVIDENCE.c.page, EVIDENCE.c.link, EVIDENCE.c.anchor, EVIDENCE.c.at)
    .where(EVIDENCE.c.endpoint_id == bindparam("endpoint"))
    .order_by(EVIDENCE.c.id)
)


def service_detail(connection: Connection, number: int) -> ServiceDetail | None:
    """Return the service with this id; None when there is none."""
    row = next(connection.run(_SERVICE, {"service": number}).dicts(), None)
    if row is None:
        return None
    return ServiceDetail(
        **_decoded(row, "keywords", "formats", "contact"),
        layers=tuple(_layer(each) for each in connection.run(_LAYERS, {"service": number}).dicts()),
        endpoints=_endpoints(connection, connection.run(_OF_THIS_SERVICE, {"service": number})),
        best=best_address(connection, number),
        same=why_same(connection, number),
    )


def service_at(connection: Connection, key: str, kind: str = "") -> ServiceDetail | None:
    """Return the service at the endpoint of this identity (`urls.endpoint_key`), of several kinds the one of `kind`;
    None when no service was found there."""
    row = connection.run(_SERVICE_AT, {"key": key, "kind": kind}).fetchone()
    return None if row is None else service_detail(connection, row[0])


def endpoints_at(connection: Connection, key: str) -> tuple[EndpointRow, ...]:
    """Return the endpoints of this identity, one a kind, with a verdict or without."""
    return _endpoints(connection, connection.run(_AT_THIS_ADDRESS, {"key": key}))


def _endpoints(connection: Connection, rows: Rows) -> tuple[EndpointRow, ...]:
    return tuple(
        EndpointRow(
            **row
            | {
                "deviations": tuple(json.loads(row["deviations"] or "[]")),
                "https": None if row["https"] is None else bool(row["https"]),
            },
            proof=tuple(connection.run(_PROOF, {"endpoint": row["id"]}).dicts()),
            evidence=tuple(connection.run(_EVIDENCE, {"endpoint": row["id"]}).dicts()),
        )
        for row in list(rows.dicts())
    )


def _layer(row: dict[str, Any]) -> LayerRow:
    decoded = _decoded(row, "crs", "styles", "keywords", "formats")
    return LayerRow(**decoded | {"queryable": bool(row["queryable"])})


def _decoded(row: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return a row with its JSON read (lists as tuples) and its four sides as one box."""
    sides = tuple(row.pop(side) for side in _SIDES)
    values = {name: json.loads(row[name]) for name in names}
    lists = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return row | lists | {"box": None if None in sides else sides}
