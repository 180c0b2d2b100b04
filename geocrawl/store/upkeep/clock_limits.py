"""Shorten waits in the database to those that the settings allow, for a wrong clock may have written them.

A clock that is ten years ahead for a moment leaves due times ten years ahead: of hosts, services and answers for
robots.txt. No time to come is further off than the longest wait of the settings, and nothing that happened lies in the
future. A service or page whose time is off waits as long as it last did: a stable service is probed in a week, though
others are in a month.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import Column, Update, bindparam, update

from geocrawl.model.health import JITTER
from geocrawl.store.catalogue.write.health import FORBIDDEN_S
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import ENDPOINT, HOST, NOTICE, ROBOTS, SERVICE, URL, VALIDATOR, WATCH
from geocrawl.store.upkeep.watches import LONGEST_RETRY_S, RESERVED_S
from geocrawl.wording import LONGEST_S

if TYPE_CHECKING:
    from geocrawl.settings import Settings

_REQUESTS = 10
"""More requests than a lease makes besides those for maps."""
_MARGIN_S = 60.0
"""Times that are off by less are left alone: clocks of several machines differ, and are set."""


def shorten_waits(database: Database, settings: Settings, now: float) -> dict[str, int]:
    """Limit all times to `now` and the longest wait from then on; return how many times of each kind were off."""
    off = {}
    for column, longest_s in _columns(settings):
        values = {"now": now, "off_after": now + longest_s + _MARGIN_S}
        values |= {} if column in _OWN_WAITS else {"longest_s": longest_s}
        with database.transaction:
            count = database.connection.execute(_shorten(column), values).rowcount
        if count:
            off[f"{column.table.name}.{column.name}"] = count
    today = int(now // 86_400)
    with database.transaction:
        database.connection.execute(update(HOST).where(HOST.c.asked_day > today).values(asked_day=today, asked=0))
    return off


_OWN_WAITS: Mapping[Column[float], Column[float]] = {
    ENDPOINT.c.due_at: ENDPOINT.c.interval_s,
    URL.c.revisit_at: URL.c.revisit_s,
}
"""Column → how long its row waits from one time to the next, in seconds."""


@cache
def _shorten(column: Column[float]) -> Update:
    changed = update(column.table).where(column > bindparam("off_after"))
    if (own_s := _OWN_WAITS.get(column)) is None:
        return changed.values({column.name: bindparam("now") + bindparam("longest_s")})
    is_off = column - own_s * (1 + JITTER) > bindparam("now") + _MARGIN_S
    return changed.where(is_off).values({column.name: own_s + bindparam("now")})


def _columns(settings: Settings) -> Iterator[tuple[Column[float], float]]:
    """Yield a column and how many seconds after now the column's times may lie."""
    of_sites_s = (site.delay_s or 0.0 for site in settings.sites.values())
    delays_s = (settings.delay_s, settings.max_crawl_delay_s, *of_sites_s)
    rest_s = max(settings.backoff_max_s, settings.max_retry_after_s, *delays_s)
    retry_s = min(
        settings.retry_first_s * 2.0 ** (4 * settings.max_attempts), LONGEST_S
    )  # as often as hosts too busy are tried
    robots_s = max(settings.robots_ttl_s, settings.robots_error_ttl_s, rest_s)
    yield HOST.c.next_at, rest_s
    yield HOST.c.last_error_at, 0.0
    yield HOST.c.troubled_at, 0.0
    yield HOST.c.lease_until, max(settings.lease_s, max(delays_s) * (settings.map_requests + _REQUESTS))
    yield URL.c.retry_at, max(retry_s, robots_s)
    yield URL.c.revisit_at, 0.0
    yield ROBOTS.c.fetched_at, 0.0
    yield ROBOTS.c.expires_at, robots_s
    yield VALIDATOR.c.read_at, 0.0
    yield ENDPOINT.c.due_at, max(FORBIDDEN_S, settings.max_retry_after_s)
    yield ENDPOINT.c.health_since, 0.0
    yield ENDPOINT.c.last_ok, 0.0
    yield ENDPOINT.c.last_probe, 0.0
    yield SERVICE.c.last_ok, 0.0
    yield WATCH.c.retry_at, LONGEST_RETRY_S
    yield WATCH.c.busy_until, RESERVED_S
    yield NOTICE.c.at, 0.0
