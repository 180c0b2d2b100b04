"""Compare what the catalogue says with what is true, and the notices that were sent with those that were due.

What may be said depends on how long something has been true: a stable service is asked once in a week, a dead one less
and less often, one whose robots.txt is out of order after a month. These latencies are stated here, in days. A month of
nobody knows how long it was, as the clock was wrong meanwhile, begins again.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from geocrawl.model.health import DAY_S
from tests.fates.fates import BEHAVIOURS, Behaviour, MadeService, Truth
from tests.fates.life import Life
from tests.simulation.scheduler import START

ASKED_WITHIN = 8.0
"""A stable service is asked within so many days: seven, a tenth more by lot, and hours in which the daemon is away."""
DEAD_WITHIN = ASKED_WITHIN + 1.0
"""Three failures, an hour and more apart, make a service down."""
CROSSED = 3.0
"""So many days later is a death known when a network on the way answered in between."""
UNASKED, UNSEEN = 14.0, 30.0
"""For so long a service counts as alive that may not be asked, or that asks for patience (`model.health`)."""
_SURE = 2.0
"""Days after a backup was put back in which nothing is judged: all that is overdue is asked first."""
_LONGEST_STEP = 14.0
"""A clock that is wrong by more makes everybody unseen for a while, and a robots.txt unreachable since then only."""
_ANY = frozenset({"new", "alive", "degraded", "unconfirmed", "down"})
_ALIVE, _DOWN, _UNCONFIRMED = frozenset({"alive"}), frozenset({"down"}), frozenset({"unconfirmed"})

_ASKED = (Truth.UP, Truth.DEAD, Truth.MOVED)
_WITHOUT_VERDICT = (Truth.FORBIDDEN, Truth.PATIENCE)

_SAYS = """
SELECT e.host, e.health, e.reason, e.service_id, s.alive, s.url FROM endpoint e
LEFT JOIN v_services s ON s.id = e.service_id WHERE e.last_ok IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class Situation:
    """What is true of a service on a day."""

    truth: Truth
    since: float
    """Days for which it has been true."""
    before: Truth
    troubled: float
    """Days from the end of its last long good time to the beginning of this."""


def situation(service: MadeService, day: float) -> Situation:
    """Return what is true of a service on a day."""
    place = service.place(day)
    truths = [service.behaviour(begins).truth for begins, _ in service.phases]
    begins = [phase[0] for phase in service.phases]
    first = place
    while first and truths[first - 1] is truths[place]:  # another way of being the same
        first -= 1
    good = first - 1
    while good > 0 and (truths[good] is not Truth.UP or begins[good + 1] - begins[good] < 10.0):
        good -= 1
    before = next((each for each in truths[first - 1 :: -1] if each is not truths[place]), Truth.UP)
    troubled = begins[first] - begins[good + 1] if first else 0.0
    return Situation(truths[place], day - begins[first], before, troubled)


def steps(life: Life) -> list[float]:
    """Return the days on which the clock was right again that had been wrong by weeks."""
    return [each.until for each in life.wrong_clocks if abs(each.by) > _LONGEST_STEP]


def unasked_until(behaviour: Behaviour, begins: float, latest: float, stepped: Sequence[float]) -> float:
    """Return the day until which a service that answers so since `begins` may not be asked, as a clock that was wrong
    by weeks made forgotten what its robots.txt allowed, which nobody can read any more; `begins` if it may be.
    `latest`: the day until which that can happen. `stepped`: the days of `steps`."""
    if behaviour.robots is None or behaviour.robots.status < 500:
        return begins
    steps_then = (day for day in stepped if begins - ASKED_WITHIN < day < latest)
    return max((day + UNSEEN + 2 * ASKED_WITHIN for day in steps_then), default=begins)


def was_crossed(life: Life, since: float, until: float) -> bool:
    """Return whether a network on the way answered in place of all servers between two days."""
    return any(begun < until and ended > since for begun, ended in life.ways)


def up_within(now: Situation, *, is_crossed: bool = False) -> float:
    """Return within how many days a service is called alive that is well again. `is_crossed`: a network on the way
    answered when it was asked, so that it is asked again after twice the pause."""
    if now.before is Truth.UNBORN:
        return 30.0
    if now.before is Truth.DEAD:  # the pauses between probes double
        return min(30.0, (now.troubled + 3.0) * (1 + is_crossed)) * 1.1 + 2.0
    return ASKED_WITHIN + 1.0


