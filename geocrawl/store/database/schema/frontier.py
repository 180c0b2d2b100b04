"""Define the tables of addresses and hosts that a crawl knows, with their order of visits and the limits on them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

from geocrawl.store.database.schema.columns import starting_with
from geocrawl.store.database.schema.tables import HASH

_BEST_FIRST = (text("best_tier DESC"), text("best_score DESC"))
_FREE = text("waiting > 0 AND lease_until = 0")


class Host(SQLModel, table=True):
    """A host with its politeness, its lease and the rank of the first URL in its queue."""

    __table_args__ = (
        Index(
            "host_ready",
            "parked",
            text("best_tier DESC"),
            text("best_score DESC"),
            "turn",
            "next_at",
            sqlite_where=_FREE,
        ),
        Index("host_rest", "parked", "next_at", sqlite_where=_FREE),
        Index("host_leased", "lease_until", sqlite_where=text("lease_until > 0")),
    )
    id: int = Field(primary_key=True)
    name: str = Field(unique=True)
    next_at: float = starting_with("0", 0.0)
    """No request before this time."""
    errors: int = starting_with("0", 0)
    """Number of requests that failed in a row."""
    last_error_at: float = starting_with("0", 0.0)
    crawl_delay_s: float | None = None
    """Crawl-delay of the host's robots.txt."""
    parked: int = starting_with("0", 0)
    """1: in back-off for so long that the query for ready hosts excludes the host by an index."""
    waiting: int = starting_with("0", 0)
    """URLs in the host's queue, a leased one included."""
    best_tier: int = starting_with("0", 0)
    best_score: float = starting_with("0", 0.0)
    """Rank, with `best_tier`, of the first URL in the queue."""
    turn: int = starting_with("0", 0)
    """Number of the host's last settlement: of equals, the host that has waited longest is next."""
    pages: int = starting_with("0", 0)
    """Different pages seen of the host, for the cap `max_pages_per_host`."""
    lease_until: float = starting_with("0", 0.0)
    """Time until which the host is leased; 0: free."""
    lease_token: int = starting_with("0", 0)
    """Number of the host's last lease; a settlement with an older number is ignored."""
    lease_url: int | None = None
    lease_owner: str | None = None
    """The process that leased the host, `machine token:pid` (`store.database.life`)."""
    asked_day: int = starting_with(text("0"), 0)
    """The day of the last request, days since the epoch (UTC)."""
    asked: int = starting_with(text("0"), 0)
    """Requests on that day."""
    troubled_at: float = starting_with(text("0"), 0.0)
    """Time at which one address of the host last answered with 429 or a server error (500, 502, 503, 504)."""
    troubled_address: str = starting_with(text("''"), "")
    """Address of that error: when another address fails soon after, the host itself may have the fault."""
    refusals: int = starting_with(text("0"), 0)
    """Points of the host's refusals: 429 or 503 of another address adds three, any good answer takes one away; from
    six on the host is in back-off."""


class IpPlace(SQLModel, table=True):
    """One of the requests to an IP address that may be under way at the same time, over all processes."""

    __tablename__ = "ip_place"
    __table_args__ = (Index("ip_place_begins", "begins_at"), {"sqlite_with_rowid": False})
    ip: str = Field(primary_key=True)
    slot: int = Field(primary_key=True)
    """Number of the request among those at the same time, from 0."""
    begins_at: float
    """When the last request began, or is to begin."""
    until: float
    """When that request has ended at the latest; 0: it has ended."""
    owner: str
    """The process that makes the request, as in `host.lease_owner`."""


