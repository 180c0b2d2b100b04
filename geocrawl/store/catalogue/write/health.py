"""Write the health of endpoints and the time of their next probe after each event (`model.health` decides both)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import bindparam, insert, select, update

from geocrawl.model.health import DAY_S, HOUR_S, UNSEEN_S, Condition, Event, Health, after
from geocrawl.store.catalogue.downtimes import end_acknowledged
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import Database
from geocrawl.store.database.schema import GUESSED
from geocrawl.store.database.schema.tables import ENDPOINT, HEALTH_EVENT

NO_SERVICE = frozenset({"html", "not-capabilities", "not-json", "other-kind", "part", "moved", "wrong-type"})
"""Reasons that say for good that an address is no service. (Not http-404: a service may be announced before it
exists.)"""
FORBIDDEN_S = 7 * DAY_S
"""An endpoint that must not be asked is looked at again after this time; one that may only not be asked now
(`SOON_S`), sooner."""
SOON_S = DAY_S
FILTERED_S = 2 * DAY_S
"""A filter is asked again after this time: less often than a service that fails."""
UNASKED = "unasked"
"""Status of a row of the table `probe` that says why an endpoint was not asked, or was too often: no verdict."""
NO_ANSWER, RATE_LIMITED, UNREACHABLE, FILTERED = "no-answer", "rate-limited", "robots-unreachable", "filtered"
_OF_OURS = (Event.UNASKED, Event.FILTERED)
"""Events after which we wait on our own account."""
_AGED_AT_ONCE = 500
_is_endpoint = ENDPOINT.c.id == bindparam("endpoint")
_READ = select(
    *(ENDPOINT.c.key, ENDPOINT.c.health, ENDPOINT.c.health_since, ENDPOINT.c.in_a_row, ENDPOINT.c.interval_s),
    *(ENDPOINT.c.due_at, ENDPOINT.c.failing_s, ENDPOINT.c.last_probe, ENDPOINT.c.last_ok, ENDPOINT.c.weak),
    *(ENDPOINT.c.woken_at, ENDPOINT.c.every_s),
).where(_is_endpoint)
_WRITE = update(ENDPOINT).where(_is_endpoint)
_ADD_EVENT = insert(HEALTH_EVENT)
_DUE = (
    select(ENDPOINT.c.id)
    .where(ENDPOINT.c.due_at.is_not(None), ENDPOINT.c.due_at <= bindparam("now"))
    .order_by(ENDPOINT.c.due_at, ENDPOINT.c.id)
    .limit(bindparam("most"))
)
_UNSEEN = (
    select(ENDPOINT.c.id)
    .where(ENDPOINT.c.health.in_(("alive", "degraded")), ENDPOINT.c.last_probe <= bindparam("before"))
    .order_by(ENDPOINT.c.id)
    .limit(_AGED_AT_ONCE)
)
"""Find endpoints that are called alive and were not asked for long."""


@dataclass(frozen=True, slots=True)
class HealthSignal:
    """Describes what a visit says about an endpoint: an event of its health, with the reason."""

    event: Event
    reason: str
    wait_s: float = 0.0
    """Least time until the next probe, in seconds."""
    asked_s: float = 0.0
    """The part of `wait_s` that the server asked for. A watched endpoint waits no longer than this or its interval."""


def signal_without_verdict(reason: str, http_status: int | None, retry_after_s: float | None) -> HealthSignal:
    """Return what a skipped probe says of an endpoint's health, by its reason, or by the status of robots.txt when
    that is the reason."""
    asked_s = retry_after_s or 0.0
    wait_s = max(asked_s, HOUR_S)
    if reason != UNREACHABLE:
        return HealthSignal(Event.UNASKED, reason, FORBIDDEN_S if retry_after_s is None else wait_s, asked_s)
    if http_status is None:
        return HealthSignal(Event.FAIL, NO_ANSWER, wait_s)
    if http_status == 429:
        return HealthSignal(Event.LIMITED, RATE_LIMITED, wait_s)
    return HealthSignal(Event.UNASKED, reason, max(wait_s, SOON_S), asked_s)


def signal_of_refusal(reason: str, retry_after_s: float | None, *, is_filtered: bool) -> HealthSignal:
    """Return what an invalid verdict says of an endpoint's health: a failure, unless the server only asks to be left
    alone for a while (429, or 503 with Retry-After), or a filter hides the service (`is_filtered`)."""
    if reason == "http-429" or (reason == "http-503" and retry_after_s is not None):
        return HealthSignal(Event.LIMITED, RATE_LIMITED, max(retry_after_s or SOON_S, HOUR_S))
    if is_filtered:
        asked_s = retry_after_s or 0.0
        return HealthSignal(Event.FILTERED, FILTERED, max(asked_s, FILTERED_S), asked_s)
    return HealthSignal(Event.FAIL, reason)


def write_health(connection: Connection, endpoint_id: int, signal: HealthSignal, at: float, **columns: object) -> None:
    """Write what health of an endpoint follows from an event, with other columns of its row."""
    health = _health_after(connection, endpoint_id, signal, at)
    connection.execute(_WRITE, {"endpoint": endpoint_id, **columns, **health})


def _health_after(connection: Connection, endpoint_id: int, signal: HealthSignal, at: float) -> Mapping[str, object]:
    """Return the columns of `endpoint` that say what health follows from an event, and write the change of health, if
    there is one.

    An address that never was valid is not probed again when its answer is no service (an ordinary page, or a
    mistyped link), or when it was only guessed.
    """
    row = connection.execute(_READ, {"endpoint": endpoint_id}).fetchone()
    key, state, since, in_a_row, interval_s, due_at, failing_s, last_probe, last_ok, weak, woken_at, every_s = row
    before = Condition(Health(state), since or 0.0, in_a_row, interval_s, due_at, failing_s, last_probe, last_ok)
    wait_s = signal.wait_s
    if every_s is not None and signal.event in _OF_OURS and signal.reason != "moved":
        wait_s = min(wait_s, max(every_s, signal.asked_s))
    now = after(before, signal.event, at=at, key=key, wait_s=wait_s, every_s=every_s)
    was_refused = signal.event is Event.FAIL and (signal.reason in NO_SERVICE or weak == GUESSED)
    if now.state is not before.state:
        changed = {"before": before.state, "after": now.state}
        event = {"endpoint_id": endpoint_id, "at": at, **changed, "reason": signal.reason}
        connection.execute(_ADD_EVENT, event)
        if now.state is Health.ALIVE:
            end_acknowledged(connection, endpoint_id, at)
    return {
        "health": now.state,
        "health_since": now.since,
        "in_a_row": now.in_a_row,
        "interval_s": now.interval_s,
        "due_at": None if last_ok is None and was_refused else now.due_at,
        "failing_s": now.failing_s,
        "woken_at": woken_at if now.state is before.state else None,
    }


def due(connection: Connection, now: float, most: int) -> list[int]:
    """Return the ids of the endpoints whose next probe is due, the longest overdue first."""
    return [row[0] for row in connection.execute(_DUE, {"now": now, "most": most})]


def age(database: Database, now: float) -> int:
    """Call endpoints unconfirmed that nobody has asked for 30 days (`UNSEEN_S`) and that are called alive or
    degraded; return how many. Several short transactions."""
    aged = 0
    while True:
        with database.transaction:
            found = database.connection.execute(_UNSEEN, {"before": now - UNSEEN_S}).fetchall()
            for (endpoint_id,) in found:
                write_health(database.connection, endpoint_id, HealthSignal(Event.PASSED, "unseen"), now)
        aged += len(found)
        if len(found) < _AGED_AT_ONCE:
            return aged