def allowed(now: Situation, *, is_crossed: bool = False) -> frozenset[str]:
    """Return what the catalogue may say of the health of the address at which pages name a service. `is_crossed`: a
    network on the way has answered meanwhile in place of it and of its robots.txt, so that it may have been asked."""
    since = now.since
    if now.truth is Truth.UP:
        is_new = since <= up_within(now, is_crossed=is_crossed) and now.before is not Truth.UP
        return _ANY if is_new else _ALIVE
    if now.troubled:  # the second trouble soon after the first one
        return _ANY if since < DEAD_WITHIN + up_within(now) else _DOWN
    if now.truth is Truth.DEAD:
        return _DOWN if since > DEAD_WITHIN + CROSSED * is_crossed else _ALIVE | _DOWN | {"degraded"}
    if now.truth in (Truth.PATIENCE, Truth.FORBIDDEN) and is_crossed:  # no answer of its own has undone that failure
        return _ALIVE | _UNCONFIRMED | {"degraded"}
    if now.truth is Truth.FORBIDDEN:
        return _aged(since, UNASKED)
    if now.truth is Truth.PATIENCE:
        return _aged(since, UNSEEN)
    if now.truth is Truth.FILTERED:
        return _aged(since, 0.0)
    return _ALIVE | _UNCONFIRMED  # moved: the service is judged by its new address


def _aged(since: float, after: float) -> frozenset[str]:
    if since > after + ASKED_WITHIN + 1.0:
        return _UNCONFIRMED
    return _ALIVE | _UNCONFIRMED if since > after - ASKED_WITHIN else _ALIVE


