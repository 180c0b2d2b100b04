"""A lease takes as many short transactions as it needs, and leases what one long transaction would have leased."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocrawl.model import RankedLink, State
from geocrawl.settings import Settings
from geocrawl.store.database import steps
from geocrawl.store.frontier.budgets import page_pattern_key
from tests.store.transactions import transactions_of
from tests.support.invariants import check_invariants
from tests.support.world import World, link, url

PAGES = 500
ROWS = 50
OTHER_ROWS = 12
"""Of hosts, counters and facts, in one transaction."""


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "ROWS", ROWS)
    monkeypatch.setattr(steps, "ROWS_READ", ROWS)


def crowded(database: str, settings: Settings) -> World:
    """A page named many pages of its host, and one of another host that ranks below them."""
    world = World(database, settings)
    world.seed("a.example/")
    world.settle(world.lease(), *[link(f"a.example/p/{n}") for n in range(PAGES)], link("b.example/", tier=1))
    return world


def hold(world: World, site: str) -> None:
    world.database.connection.execute("UPDATE site SET held_at = 1 WHERE name = ?", (site,))


def spend(world: World, address: str) -> None:
    key = page_pattern_key(url(address))
    world.database.connection.execute("INSERT INTO pattern VALUES (?, 300, 0, 1, 0)", (key,))


@pytest.mark.usefixtures("small_steps")
def test_pages_of_a_held_site_are_refused_a_portion_a_transaction(engine_url: str) -> None:
    world = crowded(engine_url, Settings(delay_s=0))
    hold(world, "a.example")
    with transactions_of(world.database) as done:
        assert world.lease().host.name == "b.example"
    assert len(done) == PAGES // ROWS + 1
    assert max(each.rows for each in done) <= ROWS + OTHER_ROWS
    assert world.row("a.example/p/7")[:2] == ("refused", "held")
    check_invariants(world.database.connection)


@pytest.mark.usefixtures("small_steps")
def test_pages_of_a_spent_pattern_are_refused_and_served_late_a_portion_a_transaction(engine_url: str) -> None:
    world = crowded(engine_url, Settings(delay_s=0, max_late_per_pattern=ROWS))
    spend(world, "a.example/p/1")
    with transactions_of(world.database) as done:
        world.settle(world.lease())
        assert world.lease().host.name == "a.example", "served late"
    assert max(each.rows for each in done) <= 2 * ROWS + OTHER_ROWS
    check_invariants(world.database.connection)


@pytest.mark.usefixtures("small_steps")
def test_a_killed_process_has_refused_what_it_had_refused(engine_url: str) -> None:
    world = crowded(engine_url, Settings(delay_s=0))
    hold(world, "a.example")
    work = world.frontier.lease_in_steps()
    for _ in range(3):
        next(work)
    work.close()
    refused = "SELECT count(*) FROM url WHERE state = 'refused'"
    assert world.database.connection.execute(refused).fetchone() == (3 * ROWS,)
    assert world.lease().host.name == "b.example"


@pytest.mark.usefixtures("small_steps")
def test_other_tasks_run_while_a_lease_refuses_pages(engine_url: str) -> None:
    world = crowded(engine_url, Settings(delay_s=0))
    hold(world, "a.example")

    async def turns() -> int:
        leasing = asyncio.create_task(world.store.runner.run_steps(world.frontier.lease_in_steps()))
        count = 0
        while not leasing.done():
            await asyncio.sleep(0)
            count += 1
        return count

    assert asyncio.run(turns()) > PAGES // ROWS


@pytest.mark.usefixtures("small_steps")
def test_failed_pages_that_are_all_due_wait_again_a_portion_a_transaction(engine_url: str) -> None:
    world = crowded(engine_url, Settings(delay_s=0, max_fruitless_per_pattern=0))
    world.database.connection.execute("UPDATE host SET waiting = waiting - ? WHERE name = 'a.example'", (PAGES,))
    failed = "UPDATE url SET state = 'failed', retry_at = 5 WHERE address LIKE '%/p/%'"
    world.database.connection.execute(failed)
    for name, change in (("page:waiting:5", -PAGES), ("queued:8", -PAGES), ("page:failed", PAGES)):
        world.database.connection.execute(
            "INSERT INTO counter VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = counter.value + ?2",
            (name, change),
        )
    with transactions_of(world.database) as done:
        assert world.lease().host.name == "a.example"
    assert len(done) == PAGES // ROWS + 1
    assert max(each.rows for each in done) <= ROWS + OTHER_ROWS
    check_invariants(world.database.connection)


# --------------------------------------------------------------------------- operators' commands


COMMANDS: dict[str, Callable[[World], object]] = {
    "release": lambda world: world.frontier.release_site("a.example"),
    "retry": lambda world: world.frontier.retry(reason="held"),
}


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_lets_all_pages_wait_again_a_portion_a_transaction(engine_url: str, name: str) -> None:
    world = crowded(engine_url, Settings(delay_s=0))
    hold(world, "a.example")
    world.lease()
    with transactions_of(world.database) as done:
        assert COMMANDS[name](world) == PAGES
    assert len(done) >= PAGES // ROWS
    assert max(each.rows for each in done) <= 2 * ROWS + OTHER_ROWS  # the state, and the attempts
    check_invariants(world.database.connection)


@pytest.mark.usefixtures("small_steps")
def test_a_release_that_was_killed_goes_on_when_it_is_repeated(engine_url: str) -> None:
    world = crowded(engine_url, Settings(delay_s=0))
    hold(world, "a.example")
    world.lease()
    work = world.frontier._release_site("a.example")
    next(work)
    work.close()
    refused = "SELECT count(*) FROM url WHERE reason = 'held'"
    (left,) = world.database.connection.execute(refused).fetchone()
    assert PAGES - ROWS <= left < PAGES
    assert world.frontier.release_site("a.example") == left
    assert world.frontier.release_site("a.example") is None


@pytest.mark.usefixtures("small_steps")
def test_another_limit_on_depth_is_applied_a_portion_a_transaction(engine_url: str) -> None:
    world = crowded(engine_url, Settings(delay_s=0))
    with transactions_of(world.database) as done:
        world.store.frontier(Settings(max_depth=0), world.catalog)
    assert max(each.rows for each in done) <= 2 * ROWS + OTHER_ROWS
    assert world.row("a.example/p/7")[0] == "too-deep" == world.row("b.example/")[0]
    check_invariants(world.database.connection)


# --------------------------------------------------------------------------- the same as in one transaction


def links_of(rng: random.Random) -> Iterator[RankedLink]:
    for _ in range(rng.randint(0, 9)):
        host, page = rng.choice("abc"), rng.randint(0, 25)
        where = f"{host}.example/{rng.choice('xy')}/{page}" if rng.random() < 0.8 else f"{host}.example/list"
        yield link(where, tier=rng.randint(1, 4), same_depth=rng.random() < 0.1)


def crawled(seed: int, *, by_depth: bool, rows: int) -> tuple[list[str], list[object]]:
    """Crawl a made-up web; return what was leased in its order, and the rows of the frontier at the end."""
    rng = random.Random(seed)
    settings = Settings(delay_s=0, max_depth=3, max_fruitless_per_pattern=4, max_late_per_pattern=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "ROWS", rows)
        patch.setattr(steps, "ROWS_READ", rows)
        world = World("sqlite://", settings, by_depth=by_depth)
        world.seed("a.example/", "b.example/")
        leased = list[str]()
        while len(leased) < 150 and (lease := world.frontier.lease()):
            leased.append(lease.entry.url.address)
            if rng.random() < 0.1:
                world.settle(lease, state=State.FAILED, reason="dns", retry_after_s=rng.choice((1.0, 50.0)))
            else:
                world.settle(lease, *links_of(rng))
            world.clock.time += 1.0
            if len(leased) == 40:
                hold(world, "b.example")
            if len(leased) == 70:
                world.frontier.release_site("b.example")
                world.frontier.retry()
        check_invariants(world.database.connection)
        tables = ("url", "host", "counter", "pattern", "site", "outlinks")
        found = [world.database.connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables]
        return leased, list(found)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from((1, 2, 7)))
def test_the_order_of_visits_and_all_rows_are_those_of_one_transaction(seed: int, by_depth: bool, rows: int) -> None:
    assert crawled(seed, by_depth=by_depth, rows=rows) == crawled(seed, by_depth=by_depth, rows=10**9)