class Url(SQLModel, table=True):
    """A page or a probe known to the frontier. `id` is the order in which URLs were first seen."""

    __table_args__ = (
        Index("url_queue", "host_id", text("tier DESC"), text("score DESC"), sqlite_where=text("state = 'waiting'")),
        Index("url_retry", "purpose", "retry_at", sqlite_where=text("retry_at IS NOT NULL")),
        Index("url_endpoint", "endpoint_id", sqlite_where=text("endpoint_id IS NOT NULL")),
        Index("url_failed", "settled_at", sqlite_where=text("state = 'failed'")),
        Index("url_seed", "id", sqlite_where=text("depth = 0")),
        Index("url_revisit", "revisit_at", sqlite_where=text("revisit_at IS NOT NULL")),
    )
    id: int = Field(primary_key=True)
    key: int = Field(sa_column=Column(BigInteger, nullable=False, unique=True))
    """64 bits of BLAKE2b over purpose and identity (`store/database/keys.py`)."""
    address: str
    purpose: str
    """page or probe"""
    host_id: int = Field(foreign_key="host.id")
    state: str
    """waiting, visited, failed, too-deep, refused (`store/frontier/lifecycle.py`). A leased URL waits, see
    `host.lease_url`."""
    reason: str | None = None
    """ok, or why the visit failed or was refused."""
    depth: int
    """Number of links from a seed; the least known number where `max_depth` limits it."""
    tier: int
    score: float
    found_on: int | None = None
    """Page of the best-ranked link that was known at the URL's first visit; NULL for a seed."""
    anchor: str | None = None
    """Text of that link, at most 200 characters."""
    found_in: str | None = None
    """Element of that link: a, area, form, redirect, seed …"""
    hops: int = starting_with("0", 0)
    """Number of redirects, and of pages that send their readers on, that led to the URL one after the other."""
    attempts: int = starting_with("0", 0)
    """Number of failed visits."""
    endpoint_id: int | None = Field(default=None, foreign_key="endpoint.id")
    """Of a probe: the endpoint that is probed. Of a page: the endpoint that its address may be."""
    retry_at: float | None = None
    first_seen: float
    settled_at: float | None = None
    http_status: int | None = None
    content_type: str | None = None
    size_bytes: int | None = None
    elapsed_ms: float | None = None
    title: str | None = None
    relevance: int | None = None
    """Level of the page: 0, 1, 2 (gws eq. 2)."""
    page_score: float | None = None
    """The strategy's own score of the page; for gws r = cos(T, P)."""
    digest: int | None = Field(default=None, sa_column=Column(HASH))
    """64 bits of BLAKE2b over the text and the links of a page that named services, to detect changes of the page."""
    changes: int = starting_with(text("0"), 0)
    """Number of revisits that found the page changed."""
    revisit_s: float | None = None
    """Time between two visits, learnt from the page's changes; NULL: the page is not revisited automatically."""
    revisit_at: float | None = None
    kills: int = starting_with(text("0"), 0)
    """Number of processes that were killed while they visited the URL, since its last settled visit."""
    sub_queue: int | None = None
    """Of a page: 3 times the level of the link to it (gws eq. 3) plus that of the page with the link (eq. 2), 0 to 8 as
    the priorities by eq. 4 are; NULL: an older program found it."""
    visit_tier: int | None = None
    """Tier in which the page waited for its last visit."""
    led: int | None = None
    """1: the last visit named an endpoint that then proved to be a valid service for the first time, else 0."""


class Seed(SQLModel, table=True):
    """A start page of the daemon."""

    __table_args__ = {"sqlite_with_rowid": False}
    identity: str = Field(primary_key=True)
    address: str
    title: str
    region: str
    language: str
    source: str
    """Source of the seed, with the licence of the list; '' for a person."""
    added_at: float


class OutLinks(SQLModel, table=True):
    """Links of a visited page, which are kept while there is a limit on depth: a shorter way to the page lessens their
    depth, too."""

    __tablename__ = "outlinks"
    __table_args__ = (Index("outlinks_moved", "moved", sqlite_where=text("moved > 0")),)
    url_id: int = Field(primary_key=True)
    links: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """Ids of `url`, as `store/frontier/outlinks.py` packs them."""
    moved: int = starting_with(text("0"), 0)
    """1: the page's depth fell, and its links are to be followed before the next lease."""


class Validator(SQLModel, table=True):
    """ETag and Last-Modified of a service or a page, sent with the next request to learn whether the last answer is
    still valid (RFC 9110, section 8.8). An answer that was not read whole for long is requested without them.
    """

    url_id: int = Field(primary_key=True, foreign_key="url.id")
    address: str
    """Requested address after redirects: validators are sent with requests for exactly this address."""
    etag: str
    """ETag as the server sent it; '' for none."""
    modified: str
    """Last-Modified as the server sent it; '' for none."""
    read_at: float
    """Time at which the document was last read whole."""


class Robots(SQLModel, table=True):
    """The answer of an origin to the request for /robots.txt."""

    origin: str = Field(primary_key=True)
    status: int | None = None
    body: str | None = None
    """Text of the answer; NULL without an answer. A long text is a BLOB: UTF-8, compressed by zlib."""
    fetched_at: float
    expires_at: float


class Lesson(SQLModel, table=True):
    """Feedback of one visit that a learning strategy got since its last dump (`strategy:state` in `meta`)."""

    number: int = Field(primary_key=True)
    """Number of the settlement, in their order."""
    url_id: int
    purpose: str
    depth: int
    found_on: int | None = None
    state: str
    reason: str
    valid: int | None = None
    """Of a probe: 1 or 0; NULL for a page, or when robots.txt forbade the probe."""
    links: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """Ids of `url`, little-endian 32-bit integers: the links that were kept, in the page's order."""
    memo: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """Features that the strategy stored when it judged the page."""


class PageStore(SQLModel, table=True):
    """A page kept for its topic (`crawl --store-pages`)."""

    __tablename__ = "page_store"
    __table_args__ = (Index("page_store_worst", "score", "url_id"),)
    url_id: int = Field(primary_key=True, foreign_key="url.id")
    score: float
    """Nearness to the topic, 0…1, by the page filter."""
    stored_at: float
    encoding: str
    """Character encoding, as the Encoding Standard spells it."""
    size_bytes: int
    """Size of `body`."""
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    """The page as it was answered, compressed by zlib (`zlib.decompress` in Python)."""


