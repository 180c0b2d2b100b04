"""With a limit on depth a shorter way to a hub moves all that the hub leads to, however much that is, in short
transactions; without a limit it moves the hub alone."""

from __future__ import annotations

import random

import pytest

from geocrawl.settings import NO_DEPTH_LIMIT, Settings
from geocrawl.store.database import steps
from geocrawl.store.frontier.options import FrontierOptions
from tests.store.transactions import transactions_of
from tests.support.invariants import check_invariants
from tests.support.samples import sampled
from tests.support.world import World, link

LISTS, ENTRIES = 10, 60
ROWS = 50


@pytest.fixture(autouse=True)
def _small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "ROWS", ROWS)


def known_hub(database: str, *, max_depth: int = 100) -> World:
    """A hub at depth 6 that names lists, each with entries; and a second start page, which was not visited yet."""
    world = World(database, Settings(delay_s=0, max_depth=max_depth, max_fruitless_per_pattern=0), by_depth=True)
    world.seed("a.example/")
    for step in range(1, 7):
        world.settle(world.lease(), link(f"a.example/way/{step}"))
    world.settle(world.lease(), *[link(f"a.example/list/{number}", tier=8) for number in range(LISTS)])
    for number in range(LISTS):
        world.settle(world.lease(), *[link(f"a.example/data/{number}/{entry}") for entry in range(ENTRIES)])
    world.seed("a.example/map")
    return world


def depth(world: World, address: str) -> int:
    return int(
        world.database.connection.execute("SELECT depth FROM url WHERE address LIKE ?", (f"%{address}",)).fetchone()[0]
    )


def left(world: World) -> int:
    rows = "SELECT count(*) FROM outlinks WHERE moved > 0"
    return int(world.database.connection.execute(rows).fetchone()[0])


def test_all_that_a_hub_leads_to_comes_nearer_before_the_next_lease(engine_url: str) -> None:
    world = known_hub(engine_url)
    lease = world.lease()
    assert (depth(world, "/way/6"), depth(world, "/data/9/59")) == (6, 8)
    with transactions_of(world.database) as done:
        world.settle(lease, link("a.example/way/6"))
        assert depth(world, "/data/9/59") == 8 and left(world) > 0
        world.lease()
    assert (depth(world, "/way/6"), depth(world, "/list/9"), depth(world, "/data/9/59"), left(world)) == (1, 2, 3, 0)
    assert len(done) > LISTS * ENTRIES // (2 * ROWS)
    assert max(each.rows for each in done) <= 3 * ROWS
    check_invariants(world.database.connection)


def test_another_process_follows_what_a_killed_one_has_left(engine_url: str) -> None:
    world = known_hub(engine_url)
    world.settle(world.lease(), link("a.example/way/6"))
    assert left(world) > 0
    world.store.frontier(world.settings, world.catalog, FrontierOptions(by_depth=True)).lease()
    assert (depth(world, "/data/9/59"), left(world)) == (3, 0)


def test_without_a_limit_no_links_are_kept_and_a_shorter_way_moves_one_page() -> None:
    world = known_hub("sqlite://", max_depth=NO_DEPTH_LIMIT)
    world.settle(world.lease(), link("a.example/way/6"), link("a.example/data/9/59"))
    world.lease()
    assert (depth(world, "/way/6"), depth(world, "/data/9/59")) == (1, 1), "a page that waits, and one that was visited"
    assert (depth(world, "/list/9"), depth(world, "/data/9/58")) == (7, 8)
    assert world.database.connection.execute("SELECT count(*) FROM outlinks").fetchone() == (0,)
    check_invariants(world.database.connection)


def test_the_way_to_a_visited_page_stays_as_it_was_so_that_ways_form_no_circles() -> None:
    world = World("sqlite://")
    world.seed("a.example/")
    world.settle(world.lease(), link("a.example/one", 3))
    world.settle(world.lease(), link("a.example/two", 3))
    world.settle(world.lease(), link("a.example/one", 8))
    found_on = dict(world.database.connection.execute("SELECT id, found_on FROM url").fetchall())
    assert found_on == {1: None, 2: 1, 3: 2}


@pytest.mark.parametrize("seed", sampled(range(30), *range(3)))
def test_depths_in_the_end_are_the_shortest_ways(engine_url: str, seed: int) -> None:
    if seed >= 8 and engine_url != "sqlite://":
        pytest.skip("some webs on every engine, all of them in memory")
    rng = random.Random(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "ROWS", rng.choice((1, 2, 5)))
        world = World(engine_url, Settings(delay_s=0, max_depth=100, max_fruitless_per_pattern=0))
        world.seed("a.example/0")
        ways: dict[int, list[int]] = {}
        while lease := world.frontier.lease():
            number = int(lease.entry.url.address.rpartition("/")[2])
            ways[number] = [rng.randint(0, 60) for _ in range(rng.randint(0, 4))]
            world.settle(lease, *[link(f"a.example/{to}", tier=rng.randint(1, 9)) for to in ways[number]])
    shortest, waiting = {0: 0}, [0]
    for page in waiting:
        new = [to for to in dict.fromkeys(ways[page]) if to not in shortest]
        shortest |= dict.fromkeys(new, shortest[page] + 1)
        waiting += new
    stored = {number: depth(world, f".example/{number}") for number in ways}
    assert stored == {number: shortest[number] for number in ways}
    check_invariants(world.database.connection)
