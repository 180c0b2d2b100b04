"""Define the tables of the catalogue: services and their endpoints, the index of the search, and endpoints over time.

Triggers write `search_change`, so that no statement that changes a service or an endpoint can forget it.
"""

from __future__ import annotations

from sqlalchemy import Column, Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from geocrawl.store.database.schema.columns import starting_with
from geocrawl.store.database.schema.tables import HASH


class Service(SQLModel, table=True):
    """A service, which answers at one or several endpoints, as its capabilities last described it."""

    __table_args__ = (Index("service_same", "kind", "fingerprint", "site"),)
    id: int = Field(primary_key=True)
    kind: str
    """wms, wfs, wmts …: the protocol"""
    fingerprint: str
    """Hash of the whole description without its addresses."""
    site: str
    """Registered domain of the endpoint that described the service first."""
    title: str
    abstract: str
    keywords: str
    """JSON list."""
    provider: str
    contact: str
    """JSON mapping: person, organisation, mail …"""
    fees: str
    access_constraints: str
    version: str
    """Version of the protocol."""
    formats: str
    """JSON list of media types."""
    online_resource: str
    """Address of the service by its own capabilities."""
    layer_count: int
    """Number of named layers."""
    west: float | None = None
    south: float | None = None
    east: float | None = None
    north: float | None = None
    """The box, with `west`, `south` and `east`, around all layers whose extent is known."""
    first_seen: float
    last_ok: float
    """Time of the last valid answer of any of the service's endpoints."""
    best_id: int | None = None
    """The endpoint whose address is the best to show and use."""
    masked_online_resource: str = starting_with(text("''"), "")
    """`online_resource` with keys and passwords replaced by `***`, for publication."""
    read_by: str = starting_with(text("''"), "")
    """Which reader read the description: 'owslib', 'geocrawl'; '' before this was noted."""
    licence: str = starting_with(text("''"), "")
    """Code of the licence that `fees` and `access_constraints` name (`geocrawl/model/licences.py`); '' for none."""
    time_start: float | None = None
    """First time of the data of any layer; NULL: not known, or open."""
    time_end: float | None = None
    """Last time of the data of any layer; NULL: not known, or still added to."""
    language: str = starting_with(text("''"), "")
    """Language of the texts, ISO 639-1 (`geocrawl/model/languages.py`); '' for none."""


class Layer(SQLModel, table=True):
    """A layer or a group of layers, a feature type, a coverage, a collection …, with the properties that it states
    itself. All others are inherited from `parent`.
    """

    __tablename__ = "layer"
    service_id: int = Field(primary_key=True, foreign_key="service.id")
    position: int = Field(primary_key=True)
    """Order in the document, groups before their children."""
    parent: int | None = None
    """`position` of the group that contains the layer."""
    name: str
    """Name for requests; '' for a group that cannot be requested."""
    title: str
    abstract: str
    crs: str
    """JSON list of reference systems."""
    styles: str
    """JSON list of names."""
    keywords: str
    """JSON list."""
    queryable: int
    """1: the service offers GetFeatureInfo for the layer."""
    west: float | None = None
    south: float | None = None
    east: float | None = None
    north: float | None = None
    item: str = starting_with(text("'layer'"), "layer")
    """layer, feature-type, coverage, collection, process, offering, record-type, folder"""
    formats: str = starting_with(text("'[]'"), "[]")
    """JSON list of media types."""
    time_start: float | None = None
    """First time of the layer's own data; NULL: not known, or open."""
    time_end: float | None = None
    """Last time of it; NULL: not known, or still added to."""
    time_step: str = starting_with(text("''"), "")
    """Time between two of these times, a duration of ISO 8601."""
    min_scale: float | None = None
    """Least scale denominator at which the layer is drawn, by itself."""
    max_scale: float | None = None
    """Greatest one."""
    fields: str = starting_with(text("'[]'"), "[]")
    """JSON list of the fields of the layer's features, each with name, type and alias, by the last content check that
    told them."""
    licence: str = starting_with(text("''"), "")
    """Code of the licence that the layer states itself, else that of its service."""
    language: str = starting_with(text("''"), "")
    """Language of its title and abstract, ISO 639-1; of fewer than 60 characters that of its service."""


