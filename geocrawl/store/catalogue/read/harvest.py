"""Read which records a harvester gets (OAI-PMH 2.0): of services, and of those that are no more."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Integer, bindparam, func, select

from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import SEARCH_CHANGE, SERVICE


class HarvestRecord(NamedTuple):
    """A record: its number, and whether its service is in the catalogue no more."""

    number: int
    is_gone: bool


_AFTER, _MOST = bindparam("after", type_=Integer), bindparam("most", type_=Integer)
_CHANGED = (
    select(SERVICE.c.id)
    .where(SERVICE.c.id > _AFTER, SERVICE.c.last_ok >= bindparam("since"), SERVICE.c.last_ok < bindparam("until"))
    .order_by(SERVICE.c.id)
    .limit(_MOST)
)
_NUMBER = SEARCH_CHANGE.c.service_id
_GONE = select(_NUMBER).where(_NUMBER > _AFTER, _NUMBER.not_in(select(SERVICE.c.id))).order_by(_NUMBER).limit(_MOST)
_IS_GONE = select(_NUMBER).where(bindparam("number") == _NUMBER, _NUMBER.not_in(select(SERVICE.c.id)))
_SPAN = select(func.coalesce(func.min(SERVICE.c.last_ok), 0.0), func.coalesce(func.max(SERVICE.c.last_ok), 0.0))


def read_harvest(connection: Connection, after: int, since: float, until: float, most: int) -> list[HarvestRecord]:
    """Return the records behind the number `after`, at most `most`: of services whose last valid answer is not before
    `since` and before `until`, and of all that are gone where the latest answer is. The catalogue does not keep when a
    service went."""
    span = {"after": after, "since": since, "until": until, "most": most}
    records = [HarvestRecord(row[0], False) for row in connection.execute(_CHANGED, span)]
    if since <= read_span(connection)[1] < until:
        records += [HarvestRecord(row[0], True) for row in connection.execute(_GONE, {"after": after, "most": most})]
    return sorted(records)[:most]


def is_gone(connection: Connection, number: int) -> bool:
    """Return whether there was a service of this number, and is no more."""
    return connection.execute(_IS_GONE, {"number": number}).fetchone() is not None


def read_span(connection: Connection) -> tuple[float, float]:
    """Return the times of the first and the last of the services' last valid answers; zeros without services."""
    first, last = connection.execute(_SPAN).fetchone()
    return float(first), float(last)
