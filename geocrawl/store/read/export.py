"""Read the endpoints that `geocrawl export` writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import bindparam, func, or_, select

from geocrawl.store.catalog.health import GUESSED
from geocrawl.store.engine.connection import Connection
from geocrawl.store.schema.tables import ENDPOINT, SERVICE


@dataclass(frozen=True, slots=True)
class ExportRow:
    """An endpoint that has a verdict, with what answered there last."""

    url: str
    kind: str
    status: str
    title: str
    version: str
    layers: int
    """Named layers."""
    first_seen: float
    last_ok: float | None
    reason: str
    last_probe: float
    abstract: str
    keywords: str
    """A JSON list."""
    provider: str
    formats: str
    """A JSON list."""
    online_resource: str
    west: float | None
    south: float | None
    east: float | None
    north: float | None
    deviations: str
    """A JSON list of {code, detail}."""
    service_id: int | None
    level: str
    """advertised, answers, delivers; '' without a content check."""
    cors: str


_ROWS = (
    select(
        *(ENDPOINT.c.url, ENDPOINT.c.kind, ENDPOINT.c.status, func.coalesce(SERVICE.c.title, "")),
        *(func.coalesce(ENDPOINT.c.version, ""), func.coalesce(SERVICE.c.layer_count, 0)),
        *(ENDPOINT.c.first_seen, ENDPOINT.c.last_ok, ENDPOINT.c.reason, ENDPOINT.c.last_probe),
        *(func.coalesce(SERVICE.c.abstract, ""), func.coalesce(SERVICE.c.keywords, "[]")),
        *(func.coalesce(SERVICE.c.provider, ""), func.coalesce(SERVICE.c.formats, "[]")),
        func.coalesce(SERVICE.c.online_resource, ""),
        *(SERVICE.c.west, SERVICE.c.south, SERVICE.c.east, SERVICE.c.north),
        *(func.coalesce(ENDPOINT.c.deviations, "[]"), ENDPOINT.c.service_id),
        *(func.coalesce(ENDPOINT.c.level, ""), func.coalesce(ENDPOINT.c.cors, "")),
    )
    .select_from(ENDPOINT.outerjoin(SERVICE, SERVICE.c.id == ENDPOINT.c.service_id))
    .where(ENDPOINT.c.status.is_not(None), or_(ENDPOINT.c.weak < GUESSED, ENDPOINT.c.last_ok.is_not(None)))
    .order_by(ENDPOINT.c.id)
)
_ROWS_OF_KIND = _ROWS.where(ENDPOINT.c.kind == bindparam("kind"))


def export_rows(connection: Connection, kind: str | None = None) -> Iterator[ExportRow]:
    """Yield every endpoint (of `kind`) with a verdict, in the order in which they were found; one is read at a time."""
    rows = connection.run(_ROWS) if kind is None else connection.run(_ROWS_OF_KIND, {"kind": kind})
    for row in rows:
        yield ExportRow(*row)