@dataclass(slots=True)
class Judge:
    """Looks at the catalogue day by day."""

    life: Life
    looks: int = 0
    """Services looked at, each day again."""
    false: list[str] = field(default_factory=list)
    """What was said and is not true."""
    days: list[dict[str, Any]] = field(default_factory=list)
    """What the catalogue said each day, by truth."""
    _numbers: dict[int, tuple[int, float]] = field(default_factory=dict)
    """The numbers by which services were first known, and on which day."""

    def look(self) -> None:
        """Compare all that the catalogue says with the truth."""
        day = self.life.today()
        said: Counter[str] = Counter()
        rows = {row[0]: row[1:] for row in self.life.rows(_SAYS)}
        aliases = dict(self.life.rows("SELECT old, new FROM service_alias"))
        is_judged = not any(0 <= day - each.at < _SURE for each in self.life.restored)
        wrong = 0
        for service in self.life.services:
            now = situation(service, day)
            row = rows.get(service.host)
            said[f"{now.truth}: {row[0] if row else 'not listed'}"] += 1
            if is_judged:
                self.looks += 1
                problem = self._problem(service, now, row, aliases)
                if problem:
                    wrong += 1
                    self.false.append(f"day {day:.2f}: {service.host} ({service.fate}; {now}): {problem}")
        self.days.append({"day": round(day), "false": wrong, **dict(sorted(said.items()))})

    def _problem(
        self, service: MadeService, now: Situation, row: tuple[Any, ...] | None, aliases: dict[int, int]
    ) -> str:
        """Return what is false of what is said of one service; '' for nothing."""
        if now.truth in (Truth.UNBORN, Truth.FORGOTTEN):
            is_gone = now.truth is Truth.UNBORN or service.host in self.life.forgotten
            return f"is listed: {row}" if row and is_gone else ""
        if row is None:
            may_be_new = now.since <= (up_within(now) if now.before is Truth.UNBORN else 1.0)
            return "" if may_be_new else "is not listed"
        health, reason, number, alive, url = row
        day = self.life.today()
        is_crossed = was_crossed(self.life, day - now.since, day)
        may = allowed(now, is_crossed=is_crossed) | self._unknown(now)
        if may & _ALIVE and was_crossed(self.life, day - _SURE - 2.0, day):
            # The first failure counts, as nobody else has failed yet; a block page is a filter's, for two days.
            may |= {"degraded", "unconfirmed"}
        begins = day - now.since
        if now.truth is Truth.DEAD and day < unasked_until(service.behaviour(day), begins, day, steps(self.life)):
            may = _ANY
        if health not in may:
            return f"is called {health} ({reason}), not {' or '.join(sorted(may))}"
        is_wrong = alive != 1 if may <= _ALIVE | {"degraded"} else bool(alive) if may <= _DOWN | _UNCONFIRMED else False
        if service.twin is None and is_wrong:
            return f"alive is {alive} ({health}, {reason})"
        first, known = self._numbers.setdefault(service.number, (number, day))
        if any(known >= each.made_at and day >= each.at >= known for each in self.life.restored):
            first, _ = self._numbers[service.number] = number, day  # the backup did not know it
        if aliases.get(first, first) != number and service.fate != "twins that part":
            return f"its number {first} leads to {aliases.get(first, first)}, and it is {number}"
        if now.truth is Truth.MOVED and not alive and not self._unknown(now):
            return f"has moved, and is not called alive ({health}, {reason})"
        if now.truth is Truth.MOVED and now.since > ASKED_WITHIN + 2 and f"new.{service.host}" not in url:
            return f"has moved, and its best address is {url}"
        return self._problem_of_twins(service, number, now)

    def _unknown(self, now: Situation) -> frozenset[str]:
        """Return what may be said besides after the clock was wrong: all were unseen by it, until they are asked. A
        block page on the way makes unconfirmed, and who may not be asked, or has no verdict, stays so."""
        day = self.life.today()
        unasked = ASKED_WITHIN + (now.since if now.truth in _WITHOUT_VERDICT else 0.0)
        if now.truth in (*_WITHOUT_VERDICT, Truth.MOVED) and was_crossed(self.life, day - unasked, day):
            return _UNCONFIRMED
        within = ASKED_WITHIN + 1.0 if now.truth in _ASKED else UNSEEN + 2 * ASKED_WITHIN
        is_new = any(0.0 <= day - each < within for each in steps(self.life))
        return _UNCONFIRMED if is_new else frozenset()

    def _problem_of_twins(self, service: MadeService, number: int, now: Situation) -> str:
        if service.twin is None or service.twin.number not in self._numbers or not service.host.startswith("s"):
            return ""
        rows = dict(self.life.rows(f"SELECT host, service_id FROM endpoint WHERE host LIKE '%{service.host}'"))
        is_one = rows.get(service.host) == rows.get(service.twin.host)
        today = self.life.today()
        wanted = service.document == service.twin.document
        if service.fate == "twins that part" and today > service.twin.phases[-1][0]:
            if today < service.twin.phases[-1][0] + ASKED_WITHIN + 1:
                return ""
            wanted = False
        for day, same in service.decisions:
            if today > day:
                wanted = same
        return "" if is_one is wanted else f"it and its twin are {'one' if is_one else 'two'}"


# --------------------------------------------------------------------------- notices


@dataclass(frozen=True, slots=True)
class Due:
    """A notice that is due, or may be sent."""

    what: str
    earliest: float
    latest: float
    is_due: bool = True


def due_notices(
    service: MadeService, end: float, crossed: Sequence[float] = (), stepped: Sequence[float] = ()
) -> Iterator[Due]:
    """Yield what the watcher of a service has to be told in the days of a run, by what is true of it. `crossed`: the
    days from which on a network on the way answered in place of all servers. `stepped`: the days of `steps`."""
    is_told_dead = may_be_told = False
    """Whether the watcher was told that it died, for sure or perhaps, and not since that it is back."""
    for place, (begins, behaviour) in enumerate(service.phases[1:], 1):
        ends = min(service.phases[place + 1][0] if place + 1 < len(service.phases) else end, end)
        now = situation(service, begins)
        slow = up_within(now) if now.troubled and now.truth is not Truth.UP else 0.0
        if now.truth is Truth.DEAD:
            most = DEAD_WITHIN + slow
            latest = begins + most + CROSSED * any(begins - 1.0 < day < begins + most for day in crossed)
            latest = max(latest, unasked_until(BEHAVIOURS[behaviour], begins, latest, stepped))
            if not is_told_dead and ends > begins:
                is_told_dead = ends > latest and not may_be_told
                yield Due("died", begins, min(latest, end), is_told_dead)
                may_be_told = not is_told_dead
        elif now.truth is Truth.UP:
            if is_told_dead or may_be_told:
                latest = begins + up_within(now)
                latest = begins + up_within(now, is_crossed=any(begins - 1.0 < day < latest for day in crossed))
                yield Due("returned", begins, latest, is_told_dead and latest < ends)
                may_be_told = latest >= ends
            is_told_dead = False
            if behaviour in ("other layers", "no layers"):
                yield Due("layers-removed", begins, begins + ASKED_WITHIN, begins + ASKED_WITHIN < end)
        elif now.truth is Truth.MOVED:
            yield Due("moved", begins, begins + ASKED_WITHIN + 2, begins + ASKED_WITHIN + 2 < end)


