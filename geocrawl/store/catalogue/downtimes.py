"""Read downtimes, excuse the failures that lie in them, and end those that a person acknowledged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, or_, select, update

from geocrawl.model.downtimes import Downtime
from geocrawl.model.health import DAY_S
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import DOWNTIME, ENDPOINT, SERVICE_ALIAS

DOWNTIMES = select(
    *(DOWNTIME.c.id, DOWNTIME.c.service_id, DOWNTIME.c.host, DOWNTIME.c.starts_at, DOWNTIME.c.ends_at),
    *(DOWNTIME.c.weekly, DOWNTIME.c.zone, DOWNTIME.c.is_acknowledged, DOWNTIME.c.note, DOWNTIME.c.created_at),
).order_by(DOWNTIME.c.id)
_endpoint = ENDPOINT.c
_is_endpoint = _endpoint.id == bindparam("endpoint")
_SERVICE = select(_endpoint.service_id).where(_is_endpoint).scalar_subquery()
_FORMER = select(SERVICE_ALIAS.c.old).where(SERVICE_ALIAS.c.new == _SERVICE)
_IS_OF_SERVICE = or_(DOWNTIME.c.service_id == _SERVICE, DOWNTIME.c.service_id.in_(_FORMER))
_OF_ENDPOINT = DOWNTIMES.where(
    or_(_IS_OF_SERVICE, DOWNTIME.c.host == select(_endpoint.host).where(_is_endpoint).scalar_subquery())
)
_COVERING = _OF_ENDPOINT.add_columns(
    select(_endpoint.every_s).where(_is_endpoint).scalar_subquery().label("every_s")
).where(select(_endpoint.last_ok).where(_is_endpoint).scalar_subquery().is_not(None))
_LEAST_WAIT_S = 60.0
_END_ACKNOWLEDGED = (
    update(DOWNTIME)
    .where(DOWNTIME.c.is_acknowledged == 1, DOWNTIME.c.ends_at.is_(None), _IS_OF_SERVICE)
    .values(ends_at=bindparam("at"))
)


def read_downtimes(connection: Connection, endpoint_id: int | None = None) -> list[Downtime]:
    """Return the downtimes of an endpoint, or all."""
    if endpoint_id is None:
        rows = connection.execute(DOWNTIMES)
    else:
        rows = connection.execute(_OF_ENDPOINT, {"endpoint": endpoint_id})
    return [downtime_of(row) for row in rows.dicts()]


def downtime_of(row: Mapping[str, Any]) -> Downtime:
    """Return a row of the table."""
    return Downtime(**{**row, "is_acknowledged": bool(row["is_acknowledged"])})


def excuse(connection: Connection, endpoint_id: int, at: float) -> tuple[str, float] | None:
    """Return why a failure of an endpoint at time `at` counts for nothing, and after how many seconds it is asked
    again: when the downtime ends, or earlier; None when it counts, as that of one that never was valid does."""
    rows, ends = connection.execute(_COVERING, {"endpoint": endpoint_id}).dicts(), list[tuple[float, str]]()
    every_s = DAY_S
    for row in rows:
        every_s = row.pop("every_s") or DAY_S
        each = downtime_of(row)
        if (end := each.end_at(at)) is not None:
            ends.append((end, each.reason))
    if not ends:
        return None
    until, reason = max(ends)
    return reason, max(min(until - at, every_s), _LEAST_WAIT_S)


def end_acknowledged(connection: Connection, endpoint_id: int, at: float) -> None:
    """End what a person acknowledged of the service of an endpoint, which is well again."""
    connection.execute(_END_ACKNOWLEDGED, {"endpoint": endpoint_id, "at": at})
