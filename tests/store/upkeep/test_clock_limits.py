"""A clock that was wrong for a moment silences nobody for longer than the settings allow."""

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
    columns = {
        "host": ("next_at", "last_error_at", "lease_until"),
        "url": ("retry_at", "revisit_at"),
        "robots": ("expires_at", "fetched_at"),
        "endpoint": ("due_at", "health_since", "last_ok"),
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


@pytest.mark.parametrize("ahead_s", [YEARS, 400 * DAY, 40 * DAY])
def test_after_a_moment_ahead_everybody_is_asked_within_a_wait_of_their_own(world: World, ahead_s: float) -> None:
    right = world.clock.time
    clock = world.clock
    told: list[str] = []
    jobs = jobs_of(world, told)
    jobs.check_clock()
    clock.time = right + ahead_s
    visit_all(world)
    clock.time = right
    assert max(latest(world).values()) > right + ahead_s
    jobs.check_clock()
    most = latest(world)
    assert told and all(event.startswith("warning") for event in told)
    assert most["host.next_at"] <= right + DAY + 60 and most["robots.expires_at"] <= right + DAY
    assert most["host.lease_until"] <= right + 3600 and most["url.retry_at"] <= right + 30 * DAY
    assert most["endpoint.due_at"] <= right + 1.1 * DAY and most["url.revisit_at"] <= right + 7 * DAY
    assert most["endpoint.health_since"] <= right and most["endpoint.last_ok"] <= right
    told.clear()
    jobs.check_clock()
    assert told == []


def test_what_a_right_clock_wrote_stays(world: World) -> None:
    visit_all(world)
    before = latest(world)
    told: list[str] = []
    jobs_of(world, told).check_clock()
    assert (latest(world), told) == (before, [])


def test_a_day_ahead_and_years_back(world: World) -> None:
    clock = world.clock
    right = YEARS
    clock.time = right + DAY
    visit_all(world)
    clock.time = right
    told: list[str] = []
    jobs_of(world, told).check_clock()
    most = latest(world)
    assert most["robots.fetched_at"] <= right and most["host.next_at"] <= right + DAY + 60
    clock.time = 1000.0
    jobs_of(world, told).check_clock()
    assert max(latest(world).values()) <= 1000.0 + 60 * DAY + 60
    assert told