class Endpoint(SQLModel, table=True):
    """An address at which a service may answer."""

    __table_args__ = (
        UniqueConstraint("kind", "key"),
        Index("endpoint_key", "key"),
        Index("endpoint_service", "service_id"),
        Index("endpoint_due", "due_at", sqlite_where=text("due_at IS NOT NULL")),
        Index("endpoint_moved", "moved_to", sqlite_where=text("moved_to IS NOT NULL")),
        Index("endpoint_server", "server"),
    )
    id: int = Field(primary_key=True)
    kind: str
    key: str
    """Identity of the endpoint: its address without scheme and without the parameters of a single request."""
    url: str
    """Address for requests."""
    host: str
    site: str
    """Registered domain of the host."""
    weak: int
    """0: named by a page or a person; 1: recognised by its path alone; 2: guessed, because another kind of service
    answers at such an address. An endpoint that was guessed and never valid is left out of `status` and `export`.
    """
    service_id: int | None = Field(default=None, foreign_key="service.id")
    """Service that answered here last; kept while the endpoint is invalid."""
    status: str | None = None
    """Last verdict: valid or invalid; NULL: none yet, or robots.txt forbids the probe."""
    reason: str | None = None
    """Code of the last verdict: ok, http-404, html, timeout-read …; of a valid endpoint that could not be asked since,
    why: robots, robots-unreachable, rate-limited, filtered, network (somebody on the way may have answered) …
    """
    detail: str | None = None
    version: str | None = None
    """Version of the protocol in the last valid answer."""
    deviations: str | None = None
    """JSON list of {code, detail}: departures from the standard that were tolerated (docs/deviations.md)."""
    http_status: int | None = None
    first_seen: float
    last_probe: float | None = None
    last_ok: float | None = None
    """Time of the last valid answer."""
    probes: int = starting_with("0", 0)
    """Number of probes."""
    level: str | None = None
    """Proven ability of the endpoint when it was last valid: advertised, answers, delivers; NULL: no content check yet.
    """
    proved_at: float | None = None
    """Time of the last content check."""
    https: int | None = None
    """1: answers over HTTPS; NULL: unknown."""
    cors: str | None = None
    """Access-Control-Allow-Origin of the content; '' when the server sends none."""
    health: str = starting_with(text("'new'"), "new")
    """new, alive, degraded, unconfirmed, down, gone: the state by all probes over time (`status` is the verdict of the
    last probe).
    """
    health_since: float | None = None
    in_a_row: int = starting_with(text("0"), 0)
    """Number of valid answers in a row, or negative of failures in a row."""
    interval_s: float = starting_with(text("0"), 0.0)
    """Time between the last probe and the next, before jitter."""
    due_at: float | None = None
    """Time of the next probe; NULL: none, because the endpoint never worked or is gone."""
    masked_url: str = starting_with(text("''"), "")
    """`url` with keys and passwords replaced by `***`, for publication."""
    failing_s: float = starting_with(text("0"), 0.0)
    """How long the endpoint was seen failing in its state: the times between failures that follow each other."""
    woken_at: float | None = None
    """Time at which a page named the endpoint after it was gone, so that it was due once more."""
    moved_to: str | None = None
    """`key` of the address to which the endpoint redirected for good (301, 308) at the last probe."""
    server: int | None = Field(default=None, sa_column=Column(HASH))
    """Key that endpoints of twins share: of one server, with the same content (`store.database.keys.twin_key`)."""
    every_s: float | None = None
    """Time between two probes that a watch asks for; NULL: the pace of `health`."""
    whole_at: float | None = None
    """Time of the last full probe of a watched endpoint with a valid answer; light ones follow for a day."""
    usual_ms: float | None = None
    """Usual time of an answer of a watched endpoint, in milliseconds; NULL: not known."""
    speed: int = starting_with(text("0"), 0)
    """How a watched endpoint answers against its usual: 0 as usual, 1 slowly once, 2 slowly, 3 as usual once again."""


