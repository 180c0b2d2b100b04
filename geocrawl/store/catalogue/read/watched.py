"""Read the services that are watched, for the page of their status."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import bindparam, case, func, or_, select

from geocrawl.model.availability import likely_availability
from geocrawl.model.details import WatchedService
from geocrawl.model.health import DAY_S, Speed
from geocrawl.store.catalogue.downtimes import read_downtimes
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.schema.tables import ENDPOINT, PROBE, PROBE_SUM, SERVICE, SERVICE_ALIAS, WATCH
from geocrawl.store.database.views import V_SERVICES

_WINDOW_S = 30 * DAY_S
_service, _endpoint = V_SERVICES.c, ENDPOINT.c
_paced = ENDPOINT.alias("paced")
_NUMBERS = (
    select(_paced.c.service_id)
    .where(_paced.c.every_s.is_not(None), _paced.c.service_id.is_not(None))
    .union(
        select(WATCH.c.service_id).where(WATCH.c.service_id.is_not(None)),
        select(SERVICE_ALIAS.c.new).join(WATCH, WATCH.c.service_id == SERVICE_ALIAS.c.old),
    )
)
_IS_WATCHED = SERVICE.c.id.in_(_NUMBERS)
_COUNT = select(func.count()).select_from(SERVICE).where(_IS_WATCHED)
_IN_TROUBLE_FIRST = case({"alive": 1}, value=_endpoint.health, else_=0)
_WATCHED = (
    select(
        *(_service[name] for name in ("id", "kind", "title", "url")),
        *(_endpoint.id, _endpoint.host, _endpoint.health, _endpoint.health_since, _endpoint.every_s, _endpoint.speed),
    )
    .select_from(
        SERVICE.join(V_SERVICES, _service.id == SERVICE.c.id).join(ENDPOINT, _endpoint.id == SERVICE.c.best_id)
    )
    .where(_IS_WATCHED)
    .order_by(_IN_TROUBLE_FIRST, _service.id)
    .limit(bindparam("most"))
    .offset(bindparam("skipped"))
)
_PROBES = (
    select(PROBE.c.endpoint_id, func.count(), func.count(case((PROBE.c.status == "valid", 1))))
    .where(in_list(PROBE.c.endpoint_id, "endpoints"), PROBE.c.at >= bindparam("since"))
    .where(or_(PROBE.c.status == "valid", PROBE.c.status == "invalid"))
    .group_by(PROBE.c.endpoint_id)
)
_SUMS = (
    select(PROBE_SUM.c.endpoint_id, func.sum(PROBE_SUM.c.probes), func.sum(PROBE_SUM.c.valid))
    .where(in_list(PROBE_SUM.c.endpoint_id, "endpoints"), PROBE_SUM.c.start >= bindparam("since"))
    .group_by(PROBE_SUM.c.endpoint_id)
)


def count_watched(connection: Connection) -> int:
    """Return the number of watched services."""
    count: int = connection.execute(_COUNT).fetchone()[0]
    return count


def watched_services(connection: Connection, now: float, most: int, skipped: int = 0) -> list[WatchedService]:
    """Return services that are asked at an interval or watched by themselves, those that are not alive first."""
    rows = connection.execute(_WATCHED, {"most": most, "skipped": skipped}).fetchall()
    counts = _counts(connection, [row[4] for row in rows], now)
    downtimes = [each for each in read_downtimes(connection) if each.ends_at is None or each.ends_at > now]
    former = dict(connection.execute(select(SERVICE_ALIAS.c.old, SERVICE_ALIAS.c.new)).fetchall()) if downtimes else {}
    found = []
    for number, kind, title, url, endpoint, host, health, since, every_s, speed in rows:
        probes, valid = counts[endpoint]
        own = (
            each for each in downtimes if each.host == host or former.get(each.service_id, each.service_id) == number
        )
        found.append(
            WatchedService(
                *(number, kind, title or "", url, health, since, every_s, speed in (Speed.SLOW, Speed.ONCE_USUAL)),
                *(probes, valid, likely_availability(valid, probes) if probes else None, tuple(own)),
            )
        )
    return found


def _counts(connection: Connection, endpoints: list[int], now: float) -> Mapping[int, tuple[int, int]]:
    """Return (verdicts, valid ones) of each endpoint within the window."""
    values = {"endpoints": sorted(endpoints), "since": now - _WINDOW_S}
    found = defaultdict[int, tuple[int, int]](lambda: (0, 0))
    for statement in (_SUMS, _PROBES):
        for endpoint, probes, valid in connection.execute(statement, values).fetchall():
            before = found[endpoint]
            found[endpoint] = before[0] + int(probes), before[1] + int(valid)
    return found
