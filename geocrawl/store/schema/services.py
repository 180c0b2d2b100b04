"""The catalogue: what answers, where, why it is believed in, and which addresses are one service."""

from __future__ import annotations

from sqlalchemy import Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel


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
