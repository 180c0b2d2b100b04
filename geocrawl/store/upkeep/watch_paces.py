"""Give endpoints that people watch in minutes their interval, and refuse one that their hosts cannot bear."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Mapping

from sqlalchemy import bindparam, case, func, select, update

from geocrawl.errors import UsageError
from geocrawl.model import Kind
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
    case((ENDPOINT.c.kind == Kind.WMS, 2), else_=1),
).where(in_list(ENDPOINT.c.id, "endpoints"))
"""Read how many requests the last valid description of each endpoint took, and how many content of a layer takes."""
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


class HostLoads:
    """The time that watched endpoints take of their hosts, with what was accepted since it was read."""

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self._connection, self._settings = connection, settings
        self._every_s: defaultdict[str, dict[int, float]] = defaultdict(dict)
        """Host → endpoint → the interval at which it is asked."""
        self._requests: dict[int, int] = {}
        for endpoint, _, _, host, every_s, _ in connection.execute(_PACED):
            self._every_s[host][endpoint] = every_s

    def accept(self, services: Collection[int], every_s: float) -> None:
        """Add the endpoints of these services at an interval. Raises UsageError for one that a host of them cannot
        bear, with the shortest that it can.

        A host bears what its delay and its daily limit leave room for: the requests of a light probe of each of its
        watched endpoints, for its description and for content of a layer, each as often as it is watched. The content
        of a WMS is two pictures, whose order of axes is compared.
        """
        new: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for endpoint, _, _, host, *_ in self._connection.execute(_OF_SERVICES, {"services": sorted(services)}):
            new[host][endpoint] = every_s
        delays = _delays(self._connection, sorted(new), self._settings)
        for host, endpoints in new.items():
            self._refuse(host, endpoints, delays[host], every_s)
        for host, endpoints in new.items():
            paced = self._every_s[host]
            paced |= {endpoint: min(every_s, paced.get(endpoint, math.inf)) for endpoint in endpoints}

    def _refuse(self, host: str, new: Mapping[int, float], delay_s: float, every_s: float) -> None:
        others = {endpoint: pace_s for endpoint, pace_s in self._every_s[host].items() if endpoint not in new}
        self._read_requests({*new, *others})
        asked = sum(self._requests[endpoint] * delay_s for endpoint in new)
        free = 1.0 - sum(self._requests[endpoint] * delay_s / pace_s for endpoint, pace_s in others.items())
        if free > 0 and asked / free <= every_s:
            return
        shortest_s = math.ceil(max(asked / free, LEAST_EVERY_S)) if free > 0 else math.inf
        can = (
            f"the shortest is {spell_duration(float(shortest_s))}" if shortest_s <= MOST_EVERY_S else "no room is left"
        )
        raise UsageError(
            f"--every {spell_duration(every_s)}: {host} cannot bear that with {counted(len(new), 'address')} "
            f"and {delay_s:g} s between two requests; {can}"
        )

    def _read_requests(self, endpoints: set[int]) -> None:
        if missing := sorted(endpoints - self._requests.keys()):
            rows = self._connection.execute(_LAST_REQUESTS, {"endpoints": missing})
            most = self._settings.map_requests if self._settings.maps else 0
            self._requests |= {endpoint: max(requests, 1) + min(content, most) for endpoint, requests, content in rows}


def _delays(connection: Connection, hosts: Collection[str], settings: Settings) -> Mapping[str, float]:
    """Return the seconds between two requests to each host: its delay, and what its daily limit comes to."""
    stated: dict[str, float | None] = dict(connection.execute(_CRAWL_DELAYS, {"hosts": hosts}).fetchall())
    delays = {}
    for host in hosts:
        most = settings.requests_per_day_of(host)
        delays[host] = max(settings.pace_s(host, stated.get(host)), DAY_S / most if most else 0.0)
    return delays
