"""Read one service, endpoint, page or address with all that is stored about it: `geocrawl show`, `why`, `merge`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import BindParameter, and_, bindparam, case, func, or_, select

from geocrawl.model import Url
from geocrawl.model.catalogue import Layer, Service
from geocrawl.store.catalogue.read.history import EndpointHistory, NewsRow, history_of_service, read_news
from geocrawl.store.catalogue.services import Selection, read_layers, read_services
from geocrawl.store.database.connection import Connection, Rows
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.keys import page_key
from geocrawl.store.database.quality import quality_parts
from geocrawl.store.database.schema.tables import (
    ENDPOINT,
    EVIDENCE,
    HOST,
    PROOF,
    SAME_SERVICE,
    SEED,
    SERVICE,
    SERVICE_ALIAS,
    URL,
)
from geocrawl.urls import service_keys


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
    """A service with its layers, its endpoints and the evidence of what is said of it."""

    service: Service
    """The service, its addresses in full."""
    layers: tuple[Layer, ...]
    endpoints: tuple[EndpointRow, ...]
    same: tuple[SameRow, ...] = ()
    """Why its addresses are one service."""
    quality_parts: Mapping[str, QualityShare] = field(default_factory=dict)
    """Name → part of the score."""
    twins: Mapping[int, str] = field(default_factory=dict)
    """Numbers and kinds of other services: the same content by other protocols of the server."""
    read_by: str = ""
    """Which reader read the description: 'owslib', 'geocrawl'; '' when that was not noted."""
    histories: tuple[EndpointHistory, ...] = ()
    """The past of each endpoint, where it was asked for."""
    news: tuple[NewsRow, ...] = ()
    """What happened to the service, newest first, likewise."""

    @property
    def best(self) -> EndpointRow | None:
        """Return the endpoint at the best address."""
        return next((endpoint for endpoint in self.endpoints if endpoint.url == self.service.url), None)

    @property
    def best_history(self) -> EndpointHistory | None:
        """Return the history of the best address; of the first where none is the best."""
        best = (history for history in self.histories if history.url == self.service.url)
        return next(best, self.histories[0] if self.histories else None)

    @property
    def availability_30d(self) -> float | None:
        """Return the share of the last 30 days in which the best address answered; None: not known."""
        return self.best_history.availability.get(30) if self.best_history else None


@dataclass(frozen=True, slots=True)
class QualityShare:
    """A part of the score of a service (`store/database/quality.py`)."""

    weight: int
    """Most points of the part."""
    share: float | None
    """How far the service has the property, 0 to 1; None: not known."""


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
    .order_by(
        (ENDPOINT.c.kind == bindparam("kind")).desc(), (ENDPOINT.c.status == "valid").desc().nulls_last(), ENDPOINT.c.id
    )
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


_BEST_ENDPOINT = ENDPOINT.alias("best")
_QUALITY_PARTS = quality_parts(_BEST_ENDPOINT)
_QUALITY = (
    select(SERVICE.c.read_by, *(part.share for part in _QUALITY_PARTS.values()))
    .select_from(SERVICE.outerjoin(_BEST_ENDPOINT, _BEST_ENDPOINT.c.id == SERVICE.c.best_id))
    .where(SERVICE.c.id == bindparam("service"))
)
_MOST_NEWS = 50
_KINDS = select(SERVICE.c.id, SERVICE.c.kind).where(in_list(SERVICE.c.id, "services")).order_by(SERVICE.c.id)
_CURRENT = select(SERVICE_ALIAS.c.new).where(SERVICE_ALIAS.c.old == bindparam("number"))


def current_number(connection: Connection, number: int) -> int:
    """Return the number of the service that a number means now: of the one that its service became one with, if it
    did; else the number itself, whether there is such a service or not."""
    row = connection.execute(_CURRENT, {"number": number}).fetchone()
    return number if row is None else int(row[0])


def service_detail(connection: Connection, number: int, *, past_until: float | None = None) -> ServiceDetail | None:
    """Return the service with this id, its addresses in full; None for an unknown id. `past_until`: the time until
    which its histories and news are read, too."""
    selection = Selection(ids=(number,))
    service = next(read_services(connection, selection, with_secrets=True), None)
    if service is None:
        return None
    read_by, *shares = connection.execute(_QUALITY, {"service": number}).fetchone()
    parts = zip(_QUALITY_PARTS.items(), shares, strict=True)
    return ServiceDetail(
        service,
        layers=tuple(read_layers(connection, selection)),
        endpoints=_endpoints(connection, connection.execute(_OF_THIS_SERVICE, {"service": number})),
        same=why_same(connection, number),
        quality_parts={
            name: QualityShare(part.weight, None if share is None else float(share)) for (name, part), share in parts
        },
        twins=dict(connection.execute(_KINDS, {"services": service.twins}).fetchall()),
        read_by=read_by,
        histories=() if past_until is None else history_of_service(connection, number, past_until),
        news=() if past_until is None else tuple(read_news(connection, _MOST_NEWS, [number])),
    )


def service_at(connection: Connection, key: str, kind: str = "") -> ServiceDetail | None:
    """Return the service at the endpoint of this identity (`urls.endpoint_key`), of several kinds the one of `kind`;
    None when no service was found there."""
    row = connection.execute(_SERVICE_AT, {"key": key, "kind": kind}).fetchone()
    return None if row is None else service_detail(connection, row[0])


def endpoints_at(connection: Connection, key: str) -> tuple[EndpointRow, ...]:
    """Return the endpoints of this identity, one a kind, with a verdict or without."""
    return _endpoints(connection, connection.execute(_AT_THIS_ADDRESS, {"key": key}))


def _endpoints(connection: Connection, rows: Rows) -> tuple[EndpointRow, ...]:
    return tuple(
        EndpointRow(
            **row
            | {
                "deviations": tuple(json.loads(row["deviations"] or "[]")),
                "https": None if row["https"] is None else bool(row["https"]),
            },
            proof=tuple(connection.execute(_PROOF, {"endpoint": row["id"]}).dicts()),
            evidence=tuple(connection.execute(_EVIDENCE, {"endpoint": row["id"]}).dicts()),
        )
        for row in list(rows.dicts())
    )


# --------------------------------------------------------------------------- addresses of a service


@dataclass(frozen=True, slots=True)
class SameRow:
    """Why two addresses are one service, or are not."""

    first: str
    second: str
    signal: str
    """document, layers; host, path, port, node: what the addresses differ in; person."""
    detail: str
    same: bool
    at: float


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint that answers, or answered at some time."""

    endpoint_id: int
    kind: str
    url: str
    service_id: int


