"""A clock that was wrong for a moment silences nobody for years."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from geocrawl.daemon.jobs import Jobs
from geocrawl.model import Kind, RobotsRecord, Service, State
from geocrawl.settings import Settings
from geocrawl.store.frontier.politeness import SqlPoliteness
from geocrawl.store.store import Store
from tests.support.world import World, candidate, link, verdict

DAY = 86_400.0
YEARS = 3650 * DAY
SETTINGS = Settings(delay_s=1.0, max_fruitless_per_pattern=0)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "c.db", SETTINGS)


def visit_all(world: World) -> None:
    """A service is found valid, a page names it, another page fails; robots.txt is asked."""
    now = world.clock.now()
    world.seed("a.example/", "b.example/")
    world.frontier.add_candidates([candidate("http://maps.example/wms")])
    while lease := world.frontier.lease():
        if lease.entry.candidate:
            world.settle(lease, verdict=verdict(service=Service(Kind.WMS, "1.3.0", "x")), next_at=now + 60)
        elif lease.entry.url.host == "a.example":
            found = [(candidate("http://maps.example/wms"), None)]
            world.settle(lease, link("c.example/"), candidates=found, next_at=now + 60)
        else:
            world.settle(lease, state=State.FAILED, reason="reset", retry_after_s=600.0, next_at=now + 60)
    record = RobotsRecord("http://a.example", 200, "", now, now + DAY)
    asyncio.run(SqlPoliteness(world.database, SETTINGS).write_robots(record))


def latest(world: World) -> dict[str, float]:
    """Return the last time until which anybody waits, by table and column."""
    columns = {
        "host": ("next_at", "lease_until"),
        "url": ("retry_at", "revisit_at"),
        "robots": ("expires_at",),
        "endpoint": ("due_at",),
    }
    connection = world.database.connection
    return {
        f"{table}.{column}": connection.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()[0]
        for table, names in columns.items()
        for column in names
    }


def jobs_of(world: World, told: list[str]) -> Jobs:
    store = Store(world.database, world.clock)
    return Jobs(SETTINGS, store, world.frontier, world.clock, lambda event, **values: told.append(event))


@pytest.mark.parametrize("ahead_s", [YEARS, 400 * DAY])
def test_after_a_moment_ahead_everybody_may_be_asked_at_once(world: World, ahead_s: float) -> None:
    right, clock, told = world.clock.time, world.clock, list[str]()
    clock.time = right + ahead_s
    visit_all(world)
    clock.time = right
    assert max(latest(world).values()) > right + ahead_s
    jobs_of(world, told).check_clock()
    assert told == ["warning: waits that a wrong clock wrote have ended"]
    assert max(latest(world).values()) <= right
    jobs_of(world, told).check_clock()
    assert len(told) == 1


@pytest.mark.parametrize("ahead_s", [0.0, DAY])
def test_waits_that_may_be_meant_stay(world: World, ahead_s: float) -> None:
    clock, right, told = world.clock, world.clock.time, list[str]()
    clock.time = right + ahead_s
    visit_all(world)
    clock.time, before = right, latest(world)
    jobs_of(world, told).check_clock()
    assert (latest(world), told) == (before, [])


def test_a_clock_that_was_years_ahead_for_long_leaves_no_longer_waits(world: World) -> None:
    world.clock.time = YEARS
    visit_all(world)
    world.clock.time = 1000.0
    jobs_of(world, []).check_clock()
    assert max(latest(world).values()) <= 1000.0
