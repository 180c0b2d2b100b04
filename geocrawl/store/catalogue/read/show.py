"""Read one service, endpoint, page or address with all that is stored about it: `geocrawl show`, `why`, `merge`."""

from __future__ import annotations

import json

from sqlalchemy import BindParameter, and_, bindparam, case, func, or_, select

from geocrawl.model import Kind, Url
from geocrawl.model.details import (
    Address,
    EndpointRow,
    QualityShare,
    SameRow,
    ServiceDetail,
    UrlRow,
    Why,
)
from geocrawl.model.search import Selection
from geocrawl.store.catalogue.read.history import history_of_service, read_news
from geocrawl.store.catalogue.services import read_layers, read_services
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
from geocrawl.urls import service_endpoint, service_keys

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
_KEYS_OF_MASKED = select(ENDPOINT.c.key).where(in_list(ENDPOINT.c.masked_url, "addresses")).order_by(ENDPOINT.c.id)
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


def keys_at(connection: Connection, url: Url) -> tuple[str, ...]:
    """Return the identities that an address may have in the catalogue, each once. For an address with masked secrets,
    as a search prints it, these are the identities of all endpoints that are printed so."""
    if "***" not in url.address:
        return service_keys(url)
    printed = {service_endpoint(kind, url).url.address for kind in Kind}
    rows = connection.execute(_KEYS_OF_MASKED, {"addresses": sorted(printed)}).fetchall()
    return tuple(dict.fromkeys(key for (key,) in rows))


def service_at(connection: Connection, url: Url, kind: str = "") -> ServiceDetail | None:
    """Return the service at an address, the one of `kind` among several; None when no service was found there."""
    for key in keys_at(connection, url):
        row = connection.execute(_SERVICE_AT, {"key": key, "kind": kind}).fetchone()
        if row is not None:
            return service_detail(connection, row[0])
    return None


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


def addresses_of(connection: Connection, service_id: int) -> tuple[Address, ...]:
    """Return the addresses of a service, the best first."""
    return tuple(Address(*row) for row in connection.execute(_ADDRESSES_OF_SERVICE, {"service": service_id}))


def addresses_at(connection: Connection, url: Url) -> tuple[Address, ...]:
    """Return the endpoints at an address that answered at some time, one a kind."""
    answered = ENDPOINT.c.service_id.is_not(None)
    statement = (
        select(*_ADDRESS_COLUMNS).where(ENDPOINT.c.key.in_(keys_at(connection, url)), answered).order_by(ENDPOINT.c.id)
    )
    return tuple(Address(*row) for row in connection.execute(statement))


# --------------------------------------------------------------------------- pages


_IS_LEASED = and_(HOST.c.lease_url == URL.c.id, HOST.c.lease_until > 0)
_VISIT = (
    *("http_status", "content_type", "size_bytes", "elapsed_ms", "title", "relevance", "page_score"),
    *("sub_queue", "visit_tier", "led"),
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
    endpoints = [
        each
        for key in keys_at(connection, url)
        for each in _endpoints(connection, connection.execute(_AT_THIS_ADDRESS, {"key": key}))
    ]
    source = connection.execute(_SEED_SOURCE, {"identity": url.identity}).fetchone()
    return Why(page, parent, tuple(endpoints), source[0] if source is not None else "")


def _page(rows: Rows) -> UrlRow | None:
    row = rows.fetchone()
    return None if row is None else UrlRow(*row)
