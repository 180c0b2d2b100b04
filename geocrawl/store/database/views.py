"""Define the read-only views for people and other software: stable names and columns over a schema that changes.

A view shows the masked address of an endpoint and never the full one, so that what is published from the views holds no
keys. Its times are text, `2024-05-17T09:30:00Z`. Columns are only added, at the end; a changed view needs a migration,
even one that changes no table, because each upgrade makes all views again (`schema/migrations/env.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Table,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.schema import CreateView

from geocrawl.model import ANSWER, GUESS, SIBLING, Kind
from geocrawl.model.availability import LEAST_OBSERVED_S
from geocrawl.model.catalogue import SIDES, Layer, Service, columns, view_columns
from geocrawl.store.database.constructs import json_elements, json_list, json_member, utc_text
from geocrawl.store.database.endpoints import is_shown
from geocrawl.store.database.quality import quality
from geocrawl.store.database.schema.tables import (
    ENDPOINT,
    EVIDENCE,
    LAYER,
    PROBE,
    PROBE_SUM,
    PROOF,
    SEARCH_ENTRY,
    SERVICE,
    THUMBNAIL,
)


class View(NamedTuple):
    """A view, with what its rows and columns mean."""

    rows: str
    """Meaning of one row, as a sentence."""
    columns: Mapping[str, tuple[ColumnElement[Any], str]]
    """Name of the column → (its expression, its meaning)."""
    source: FromClause
    """The tables that it reads."""
    where: ColumnElement[bool] | None = None
    """Which of their rows it shows; None: all."""

    @property
    def statement(self) -> Select[Any]:
        """Return the SELECT of the view."""
        found = select(*(each.label(name) for name, (each, _) in self.columns.items())).select_from(self.source)
        return found if self.where is None else found.where(self.where)


SOFTWARE = {
    "GeoServer": ("%/geoserver/%", "%/geowebcache/%"),
    "ArcGIS Server": ("%/arcgis/%", "%/mapserver/wmsserver%", "%/rest/services/%", "%/wmsserver%"),
    "QGIS Server": ("%qgis_mapserv%", "%/qgis%", "%lizmap%"),
    "MapServer": ("%mapserv%",),
    "MapProxy": ("%/mapproxy%",),
    "MapCache": ("%/mapcache%",),
    "deegree": ("%deegree%",),
    "SuperMap iServer": ("%/iserver/%",),
    "MapGIS IGServer": ("%/igs/rest/%",),
    "THREDDS": ("%/thredds/%",),
    "GeoNetwork": ("%/geonetwork/%",),
    "ERDAS Apollo": ("%erdas-iws%",),
    "pygeoapi": ("%pygeoapi%",),
    "ldproxy": ("%ldproxy%",),
}
"""Server software → patterns (SQL LIKE) of its usual addresses, the first that fits counts. An address may hide its
software, so that these are lower bounds."""


_IS_VALID = ENDPOINT.c.status == "valid"
_OF_SERVICE = ENDPOINT.c.service_id == SERVICE.c.id
_FIRST_VALID = (
    select(ENDPOINT.c.id)
    .where(_OF_SERVICE)
    .order_by(_IS_VALID.desc().nulls_last(), ENDPOINT.c.id)
    .limit(1)
    .correlate(SERVICE)
    .scalar_subquery()
)
_TWIN, _TWIN_SERVICE = ENDPOINT.alias("twin"), SERVICE.alias("twin_service")


def _of_service(value: ColumnElement[Any], *conditions: ColumnElement[bool]) -> ColumnElement[Any]:
    """Return an aggregate over the endpoints of the service."""
    return select(value).select_from(ENDPOINT).where(_OF_SERVICE, *conditions).scalar_subquery()


def _verdicts(endpoint: FromClause) -> FromClause:
    """Return the verdicts of an endpoint as columns of `probe_sum`: single probes, and the sums of older ones."""
    is_timed = and_(PROBE.c.status == "valid", PROBE.c.reason != "not-modified")
    single = select(
        *(PROBE.c.at.label("first_at"), PROBE.c.at.label("last_at"), literal(1).label("probes")),
        cast(PROBE.c.status == "valid", Integer).label("valid"),
        *(cast(is_timed, Integer).label("timed"), case((is_timed, PROBE.c.elapsed_ms), else_=0.0).label("total_ms")),
    ).where(PROBE.c.endpoint_id == endpoint.c.id, PROBE.c.status != "unasked")
    names = ("first_at", "last_at", "probes", "valid", "timed", "total_ms")
    sums = select(*(PROBE_SUM.c[name] for name in names)).where(
        PROBE_SUM.c.endpoint_id == endpoint.c.id, PROBE_SUM.c.probes > 0
    )
    return single.correlate(endpoint).union_all(sums.correlate(endpoint)).subquery("verdicts")


def valid_share(endpoint: FromClause) -> ColumnElement[float]:
    """Return the share of valid answers, 0…1, among the probes of an endpoint; NULL where they tell too little."""
    of = _verdicts(endpoint)
    tell_enough = and_(func.sum(of.c.probes) > 1, func.max(of.c.last_at) - func.min(of.c.first_at) >= LEAST_OBSERVED_S)
    return select(case((tell_enough, func.sum(of.c.valid) * 1.0 / func.sum(of.c.probes)))).scalar_subquery()


def mean_ms(endpoint: FromClause) -> ColumnElement[float]:
    """Return the mean time of an endpoint's valid answers that were read whole, in milliseconds; NULL for fewer than
    two, which say nothing."""
    of = _verdicts(endpoint)
    return select(case((func.sum(of.c.timed) > 1, func.sum(of.c.total_ms) / func.sum(of.c.timed)))).scalar_subquery()


def software(endpoint: FromClause) -> ColumnElement[str]:
    """Return the server software that an endpoint's address shows; '' for none."""
    return case(*((or_(*map(endpoint.c.key.ilike, patterns)), name) for name, patterns in SOFTWARE.items()), else_="")


