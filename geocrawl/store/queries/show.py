"""A service or an endpoint with all that the catalogue knows of it: what `show` tells, and other programs ask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.reading import dicts
from geocrawl.store.queries.addresses import SameRow, best_address, why_same


@dataclass(frozen=True, slots=True)
class LayerRow:
    """A layer as it stands in the catalogue: its own properties only."""

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
    """An endpoint with its last verdict and why we believe in it."""

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
    """advertised, answers, delivers; None: no content was asked for."""
    proved_at: float | None
    https: bool | None
    cors: str | None
    proof: tuple[Mapping[str, object], ...]
    """layer, crs, outcome, milliseconds, detail, url."""
    entry_id: int | None
    """Its row in the frontier, with which the ids of its visits begin in the log; None when it was never queued."""
    evidence: tuple[Mapping[str, object], ...]
    """signal, page, link, anchor, at."""


@dataclass(frozen=True, slots=True)
class ServiceDetail:
    """Everything that the catalogue knows of a service."""

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


_SERVICE = """
SELECT id, kind, title, abstract, keywords, provider, contact, fees, access_constraints, version, formats,
       online_resource, layer_count, west, south, east, north, first_seen, last_ok FROM service WHERE id = ?"""
_LAYERS = """
SELECT position, parent, name, title, abstract, crs, styles, keywords, queryable, item, formats,
       west, south, east, north
FROM layer WHERE service_id = ? ORDER BY position"""
_ENDPOINT = """
SELECT id, kind, url, service_id, status, reason, detail, version, http_status, deviations, first_seen, last_probe,
       last_ok, probes, level, proved_at, https, cors,
       (SELECT min(u.id) FROM url u WHERE u.endpoint_id = endpoint.id AND u.purpose = 'probe') AS entry_id
FROM endpoint"""
_PROOF = """
SELECT layer, crs, outcome, elapsed_ms AS milliseconds, detail, url FROM proof
WHERE endpoint_id = ? ORDER BY position"""
_EVIDENCE = "SELECT signal, page, link, anchor, at FROM evidence WHERE endpoint_id = ? ORDER BY id"


def service_detail(connection: Connection, number: int) -> ServiceDetail | None:
    """The service of this number; None when there is none."""
    row = next(dicts(connection, _SERVICE, number), None)
    if row is None:
        return None
    return ServiceDetail(
        **_decoded(row, "keywords", "formats", "contact"),
        layers=tuple(_layer(each) for each in dicts(connection, _LAYERS, number)),
        endpoints=_endpoints(connection, "service_id = ?", number),
        best=best_address(connection, number),
        same=why_same(connection, number),
    )


def service_at(connection: Connection, key: str, kind: str = "") -> ServiceDetail | None:
    """The service that answers at the endpoint of this identity (`urls.endpoint_key`), of several kinds the one of
    `kind`; None when none does."""
    row = connection.execute(
        "SELECT service_id FROM endpoint WHERE key = ? AND service_id IS NOT NULL "
        "ORDER BY kind = ? DESC, status = 'valid' DESC, id",
        (key, kind),
    ).fetchone()
    return None if row is None else service_detail(connection, row[0])


def endpoints_at(connection: Connection, key: str) -> tuple[EndpointRow, ...]:
    """The endpoints of this identity, one a kind, with a verdict or without."""
    return _endpoints(connection, "key = ?", key)


def _endpoints(connection: Connection, condition: str, value: object) -> tuple[EndpointRow, ...]:
    rows = list(dicts(connection, f"{_ENDPOINT} WHERE {condition} ORDER BY id", value))
    return tuple(
        EndpointRow(
            **row
            | {
                "deviations": tuple(json.loads(row["deviations"] or "[]")),
                "https": None if row["https"] is None else bool(row["https"]),
            },
            proof=tuple(dicts(connection, _PROOF, row["id"])),
            evidence=tuple(dicts(connection, _EVIDENCE, row["id"])),
        )
        for row in rows
    )


def _layer(row: dict[str, Any]) -> LayerRow:
    decoded = _decoded(row, "crs", "styles", "keywords", "formats")
    return LayerRow(**decoded | {"queryable": bool(row["queryable"])})


def _decoded(row: dict[str, Any], *names: str) -> dict[str, Any]:
    """A row with its JSON read (lists as tuples) and its four sides as one box."""
    sides = tuple(row.pop(side) for side in ("west", "south", "east", "north"))
    values = {name: json.loads(row[name]) for name in names}
    lists = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return row | lists | {"box": None if None in sides else sides}
