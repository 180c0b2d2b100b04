"""Keep running totals of the frontier, so that `status` never counts millions of rows."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import bindparam, delete, func, or_, select, update

from geocrawl.model import FrontierStats, Purpose, State, Visit, VisitYield
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import stored_strategy
from geocrawl.store.database.schema.tables import COUNTER, HOST, URL
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.lifecycle import CANDIDATE, UNRANKED

RESTING_S = 60.0
"""A host whose next allowed time is further off counts as resting."""

REFUSED = "refused:"
"""Counters of pages and probes that are refused, by reason."""
VISITS, LED = "visits:", "led:"
"""Counters of visits, and of those that led to a service: `visits:tier:8`, `led:sub-queue:2` …"""
QUEUED = "queued:"
"""Counters of pages that wait, by the number of their sub-queue."""
_NAMED = (REFUSED, VISITS, LED, QUEUED)
_PASSING = frozenset({"", CANDIDATE, UNRANKED})
_TOTALS = select(COUNTER.c.name, COUNTER.c.value).where(COUNTER.c.name.like(bindparam("names")), COUNTER.c.value != 0)
_COUNT_LEASED = (
    select(URL.c.purpose, URL.c.tier, URL.c.sub_queue, func.count())
    .join_from(HOST, URL, URL.c.id == HOST.c.lease_url)
    .where(HOST.c.lease_until > 0, URL.c.state == State.WAITING)
    .group_by(URL.c.purpose, URL.c.tier, URL.c.sub_queue)
)
"""Count pages and probes that are leased now."""
_hosts = select(func.count()).select_from(HOST)
_resting = _hosts.where(
    HOST.c.waiting > 0, HOST.c.lease_until == 0, HOST.c.parked == 1, HOST.c.next_at > bindparam("later")
)
_COUNT_HOSTS = select(_hosts.scalar_subquery(), _resting.scalar_subquery())
"""Count hosts, and those with work that back off for long (all of them are parked)."""


class CounterChanges:
    """What a transaction adds to the running totals."""

    __slots__ = ("changes",)

    def __init__(self) -> None:
        self.changes: dict[tuple[str, str, int], int] = {}
        """(purpose, state, tier), or one of `_NAMED` and the rest of the counter's name for the first two."""

    def add(self, purpose: str, state: str, tier: int, count: int) -> None:
        """Count `count` more URLs in this state; of the waiting ones each tier has its own total."""
        name = (purpose, state, tier)
        self.changes[name] = self.changes.get(name, 0) + count

    def move(
        self, purpose: str, before: tuple[str, int], after: tuple[str, int], sub_queue: int | None, count: int = 1
    ) -> None:
        """Count URLs of a sub-queue (None for a probe) from one state and tier into another."""
        self.add(purpose, *before, -count)
        self.add(purpose, *after, count)
        self.enter(sub_queue, count * ((after[0] == State.WAITING) - (before[0] == State.WAITING)))

    def enter(self, sub_queue: int | None, count: int) -> None:
        """Count `count` more pages that wait in a sub-queue."""
        if sub_queue is not None and count:
            self.count(QUEUED, str(sub_queue), count)

    def refuse(self, reason: str, count: int) -> None:
        """Count `count` more that are refused for this reason; `candidate` and `unranked` are transient and not
        counted."""
        if reason not in _PASSING:
            self.count(REFUSED, reason, count)

    def count(self, what: str, name: str, count: int = 1) -> None:
        """Count `count` more of `what`, one of `_NAMED`, by a name."""
        self.add(what, name, 0, count)

    def merge(self, other: CounterChanges) -> None:
        """Add what a plan counted."""
        for name, change in other.changes.items():
            self.changes[name] = self.changes.get(name, 0) + change

    def write(self, connection: Connection) -> None:
        """Write the changes in one batch, inside the caller's transaction."""
        totals: dict[str, int] = {}
        for (purpose, state, tier), change in self.changes.items():
            name = _counter_name(purpose, state, tier)
            totals[name] = totals.get(name, 0) + change
        rows = [{"name": name, "value": change} for name, change in sorted(totals.items()) if change]
        if rows:
            connection.write_many(sql.COUNT, rows)
        self.changes.clear()


def _counter_name(purpose: str, state: str, tier: int) -> str:
    if purpose in _NAMED:
        return f"{purpose}{state}"
    return f"{purpose}:{state}:{tier}" if state == State.WAITING else f"{purpose}:{state}"


def read_totals(connection: Connection) -> dict[tuple[Purpose, State], dict[int, int]]:
    """Return the number of URLs by (purpose, state) and tier; tier 0 for all states but waiting.

    A leased URL is counted as waiting.
    """
    totals: dict[tuple[Purpose, State], dict[int, int]] = {}
    for name, value in _values(connection, "p%:%"):
        purpose, state, tier = (*name.split(":"), "0")[:3]
        totals.setdefault((Purpose(purpose), State(state)), {})[int(tier)] = value
    return totals


