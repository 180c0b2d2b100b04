"""The past of endpoints for people: availability, response times, changes of health and of content, survival."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from geocrawl.model.health import DAY_S
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.reading import dicts

WINDOWS_DAYS = (7, 30, 365)


@dataclass(frozen=True, slots=True)
class EndpointHistory:
    """What an endpoint's probes say over time."""

    id: int
    kind: str
    url: str
    health: str
    since: float | None
    in_a_row: int
    """Valid answers in a row, or failures as a negative number."""
    due_at: float | None
    probes: int
    """Kept in the database."""
    availability: Mapping[int, float | None]
    """Days → share of that time, 0…1, in which the last answer was a valid one; None: nothing is known of it."""
    response_ms: Mapping[int, float]
    """Percentile → milliseconds of valid answers that were read whole: 50, 90, 99; empty when there are none."""
    events: tuple[Mapping[str, object], ...]
    """at, before, after, reason; newest first."""
    changes: tuple[Mapping[str, object], ...]
    """at, what, name, before, after; newest first."""


_ENDPOINTS = """
SELECT id, kind, url, health, health_since AS since, in_a_row, due_at FROM endpoint WHERE {} ORDER BY id"""
# A 304 comes faster than the document in whose place it stands.
_PROBES = """
SELECT at, status = 'valid', CASE WHEN reason <> 'not-modified' THEN elapsed_ms END FROM probe
WHERE endpoint_id = ? AND at >= ? ORDER BY at, id"""
_BEFORE = "SELECT status = 'valid' FROM probe WHERE endpoint_id = ? AND at < ? ORDER BY at DESC, id DESC LIMIT 1"
_EVENTS = """
SELECT at, before, after, reason FROM health_event WHERE endpoint_id = ? ORDER BY at DESC, id DESC LIMIT 100"""
_CHANGES = """
SELECT at, what, name, before, after FROM change WHERE endpoint_id = ? ORDER BY at DESC, id DESC LIMIT 200"""


def history_of_service(connection: Connection, number: int, now: float) -> tuple[EndpointHistory, ...]:
    """The endpoints of a service."""
    return _histories(connection, "service_id = ?", number, now)


def history_of_address(connection: Connection, key: str, now: float) -> tuple[EndpointHistory, ...]:
    """The endpoints of an identity (`urls.endpoint_key`), one a kind."""
    return _histories(connection, "key = ? AND probes > 0", key, now)


def _histories(connection: Connection, condition: str, value: object, now: float) -> tuple[EndpointHistory, ...]:
    return tuple(_history(connection, row, now) for row in list(dicts(connection, _ENDPOINTS.format(condition), value)))


def _history(connection: Connection, row: dict[str, object], now: float) -> EndpointHistory:
    number = row["id"]
    start = now - max(WINDOWS_DAYS) * DAY_S
    probes = connection.execute(_PROBES, (number, start)).fetchall()
    earlier = connection.execute(_BEFORE, (number, start)).fetchone()
    answers = [(at, bool(ok)) for at, ok, _ in probes]
    if earlier is not None:
        answers.insert(0, (start, bool(earlier[0])))
    return EndpointHistory(
        **row,  # type: ignore[arg-type]  # named in the statement
        probes=len(probes),
        availability={days: availability(answers, now - days * DAY_S, now) for days in WINDOWS_DAYS},
        response_ms=percentiles([elapsed for _, ok, elapsed in probes if ok and elapsed is not None]),
        events=tuple(dicts(connection, _EVENTS, number)),
        changes=tuple(dicts(connection, _CHANGES, number)),
    )


def availability(answers: Sequence[tuple[float, bool]], start: float, end: float) -> float | None:
    """Share of the time from `start` to `end` in which the last answer was valid; each answer holds until the next.

    Counts from the first answer on where that is later than `start`; None when there is none before `end`.
    """
    up = known = 0.0
    for (at, ok), (following, _) in pairwise([*answers, (end, False)]):
        held = min(following, end) - max(at, start)
        if held > 0:
            known += held
            up += held * ok
    return up / known if known > 0 else None


def percentiles(values: Sequence[float]) -> dict[int, float]:
    """50, 90 and 99 % of the values lie at or below (nearest rank); empty for none."""
    ordered = sorted(values)
    if not ordered:
        return {}
    return {p: ordered[max(0, math.ceil(len(ordered) * p / 100) - 1)] for p in (50, 90, 99)}


# --------------------------------------------------------------------------- what changed lately


def changes_since(connection: Connection, since: float, most: int) -> Iterator[dict[str, object]]:
    """Changes of health and of content, newest first: at, url, kind, title, what, name, before, after.

    A change of health has `what` 'health' and the reason as `name`.
    """
    yield from dicts(
        connection,
        """
SELECT c.at, e.url, e.kind, coalesce(s.title, '') AS title, c.what, c.name, c.before, c.after
FROM (SELECT at, endpoint_id, 'health' AS what, reason AS name, before, after, id FROM health_event WHERE at >= ?1
      UNION ALL SELECT at, endpoint_id, what, name, before, after, id FROM change WHERE at >= ?1) c
JOIN endpoint e ON e.id = c.endpoint_id LEFT JOIN service s ON s.id = e.service_id
ORDER BY c.at DESC, c.what, c.id DESC LIMIT ?2""",
        since,
        most,
    )


# --------------------------------------------------------------------------- survival


@dataclass(frozen=True, slots=True)
class Survival:
    """How long services live (Kaplan and Meier, 1958)."""

    services: int
    """Endpoints that ever were valid."""
    deaths: int
    """Of these now down or gone."""
    observed_days: float
    """How long the one that is known longest was watched: nothing can be said of more."""
    curve: tuple[tuple[float, float], ...]
    """(days since it was first seen valid, share still alive), from (0, 1) on, a step for each day with a death."""


_LIVES = """
SELECT coalesce((SELECT min(at) FROM health_event h WHERE h.endpoint_id = e.id AND h.after = 'alive'), e.first_seen),
       e.last_ok, e.health IN ('down', 'gone'), e.last_probe
FROM endpoint e WHERE e.last_ok IS NOT NULL"""


def survival(connection: Connection) -> Survival:
    """The estimate over all endpoints that ever were valid; those still alive are censored at their last probe."""
    lives = [
        (max(0.0, ((last_ok if dead else last_probe) - born) / DAY_S), bool(dead))
        for born, last_ok, dead, last_probe in connection.execute(_LIVES)
    ]
    lives.sort()
    curve, share, at_risk = [(0.0, 1.0)], 1.0, len(lives)
    for day in sorted({math.floor(days) for days, dead in lives if dead}):
        at_risk = sum(days >= day for days, _ in lives)
        deaths = sum(dead and math.floor(days) == day for days, dead in lives)
        share *= 1 - deaths / at_risk
        curve.append((float(day), share))
    longest = max((days for days, _ in lives), default=0.0)
    return Survival(len(lives), sum(dead for _, dead in lives), longest, tuple(curve))
