"""Old probes become sums of an hour, a day and a month, which tell the same of a service as the probes did."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from geocrawl.model import Kind, Service
from geocrawl.model.availability import ProbeSum, availability
from geocrawl.model.health import DAY_S, HOUR_S
from geocrawl.store.catalogue.read.history import history_of_service
from geocrawl.store.catalogue.read.statistics import month_report
from geocrawl.store.database.probe_sums import read_sums
from geocrawl.store.upkeep.retention import Retention
from tests.support.world import World, candidate, verdict

SERVICE = Service(Kind.WMS, "1.3.0", "Maps", provider="Survey", fingerprint="a")
ADD = (
    "INSERT INTO probe (endpoint_id, at, status, reason, detail, content_type, first_bytes, elapsed_ms, requests, "
    "deviations) VALUES (1, ?, ?, ?, '', '', '', ?, 1, '[]')"
)
VIEW = "SELECT valid_share, mean_ms, probes FROM v_health"


@pytest.fixture
def world(engine_url: str) -> World:
    """A service whose probes of three years, 400 days of them dense, are single."""
    world, chance = World(engine_url), random.Random(7)
    world.clock.time = datetime(2026, 6, 17, 9, 30, tzinfo=UTC).timestamp()
    now = world.clock.time
    world.record(candidate("maps.example.org/ows"), verdict("ok", SERVICE, elapsed_ms=150.0), now - 1_100 * DAY_S)
    rows = [(now - 1_090 * DAY_S + number * 5 * DAY_S, "valid", "ok", 200.0) for number in range(120)]
    for number in range(1_400):
        at = now - 466 * DAY_S + number * 8 * HOUR_S
        state = chance.choices(("valid", "invalid", "unasked"), (12, 2, 1))[0]
        rows.append((at, state, {"unasked": "robots", "invalid": "http-503"}.get(state, "ok"), chance.uniform(80, 400)))
    with world.database.transaction:
        world.database.connection.executemany(ADD, rows)
    return world


def tidied(world: World) -> int:
    count, retention = 0, Retention(world.database, keep_days=7)
    while dropped := retention.tidy(world.clock.time)["probes"]:
        count += dropped
    return count


def told(world: World) -> list[ProbeSum]:
    return read_sums(world.database.connection, [1], 0.0)[1]


def test_availability_is_what_it_was_before_the_probes_were_rolled_up(world: World) -> None:
    before, view = history_of_service(world.database.connection, 1, world.clock.time), read(world)
    single = told(world)
    assert tidied(world) > 1_400
    after = history_of_service(world.database.connection, 1, world.clock.time)
    for days in (7, 30):
        assert after[0].availability[days] == pytest.approx(before[0].availability[days], abs=0.01)
    assert after[0].availability[365] == pytest.approx(before[0].availability[365], abs=0.001)
    assert after[0].response_ms == before[0].response_ms
    assert read(world) == pytest.approx(view)
    months = (datetime(2026, month, 1, tzinfo=UTC).timestamp() for month in (1, 2, 5))
    january, february, may = months
    for start, end in ((january, february), (february, may)):
        assert availability(told(world), start, end) == pytest.approx(availability(single, start, end), abs=0.01)


def read(world: World) -> tuple[float, ...]:
    [row] = world.database.connection.execute(VIEW).fetchall()
    return tuple(row)


def test_sums_are_of_hours_then_of_days_then_of_months(world: World) -> None:
    tidied(world)
    now = world.clock.time
    rows = world.database.connection.execute("SELECT start, probes + refused FROM probe_sum ORDER BY start").fetchall()
    ages = [(now - start) / DAY_S for start, _ in rows]
    by_hour = [start for (start, _), age in zip(rows, ages, strict=True) if age < 34]
    by_day = [start for (start, _), age in zip(rows, ages, strict=True) if 36 < age < 400]
    by_month = [start for (start, _), age in zip(rows, ages, strict=True) if age > 432]
    assert 75 < len(by_hour) < 82 and 362 < len(by_day) < 366 and 15 < len(by_month) < 24
    assert all(start % DAY_S == 0 for start in by_day)
    assert all(datetime.fromtimestamp(start, UTC).day == 1 for start in by_month)
    single = world.database.connection.execute("SELECT count(*) FROM probe").fetchone()[0]
    assert sum(count for _, count in rows) + single == 1_521, "nothing is counted twice or lost"
    assert tidied(world) == 0


def test_a_month_is_reported_as_before(world: World) -> None:
    start, end = (datetime(2026, month, 1, tzinfo=UTC).timestamp() for month in (3, 4))
    [before] = month_report(world.database.connection, start, end)
    tidied(world)
    assert list(month_report(world.database.connection, start, end)) == [before]
    assert before.probes > 80


def test_later_probes_of_a_sum_are_added_to_it(world: World) -> None:
    tidied(world)
    late = world.clock.time - 40 * DAY_S
    with world.database.transaction:
        world.database.connection.executemany(ADD, [(late, "invalid", "http-500", 1.0)])
    before = read(world)
    assert tidied(world) == 1
    assert read(world) == pytest.approx(before)
    assert sum(each.probes for each in told(world)) > 1_300


def test_the_last_two_probes_stay_single_however_old(world: World) -> None:
    world.clock.time += 900 * DAY_S
    tidied(world)
    assert world.database.connection.execute("SELECT count(*) FROM probe").fetchone() == (2,)
    starts = [start for (start,) in world.database.connection.execute("SELECT start FROM probe_sum")]
    assert 30 < len(starts) < 40 and all(datetime.fromtimestamp(start, UTC).day == 1 for start in starts)