def twins(endpoint: FromClause) -> ColumnElement[str]:
    """Return a JSON list of the numbers of other services at the same server with the same content as an endpoint's."""
    numbers = (
        select(_TWIN_SERVICE.c.id)
        .select_from(_TWIN.join(_TWIN_SERVICE, _TWIN_SERVICE.c.id == _TWIN.c.service_id))
        .where(_TWIN_SERVICE.c.best_id == _TWIN.c.id)
        .where(_TWIN.c.server == endpoint.c.server, _TWIN_SERVICE.c.id != endpoint.c.service_id)
        .order_by(_TWIN_SERVICE.c.id)
        .correlate(endpoint)
        .subquery("twins")
    )
    return select(json_list(numbers.c.id)).scalar_subquery()


_NAMES_NONE = ("document", "redirect", SIBLING)
"""Signals whose `page` is an address of a service, and no page that names one."""


def naming_page(endpoint: FromClause, *, with_secrets: bool = False) -> ColumnElement[str]:
    """Return the address of a page that names an endpoint of the same service as `endpoint`, '' for none.

    Of several pages it is the one with the shortest address, because the first one depends on the order of the visits;
    the answer of another service stands in for a page where no page names it.
    """
    named = ENDPOINT.alias("named")
    is_same = or_(named.c.id == endpoint.c.id, named.c.service_id == endpoint.c.service_id)
    found = (
        select(EVIDENCE.c.page if with_secrets else func.coalesce(EVIDENCE.c.masked_page, EVIDENCE.c.page))
        .select_from(EVIDENCE.join(named, named.c.id == EVIDENCE.c.endpoint_id))
        .where(is_same, EVIDENCE.c.page.like("http%"), EVIDENCE.c.page != named.c.url)
        .where(EVIDENCE.c.signal.not_in(_NAMES_NONE), EVIDENCE.c.signal.not_like(f"{GUESS}%"))
        .order_by(EVIDENCE.c.signal == ANSWER, func.length(EVIDENCE.c.page), EVIDENCE.c.page)
        .limit(1)
        .correlate(endpoint)
    )
    return func.coalesce(found.scalar_subquery(), "")


_TILE_PROOF = (
    select(PROOF.c.url)
    .select_from(PROOF.join(ENDPOINT, ENDPOINT.c.id == PROOF.c.endpoint_id))
    .where(_OF_SERVICE, PROOF.c.outcome == "ok", SERVICE.c.kind.in_([str(kind) for kind in Kind if kind.facts.tiles]))
    .order_by(PROOF.c.zoom.is_(None), PROOF.c.endpoint_id, PROOF.c.position)
    .limit(1)
    .correlate(SERVICE)
)
"""A tile service's address is a document; only a tile that was delivered tells the form of its tiles' addresses."""


def _own(shape: type, table: Table) -> dict[str, ColumnElement[Any]]:
    """Return the expressions of the columns of a shape that its table has by the same name."""
    same = ((column, table.c[name]) for name, column in columns(shape).items() if name in table.c)
    return {column.name: utc_text(each) if column.sql == "DATETIME" else each for column, each in same}


