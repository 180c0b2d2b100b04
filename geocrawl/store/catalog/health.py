"""Write the health of endpoints and the time of their next probe after each verdict (`model.health` decides both)."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, insert, select

from geocrawl.model.health import DAY_S, Condition, Health, after
from geocrawl.store.engine.connection import Connection
from geocrawl.store.schema.tables import ENDPOINT, HEALTH_EVENT

NO_SERVICE = frozenset({"html", "not-capabilities", "not-json", "other-kind", "part", "moved", "wrong-type"})
"""Reasons that say for good that an address is no service. (Not http-404: a service may be announced before it
exists.)"""
UNASKED_S = 7 * DAY_S
GUESSED = 2
"""`endpoint.weak` of an endpoint that nobody named: another kind of service, guessed next to a valid one."""
_READ = select(
    *(ENDPOINT.c.key, ENDPOINT.c.health, ENDPOINT.c.health_since, ENDPOINT.c.in_a_row, ENDPOINT.c.interval_s),
    *(ENDPOINT.c.due_at, ENDPOINT.c.last_ok, ENDPOINT.c.weak),
).where(ENDPOINT.c.id == bindparam("endpoint"))
_ADD_EVENT = insert(HEALTH_EVENT)
_DUE = (
    select(ENDPOINT.c.id)
    .where(ENDPOINT.c.due_at.is_not(None), ENDPOINT.c.due_at <= bindparam("now"))
    .order_by(ENDPOINT.c.due_at, ENDPOINT.c.id)
    .limit(bindparam("most"))
)


def health_after(connection: Connection, endpoint_id: int, *, ok: bool, reason: str, at: float) -> Mapping[str, object]:
    """Return the columns of `endpoint` that say what health follows from a verdict, before the verdict is written.
    Writes the event when the health changes.

    An address that never was valid is not probed again when its answer is no service (an ordinary page, or a
    mistyped link), or when it was only guessed.
    """
    row = connection.execute(_READ, {"endpoint": endpoint_id}).fetchone()
    key, state, since, in_a_row, interval_s, due_at, last_ok, weak = row
    before = Condition(Health(state), since or 0.0, in_a_row, interval_s, due_at)
    now = after(before, ok=ok, at=at, key=key)
    is_no_service = last_ok is None and not ok and (reason in NO_SERVICE or weak == GUESSED)
    condition = {
        "health": now.state,
        "health_since": now.since,
        "in_a_row": now.in_a_row,
        "interval_s": now.interval_s,
        "due_at": None if is_no_service else now.due_at,
    }
    if now.state is not before.state:
        event = {"endpoint_id": endpoint_id, "at": at, "before": before.state, "after": now.state, "reason": reason}
        connection.execute(_ADD_EVENT, event)
    return condition


def due(connection: Connection, now: float, most: int) -> list[int]:
    """Return the ids of the endpoints whose next probe is due, the longest overdue first."""
    return [row[0] for row in connection.execute(_DUE, {"now": now, "most": most})]
