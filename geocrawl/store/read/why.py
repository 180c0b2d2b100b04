"""Read the stored data about one address: `geocrawl why`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, bindparam, case, func, select

from geocrawl.model import Url
from geocrawl.store.engine.connection import Connection, Rows
from geocrawl.store.keys import page_key
from geocrawl.store.read.show import EndpointRow, endpoints_at
from geocrawl.store.schema.tables import HOST, SEED, URL
from geocrawl.urls import service_keys


@dataclass(frozen=True, slots=True)
class UrlRow:
    """A page that the frontier knows."""

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
    """No request to the page's host before this time."""


@dataclass(frozen=True, slots=True)
class Why:
    """Everything known of an address; all empty when it was never seen."""

    page: UrlRow | None
    parent: UrlRow | None
    """The page of the best-ranked link to it."""
    endpoints: tuple[EndpointRow, ...]
    source: str = ""
    """Where a start page comes from: a list, or a place in an archive; '' when nothing is known of it."""


_IS_LEASED = and_(HOST.c.lease_url == URL.c.id, HOST.c.lease_until > 0)
_VISIT = ("http_status", "content_type", "size_bytes", "elapsed_ms", "title", "relevance", "page_score")
_PAGES = select(
    *(URL.c.id, URL.c.address, HOST.c.name, case((_IS_LEASED, "leased"), else_=URL.c.state), URL.c.reason),
    *(URL.c.depth, URL.c.tier, URL.c.score, URL.c.found_on),
    *(func.coalesce(URL.c.anchor, ""), func.coalesce(URL.c.found_in, ""), URL.c.attempts),
    *(URL.c.first_seen, URL.c.settled_at, URL.c.retry_at, *(URL.c[name] for name in _VISIT)),
    HOST.c.next_at,
).select_from(URL.join(HOST, HOST.c.id == URL.c.host_id))
_BY_KEY = _PAGES.where(URL.c.key == bindparam("key"))
_SOURCE = select(SEED.c.source).where(SEED.c.identity == bindparam("identity"))
_BY_ID = _PAGES.where(URL.c.id == bindparam("page"))


def read_why(connection: Connection, url: Url) -> Why:
    """Return the page of this identity, the page on which it was found, and the endpoints of this address."""
    page = _page(connection.run(_BY_KEY, {"key": page_key(url.identity)}))
    parent = _page(connection.run(_BY_ID, {"page": page.found_on})) if page and page.found_on else None
    endpoints = [each for key in service_keys(url) for each in endpoints_at(connection, key)]
    source = connection.run(_SOURCE, {"identity": url.identity}).fetchone()
    return Why(page, parent, tuple(endpoints), source[0] if source is not None else "")


def _page(rows: Rows) -> UrlRow | None:
    row = rows.fetchone()
    return None if row is None else UrlRow(*row)