class Blocked(SQLModel, table=True):
    """An opt-out: a host that receives no requests, with all hosts below it (`geocrawl forget HOST`)."""

    __table_args__ = {"sqlite_with_rowid": False}
    host: str = Field(primary_key=True)
    reason: str
    at: float


class Pattern(SQLModel, table=True):
    """The finds by pages of one URL pattern (`urls.patterns`), for the budget `max_fruitless_per_pattern`."""

    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over the pattern."""
    fruitless: int
    """Number of requests without a find, but for those of the lowest tier."""
    finds: int
    """Number of pages that named new endpoints, or led to such pages."""
    last_relevance: int
    """Relevance of the last page that was read, plus 1; 0: none was read."""
    late: int = starting_with(text("0"), 0)
    """Number of addresses that came to wait in the lowest tier, for the bound `max_late_per_pattern`."""


class Site(SQLModel, table=True):
    """A registered domain, with the counts behind the limits on one site."""

    __table_args__ = {"sqlite_with_rowid": False}
    name: str = Field(primary_key=True)
    hosts: int
    """Number of different hosts seen of the site, for the cap `max_hosts_per_site`."""
    held_at: float | None = None
    """Time since which the site is quarantined, until a person decides (`geocrawl release SITE`); NULL: not
    quarantined.
    """
    held_for: str
    """Reason of the quarantine: the pattern of the site's endpoints that was seen too often."""
    released: int
    """1: a person has released the site, which is not quarantined again."""


class Alike(SQLModel, table=True):
    """The number of services of a site with addresses of one pattern, for the cap `max_alike_services`."""

    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over site and pattern."""
    services: int


class QueryGroup(SQLModel, table=True):
    """The number of addresses seen that differ only in their query, for the cap `max_queries_per_path`."""

    __tablename__ = "query_group"
    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over host and path."""
    seen: int


class Source(SQLModel, table=True):
    """A list of records that somebody else's catalogue offers, and how much of it was read."""

    id: int = Field(primary_key=True)
    key: int = Field(sa_column=Column(HASH, unique=True, nullable=False))
    """64 bits of BLAKE2b over the address."""
    address: str
    """Address of the list, without position and number of records."""
    family: str
    """The catalogue's interface: csw, ckan, arcgis …"""
    stated: int | None = None
    """Number of records that the list has, as the catalogue stated last; NULL: it states none."""
    read: int = starting_with(text("0"), 0)
    """Number of different records that were read."""
    state: str
    """reading, whole (all that is stated, or to the end of a list without a total) or short."""
    reason: str = starting_with(text("''"), "")
    """Why reading ended before the stated total: a visit's reason, `ended` or `repeats`; '' for none."""
    window: int | None = None
    """Most records of one list that the catalogue gives; NULL: not known."""
    harvest: int = starting_with(text("0"), 0)
    """Number of the harvest that has begun it last; 0: a crawl found it."""
    at: float
    """Time of the last page."""
    named: int = starting_with(text("0"), 0)
    """Number of the records read that name a service."""


class SourceList(SQLModel, table=True):
    """A list that is read page by page: all of a source, or a slice of it where the source gives only a part."""

    __tablename__ = "source_list"
    __table_args__ = (Index("source_list_source", "source_id"), Index("source_list_next", "next_key"))
    id: int = Field(primary_key=True)
    source_id: int = Field(foreign_key="source.id")
    key: int = Field(sa_column=Column(HASH, unique=True, nullable=False))
    """64 bits of BLAKE2b over the address without position."""
    address: str
    """Address of the first page."""
    slice: str = starting_with(text("''"), "")
    """The part of the source as JSON; '' for all of it."""
    next_key: int | None = Field(default=None, sa_column=Column(HASH))
    """Key of the page that the last one names as next; NULL: reading has ended, or not begun."""
    stated: int | None = None
    read: int = starting_with(text("0"), 0)
    """Number of records on the pages that were read."""
    digest: int | None = Field(default=None, sa_column=Column(HASH))
    """Hash of the ids on the last page, by which a repeated page is known."""
    reason: str = starting_with(text("''"), "")
    """Why reading ended before the stated total; '' for none."""


class SourceRecord(SQLModel, table=True):
    """A record of a source that was read: slices overlap, and each record is counted once."""

    __tablename__ = "source_record"
    __table_args__ = {"sqlite_with_rowid": False}
    source_id: int = Field(foreign_key="source.id", primary_key=True)
    key: int = Field(sa_column=Column(HASH, primary_key=True))
    """64 bits of BLAKE2b over the record's identifier."""


class SourceService(SQLModel, table=True):
    """An endpoint that a page of a source names. One that was removed since is not counted."""

    __tablename__ = "source_service"
    __table_args__ = {"sqlite_with_rowid": False}
    source_id: int = Field(foreign_key="source.id", primary_key=True)
    endpoint_id: int = Field(primary_key=True)
    is_new: int
    """1 when the catalogue did not know the endpoint before."""