def service_columns(endpoint: FromClause, *, in_full: bool = False) -> Mapping[str, ColumnElement[Any]]:
    """Return the expression of each column of `model.catalogue.Service` for a row of `endpoint` beside its service and
    its entry in the search, which may be NULL. `in_full`: addresses with their keys."""
    deviation = json_elements(func.coalesce(endpoint.c.deviations, "[]")).table_valued("value", name="deviation")
    at_service = endpoint.c.url if in_full else endpoint.c.masked_url
    return {
        **_own(Service, SERVICE),
        "url": func.coalesce(at_service, ""),
        "host": func.coalesce(endpoint.c.host, ""),
        "site": func.coalesce(endpoint.c.site, SERVICE.c.site),
        "online_resource": SERVICE.c.online_resource if in_full else SERVICE.c.masked_online_resource,
        "layers": SERVICE.c.layer_count,
        "alive": cast(exists().where(_OF_SERVICE, _IS_VALID, ENDPOINT.c.health != "unconfirmed"), Integer),
        "health": func.coalesce(endpoint.c.health, "new"),
        "level": func.coalesce(_of_service(func.max(ENDPOINT.c.level), _IS_VALID), ""),
        "https": endpoint.c.https,
        "cors": func.coalesce(endpoint.c.cors, ""),
        "endpoints": _of_service(func.count()),
        "deviations": select(json_list(json_member(deviation.c.value, "code")))
        .select_from(deviation)
        .scalar_subquery(),
        **{side: SERVICE.c[side] for side in SIDES},
        "last_probe": utc_text(endpoint.c.last_probe),
        "country": func.coalesce(SEARCH_ENTRY.c.country, ""),
        "availability": valid_share(endpoint),
        "mean_ms": mean_ms(endpoint),
        "software": software(endpoint),
        "quality": quality(endpoint),
        "twins": twins(endpoint),
        "page": naming_page(endpoint, with_secrets=in_full),
        "tile": func.coalesce(_TILE_PROOF.scalar_subquery(), ""),
        "tile_zoom": _TILE_PROOF.with_only_columns(PROOF.c.zoom).scalar_subquery(),
        "has_thumbnail": cast(
            exists().where(_OF_SERVICE, THUMBNAIL.c.endpoint_id == ENDPOINT.c.id).correlate(SERVICE), Integer
        ),
    }


BEST = ENDPOINT.alias("best")
"""The best address of each service."""
SERVICES = SERVICE.outerjoin(BEST, BEST.c.id == func.coalesce(SERVICE.c.best_id, _FIRST_VALID)).outerjoin(
    SEARCH_ENTRY, SEARCH_ENTRY.c.service_id == SERVICE.c.id
)
LAYERS = LAYER.join(SERVICE, SERVICE.c.id == LAYER.c.service_id)
LAYER_COLUMNS: Mapping[str, ColumnElement[Any]] = {
    **_own(Layer, LAYER),
    **{side: LAYER.c[side] for side in SIDES},
    "kind": SERVICE.c.kind,
    "service": SERVICE.c.title,
}
"""The expression of each column of `model.catalogue.Layer`."""


def _view_of(shape: type, expressions: Mapping[str, ColumnElement[Any]], rows: str, source: FromClause) -> View:
    """Return the view with the columns that a shape declares, in its order, and then those that were added to it."""
    added = {name for name, column in columns(shape).items() if column.is_added}
    declared = sorted(view_columns(shape).items(), key=lambda column: column[0] in added)
    named = {name: (expressions[name], meaning) for name, meaning in declared}
    return View(rows, named, source)


VIEWS: Mapping[str, View] = {
    "v_services": _view_of(Service, service_columns(BEST), "A service at its best address.", SERVICES),
    "v_layers": _view_of(
        Layer,
        LAYER_COLUMNS,
        "A layer, or its counterpart in other kinds, with the properties that it states itself.",
        LAYERS,
    ),
    "v_health": View(
        "An address that was probed, with its state.",
        {
            "endpoint_id": (ENDPOINT.c.id, ""),
            "service_id": (ENDPOINT.c.service_id, "id in `v_services`; NULL: it never was valid"),
            "kind": (ENDPOINT.c.kind, ""),
            "url": (ENDPOINT.c.masked_url, "keys masked as `***`"),
            "host": (ENDPOINT.c.host, ""),
            "site": (ENDPOINT.c.site, "registered domain of the host"),
            "status": (ENDPOINT.c.status, "last verdict: valid or invalid"),
            "reason": (ENDPOINT.c.reason, "code of the last verdict: ok, http-404, html, timeout-read …"),
            "http_status": (ENDPOINT.c.http_status, ""),
            "health": (ENDPOINT.c.health, "new, alive, degraded, unconfirmed, down, gone: by all probes over time"),
            "health_since": (utc_text(ENDPOINT.c.health_since), ""),
            "in_a_row": (ENDPOINT.c.in_a_row, "valid answers in a row, or negative of failures"),
            "probes": (ENDPOINT.c.probes, "number of probes"),
            "valid_share": (
                valid_share(ENDPOINT),
                "share of valid answers, 0…1, among the probes that are kept; NULL for fewer than two, or of one hour",
            ),
            "mean_ms": (
                mean_ms(ENDPOINT),
                "mean time of valid answers, milliseconds; NULL for fewer than two",
            ),
            "level": (func.coalesce(ENDPOINT.c.level, ""), "advertised, answers, delivers; '' without a content check"),
            "first_seen": (utc_text(ENDPOINT.c.first_seen), ""),
            "last_probe": (utc_text(ENDPOINT.c.last_probe), ""),
            "last_ok": (utc_text(ENDPOINT.c.last_ok), "last valid answer; NULL: never"),
            "next_probe": (utc_text(ENDPOINT.c.due_at), "NULL: none"),
        },
        ENDPOINT,
        and_(ENDPOINT.c.status.is_not(None), is_shown(ENDPOINT)),
    ),
}
"""Name → view."""


CREATE_VIEWS = {name: CreateView(view.statement, name) for name, view in VIEWS.items()}
"""Name → statement that creates the view."""
V_SERVICES = CREATE_VIEWS["v_services"].table
"""The view as a table, for statements."""
