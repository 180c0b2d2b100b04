"""Decide the health of an endpoint over time, by a state machine, and the time of its next probe.

A verdict is the result of one probe. Health depends on this and earlier verdicts, so that neither one bad minute makes
a service dead nor one lucky answer a dead service alive (hysteresis):

    new ──ok──► alive ──fail──► degraded ──fail ×3──► down ──failing for 180 days──► gone
     │          ▲ │ ▲              │  ▲                │                              │
     │          │ │ └────ok ×2─────┘  └──────ok────────┘                              └─ok─► degraded
     │         ok └─14 days in which it may not be asked, or 30 without an answer (from degraded, too)
     │          └───────── unconfirmed ──fail──► degraded
     └─failing for 180 days─► gone

A filter before the server that refuses us makes it unconfirmed at once: nothing is seen of it, and nothing is told.
"May not be asked" (robots.txt, the operator's lists) is no failure, and neither is a server's word that it is asked too
often, which proves that it runs and ends a row of failures. But whoever has not answered for long is no longer called
alive: *unconfirmed*.

`TRANSITIONS` is the whole table: the first row that matches applies. A state's `Pace` determines when the next probe is
due: stable services are probed rarely, failing ones soon with a doubling back-off, dead ones monthly, gone ones never.
Endpoints that were never valid have a separate pace: many are announced before they are set up, or are found on a bad
day. A gone endpoint stays in the catalogue as a tombstone: a page that is read later and links it wakes it for one
probe, and a person's probe revives it at any time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

DAY_S = 86_400.0
HOUR_S = 3_600.0


class Health(StrEnum):
    """State of an endpoint."""

    NEW = "new"
    """Never valid so far."""
    ALIVE = "alive"
    DEGRADED = "degraded"
    """Failed recently, or came back recently."""
    UNCONFIRMED = "unconfirmed"
    """Was valid, and could or might not be asked since."""
    DOWN = "down"
    GONE = "gone"


class Event(StrEnum):
    """What a probe, or its lack, says of an endpoint."""

    OK = "ok"
    FAIL = "fail"
    """No valid answer, though it was asked; also a server that does not even answer for robots.txt."""
    UNASKED = "unasked"
    """It might not be asked: robots.txt forbids it or cannot be read, or the operator's lists exclude it; or its server
    says that it has moved for good."""
    LIMITED = "rate-limited"
    """The server runs, and asked to be left alone for a while."""
    FILTERED = "filtered"
    """A filter before the server refuses us, so that nothing is known of the service."""
    PASSED = "passed"
    """Time has passed, and nobody asked."""


VERDICTS = (Event.OK, Event.FAIL)


@dataclass(frozen=True, slots=True)
class Transition:
    """A row of the table."""

    state: Health
    event: Event
    then: Health
    in_a_row: int = 1
    """Least number of such verdicts in a row, this one included; of no account for other events."""
    failing_s: float = 0.0
    """Least time for which it was seen failing in this state (`Condition.failing_s`), in seconds."""
    unconfirmed_s: float = 0.0
    """Least time since the last valid answer, in seconds; of `Event.PASSED` since the last verdict."""


DEAD_S = 180 * DAY_S
UNASKED_S = 14 * DAY_S
"""An endpoint that may not be asked is called alive for so long after its last valid answer. Two paces of a stable one:
a robots.txt that is out of order for some days changes nothing."""
UNSEEN_S = 30 * DAY_S
"""An endpoint that nobody asked, or whose server only asks for patience, is called alive for so long."""
MOST_UNSEEN_S = 60 * DAY_S
"""Time between two failures counts as time of failing when it is not longer: twice the longest pace. So a death of 180
days has failures on four days at least, one of them among the last 60 days, whatever the calendar says."""

TRANSITIONS = (
    Transition(Health.NEW, Event.OK, Health.ALIVE),
    Transition(Health.NEW, Event.FAIL, Health.GONE, failing_s=DEAD_S),
    Transition(Health.ALIVE, Event.FAIL, Health.DEGRADED),
    Transition(Health.DEGRADED, Event.OK, Health.ALIVE, in_a_row=2),
    Transition(Health.DEGRADED, Event.FAIL, Health.DOWN, in_a_row=3),
    *(
        Transition(state, event, Health.UNCONFIRMED, unconfirmed_s=since_s)
        for state in (Health.ALIVE, Health.DEGRADED)
        for event, since_s in (
            *((Event.UNASKED, UNASKED_S), (Event.LIMITED, UNSEEN_S), (Event.PASSED, UNSEEN_S)),
            (Event.FILTERED, 0.0),
        )
    ),
    Transition(Health.UNCONFIRMED, Event.OK, Health.ALIVE),
    Transition(Health.UNCONFIRMED, Event.FAIL, Health.DOWN, in_a_row=3),
    Transition(Health.UNCONFIRMED, Event.FAIL, Health.DEGRADED),
    Transition(Health.DOWN, Event.OK, Health.DEGRADED),
    Transition(Health.DOWN, Event.FAIL, Health.GONE, failing_s=DEAD_S),
    Transition(Health.GONE, Event.OK, Health.DEGRADED),
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
    Health.UNCONFIRMED: Pace(DAY_S, 1.5, 7 * DAY_S),
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
    failing_s: float = 0.0
    """How long it was seen failing in this state: the times between failures that follow each other, in seconds."""
    judged_at: float | None = None
    """Time of the last verdict."""
    confirmed_at: float | None = None
    """Time of the last valid answer."""


LEAST_EVERY_S, MOST_EVERY_S = 60.0, 30 * DAY_S
"""Bounds of the time between two probes that a watch may ask for."""
_SECOND_LOOK_S = 60.0


def second_look_s(every_s: float) -> float:
    """Return how soon a watched endpoint is asked again whose state is in doubt, in seconds: a death, which takes three
    failures, is then known within two intervals."""
    return min(_SECOND_LOOK_S, every_s / 3)


def turn_at(every_s: float, at: float) -> int:
    """Return the number of a watched endpoint's interval in which a time lies."""
    return int(at // every_s)


class Speed(IntEnum):
    """Compares the answers of a watched endpoint with its own usual ones: two in a row decide."""

    USUAL = 0
    ONCE_SLOW = 1
    SLOW = 2
    ONCE_USUAL = 3
    """Slow, but for the last answer."""


_SLOW_TIMES, _SLOW_MORE_MS = 3.0, 1000.0
"""An answer is slow that takes three times as long as usual, and a second more."""
_LEAST_ANSWERS = 12
_STEP = 1.05


def speed_after(speed: Speed, usual_ms: float | None, answer_ms: float, answers: int) -> Speed:
    """Return the speed after an answer. `answers`: probes before it, fewer than twelve say nothing of what is usual."""
    if usual_ms is None or answers < _LEAST_ANSWERS:
        return Speed.USUAL
    is_slow = answer_ms > max(_SLOW_TIMES * usual_ms, usual_ms + _SLOW_MORE_MS)
    if speed in (Speed.SLOW, Speed.ONCE_USUAL):
        return Speed.SLOW if is_slow else Speed.ONCE_USUAL if speed is Speed.SLOW else Speed.USUAL
    return Speed.USUAL if not is_slow else Speed.SLOW if speed is Speed.ONCE_SLOW else Speed.ONCE_SLOW


def usual_after(speed: Speed, usual_ms: float | None, answer_ms: float) -> float:
    """Return the usual time of an answer, in milliseconds: about the median, which goes 5 % towards each answer, and
    stays while the endpoint is slow."""
    if usual_ms is None or speed is not Speed.USUAL:
        return usual_ms or answer_ms
    return usual_ms * _STEP if answer_ms > usual_ms else usual_ms / _STEP


def first_probe(key: str, every_s: float, at: float) -> float:
    """Return when an endpoint that is watched from `at` on is probed first: those added together take turns."""
    return at + every_s * (1 + _jitter(key, 0)) / 2


def after(
    condition: Condition, event: Event, *, at: float, key: str, wait_s: float = 0.0, every_s: float | None = None
) -> Condition:
    """Return the condition after an event at time `at`. `key` (the endpoint's identity) determines the jitter.

    `every_s`: the interval that a watch asks for, instead of the pace of the state.

    `wait_s`: least time until the next probe, in seconds. An event that is no verdict leaves the interval as it is, and
    the count unless it is `Event.LIMITED`, and puts off a probe that is planned by just this time; `Event.PASSED` does
    not put it off.
    """
    judged = event in VERDICTS
    in_a_row = _count(condition.in_a_row, event)
    failing_s = _failing_s(condition, event, at)
    since = condition.since or at
    row = next((row for row in TRANSITIONS if _applies(row, condition, event, in_a_row, failing_s, at)), None)
    state = condition.state if row is None else row.then
    now = replace(
        condition,
        state=state,
        since=since if row is None else at,
        in_a_row=in_a_row,
        failing_s=failing_s if row is None else 0.0,
        judged_at=at if judged else condition.judged_at,
        confirmed_at=at if event is Event.OK else condition.confirmed_at,
    )
    if judged and every_s is not None and now.state is not Health.NEW:
        return _watched(now, every_s, at, wait_s)
    if judged:
        return _scheduled(now, None if row is not None else condition.interval_s, at, key, wait_s)
    put_off = event is not Event.PASSED and condition.due_at is not None
    return replace(now, due_at=at + wait_s) if put_off else now


def _applies(row: Transition, condition: Condition, event: Event, in_a_row: int, failing_s: float, at: float) -> bool:
    if (row.state, row.event) != (condition.state, event):
        return False
    is_in_a_row = event not in VERDICTS or abs(in_a_row) >= row.in_a_row
    last_at = condition.judged_at if event is Event.PASSED else condition.confirmed_at
    return is_in_a_row and failing_s >= row.failing_s and at - (last_at or 0.0) >= row.unconfirmed_s


def _count(in_a_row: int, event: Event) -> int:
    if event is Event.OK:
        return max(in_a_row, 0) + 1
    if event is Event.FAIL:
        return min(in_a_row, 0) - 1
    return max(in_a_row, 0) if event is Event.LIMITED else in_a_row


def _failing_s(condition: Condition, event: Event, at: float) -> float:
    """Return for how long an endpoint was seen failing, after an event."""
    if event is Event.OK:
        return 0.0
    if event is not Event.FAIL or condition.in_a_row >= 0 or condition.judged_at is None:
        return condition.failing_s
    passed = at - condition.judged_at
    return condition.failing_s + (passed if 0 < passed <= MOST_UNSEEN_S else 0.0)


def _scheduled(now: Condition, last_s: float | None, at: float, key: str, wait_s: float) -> Condition:
    """Return a condition with its next probe. `last_s`: the last interval in this state, None in a new state."""
    pace = PACES[now.state]
    if pace is None:
        return replace(now, interval_s=0.0, due_at=None)
    interval = min(last_s * pace.factor, pace.longest_s) if last_s else pace.first_s
    due_at = at + max(interval * (1 + JITTER * _jitter(key, now.in_a_row)), wait_s)
    return replace(now, interval_s=interval, due_at=due_at)


def _watched(now: Condition, every_s: float, at: float, wait_s: float) -> Condition:
    """Return a condition with the next probe of a watched endpoint: an interval after the time at which this one was
    due, so that lateness does not add up, and sooner while the state is in doubt."""
    is_in_doubt = now.state is Health.DEGRADED
    is_in_step = now.due_at is not None and 0 <= at - now.due_at < every_s / 2
    begun = now.due_at if is_in_step and now.due_at is not None and not is_in_doubt else at
    pause_s = second_look_s(every_s) if is_in_doubt else every_s
    return replace(now, interval_s=every_s, due_at=max(begun + pause_s, at + wait_s))


def _jitter(key: str, number: int) -> float:
    """Return a number in -1…1, the same for the same key and number."""
    digest = hashlib.blake2b(f"{key} {number}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") / 0x7FFFFFFF - 1.0