def judge_notices(life: Life) -> dict[str, Any]:
    """Return how many notices were due, sent, missed, false and sent twice; the last three as sentences."""
    sent: dict[int, list[tuple[float, str, float]]] = {}
    for path in sorted(life.notices.iterdir()):
        for line in path.read_text().splitlines():
            message = json.loads(line)
            for each in message["notices"]:
                at, sent_at = (_true_day(life, text) for text in (each["at"], message["sent_at"]))
                sent.setdefault(message["watch"]["id"], []).append((at, each["what"], sent_at))
    missed, false, twice, delays, count = list[str](), list[str](), list[str](), list[float](), 0
    for number, service in life.watched.items():
        got = sorted(sent.get(number, ()))
        name = f"{service.host} ({service.fate}, watch {number})"
        crossed = [begun for begun, _ in life.ways]
        dues = list(due_notices(service, life.days, crossed, steps(life)))
        if service.fate == "flaps":
            continue
        for due in dues:
            late = 1.0 + _SURE * any(due.earliest <= each.at <= due.latest + _SURE for each in life.restored)
            fitting = [each for each in got if each[1] == due.what and due.earliest <= each[0] <= due.latest + late]
            got = [each for each in got if each not in fitting]
            count += due.is_due
            if fitting:
                delays.append(fitting[0][0] - due.earliest)
            elif due.is_due:
                missed.append(f"{name}: {due.what} between days {due.earliest:.1f} and {due.latest:.1f}")
            if len(fitting) > 1 and not _is_told_again(life, fitting[0][2]):
                twice.append(f"{name}: {fitting}")
        false += [f"{name}: {what} on day {at:.2f}" for at, what, _ in got]
    return {
        "watches": len(life.watched),
        "due": count,
        "sent": sum(map(len, sent.values())),
        "median_delay_days": round(statistics.median(delays), 2) if delays else None,
        "missed": missed,
        "false": false,
        "twice": twice,
    }


def _true_day(life: Life, date: str) -> float:
    """Return the day of a date by the daemon's clock, right or wrong."""
    at = (datetime.fromisoformat(date).timestamp() - START) / DAY_S
    wrong_by = (each.by for each in life.wrong_clocks if each.since <= at - each.by <= each.until)
    return at - next(wrong_by, 0.0)


def _is_told_again(life: Life, at: float) -> bool:
    """Return whether a backup was put back that did not know that somebody was told on a day."""
    return any(each.made_at <= at + 1 / 24 and each.at >= at for each in life.restored)


# --------------------------------------------------------------------------- manners


_ROUNDING_S = 0.001
"""Times since the epoch are coarser than those from which the clocks of this year are computed."""
_CLOCK_SET_S = 60.0
"""A wait that was written while the clock was wrong, and ends by the right one, may lack so much (`paced_host`)."""


def judge_manners(life: Life) -> list[str]:
    """Return what was asked although a server had asked for a pause, or its operator to be left alone."""
    found, rests = list[str](), dict[str, tuple[float, Any, float]]()
    for request in life.requests:
        until, process, lack_s = rests.get(request.host, (0.0, None, 0.0))
        if (
            request.at < until - lack_s and request.process is process and not request.is_clock_wrong
        ):  # a killed one told nobody
            found.append(f"day {request.at / DAY_S:.3f}: {request.host} was asked {until - request.at:.0f} s too early")
        if request.retry_after_s:
            lack_s = _CLOCK_SET_S if request.is_clock_wrong else _ROUNDING_S
            rests[request.host] = request.at + request.retry_after_s, request.process, lack_s
        if request.at > life.forgotten.get(request.host, life.days + 1) * DAY_S + 60.0:
            found.append(f"day {request.at / DAY_S:.3f}: {request.host} was asked though it had opted out")
    return found