_ONE, _OTHER = ENDPOINT.alias("one"), ENDPOINT.alias("other")
_THIS: BindParameter[int] = bindparam("service")
_MINE = select(ENDPOINT.c.id).where(ENDPOINT.c.service_id == _THIS)
_WHY_SAME = (
    select(
        *(_ONE.c.url, _OTHER.c.url, SAME_SERVICE.c.signal, SAME_SERVICE.c.detail),
        *(SAME_SERVICE.c.same, SAME_SERVICE.c.at),
    )
    .select_from(
        SAME_SERVICE.join(_ONE, _ONE.c.id == SAME_SERVICE.c.first_id).join(
            _OTHER, _OTHER.c.id == SAME_SERVICE.c.second_id
        )
    )
    # The first condition holds whenever the second does: it lets SQLite look up pairs by their endpoints.
    .where(or_(SAME_SERVICE.c.first_id.in_(_MINE), SAME_SERVICE.c.second_id.in_(_MINE)))
    .where(
        or_(
            and_(_ONE.c.service_id == _THIS, _OTHER.c.service_id == _THIS),
            and_(SAME_SERVICE.c.signal == "person", or_(_ONE.c.service_id == _THIS, _OTHER.c.service_id == _THIS)),
        )
    )
    .order_by(
        *(SAME_SERVICE.c.signal != "person", SAME_SERVICE.c.first_id, SAME_SERVICE.c.second_id),
        SAME_SERVICE.c.signal,
    )
)
_BEST = (
    select(ENDPOINT.c.url)
    .select_from(SERVICE.join(ENDPOINT, ENDPOINT.c.id == SERVICE.c.best_id))
    .where(SERVICE.c.id == bindparam("service"))
)
_ADDRESS_COLUMNS = (ENDPOINT.c.id, ENDPOINT.c.kind, ENDPOINT.c.url, ENDPOINT.c.service_id)
_ADDRESSES_OF_SERVICE = (
    select(*_ADDRESS_COLUMNS)
    .select_from(ENDPOINT.join(SERVICE, SERVICE.c.id == ENDPOINT.c.service_id))
    .where(SERVICE.c.id == bindparam("service"))
    .order_by(ENDPOINT.c.id != func.coalesce(SERVICE.c.best_id, 0), ENDPOINT.c.id)
)


