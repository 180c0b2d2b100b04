"""Count over the whole catalogue: growth, software, versions, deviations, kinds, and what happened in a month."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Float,
    Integer,
    Label,
    Select,
    Table,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
)

from geocrawl.model.catalogue import ReportedService
from geocrawl.model.statistics import Growth, KindCount, SignalYield, SoftwareGrowth, Statistics
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import least, utc_text, whole
from geocrawl.store.database.endpoints import DEVIATIONS
from geocrawl.store.database.schema.tables import CHANGE, ENDPOINT, EVIDENCE, HEALTH_EVENT, PROBE, PROBE_SUM, SERVICE
from geocrawl.store.database.views import V_SERVICES, software

_NUMBER = func.count().label("number")
_KIND_AND_VERSION = (SERVICE.c.kind, SERVICE.c.version)
_VERSIONS = (
    select(*_KIND_AND_VERSION, _NUMBER)
    .group_by(*_KIND_AND_VERSION)
    .order_by(_NUMBER.desc(), *_KIND_AND_VERSION)
    .limit(30)
)
_SOFTWARE_VERSIONS = _VERSIONS.where(SERVICE.c.kind == "arcgis", SERVICE.c.version != "")


def read_statistics(connection: Connection) -> Statistics:
    """Return the counts; it reads every service."""
    of_arcgis = connection.execute(_SOFTWARE_VERSIONS)
    return Statistics(
        software_versions=tuple(("ArcGIS Server", version, number) for _, version, number in of_arcgis),
        versions=tuple(connection.execute(_VERSIONS).fetchall()),
        deviations=tuple(connection.execute(DEVIATIONS.limit(30)).fetchall()),
    )


# --------------------------------------------------------------------------- growth

_BOUNDS = select(func.min(SERVICE.c.first_seen), func.max(SERVICE.c.first_seen))
_PART = least(
    whole((SERVICE.c.first_seen - bindparam("start", type_=Float)) / bindparam("width", type_=Float)),
    bindparam("last", type_=Integer),
).label("part")
_ARRIVALS = select(_PART, _NUMBER).group_by("part")
_SOFTWARE_ARRIVALS = (
    select(_PART, _NUMBER, software(ENDPOINT).label("software"))
    .select_from(SERVICE.outerjoin(ENDPOINT, ENDPOINT.c.id == SERVICE.c.best_id))
    .group_by("software", "part")
)


def read_growth(connection: Connection, parts: int) -> Growth | None:
    """Return the number of known services over time in `parts` equal parts; None for an empty catalogue."""
    start, end, rows = _arrivals(connection, _ARRIVALS, parts)
    arrived = dict(rows)
    return Growth(start, end, tuple(accumulate(arrived.get(part, 0) for part in range(parts)))) if rows else None


def read_software_growth(connection: Connection, parts: int) -> SoftwareGrowth | None:
    """Return the number of known services of each server software over time in `parts` equal parts; None for an empty
    catalogue."""
    start, end, rows = _arrivals(connection, _SOFTWARE_ARRIVALS, parts)
    arrived = dict[str, dict[int, int]]()
    for part, count, name in rows:
        arrived.setdefault(name, {})[part] = count
    known = [(name, (0, *accumulate(counts.get(part, 0) for part in range(parts)))) for name, counts in arrived.items()]
    return SoftwareGrowth(start, end, tuple(sorted(known, key=lambda each: (-each[1][-1], each[0])))) if rows else None


def _arrivals(connection: Connection, statement: Select[Any], parts: int) -> tuple[float, float, list[Any]]:
    """Return when the first and the last service were found, and the rows of a statement that counts the services
    found in each of `parts` equal parts of that time; no rows for an empty catalogue."""
    start, end = connection.execute(_BOUNDS).fetchone()
    if start is None:
        return 0.0, 0.0, []
    width = max((end - start) / parts, 1e-9)
    return start, end, connection.execute(statement, {"start": start, "width": width, "last": parts - 1}).fetchall()


# --------------------------------------------------------------------------- numbers

_NUMBERS = (
    select(SERVICE.c.id, SERVICE.c.last_ok)
    .where(SERVICE.c.id > bindparam("after"))
    .order_by(SERVICE.c.id)
    .limit(bindparam("most"))
)
_LAST_NUMBER = select(func.coalesce(func.max(SERVICE.c.id), 0))


def service_numbers(connection: Connection, after: int, most: int) -> list[tuple[int, float]]:
    """Return (id, time of the last valid answer) of the services after this id, at most `most`."""
    return connection.execute(_NUMBERS, {"after": after, "most": most}).fetchall()


def last_service_number(connection: Connection) -> int:
    """Return the highest id of a service; 0 for an empty catalogue."""
    return int(connection.execute(_LAST_NUMBER).fetchone()[0])


# --------------------------------------------------------------------------- kinds


_LEVELS = (
    select(ENDPOINT.c.service_id, func.max(func.coalesce(ENDPOINT.c.level, "")).label("level"))
    .where(ENDPOINT.c.service_id.is_not(None), ENDPOINT.c.status == "valid")
    .group_by(ENDPOINT.c.service_id)
    .subquery("levels")
)
_KINDS = (
    select(
        *(SERVICE.c.kind, _NUMBER, func.count(_LEVELS.c.level)),
        func.count(case((_LEVELS.c.level == "delivers", 1))),
        func.sum(SERVICE.c.layer_count),
    )
    .select_from(SERVICE.outerjoin(_LEVELS, _LEVELS.c.service_id == SERVICE.c.id))
    .group_by(SERVICE.c.kind)
    .order_by(_NUMBER.desc(), SERVICE.c.kind)
)
_NAMED_LAYERS = select(func.coalesce(func.sum(SERVICE.c.layer_count), 0))


def kind_counts(connection: Connection) -> list[KindCount]:
    """Return the counts of each kind, the commonest first."""
    return [KindCount(*row) for row in connection.execute(_KINDS)]


def count_layers(connection: Connection) -> int:
    """Return the number of named layers."""
    return int(connection.execute(_NAMED_LAYERS).fetchone()[0])


# --------------------------------------------------------------------------- signals

_SIGNALS_OF_ENDPOINT = (
    select(EVIDENCE.c.endpoint_id, func.count(EVIDENCE.c.signal.distinct()).label("signals"))
    .group_by(EVIDENCE.c.endpoint_id)
    .cte("named")
)
_IS_VALID = ENDPOINT.c.status == "valid"
_CANDIDATES = func.count(ENDPOINT.c.id.distinct()).label("candidates")


def _count_where(condition: ColumnElement[bool], label: str) -> Label[int]:
    return func.count(case((condition, ENDPOINT.c.id)).distinct()).label(label)


_VALID = _count_where(_IS_VALID, "valid")
_YIELD = (
    select(
        *(EVIDENCE.c.signal, ENDPOINT.c.kind, _CANDIDATES, _count_where(ENDPOINT.c.status.is_not(None), "probed")),
        *(_VALID, _count_where(_IS_VALID & (_SIGNALS_OF_ENDPOINT.c.signals == 1), "alone")),
    )
    .select_from(
        EVIDENCE.join(ENDPOINT, ENDPOINT.c.id == EVIDENCE.c.endpoint_id).join(
            _SIGNALS_OF_ENDPOINT, _SIGNALS_OF_ENDPOINT.c.endpoint_id == ENDPOINT.c.id
        )
    )
    .group_by(EVIDENCE.c.signal, ENDPOINT.c.kind)
    .order_by(_VALID.desc(), _CANDIDATES.desc(), EVIDENCE.c.signal, ENDPOINT.c.kind)
)


def signal_yields(connection: Connection) -> list[SignalYield]:
    """Return a row for each signal and kind, the most valid endpoints first."""
    return [SignalYield(*row) for row in connection.execute(_YIELD)]


# --------------------------------------------------------------------------- a month

_service = V_SERVICES.c


def _in_month(at: ColumnElement[float]) -> ColumnElement[bool]:
    return and_(at >= bindparam("start"), at < bindparam("end"))


def _of_endpoints(
    value: ColumnElement[Any], table: Table, *conditions: ColumnElement[bool], at: ColumnElement[float] | None = None
) -> ColumnElement[Any]:
    """Return an aggregate over the month's rows of a table that belong to the service's endpoints."""
    return (
        select(value)
        .select_from(table.join(ENDPOINT, ENDPOINT.c.id == table.c.endpoint_id))
        .where(ENDPOINT.c.service_id == _service.id, _in_month(table.c.at if at is None else at), *conditions)
        .scalar_subquery()
    )


def _changes(what: str) -> ColumnElement[int]:
    conditions = (CHANGE.c.service_id == _service.id, _in_month(CHANGE.c.at), CHANGE.c.what == what)
    return select(func.count()).select_from(CHANGE).where(*conditions).scalar_subquery()


def _of_sums(number: ColumnElement[int]) -> ColumnElement[int]:
    """Return a number of the month's probes that were rolled up; no sum spans two months."""
    return _of_endpoints(func.coalesce(func.sum(number), 0), PROBE_SUM, at=PROBE_SUM.c.first_at)


