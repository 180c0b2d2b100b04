"""End waits in the database that are longer than any wait is: a clock that was wrong for a moment wrote them.

A clock that is ten years ahead for a moment leaves hosts, services and answers for robots.txt that wait for ten years.
A wait beyond the longest that is meant ends at once. Times that lie in the past by their meaning, such as a service's
last valid answer, stay as the wrong clock wrote them until they are written again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, update

from geocrawl.model.health import DAY_S
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema.tables import ENDPOINT, HOST, ROBOTS, URL, WATCH

if TYPE_CHECKING:
    from geocrawl.settings import Settings

_WAITS = (
    *(HOST.c.next_at, HOST.c.lease_until, URL.c.retry_at, ROBOTS.c.expires_at, ENDPOINT.c.due_at),
    *(WATCH.c.retry_at, WATCH.c.busy_until, URL.c.revisit_at),
)
_END = {
    column: update(column.table).where(column > bindparam("last")).values({column.name: bindparam("now")})
    for column in _WAITS
}
_LONGEST_S = 35 * DAY_S
"""A service that is down is probed again within 30 days and a tenth, the longest wait but that of pages."""


def end_long_waits(database: Database, settings: Settings, now: float) -> int:
    """End all waits that are longer than any is meant to be; return how many there were."""
    ended, of_hosts_s = 0, max(_LONGEST_S, settings.max_retry_after_s, settings.backoff_max_s)
    for column, statement in _END.items():
        longest_s = max(of_hosts_s, settings.revisit_most_s) if column is URL.c.revisit_at else of_hosts_s
        with database.transaction:
            ended += database.connection.execute(statement, {"now": now, "last": now + longest_s}).rowcount
    return ended
