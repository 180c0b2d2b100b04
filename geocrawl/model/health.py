"""Decide the health of an endpoint over time, by a state machine, and the time of its next probe.

A verdict is the result of one probe. Health depends on this and earlier verdicts, so that neither one bad minute makes
a service dead nor one lucky answer a dead service alive (hysteresis):

    new ──ok──► alive ──fail──► degraded ──fail ×3──► down ──180 days──► gone
     │            ▲                │  ▲                │                  │
     │            └────ok ×2───────┘  └──────ok────────┘                  └─ok─► degraded
     └─180 days (never valid)─► gone

`TRANSITIONS` is the whole table: the first row that matches applies. A state's `Pace` determines when the next probe is
due: stable services are probed rarely, failing ones soon with a doubling back-off, dead ones monthly, gone ones never.
Endpoints that were never valid have a separate pace: many are announced before they are set up, or are found on a bad
day. A gone endpoint stays in the catalogue as a tombstone: links do not revive it, only a person's probe can.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

DAY_S = 86_400.0
HOUR_S = 3_600.0


class Health(StrEnum):
    """State of an endpoint."""

    NEW = "new"
    """Never valid so far."""
    ALIVE = "alive"
    DEGRADED = "degraded"
    """Failed recently, or came back recently."""
    DOWN = "down"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Transition:
    """A row of the table."""

    state: Health
    ok: bool
    """The event: a valid answer, or none."""
    in_a_row: int
    """Least number of such events in a row, this one included."""
    for_s: float
    """Least time in this state, in seconds."""
    then: Health


TRANSITIONS = (
    Transition(Health.NEW, True, 1, 0.0, Health.ALIVE),
    Transition(Health.NEW, False, 1, 180 * DAY_S, Health.GONE),
    Transition(Health.ALIVE, False, 1, 0.0, Health.DEGRADED),
    Transition(Health.DEGRADED, True, 2, 0.0, Health.ALIVE),
    Transition(Health.DEGRADED, False, 3, 0.0, Health.DOWN),
    Transition(Health.DOWN, True, 1, 0.0, Health.DEGRADED),
    Transition(Health.DOWN, False, 1, 180 * DAY_S, Health.GONE),
    Transition(Health.GONE, True, 1, 0.0, Health.DEGRADED),
)
"""An event without a row leaves the state as it is."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The intervals between probes of an endpoint in one state."""

    first_s: float
    """Interval after the endpoint entered this state."""
    factor: float
    """Each further interval as a multiple of the last one."""
    longest_s: float


PACES: Mapping[Health, Pace | None] = {
    Health.NEW: Pace(6 * HOUR_S, 2.0, 30 * DAY_S),
    Health.ALIVE: Pace(DAY_S, 1.5, 7 * DAY_S),
    Health.DEGRADED: Pace(HOUR_S, 2.0, DAY_S),
    Health.DOWN: Pace(DAY_S, 2.0, 30 * DAY_S),
    Health.GONE: None,
}
JITTER = 0.1
"""Random share of an interval, so that endpoints found together are not probed together for ever."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The health of an endpoint, with its next probe."""

    state: Health = Health.NEW
    since: float = 0.0
    """Time at which the endpoint entered this state, in seconds since the epoch."""
    in_a_row: int = 0
    """Valid answers in a row (positive), or failures (negative)."""
    interval_s: float = 0.0
    """Time between the last probe and the next one, before jitter."""
    due_at: float | None = None
    """When the next probe is due; None: never."""


def after(condition: Condition, *, ok: bool, at: float, key: str) -> Condition:
    """Return the condition after a probe at time `at`. `key` (the endpoint's identity) determines the jitter.

    Do not call this when no request could be sent (robots.txt, own network away): that is no event.
    """
    in_a_row = _count(condition.in_a_row, ok=ok)
    since = condition.since or at
    for row in TRANSITIONS:
        long_enough = at - since >= row.for_s
        if row.state is condition.state and row.ok is ok and abs(in_a_row) >= row.in_a_row and long_enough:
            return _scheduled(row.then, at, in_a_row, None, at, key)
    return _scheduled(condition.state, since, in_a_row, condition.interval_s, at, key)


def _count(in_a_row: int, *, ok: bool) -> int:
    if ok:
        return max(in_a_row, 0) + 1
    return min(in_a_row, 0) - 1


def _scheduled(state: Health, since: float, in_a_row: int, last_s: float | None, at: float, key: str) -> Condition:
    """Return a condition with its next probe. `last_s`: the last interval in this state, None in a new state."""
    pace = PACES[state]
    if pace is None:
        return Condition(state, since, in_a_row)
    interval = min(last_s * pace.factor, pace.longest_s) if last_s else pace.first_s
    return Condition(state, since, in_a_row, interval, at + interval * (1 + JITTER * _jitter(key, in_a_row)))


def _jitter(key: str, number: int) -> float:
    """Return a number in -1…1, the same for the same key and number."""
    digest = hashlib.blake2b(f"{key} {number}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 0x7FFFFFFF - 1.0


def availability(answers: Sequence[tuple[float, bool]], start: float, end: float) -> float | None:
    """Return the share of the time from `start` to `end` in which the last answer was valid; each answer counts until
    the next one.

    Counts from the first answer on where that is later than `start`; None when there is none before `end`.
    """
    up = known = 0.0
    for (at, ok), (following, _) in pairwise([*answers, (end, False)]):
        lasted = min(following, end) - max(at, start)
        if lasted > 0:
            known += lasted
            up += lasted * ok
    return up / known if known > 0 else None