def _values(connection: Connection, names: str) -> list[tuple[str, int]]:
    """Return the totals whose names are like `names`, without those that are 0."""
    return connection.execute(_TOTALS, {"names": names}).fetchall()


def read_stats(connection: Connection, now: float) -> FrontierStats:
    """Return the frontier's counts; the cost grows with the number of leased hosts only."""
    totals = read_totals(connection)
    by_tier = dict(totals.get((Purpose.PAGE, State.WAITING), {}))
    probes = sum(totals.get((Purpose.PROBE, State.WAITING), {}).values())
    by_sub_queue = {int(name.removeprefix(QUEUED)): count for name, count in _values(connection, f"{QUEUED}%")}
    leased = 0
    for purpose, tier, sub_queue, count in connection.execute(_COUNT_LEASED):
        if purpose == Purpose.PAGE:
            by_tier[tier] = by_tier.get(tier, 0) - count
            if sub_queue is not None:  # of a page that an older version found
                by_sub_queue[sub_queue] = by_sub_queue.get(sub_queue, 0) - count
            leased += count
        else:
            probes -= count
    states = {state: sum(totals.get((Purpose.PAGE, state), {}).values()) for state in State}
    states[State.WAITING] -= leased
    states[State.LEASED] = leased
    hosts, resting = connection.execute(_COUNT_HOSTS, {"later": now + RESTING_S}).fetchone()
    yields = _read_yields(connection)
    return FrontierStats(
        states=states,
        waiting_by_tier=_highest_first(by_tier),
        probes_waiting=probes,
        hosts=hosts,
        hosts_resting=resting,
        strategy=stored_strategy(connection),
        visits_by_tier=yields["tier"],
        waiting_by_sub_queue=_highest_first(by_sub_queue),
        visits_by_sub_queue=yields["sub-queue"],
    )


def _highest_first(counts: Mapping[int, int]) -> dict[int, int]:
    return {number: counts[number] for number in sorted(counts, reverse=True) if counts[number]}


def _read_yields(connection: Connection) -> dict[str, dict[int, VisitYield]]:
    """Return what visits led to, by tier and by sub-queue, the highest first."""
    visits, led = (dict(_values(connection, f"{what}%")) for what in (VISITS, LED))
    found: dict[str, dict[int, VisitYield]] = {"tier": {}, "sub-queue": {}}
    for name, visited in visits.items():
        key = name.removeprefix(VISITS)
        by, _, number = key.partition(":")
        found[by][int(number)] = VisitYield(visited, min(led.get(LED + key, 0), visited))
    return {by: dict(sorted(each.items(), reverse=True)) for by, each in found.items()}


def read_refusals(connection: Connection) -> dict[str, int]:
    """Return the number of refused pages and probes by reason, the most frequent first; together as many as there are.

    Those that may wait again soon, as services' addresses while they are probed, have no total for each reason.
    """
    counts = {name.removeprefix(REFUSED): value for name, value in _values(connection, "refused:%") if value > 0}
    of_all = read_totals(connection)
    refused = sum(sum(of_all.get((purpose, State.REFUSED), {}).values()) for purpose in Purpose)
    if (passing := refused - sum(counts.values())) > 0:
        counts[f"{CANDIDATE} or {UNRANKED}"] = passing
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# --------------------------------------------------------------------------- what visits led to


_LED_BY_PAGE = (
    update(URL)
    .where(URL.c.id == bindparam("page"), URL.c.purpose == "page", URL.c.led == 0)
    .values(led=1)
    .returning(URL.c.visit_tier, URL.c.sub_queue)
)
_FORGET_YIELDS = delete(COUNTER).where(or_(*(COUNTER.c.name.startswith(f"{what}tier:") for what in (VISITS, LED))))


def clear_yields(connection: Connection) -> None:
    """Drop the counts of visits by tier."""
    connection.execute(_FORGET_YIELDS)


def count_visit(counters: CounterChanges, visit: Visit, tier: int, sub_queue: int | None) -> dict[str, int]:
    """Count a page's visit by tier and sub-queue; return the columns of its URL that note it, none without a page."""
    if not visit.is_page_answered or visit.not_modified:
        return {}
    _count_yield(counters, VISITS, tier, sub_queue)
    return {"visit_tier": tier, "led": 0}


def count_find(connection: Connection, counters: CounterChanges, page_id: int) -> None:
    """Count that the last visit of a page led to a service; further services of that visit are not counted."""
    for tier, sub_queue in connection.execute(_LED_BY_PAGE, {"page": page_id}).fetchall():
        _count_yield(counters, LED, tier, sub_queue)


def _count_yield(counters: CounterChanges, what: str, tier: int, sub_queue: int | None) -> None:
    counters.count(what, f"tier:{tier}")
    if sub_queue is not None:  # else an older program found the page
        counters.count(what, f"sub-queue:{sub_queue}")