class ServiceAlias(SQLModel, table=True):
    """A former number of a service, from before it became one with another: numbers are public names."""

    __tablename__ = "service_alias"
    __table_args__ = (Index("service_alias_new", "new"),)
    old: int = Field(primary_key=True)
    new: int
    """Number of the service that it leads to now."""
    endpoint_id: int | None = None
    """The best endpoint of the former service, whose service has the number again when the two are split."""


class Evidence(SQLModel, table=True):
    """A page or a person that named an endpoint: the reason to believe that the endpoint exists. At most 20 rows for
    each.
    """

    __table_args__ = (UniqueConstraint("endpoint_id", "page", "link"),)
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    signal: str
    """How the endpoint was recognised: query, path, text, script, form, sibling, given …"""
    page: str
    """Address of the page; '' for a person."""
    link: str
    """Address as the page writes it."""
    anchor: str
    """Text of the link."""
    at: float
    masked_page: str | None = None
    """`page` with keys and passwords replaced by `***`, for publication; NULL: it has none."""
    time_start: float | None = None
    """First time of the data by the record that the page is; NULL: it states none, or open."""
    time_end: float | None = None
    """Last time of them."""


class Description(SQLModel, table=True):
    """An endpoint's description of itself when it was last valid, as far as needed to match services."""

    __table_args__ = (
        Index("description_fingerprint", "kind", "fingerprint"),
        Index("description_family", "kind", "family"),
    )
    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    key: str
    """As in `endpoint`."""
    kind: str
    family: str
    """The key without `www.`, node number, port and case: addresses of one family may be spellings of one address."""
    fingerprint: str
    """Hash of the whole description without addresses."""
    items: str
    """Hash of the provider and the names of the items."""
    telling: int
    """Number of named items that few other services have."""
    calls_itself: str
    """Host of the online resource that the description names."""
    provider: str


class SameService(SQLModel, table=True):
    """The reason why two endpoints are one service, or by a person's decision are two."""

    __tablename__ = "same_service"
    __table_args__ = (Index("same_service_second", "second_id"),)
    first_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    """The smaller id of the two endpoints."""
    second_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    signal: str = Field(primary_key=True)
    """document or layers: equal parts of the descriptions; host, path, port or node: the difference of the addresses;
    redirect: one has moved to the other for good; person
    """
    detail: str
    """Reason as a sentence for people."""
    same: int
    """1: one service; 0: two services, by a person's decision only."""
    at: float


class SearchEntry(SQLModel, table=True):
    """What the search knows of a service besides its words and what other tables say; a service without a row is not
    in the index yet.
    """

    __tablename__ = "search_entry"
    service_id: int = Field(primary_key=True)
    systems: int
    """The reference systems of the service and its layers: a row of `search_list`."""
    formats: int
    """The media types of the service and its layers: a row of `search_list`."""
    country: str
    """Country of the service (ISO 3166-1, two letters), by its extent and its host's name; '' for none."""
    title_words: int
    """Number of words of the title."""
    words: int
    """Number of words of all texts."""
    completeness: int
    """Completeness of the service's metadata (title, abstract, provider, extent …), 0 to 100."""
    evidence: int
    """Number of link texts and addresses in `search_text`: with others the service is indexed again."""
    fields: int = starting_with(text("0"), 0)
    """The names and aliases of the fields of its layers: a row of `search_list`; 0: none."""


class SearchList(SQLModel, table=True):
    """A list of reference systems, media types or fields, stored once for all services that have the same."""

    __tablename__ = "search_list"
    id: int = Field(primary_key=True)
    digest: str = Field(unique=True)
    """Hash of `items`."""
    items: str
    """JSON list, in order."""


