"""Roll up old probes into sums: of an hour, after five weeks of a day, after 400 days of a month.

The last two probes of each endpoint stay single, however old. What is rolled up is added to the sum that is there, so
the work can end at any row.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain, islice

from sqlalchemy import bindparam, insert, or_, select

from geocrawl.model.availability import ProbeSum, excused_failure, one_probe
from geocrawl.model.downtimes import EXCUSED
from geocrawl.model.health import DAY_S, HOUR_S
from geocrawl.store.catalogue.write.doubt import NETWORK
from geocrawl.store.database.database import Database
from geocrawl.store.database.probe_sums import columns_of, sum_of
from geocrawl.store.database.schema.tables import ENDPOINT, PROBE, PROBE_SUM
from geocrawl.store.database.steps import ROWS, ChunkedWork, delete_rows

HOURS_KEPT_DAYS, DAYS_KEPT_DAYS = 35, 400
"""How long sums of an hour and of a day are kept. They hold the windows of 30 and 365 days."""
_MOST = 100_000
"""Probes rolled up a call: other work wants its turn, too. More than arrive in an hour when thousands of services are
watched in minutes."""
_own = PROBE.alias("own")
_OF_ENDPOINT = select(_own.c.at).where(_own.c.endpoint_id == ENDPOINT.c.id)
_FIRST = _OF_ENDPOINT.order_by(_own.c.at).limit(1).scalar_subquery()
_HAS_THREE = _OF_ENDPOINT.order_by(_own.c.at).limit(1).offset(2).scalar_subquery().is_not(None)
_DUE = select(ENDPOINT.c.id).where(bindparam("before") > _FIRST, _HAS_THREE).order_by(ENDPOINT.c.id)
_last = PROBE.alias("last")
_LAST_TWO = (
    select(_last.c.id)
    .where(_last.c.endpoint_id == bindparam("endpoint"))
    .order_by(_last.c.at.desc(), _last.c.id.desc())
    .limit(2)
)
_OLD = (
    select(PROBE.c.id, PROBE.c.at, PROBE.c.status, PROBE.c.reason, PROBE.c.elapsed_ms)
    .where(PROBE.c.endpoint_id == bindparam("endpoint"), PROBE.c.at < bindparam("before"), PROBE.c.id.not_in(_LAST_TWO))
    .order_by(PROBE.c.at, PROBE.c.id)
    .limit(ROWS)
)
_STORED = (
    select(*(column for column in PROBE_SUM.c if column.name != "endpoint_id"))
    .where(PROBE_SUM.c.endpoint_id == bindparam("endpoint"))
    .where(or_(PROBE_SUM.c.start < bindparam("hours_since"), PROBE_SUM.c.start >= bindparam("hour")))
    .order_by(PROBE_SUM.c.start)
)
"""Read the sums of an endpoint that may change: those that became old enough for days and months, and the last."""
_ADD_SUM = insert(PROBE_SUM)


class RollUp:
    """Rolls up the probes that are older than a setting."""

    def __init__(self, database: Database, keep_s: float) -> None:
        """`keep_s`: age at which a probe is rolled up, at the end of its day (UTC)."""
        self._database = database
        self._connection = database.connection
        self._keep_s = keep_s

    def steps(self, now: float) -> ChunkedWork[int]:
        """Roll up in steps of about `ROWS` probes, at most 100,000; return how many."""
        before, count = _day(now - self._keep_s), 0
        due = [number for (number,) in self._connection.execute(_DUE, {"before": before}).fetchall()]
        endpoints = iter(due)
        while count < _MOST and (first := list(islice(endpoints, 1))):
            in_step = 0
            with self._database.transaction:
                for endpoint in chain(first, endpoints):
                    in_step += self._roll_up(endpoint, before, now)
                    if in_step >= ROWS // 2:
                        break
            count += in_step
            yield
        return count

    def _roll_up(self, endpoint: int, before: float, now: float) -> int:
        values = {"endpoint": endpoint, "before": before}
        rows = self._connection.execute(_OLD, values).fetchall()
        if not rows:
            return 0
        hours_since = _day(now - HOURS_KEPT_DAYS * DAY_S)
        window = {"endpoint": endpoint, "hours_since": hours_since, "hour": _hour(rows[0][1])}
        stored = {start: sum_of(row) for start, *row in self._connection.execute(_STORED, window)}
        days_since = _month(now - DAYS_KEPT_DAYS * DAY_S)
        sums = dict[float, ProbeSum]()
        for start, each in (*stored.items(), *((row[1], _single(*row[1:])) for row in rows)):
            place = _month(start) if start < days_since else _day(start) if start < hours_since else _hour(start)
            sums[place] = sums[place].and_then(each) if place in sums else each
        self._replace(endpoint, stored, sums)
        return delete_rows(self._connection, PROBE, [(row[0],) for row in rows])

    def _replace(self, endpoint: int, stored: Mapping[float, ProbeSum], sums: Mapping[float, ProbeSum]) -> None:
        changed = [start for start, each in stored.items() if sums.get(start) != each]
        delete_rows(self._connection, PROBE_SUM, [(endpoint, start) for start in changed])
        new = [
            {"endpoint_id": endpoint, "start": start, **columns_of(each)}
            for start, each in sums.items()
            if stored.get(start) != each
        ]
        self._connection.executemany(_ADD_SUM, new)


def _single(at: float, status: str, reason: str, elapsed_ms: float) -> ProbeSum:
    if status == "unasked" and reason in EXCUSED:
        return excused_failure(at)
    if status == "unasked":
        return ProbeSum(at, at, unconfirmed=1) if reason == NETWORK else ProbeSum(at, at, refused=1)
    return one_probe(at, status == "valid", None if reason == "not-modified" else elapsed_ms)


def _hour(at: float) -> float:
    return at // HOUR_S * HOUR_S


def _day(at: float) -> float:
    return at // DAY_S * DAY_S


def _month(at: float) -> float:
    return datetime.fromtimestamp(at, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp()