_WAS_PROBED = or_(
    exists().where(PROBE.c.endpoint_id == ENDPOINT.c.id, _in_month(PROBE.c.at), PROBE.c.status != "unasked"),
    exists().where(PROBE_SUM.c.endpoint_id == ENDPOINT.c.id, _in_month(PROBE_SUM.c.first_at), PROBE_SUM.c.probes > 0),
)
_ADDRESSES = (
    select(func.count())
    .select_from(ENDPOINT)
    .where(ENDPOINT.c.service_id == _service.id, _WAS_PROBED)
    .scalar_subquery()
)
_LAST_EVENT = utc_text(func.max(HEALTH_EVENT.c.at))
_CAME_BACK = (HEALTH_EVENT.c.before.in_(("down", "gone")), HEALTH_EVENT.c.after.in_(("degraded", "alive")))
_MONTH = select(
    *(_service[name] for name in ("id", "kind", "title", "provider", "url", "health")),
    select(_in_month(SERVICE.c.first_seen)).where(SERVICE.c.id == _service.id).scalar_subquery().label("is_new"),
    (_of_endpoints(func.count(), PROBE, PROBE.c.status != "unasked") + _of_sums(PROBE_SUM.c.probes)).label("probes"),
    (_of_endpoints(func.count(), PROBE, PROBE.c.status == "valid") + _of_sums(PROBE_SUM.c.valid)).label("valid"),
    _of_endpoints(_LAST_EVENT, HEALTH_EVENT, HEALTH_EVENT.c.after == "down").label("went_down"),
    _of_endpoints(_LAST_EVENT, HEALTH_EVENT, *_CAME_BACK).label("came_back"),
    _changes("layer-added").label("layers_added"),
    _changes("layer-removed").label("layers_removed"),
    _ADDRESSES.label("addresses"),
).order_by(_service.id)
_HAPPENED = ("is_new", "probes", "went_down", "came_back", "layers_added", "layers_removed")


def month_report(connection: Connection, start: float, end: float) -> Iterator[ReportedService]:
    """Yield each service that was found, probed or changed between two times, by its number; one is read at a time."""
    for row in connection.execute(_MONTH, {"start": start, "end": end}).dicts():
        probes, valid = row["probes"], row["valid"]
        if any(row[name] for name in _HAPPENED):
            share = valid / probes if probes > row["addresses"] else None
            yield ReportedService(**row | {"is_new": bool(row["is_new"]), "availability": share})
