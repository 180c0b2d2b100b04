"""Give endpoints that people watch in minutes their interval, and refuse one that their hosts cannot bear."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Mapping

from sqlalchemy import bindparam, func, select, update

from geocrawl.errors import UsageError
from geocrawl.model.health import DAY_S, LEAST_EVERY_S, MOST_EVERY_S, first_probe
from geocrawl.settings import Settings
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import in_list
from geocrawl.store.database.schema.tables import ENDPOINT, HOST, PROBE, WATCH
from geocrawl.wording import counted, spell_duration

_ASKED_FOR = select(WATCH.c.known, WATCH.c.every_s).where(WATCH.c.every_s.is_not(None))
_ENDPOINTS = select(
    *(ENDPOINT.c.id, ENDPOINT.c.key, ENDPOINT.c.service_id, ENDPOINT.c.host, ENDPOINT.c.every_s, ENDPOINT.c.due_at)
)
_PACED = _ENDPOINTS.where(ENDPOINT.c.every_s.is_not(None))
_OF_SERVICES = _ENDPOINTS.where(in_list(ENDPOINT.c.service_id, "services"), ENDPOINT.c.last_ok.is_not(None))
_OF_HOSTS = _ENDPOINTS.where(in_list(ENDPOINT.c.host, "hosts"), ENDPOINT.c.last_ok.is_not(None))
_SET = (
    update(ENDPOINT)
    .where(ENDPOINT.c.id == bindparam("endpoint"))
    .values(every_s=bindparam("every"), due_at=bindparam("due"))
)
_last = PROBE.alias("last")
_LAST_REQUESTS = select(
    ENDPOINT.c.id,
    func.coalesce(
        select(_last.c.requests)
        .where(_last.c.endpoint_id == ENDPOINT.c.id, _last.c.status == "valid")
        .order_by(_last.c.at.desc(), _last.c.id.desc())
        .limit(1)
        .scalar_subquery(),
        1,
    ),
).where(in_list(ENDPOINT.c.id, "endpoints"))
"""Read how many requests the last valid answer of each endpoint took, as a light probe does."""
_CRAWL_DELAYS = select(HOST.c.name, HOST.c.crawl_delay_s).where(in_list(HOST.c.name, "hosts"))


def set_paces(connection: Connection, settings: Settings, at: float) -> int:
    """Give each watched endpoint the shortest interval that its watches and its site's settings ask for, and the pace
    of its health back to those no longer watched; return how many changed. Works in the caller's transaction."""
    of_service: dict[int, float] = {}
    for known, every_s in connection.execute(_ASKED_FOR):
        for number in map(int, json.loads(known)):
            of_service[number] = min(every_s, of_service.get(number, math.inf))
    of_host = {host: site.every_s for host, site in settings.sites.items() if site.every_s}
    found = connection.execute(_PACED).fetchall()
    if of_service:
        found += connection.execute(_OF_SERVICES, {"services": sorted(of_service)}).fetchall()
    if of_host:
        found += connection.execute(_OF_HOSTS, {"hosts": sorted(of_host)}).fetchall()
    rows = []
    for endpoint, key, service, host, before, due_at in dict.fromkeys(map(tuple, found)):
        shortest_s = min(of_service.get(service, math.inf), of_host.get(host, math.inf))
        now = shortest_s if shortest_s < math.inf else None
        if now != before:
            due = due_at if now is None else min(first_probe(key, now, at), due_at or math.inf)
            rows.append({"endpoint": endpoint, "every": now, "due": due})
    if rows:
        connection.executemany(_SET, rows)
    return len(rows)


def refuse_interval(connection: Connection, services: Collection[int], every_s: float, settings: Settings) -> None:
    """Raise UsageError for an interval that is out of bounds or that a host of these services cannot bear, with the
    shortest that it can.

    A host bears what its delay and its daily limit leave room for: the requests of a light probe of each of its
    watched endpoints, each as often as it is watched.
    """
    if not LEAST_EVERY_S <= every_s <= MOST_EVERY_S:
        raise UsageError("--every: expected 1 minute to 30 days, such as 5m")
    new = connection.execute(_OF_SERVICES, {"services": sorted(services)}).fetchall()
    hosts = sorted({row[3] for row in new})
    numbers = {row[0] for row in new}
    others = [row for row in connection.execute(_PACED).fetchall() if row[3] in hosts and row[0] not in numbers]
    requests = _requests(connection, [row[0] for row in (*new, *others)])
    delays = _delays(connection, hosts, settings)
    asked, taken, count = defaultdict[str, float](float), defaultdict[str, float](float), defaultdict[str, int](int)
    for endpoint, _, _, host, *_ in new:
        asked[host] += requests[endpoint] * delays[host]
        count[host] += 1
    for endpoint, _, _, host, pace_s, _ in others:
        taken[host] += requests[endpoint] * delays[host] / pace_s
    for host in hosts:
        free = 1.0 - taken[host]
        if free > 0 and asked[host] / free <= every_s:
            continue
        shortest_s = math.ceil(max(asked[host] / free, LEAST_EVERY_S)) if free > 0 else math.inf
        can = (
            f"the shortest is {spell_duration(float(shortest_s))}" if shortest_s <= MOST_EVERY_S else "no room is left"
        )
        raise UsageError(
            f"--every {spell_duration(every_s)}: {host} cannot bear that with {counted(count[host], 'address')} "
            f"and {delays[host]:g} s between two requests; {can}"
        )


def _requests(connection: Connection, endpoints: Collection[int]) -> Mapping[int, int]:
    rows = connection.execute(_LAST_REQUESTS, {"endpoints": sorted(endpoints)})
    return {endpoint: max(requests, 1) for endpoint, requests in rows}


def _delays(connection: Connection, hosts: Collection[str], settings: Settings) -> Mapping[str, float]:
    """Return the seconds between two requests to each host: its delay, and what its daily limit comes to."""
    stated: dict[str, float | None] = dict(connection.execute(_CRAWL_DELAYS, {"hosts": hosts}).fetchall())
    delays = {}
    for host in hosts:
        most = settings.requests_per_day_of(host)
        delays[host] = max(settings.pace_s(host, stated.get(host)), DAY_S / most if most else 0.0)
    return delays