def why_same(connection: Connection, service_id: int) -> tuple[SameRow, ...]:
    """Return the evidence that a service's addresses are one, and first what a person decided about any of them."""
    return tuple(
        SameRow(first, second, signal, detail, bool(same), at)
        for first, second, signal, detail, same, at in connection.execute(_WHY_SAME, {"service": service_id})
    )


def best_address(connection: Connection, service_id: int) -> str:
    """Return the address of a service to show and use (`EndpointClusters.best_endpoint`); '' when it has none."""
    row = connection.execute(_BEST, {"service": service_id}).fetchone()
    return row[0] if row else ""


def addresses_of(connection: Connection, service_id: int) -> tuple[Address, ...]:
    """Return the addresses of a service, the best first."""
    return tuple(Address(*row) for row in connection.execute(_ADDRESSES_OF_SERVICE, {"service": service_id}))


def addresses_at(connection: Connection, url: Url) -> tuple[Address, ...]:
    """Return the endpoints at an address that answered at some time, one a kind."""
    answered = ENDPOINT.c.service_id.is_not(None)
    statement = select(*_ADDRESS_COLUMNS).where(ENDPOINT.c.key.in_(service_keys(url)), answered).order_by(ENDPOINT.c.id)
    return tuple(Address(*row) for row in connection.execute(statement))


# --------------------------------------------------------------------------- pages


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
    link_relevance: int | None
    visit_tier: int | None
    led: int | None
    """1: the last visit led to a service that was not known before."""
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
_VISIT = (
    *("http_status", "content_type", "size_bytes", "elapsed_ms", "title", "relevance", "page_score"),
    *("link_relevance", "visit_tier", "led"),
)
_PAGES = select(
    *(URL.c.id, URL.c.address, HOST.c.name, case((_IS_LEASED, "leased"), else_=URL.c.state), URL.c.reason),
    *(URL.c.depth, URL.c.tier, URL.c.score, URL.c.found_on),
    *(func.coalesce(URL.c.anchor, ""), func.coalesce(URL.c.found_in, ""), URL.c.attempts),
    *(URL.c.first_seen, URL.c.settled_at, URL.c.retry_at, *(URL.c[name] for name in _VISIT)),
    HOST.c.next_at,
).select_from(URL.join(HOST, HOST.c.id == URL.c.host_id))
_BY_KEY = _PAGES.where(URL.c.key == bindparam("key"))
_SEED_SOURCE = select(SEED.c.source).where(SEED.c.identity == bindparam("identity"))
_BY_ID = _PAGES.where(URL.c.id == bindparam("page"))


def read_why(connection: Connection, url: Url) -> Why:
    """Return the page of this identity, the page on which it was found, and the endpoints of this address."""
    page = _page(connection.execute(_BY_KEY, {"key": page_key(url.identity)}))
    parent = _page(connection.execute(_BY_ID, {"page": page.found_on})) if page and page.found_on else None
    endpoints = [each for key in service_keys(url) for each in endpoints_at(connection, key)]
    source = connection.execute(_SEED_SOURCE, {"identity": url.identity}).fetchone()
    return Why(page, parent, tuple(endpoints), source[0] if source is not None else "")


def _page(rows: Rows) -> UrlRow | None:
    row = rows.fetchone()
    return None if row is None else UrlRow(*row)
