"""The schema, for people who query the database. Migrations make it (`migrations/`); a test holds the two together.

Times are seconds since 1970 UTC (`datetime(settled_at, 'unixepoch')` in SQL), durations have their unit in the name,
lists and mappings are JSON, flags are 0 and 1, boxes are WGS 84 degrees. NULL means unknown or not yet.

Nothing at run time imports this file (SQLModel takes 0.4 s): a crawl uses the statements in `statements.py`.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, UniqueConstraint, desc, text
from sqlmodel import Field, SQLModel

_WORKING = text("waiting > 0 AND lease_until = 0")


class Meta(SQLModel, table=True):
    """One fact about the whole database: `strategy` (its name), `strategy:state` (its dump), `max_depth` …"""

    name: str = Field(primary_key=True)
    value: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class Counter(SQLModel, table=True):
    """Running totals, so that nobody counts millions of rows: `page:visited`, `page:waiting:8` (tier 8),
    `probe:failed` …; `turn` numbers the settlements."""

    __table_args__ = {"sqlite_with_rowid": False}
    name: str = Field(primary_key=True)
    value: int


class Run(SQLModel, table=True):
    """One run of `geocrawl crawl` or `probe --save`."""

    id: int = Field(primary_key=True)
    started_at: float
    ended_at: float | None = None
    owner: str
    """machine:process"""
    strategy: str
    settings: str
    """JSON, those that differ from the defaults; secrets left out."""
    pages: int | None = None
    services: int | None = None
    stopped: str | None = None


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


class Daily(SQLModel, table=True):
    """Figures of a day of the daemon: pages, probes, valid, failures …"""

    __table_args__ = {"sqlite_with_rowid": False}
    day: str = Field(primary_key=True)
    """YYYY-MM-DD, UTC."""
    name: str = Field(primary_key=True)
    value: int


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


class Blocked(SQLModel, table=True):
    """A host, and all beneath it, that is left alone (`geocrawl forget HOST`)."""

    __table_args__ = {"sqlite_with_rowid": False}
    host: str = Field(primary_key=True)
    reason: str
    at: float


class Pattern(SQLModel, table=True):
    """What the pages of one URL pattern brought (`urls.patterns`), for the budget `max_fruitless_per_pattern`."""

    key: int = Field(primary_key=True)
    """64 bits of BLAKE2b over the pattern."""
    fruitless: int
    """Requests that brought nothing new."""
    finds: int
    """Pages that brought endpoints nobody knew, or led to such pages."""
    last_relevance: int
    """Of the page that was read last, and 1 more; 0: none was read."""


class Site(SQLModel, table=True):
    """A registered domain, for the bounds on what one may have."""

    __table_args__ = {"sqlite_with_rowid": False}
    name: str = Field(primary_key=True)
    hosts: int
    """Different hosts seen of it, for the cap `max_hosts_per_site`."""
    held_at: float | None = None
    """Since when it waits for a person's look (`geocrawl release SITE`); NULL: it does not."""
    held_for: str
    """What was seen too often: the pattern of its endpoints."""
    released: int
    """1: a person has looked, and it is not held again."""


class Alike(SQLModel, table=True):
    """How many services of a site have addresses of one pattern, for the cap `max_alike_services`."""

    key: int = Field(primary_key=True)
    """64 bits of BLAKE2b over site and pattern."""
    services: int


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


class QueryGroup(SQLModel, table=True):
    """How many addresses were seen that differ only in their query, for the cap `max_queries_per_path`."""

    __tablename__ = "query_group"
    key: int = Field(primary_key=True)
    seen: int


class Robots(SQLModel, table=True):
    """What an origin answered for /robots.txt; `body` is NULL when it could not be had."""

    origin: str = Field(primary_key=True)
    status: int | None = None
    body: str | None = None
    fetched_at: float
    expires_at: float


class Service(SQLModel, table=True):
    """What answers at one or several endpoints, as its capabilities last described it."""

    __table_args__ = (Index("service_same", "kind", "fingerprint", "site"),)
    id: int = Field(primary_key=True)
    kind: str
    fingerprint: str
    site: str
    title: str
    abstract: str
    keywords: str
    provider: str
    contact: str
    fees: str
    access_constraints: str
    version: str
    formats: str
    online_resource: str
    layer_count: int
    """Named layers."""
    west: float | None = None
    south: float | None = None
    east: float | None = None
    north: float | None = None
    first_seen: float
    last_ok: float
    best_id: int | None = None
    """The endpoint whose address is the best to show and use."""


class Layer(SQLModel, table=True):
    """A layer or a group of layers, a feature type, a coverage, a collection …: what it states itself; the rest is
    inherited from `parent`."""

    __tablename__ = "layer"
    service_id: int = Field(primary_key=True, foreign_key="service.id")
    position: int = Field(primary_key=True)
    """Order in the document, groups before their children."""
    parent: int | None = None
    """`position` of the group above it."""
    name: str
    """'' for a group that cannot be asked for."""
    title: str
    abstract: str
    crs: str
    styles: str
    keywords: str
    queryable: int
    west: float | None = None
    south: float | None = None
    east: float | None = None
    north: float | None = None
    item: str = Field(default="layer", sa_column_kwargs={"server_default": text("'layer'")})
    """layer, feature-type, coverage, collection, process, offering, record-type, folder"""
    formats: str = Field(default="[]", sa_column_kwargs={"server_default": text("'[]'")})


