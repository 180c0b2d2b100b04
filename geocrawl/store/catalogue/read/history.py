"""Read the past of endpoints and services: availability, response times, changes of health and of content, survival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Select, bindparam, case, func, literal, select, union_all

from geocrawl.model.availability import LEAST_OBSERVED_S, availability, response_times
from geocrawl.model.details import EndpointHistory, NewsRow
from geocrawl.model.health import DAY_S
from geocrawl.model.inspire import ServiceMonth, month_of
from geocrawl.model.statistics import Survival
from geocrawl.store.catalogue.downtimes import read_downtimes
from geocrawl.store.database.connection import Connection, Rows
from geocrawl.store.database.constructs import greatest, in_list, whole
from geocrawl.store.database.probe_sums import read_sums
from geocrawl.store.database.schema.tables import CHANGE, ENDPOINT, HEALTH_EVENT, PROBE, SERVICE
from geocrawl.store.database.views import V_SERVICES

WINDOWS_DAYS = (7, 30, 365)
_MOST_EVENTS = 100
_MOST_CHANGES = 200
_ENDPOINTS = select(
    *(ENDPOINT.c.id, ENDPOINT.c.kind, ENDPOINT.c.url, ENDPOINT.c.health, ENDPOINT.c.health_since.label("since")),
    *(ENDPOINT.c.in_a_row, ENDPOINT.c.due_at, ENDPOINT.c.first_seen),
).order_by(ENDPOINT.c.id)
_OF_SERVICE = _ENDPOINTS.where(ENDPOINT.c.service_id == bindparam("service"))
_AT_ADDRESS = _ENDPOINTS.where(ENDPOINT.c.key == bindparam("key"), ENDPOINT.c.probes > 0)
_EVENTS = (
    select(HEALTH_EVENT.c.at, HEALTH_EVENT.c.before, HEALTH_EVENT.c.after, HEALTH_EVENT.c.reason)
    .where(HEALTH_EVENT.c.endpoint_id == bindparam("endpoint"))
    .order_by(HEALTH_EVENT.c.at.desc(), HEALTH_EVENT.c.id.desc())
    .limit(_MOST_EVENTS)
)
_UNASKED = (
    select(PROBE.c.at, PROBE.c.reason)
    .where(PROBE.c.endpoint_id == bindparam("endpoint"), PROBE.c.status == "unasked")
    .order_by(PROBE.c.at.desc(), PROBE.c.id.desc())
    .limit(_MOST_EVENTS)
)
_CHANGES = (
    select(CHANGE.c.at, CHANGE.c.what, CHANGE.c.name, CHANGE.c.before, CHANGE.c.after)
    .where(CHANGE.c.endpoint_id == bindparam("endpoint"))
    .order_by(CHANGE.c.at.desc(), CHANGE.c.id.desc())
    .limit(_MOST_CHANGES)
)


def history_of_service(connection: Connection, number: int, now: float) -> tuple[EndpointHistory, ...]:
    """Return the history of each endpoint of a service."""
    return _histories(connection, connection.execute(_OF_SERVICE, {"service": number}), now)


def history_of_address(connection: Connection, key: str, now: float) -> tuple[EndpointHistory, ...]:
    """Return the history of each endpoint of an identity (`urls.endpoint_key`), one a kind."""
    return _histories(connection, connection.execute(_AT_ADDRESS, {"key": key}), now)


def _histories(connection: Connection, rows: Rows, now: float) -> tuple[EndpointHistory, ...]:
    return tuple(_history(connection, row, now) for row in list(rows.dicts()))


def _history(connection: Connection, row: dict[str, object], now: float) -> EndpointHistory:
    number = int(str(row["id"]))
    endpoint = {"endpoint": number}
    start = now - max(WINDOWS_DAYS) * DAY_S
    sums = read_sums(connection, [number], start).get(number, [])
    recent = tuple(each for each in sums if each.last_at >= start)
    return EndpointHistory(
        **row,  # type: ignore[arg-type]  # named in the statement
        probes=sum(each.probes for each in recent),
        sums=recent,
        availability={days: availability(sums, now - days * DAY_S, now) for days in WINDOWS_DAYS},
        response_ms=response_times(recent),
        events=tuple(connection.execute(_EVENTS, endpoint).dicts()),
        unasked=tuple(connection.execute(_UNASKED, endpoint).dicts()),
        changes=tuple(connection.execute(_CHANGES, endpoint).dicts()),
        downtimes=tuple(
            each for each in read_downtimes(connection, number) if each.ends_at is None or each.ends_at > now
        ),
    )


# --------------------------------------------------------------------------- months

_MOST_TOGETHER = 20
"""Services whose probes are in memory at one time: those of a month of one are some thousands."""
_service = V_SERVICES.c
_OF_BEST = (
    select(SERVICE.c.best_id, *(_service[name] for name in ("id", "kind", "title", "provider", "url")))
    .select_from(SERVICE.join(V_SERVICES, _service.id == SERVICE.c.id))
    .where(SERVICE.c.best_id.is_not(None), SERVICE.c.id > bindparam("after"), SERVICE.c.id <= bindparam("last"))
    .order_by(SERVICE.c.id)
    .limit(_MOST_TOGETHER)
)


def service_months(
    connection: Connection, months: Sequence[tuple[float, float]], number: int | None = None
) -> Iterator[ServiceMonth]:
    """Yield, for each service or the one of a number, the months with a verdict on its best address. `months`:
    beginning and end of each, the oldest first."""
    after, last = (0, 2**31 - 1) if number is None else (number - 1, number)
    while rows := connection.execute(_OF_BEST, {"after": after, "last": last}).fetchall():
        sums = read_sums(connection, [row[0] for row in rows], months[0][0], months[-1][1])
        for endpoint, after, *texts in rows:
            of_months = (month_of((after, *texts), sums.get(endpoint, ()), *bounds) for bounds in months)
            yield from (each for each in of_months if each.probes)


# --------------------------------------------------------------------------- what changed lately

_HEALTH_NEWS = select(
    *(HEALTH_EVENT.c.at, HEALTH_EVENT.c.endpoint_id, literal("health").label("what")),
    *(HEALTH_EVENT.c.reason.label("name"), HEALTH_EVENT.c.before, HEALTH_EVENT.c.after, HEALTH_EVENT.c.id),
)
_CHANGE_NEWS = select(
    *(CHANGE.c.at, CHANGE.c.endpoint_id, CHANGE.c.what),
    *(CHANGE.c.name, CHANGE.c.before, CHANGE.c.after, CHANGE.c.id),
)
_LATE = union_all(
    _HEALTH_NEWS.where(HEALTH_EVENT.c.at >= bindparam("since")), _CHANGE_NEWS.where(CHANGE.c.at >= bindparam("since"))
).subquery("late")
_CHANGES_SINCE = (
    select(
        *(_LATE.c.at, ENDPOINT.c.url, ENDPOINT.c.kind, func.coalesce(SERVICE.c.title, "").label("title")),
        *(_LATE.c.what, _LATE.c.name, _LATE.c.before, _LATE.c.after),
    )
    .select_from(
        _LATE.join(ENDPOINT, ENDPOINT.c.id == _LATE.c.endpoint_id).outerjoin(
            SERVICE, SERVICE.c.id == ENDPOINT.c.service_id
        )
    )
    .order_by(_LATE.c.at.desc(), _LATE.c.what, _LATE.c.id.desc())
    .limit(bindparam("most"))
)


def changes_since(connection: Connection, since: float, most: int) -> Iterator[dict[str, object]]:
    """Yield changes of health and of content, newest first: at, url, kind, title, what, name, before, after.

    A change of health has `what` 'health' and the reason as `name`.
    """
    yield from connection.execute(_CHANGES_SINCE, {"since": since, "most": most}).dicts()


# --------------------------------------------------------------------------- survival


_FIRST_ALIVE = (
    select(HEALTH_EVENT.c.endpoint_id, func.min(HEALTH_EVENT.c.at).label("at"))
    .where(HEALTH_EVENT.c.after == "alive")
    .group_by(HEALTH_EVENT.c.endpoint_id)
    .subquery("first_alive")
)
_BORN = func.coalesce(_FIRST_ALIVE.c.at, ENDPOINT.c.first_seen)
_IS_DEAD = ENDPOINT.c.health.in_(("down", "gone"))
_LIVED_S = case((_IS_DEAD, ENDPOINT.c.last_ok), else_=ENDPOINT.c.last_probe) - _BORN
_DAYS = greatest(literal(0.0), _LIVED_S / DAY_S)
_LIVES = (
    select(whole(_DAYS).label("day"), _IS_DEAD.label("dead"), func.count(), func.max(_DAYS))
    .select_from(ENDPOINT.outerjoin(_FIRST_ALIVE, _FIRST_ALIVE.c.endpoint_id == ENDPOINT.c.id))
    .where(ENDPOINT.c.last_ok.is_not(None), ENDPOINT.c.probes > 1, ENDPOINT.c.last_probe - _BORN >= LEAST_OBSERVED_S)
    .group_by("day", "dead")
)
"""Count the lives of endpoints by their whole days: of 100,000 there are some hundred."""


def read_survival(connection: Connection) -> Survival:
    """Return the estimate over all endpoints that ever were valid; those still alive are censored at the last probe."""
    rows = connection.execute(_LIVES).fetchall()
    lives, deaths = Counter[int](), Counter[int]()
    for day, is_dead, count, _ in rows:
        lives[day] += count
        deaths[day] += count if is_dead else 0
    curve, share, at_risk = [(0.0, 1.0)], 1.0, lives.total()
    for day in sorted(lives):
        if deaths[day]:
            share *= 1 - deaths[day] / at_risk
            curve.append((float(day), share))
        at_risk -= lives[day]
    return Survival(lives.total(), deaths.total(), max((longest for *_, longest in rows), default=0.0), tuple(curve))


# --------------------------------------------------------------------------- news


_OWN, _BEST = ENDPOINT.alias("own"), ENDPOINT.alias("best")
_ENDPOINTS_OF_SERVICES = select(ENDPOINT.c.id).where(in_list(ENDPOINT.c.service_id, "services"))


def _news(*, of_services: bool) -> Select[Any]:
    """Return the statement that reads the latest news: the latest of each table, and of these the latest."""
    parts = [
        rows.where(*([rows.selected_columns.endpoint_id.in_(_ENDPOINTS_OF_SERVICES)] if of_services else []))
        .order_by(rows.selected_columns.at.desc(), rows.selected_columns.id.desc())
        .limit(bindparam("most"))
        .subquery()
        for rows in (_HEALTH_NEWS, _CHANGE_NEWS)
    ]
    news = union_all(*map(select, parts)).subquery("news")
    return (
        select(
            *(SERVICE.c.id, SERVICE.c.kind, SERVICE.c.title, func.coalesce(_BEST.c.url, _OWN.c.url)),
            *(news.c.at, news.c.what, news.c.name, news.c.before, news.c.after, news.c.id),
        )
        .select_from(
            news.join(_OWN, _OWN.c.id == news.c.endpoint_id)
            .join(SERVICE, SERVICE.c.id == _OWN.c.service_id)
            .outerjoin(_BEST, _BEST.c.id == SERVICE.c.best_id)
        )
        .order_by(news.c.at.desc(), news.c.what, news.c.id.desc())
        .limit(bindparam("most"))
    )


_LATEST, _LATEST_OF_SERVICES = _news(of_services=False), _news(of_services=True)


def read_news(connection: Connection, most: int, service_ids: Sequence[int] | None = None) -> list[NewsRow]:
    """Return the latest news, at most `most`, newest first: of all services, or of these."""
    statement = _LATEST if service_ids is None else _LATEST_OF_SERVICES
    return [NewsRow(*row) for row in connection.execute(statement, {"most": most, "services": service_ids or []})]
