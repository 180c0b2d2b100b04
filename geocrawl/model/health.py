"""The health of a service over time: a state machine as a table, and when to ask again. Pure.

A verdict says what one probe saw. Health says what to think of an endpoint in the light of those before, so that one
bad minute does not make a service dead, nor one lucky answer a dead one well (hysteresis):

    new ──ok──► alive ──fail──► degraded ──fail ×3──► down ──180 days──► gone
     │            ▲                │  ▲                │                  │
     │            └────ok ×2───────┘  └──────ok────────┘                  └─ok─► degraded
     └─180 days (never worked)─► gone

`TRANSITIONS` is all of it: the first row that fits applies. A state's `Pace` says when the next probe is due: stable
services are asked rarely, failing ones soon with doubling back-off, dead ones monthly (and those that were never seen
alive: many are announced before they stand, or found on a bad day), gone ones never. A gone endpoint
stays in the catalogue as a tombstone: links to it do not bring it back, only a person's probe can.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

DAY_S = 86_400.0
HOUR_S = 3_600.0


class Health(StrEnum):
    NEW = "new"
    """Never valid yet."""
    ALIVE = "alive"
    DEGRADED = "degraded"
    """Failed lately, or came back lately."""
    DOWN = "down"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Transition:
    """A row of the table."""

    state: Health
    ok: bool
    """The event: a valid answer, or none."""
    in_a_row: int
    """… at least so often in a row, this one included."""
    for_s: float
    """… and at least so long in this state."""
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
"""Whatever has no row leaves the state as it is."""


@dataclass(frozen=True, slots=True)
class Pace:
    """When an endpoint of one state is asked again."""

    first_s: float
    """After it came into this state."""
    factor: float
    """The next interval as a multiple of the last one."""
    longest_s: float


PACES: Mapping[Health, Pace | None] = {
    Health.NEW: Pace(6 * HOUR_S, 2.0, 30 * DAY_S),
    Health.ALIVE: Pace(DAY_S, 1.5, 7 * DAY_S),
    Health.DEGRADED: Pace(HOUR_S, 2.0, DAY_S),
    Health.DOWN: Pace(DAY_S, 2.0, 30 * DAY_S),
    Health.GONE: None,
}
JITTER = 0.1
"""Share of an interval by which it varies, so that what was found together is not asked together for ever."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What is known of an endpoint's health."""

    state: Health = Health.NEW
    since: float = 0.0
    """Seconds since the epoch when it came into this state."""
    in_a_row: int = 0
    """Valid answers in a row (positive), or failures (negative)."""
    interval_s: float = 0.0
    """Between the last probe and the next one, before jitter."""
    due_at: float | None = None
    """The next probe; None: never."""


def after(condition: Condition, *, ok: bool, at: float, key: str) -> Condition:
    """The condition after a probe at time `at`. `key` (the endpoint's identity) decides the jitter.

    An answer that could not be asked for (robots.txt, our own network) is no event: do not call this.
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
    """`last_s`: the last interval in this state; None when it is new in it."""
    pace = PACES[state]
    if pace is None:
        return Condition(state, since, in_a_row)
    interval = min(last_s * pace.factor, pace.longest_s) if last_s else pace.first_s
    return Condition(state, since, in_a_row, interval, at + interval * (1 + JITTER * _jitter(key, in_a_row)))


def _jitter(key: str, number: int) -> float:
    """A number of -1…1, the same for the same key and number."""
    digest = hashlib.blake2b(f"{key} {number}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 0x7FFFFFFF - 1.0