class Endpoint(SQLModel, table=True):
    """An address at which a service may answer."""

    __table_args__ = (
        UniqueConstraint("kind", "key"),
        Index("endpoint_key", "key"),
        Index("endpoint_service", "service_id"),
        Index("endpoint_due", "due_at", sqlite_where=text("due_at IS NOT NULL")),
    )
    id: int = Field(primary_key=True)
    kind: str
    key: str
    """Its identity: no scheme, no parameters of a request."""
    url: str
    host: str
    site: str
    weak: int
    """0: named by a page or a person; 1: known by its path alone; 2: guessed, because another kind of service answers
    at such an address. One that was guessed and never valid is left out of `status` and `export`."""
    service_id: int | None = Field(default=None, foreign_key="service.id")
    """What answered here last; kept while it is invalid."""
    status: str | None = None
    """Last verdict: valid or invalid; NULL: none yet, or robots.txt forbids the question."""
    reason: str | None = None
    detail: str | None = None
    version: str | None = None
    deviations: str | None = None
    http_status: int | None = None
    first_seen: float
    last_probe: float | None = None
    last_ok: float | None = None
    probes: int = 0
    level: str | None = None
    """What it was seen to do when it was last valid: advertised, answers, delivers; NULL: nothing was asked for yet."""
    proved_at: float | None = None
    https: int | None = None
    """1: it answers over HTTPS; NULL: not asked."""
    cors: str | None = None
    """Access-Control-Allow-Origin of its content; '' when it sends none."""
    health: str = Field(default="new", sa_column_kwargs={"server_default": text("'new'")})
    """new, alive, degraded, down, gone: what its probes over time say (`status` is the last one's verdict)."""
    health_since: float | None = None
    in_a_row: int = Field(default=0, sa_column_kwargs={"server_default": text("0")})
    """Valid answers in a row, or failures as a negative number."""
    interval_s: float = Field(default=0.0, sa_column_kwargs={"server_default": text("0")})
    """Between the last probe and the next, before jitter."""
    due_at: float | None = None
    """The next probe; NULL: none, because it never worked or is gone."""


class HealthEvent(SQLModel, table=True):
    """A change of an endpoint's health."""

    __tablename__ = "health_event"
    __table_args__ = (Index("health_event_endpoint", "endpoint_id", "at"), Index("health_event_at", "at"))
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    at: float
    before: str
    after: str
    reason: str
    """Of the verdict."""


class Change(SQLModel, table=True):
    """What differs between two descriptions of a service, as one endpoint gave them."""

    __table_args__ = (Index("change_at", "at"), Index("change_service", "service_id", "at"))
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    service_id: int
    at: float
    what: str
    """layer-added, layer-removed, layer-title, layer-box, title, abstract, provider, contact, version, formats, fees,
    access_constraints, online_resource"""
    name: str
    """Of the layer; '' when the service itself changed."""
    before: str
    after: str


class Proof(SQLModel, table=True):
    """One request for content at the last proof: a map, a tile, a feature, a record."""

    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    position: int = Field(primary_key=True)
    layer: str
    """Name of the item asked for."""
    crs: str
    outcome: str
    """ok, blank, exception, not-an-image, image-error-text, wrong-size, axis-order, timeout, http-error, refused"""
    elapsed_ms: float
    detail: str
    url: str


class Thumbnail(SQLModel, table=True):
    """A small PNG of the first content that an endpoint delivered."""

    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    at: float
    image: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class Description(SQLModel, table=True):
    """What an endpoint said of itself when it was last valid, as far as it tells services apart."""

    __table_args__ = (
        Index("description_fingerprint", "kind", "fingerprint"),
        Index("description_family", "kind", "family"),
    )
    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    key: str
    kind: str
    family: str
    """What addresses share that may be spellings of one: no `www.`, node number, port, case."""
    fingerprint: str
    """Of the whole description without addresses."""
    items: str
    """Hash of the provider and the names of the items."""
    telling: int
    """Named items that few other services have."""
    calls_itself: str
    """Host of the online resource that it names."""
    provider: str


class SameService(SQLModel, table=True):
    """Why two endpoints are one service, or by a person's word are not."""

    __tablename__ = "same_service"
    __table_args__ = (Index("same_service_second", "second_id"),)
    first_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    """The smaller of the two."""
    second_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    signal: str = Field(primary_key=True)
    """document, layers; host, path, port, node: what the addresses differ in; person"""
    detail: str
    same: int
    """1: one service; 0: two, which only a person says."""
    at: float


class Probe(SQLModel, table=True):
    """One attempt to find out what an endpoint is."""

    __table_args__ = (Index("probe_endpoint", "endpoint_id", "at"),)
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    at: float
    status: str
    reason: str
    detail: str
    http_status: int | None = None
    content_type: str
    first_bytes: str
    elapsed_ms: float
    requests: int
    deviations: str


class Evidence(SQLModel, table=True):
    """Why we believe that an endpoint exists: at most 20 for each."""

    __table_args__ = (UniqueConstraint("endpoint_id", "page", "link"),)
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    signal: str
    page: str
    link: str
    anchor: str
    at: float
