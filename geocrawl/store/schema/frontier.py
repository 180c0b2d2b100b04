"""What a crawl knows of addresses and hosts, and in which order it asks."""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, desc, text
from sqlmodel import Field, SQLModel

_WORKING = text("waiting > 0 AND lease_until = 0")


class Host(SQLModel, table=True):
    """A host with its politeness, its lease and the head of its queue."""

    __table_args__ = (
        Index("host_ready", "parked", desc("best_tier"), desc("best_score"), "turn", "next_at", sqlite_where=_WORKING),
        Index("host_rest", "parked", "next_at", sqlite_where=_WORKING),
        Index("host_leased", "lease_until", sqlite_where=text("lease_until > 0")),
    )
    id: int = Field(primary_key=True)
    name: str = Field(unique=True)
    next_at: float = 0.0
    """No request before this time."""
    errors: int = 0
    last_error_at: float = 0.0
    crawl_delay_s: float | None = None
    parked: int = 0
    """1: rests so long that the ready query need not pass over it."""
    waiting: int = 0
    """URLs in its queue, a leased one included."""
    best_tier: int = 0
    best_score: float = 0.0
    """Rank of the head of its queue."""
    turn: int = 0
    """Number of its last settlement: of equals, the one that has waited longest is next."""
    pages: int = 0
    """Different pages seen of it, for the cap `max_pages_per_host`."""
    lease_until: float = 0.0
    """Held until then; 0: free."""
    lease_token: int = 0
    """Counts its leases; a settlement with an older one is ignored."""
    lease_url: int | None = None
    lease_owner: str | None = None
    asked_day: int = Field(default=0, sa_column_kwargs={"server_default": text("0")})
    """The day of its last request, days since the epoch (UTC)."""
    asked: int = Field(default=0, sa_column_kwargs={"server_default": text("0")})
    """Requests on that day."""


class Url(SQLModel, table=True):
    """A page or a probe, known to the frontier. `id` is the order in which they were first seen."""

    __table_args__ = (
        Index("url_queue", "host_id", desc("tier"), desc("score"), sqlite_where=text("state = 'waiting'")),
        Index("url_retry", "purpose", "retry_at", sqlite_where=text("retry_at IS NOT NULL")),
        Index("url_endpoint", "endpoint_id", sqlite_where=text("endpoint_id IS NOT NULL")),
        Index("url_failed", "settled_at", sqlite_where=text("state = 'failed'")),
        Index("url_seed", "id", sqlite_where=text("depth = 0")),
        Index("url_revisit", "revisit_at", sqlite_where=text("revisit_at IS NOT NULL")),
    )
    id: int = Field(primary_key=True)
    key: int = Field(unique=True)
    """64 bits of BLAKE2b over purpose and identity (`keys.py`)."""
    address: str
    purpose: str
    """page or probe"""
    host_id: int = Field(foreign_key="host.id")
    state: str
    """waiting, visited, failed, too-deep, refused (`lifecycle.py`); a leased one waits, see `host.lease_url`."""
    reason: str | None = None
    """ok, or why it failed or was refused."""
    depth: int
    """Links from a seed, the least that is known."""
    tier: int
    score: float
    found_on: int | None = None
    """Page of the best-ranked link to it; NULL for a seed."""
    anchor: str | None = None
    """That link's text, at most 200 characters."""
    found_in: str | None = None
    """That link's element: a, area, form, redirect, seed …"""
    hops: int = 0
    """Redirects between hosts that led here."""
    attempts: int = 0
    """Visits that failed."""
    endpoint_id: int | None = Field(default=None, foreign_key="endpoint.id")
    """Of a probe: what it asks. Of a page: the endpoint that its address may be."""
    retry_at: float | None = None
    first_seen: float
    settled_at: float | None = None
    http_status: int | None = None
    content_type: str | None = None
    size_bytes: int | None = None
    elapsed_ms: float | None = None
    title: str | None = None
    relevance: int | None = None
    """Of the page to the topic: 0, 1, 2 (gws eq. 2)."""
    page_score: float | None = None
    """The strategy's own page figure; for gws r = cos(T, P)."""
    digest: int | None = None
    """64 bits of BLAKE2b over the text and the links of a page that named services: tells whether it changed."""
    changes: int = Field(default=0, sa_column_kwargs={"server_default": text("0")})
    """Revisits that found it changed."""
    revisit_s: float | None = None
    """Time between two visits, learnt from its changes; NULL: it is not visited again by itself."""
    revisit_at: float | None = None


class Seed(SQLModel, table=True):
    """A page that the daemon starts from."""

    __table_args__ = {"sqlite_with_rowid": False}
    identity: str = Field(primary_key=True)
    address: str
    title: str
    region: str
    language: str
    source: str
    """Who named it, with the licence of the list; '' for a person."""
    added_at: float


class OutLinks(SQLModel, table=True):
    """Where a visited page leads, so that a shorter way to it reaches its links without a second fetch."""

    __tablename__ = "outlinks"
    url_id: int = Field(primary_key=True)
    links: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """Ids of `url`, little-endian 32-bit integers; a negative one is as deep as its page (a redirect's target)."""


class Validator(SQLModel, table=True):
    """What a server gave to ask by whether an answer still holds (RFC 9110, 8.8): of services that one answer
    describes, and of pages that are read again. One that was not read whole for long is no longer asked by it."""

    url_id: int = Field(primary_key=True, foreign_key="url.id")
    address: str
    """What was asked, redirects followed: it is sent with requests for exactly this."""
    etag: str
    """As it came; '' when there was none."""
    modified: str
    """Last-Modified, as it came; '' when there was none."""
    read_at: float
    """When the document was last read whole."""


class Robots(SQLModel, table=True):
    """What an origin answered for /robots.txt; `body` is NULL when it could not be had."""

    origin: str = Field(primary_key=True)
    status: int | None = None
    body: str | None = None
    fetched_at: float
    expires_at: float


class Lesson(SQLModel, table=True):
    """A visit that a learning strategy has seen since its last dump (`strategy:state` in `meta`)."""

    number: int = Field(primary_key=True)
    """Order of settlement."""
    url_id: int
    purpose: str
    depth: int
    found_on: int | None = None
    state: str
    reason: str
    valid: int | None = None
    """Of a probe: 1 or 0; NULL for a page, or when robots.txt forbade the question."""
    links: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """Ids of `url`, little-endian 32-bit integers: the links that were kept, in the page's order."""
    memo: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """What the strategy noted when it judged the page."""


class PageStore(SQLModel, table=True):
    """Pages kept for their topic (`crawl --store-pages`)."""

    __tablename__ = "page_store"
    __table_args__ = (Index("page_store_worst", "score", "url_id"),)
    url_id: int = Field(primary_key=True, foreign_key="url.id")
    score: float
    """The strategy's page score."""
    stored_at: float
    encoding: str
    """Of its characters, as the Encoding Standard spells it."""
    size_bytes: int
    """Of `body`."""
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """The page as it was answered, compressed by zlib (`zlib.decompress` in Python)."""