class SearchChange(SQLModel, table=True):
    """The last change of a service, one of its endpoints or its entry in the index; also of a deleted service."""

    __tablename__ = "search_change"
    __table_args__ = {"sqlite_autoincrement": True}
    seq: int = Field(primary_key=True)
    """Number of the change: who has read up to a number asks for the higher ones."""
    service_id: int = Field(unique=True)


class Probe(SQLModel, table=True):
    """One attempt to find out what an endpoint is, with its verdict."""

    __table_args__ = (Index("probe_endpoint", "endpoint_id", "at", "status"),)
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    at: float
    status: str
    """valid or invalid; unasked: no verdict, because it might not be asked, or was asked to wait"""
    reason: str
    """Code of the verdict; not-modified: the answer was 304, and the last description is still valid; network: the
    failure, which `detail` names, is held, as somebody on the way may have answered; planned, acknowledged: the failure
    lies in a downtime."""
    detail: str
    http_status: int | None = None
    content_type: str
    first_bytes: str
    """Beginning of the decisive answer, unless it was valid: of a service that is asked every few minutes it is always
    the same."""
    elapsed_ms: float
    """Duration of the decisive request."""
    requests: int
    deviations: str
    """JSON list of {code, detail}."""


class ProbeSum(SQLModel, table=True):
    """The probes of an endpoint in an hour, a day or a month (UTC), rolled up: single ones are kept for days."""

    __tablename__ = "probe_sum"
    __table_args__ = {"sqlite_with_rowid": False}
    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    start: float = Field(primary_key=True)
    """Beginning of the hour, day or month."""
    first_at: float
    """Time of the first verdict or failure in a downtime; without one, of the first attempt."""
    last_at: float
    """Time of the last one."""
    is_last_valid: int
    """1: the last verdict was valid."""
    probes: int
    """Number of verdicts."""
    valid: int
    """Number of valid ones."""
    known_s: float
    """Seconds between the first and the last verdict in which the state is known: at most 30 days after each."""
    up_s: float
    """Seconds of `known_s` in which the last verdict was valid."""
    refused: int
    """Attempts without a verdict: it might not be asked, was asked to wait, or a filter answered."""
    unconfirmed: int
    """Failures that the network on the way may have caused."""
    timed: int
    """Number of valid answers that were read whole."""
    total_ms: float
    """Sum of their durations."""
    times: str
    """JSON object: upper bound in milliseconds → how many of them took no longer, and longer than the bound before."""
    is_last_excused: int = starting_with(text("0"), 0)
    """1: the last attempt failed in a downtime, and nothing is known from then on until the next verdict."""


class Proof(SQLModel, table=True):
    """One request of an endpoint's last content check: for a map, a tile, a feature, a record."""

    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    position: int = Field(primary_key=True)
    layer: str
    """Name of the requested layer, feature type …"""
    crs: str
    outcome: str
    """ok, blank, exception, not-an-image, image-error-text, wrong-size, axis-order, timeout, http-error, refused"""
    elapsed_ms: float
    detail: str
    url: str
    zoom: int | None = None
    """Zoom level of a tile by its scale, 0: the world in one tile of Web Mercator; NULL: no such tile."""


class Thumbnail(SQLModel, table=True):
    """A small PNG of the first content that an endpoint delivered."""

    endpoint_id: int = Field(primary_key=True, foreign_key="endpoint.id")
    at: float
    image: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


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
    """Reason of the verdict that changed the health."""


class Change(SQLModel, table=True):
    """A difference between two descriptions of a service by the same endpoint."""

    __table_args__ = (
        Index("change_at", "at"),
        Index("change_service", "service_id", "at"),
        Index("change_endpoint", "endpoint_id", "at"),
    )
    id: int = Field(primary_key=True)
    endpoint_id: int = Field(foreign_key="endpoint.id")
    service_id: int
    at: float
    what: str
    """moved (to another address, for good), layer-added, layer-removed, layer-title, layer-box, title, abstract,
    provider, contact, version, formats, fees, access_constraints, online_resource"""
    name: str
    """Name of the layer; '' when the service itself changed."""
    before: str
    after: str
