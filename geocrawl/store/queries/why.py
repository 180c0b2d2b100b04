"""What the database knows of one address: `geocrawl why`. And what `geocrawl export` writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from geocrawl.model import Url
from geocrawl.store.engine.connection import Connection
from geocrawl.store.keys import page_key
from geocrawl.store.queries.show import EndpointRow, endpoints_at
from geocrawl.urls import service_keys


@dataclass(frozen=True, slots=True)
class UrlRow:
    """A page of the frontier."""

    id: int
    address: str
    host: str
    state: str
    """waiting, leased, visited, failed, too-deep, refused."""
    reason: str | None
    depth: int
    tier: int
    score: float
    found_on: int | None
    anchor: str
    found_in: str
    attempts: int
    """Visits that failed."""
    first_seen: float
    settled_at: float | None
    retry_at: float | None
    http_status: int | None
    content_type: str | None
    size_bytes: int | None
    elapsed_ms: float | None
    title: str | None
    relevance: int | None
    page_score: float | None
    host_next_at: float
    """No request to its host before this time."""


@dataclass(frozen=True, slots=True)
class Why:
    """Everything known of an address; all empty when it was never seen."""

    page: UrlRow | None
    parent: UrlRow | None
    """The page of the best-ranked link to it."""
    endpoints: tuple[EndpointRow, ...]


_PAGE = """
SELECT u.id, u.address, h.name, CASE WHEN h.lease_url = u.id AND h.lease_until > 0 THEN 'leased' ELSE u.state END,
       u.reason, u.depth, u.tier, u.score, u.found_on, coalesce(u.anchor, ''), coalesce(u.found_in, ''), u.attempts,
       u.first_seen, u.settled_at, u.retry_at, u.http_status, u.content_type, u.size_bytes, u.elapsed_ms, u.title,
       u.relevance, u.page_score, h.next_at
FROM url u JOIN host h ON h.id = u.host_id"""


def why(connection: Connection, url: Url) -> Why:
    """The page of this identity with the page it came from, and the endpoints of this address."""
    page = _page(connection, "u.key = ?", page_key(url.identity))
    parent = _page(connection, "u.id = ?", page.found_on) if page and page.found_on else None
    endpoints = [each for key in service_keys(url) for each in endpoints_at(connection, key)]
    return Why(page, parent, tuple(endpoints))


def _page(connection: Connection, condition: str, value: int) -> UrlRow | None:
    row = connection.execute(f"{_PAGE} WHERE {condition}", (value,)).fetchone()
    return None if row is None else UrlRow(*row)


# --------------------------------------------------------------------------- export


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
    """advertised, answers, delivers; '' when no content was asked for."""
    cors: str


_EXPORT = """
SELECT e.url, e.kind, e.status, coalesce(s.title, ''), coalesce(e.version, ''), coalesce(s.layer_count, 0),
       e.first_seen, e.last_ok, e.reason, e.last_probe, coalesce(s.abstract, ''), coalesce(s.keywords, '[]'),
       coalesce(s.provider, ''), coalesce(s.formats, '[]'), coalesce(s.online_resource, ''), s.west, s.south, s.east,
       s.north, coalesce(e.deviations, '[]'), e.service_id, coalesce(e.level, ''), coalesce(e.cors, '')
FROM endpoint e LEFT JOIN service s ON s.id = e.service_id
WHERE e.status IS NOT NULL AND (e.weak < 2 OR e.last_ok IS NOT NULL) AND (?1 IS NULL OR e.kind = ?1) ORDER BY e.id"""


def export_rows(connection: Connection, kind: str | None = None) -> Iterator[ExportRow]:
    """Every endpoint (of `kind`) with a verdict, in the order in which they were found; one row in memory at a time."""
    for row in connection.execute(_EXPORT, (kind,)):
        yield ExportRow(*row)
