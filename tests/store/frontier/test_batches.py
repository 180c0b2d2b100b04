"""Best-N-first: pages are taken N at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocrawl.model import Purpose
from geocrawl.settings import Settings
from geocrawl.store.database.connection import Connection
from tests.support.invariants import check_invariants
from tests.support.world import World, candidate, link, verdict


@pytest.fixture
def world(engine_url: str) -> World:
    return World(engine_url, stride=3)


def visit(world: World, *scores: float) -> float:
    """Visit the next page, which brings links of these scores; returns its own."""
    lease = world.lease()
    world.settle(lease, *[link(f"{'abc'[n % 3]}.example/{score}", 1, score) for n, score in enumerate(scores)])
    return lease.entry.rank.score


def check(connection: Connection) -> None:
    check_invariants(connection)


def test_a_better_page_found_in_a_batch_waits_for_the_next(world: World) -> None:
    world.seed("s.example/")
    visit(world, 0.5, 0.4, 0.3, 0.2)
    assert [visit(world, 0.9), visit(world, 0.8), visit(world, 0.7, 0.1)] == [0.5, 0.4, 0.3]
    assert [visit(world) for _ in range(5)] == [0.9, 0.8, 0.7, 0.2, 0.1]
    check(world.database.connection)


def test_a_batch_is_taken_from_all_hosts_and_the_first_seen_of_equals(world: World) -> None:
    world.seed("s.example/")
    world.visit(*[link(f"{host}.example/{n}", 1) for n in range(2) for host in "abc"])
    assert {world.visit(link("z.example/", 1, 1.0)) for _ in range(3)} == {f"http://{h}.example/0" for h in "abc"}
    assert world.visit() == "http://z.example/"


def test_a_batch_outlives_its_process(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db", stride=3)
    world.seed("s.example/")
    visit(world, 0.5, 0.4, 0.3)
    visit(world, 0.9)
    world.database.close()
    again = World(tmp_path / "crawl.db", stride=3)
    assert [visit(again) for _ in range(3)] == [0.4, 0.3, 0.9]


def test_a_page_of_the_batch_that_is_held_keeps_the_next_batch_back(world: World) -> None:
    world.seed("s.example/")
    visit(world, 0.5, 0.4, 0.3)
    held = [world.lease() for _ in range(3)]
    world.settle(held.pop(0), link("d.example/", 1, 0.9))
    assert world.lease().entry.rank.tier == 1
    world.settle(held.pop())
    check(world.database.connection)


def test_a_resting_host_keeps_no_batch_back(world: World) -> None:
    world.seed("s.example/", "t.example/")
    lease = world.lease()
    world.settle(lease, link("s.example/1", 1, 0.9), next_at=world.clock.now() + 3600)
    visit(world, 0.5, 0.4)
    assert [visit(world, 0.8), visit(world)] == [0.5, 0.4]
    assert visit(world) == 0.8


def test_probes_come_first_and_are_no_part_of_a_batch(world: World) -> None:
    world.seed("s.example/")
    world.settle(
        world.lease(),
        *[link(f"a.example/{n}", 1, n / 10) for n in range(5)],
        candidates=[(candidate("a.example/wms?service=wms"), None)],
    )
    probe = world.lease()
    assert probe.entry.purpose is Purpose.PROBE
    world.settle(probe, verdict=verdict("exception"))
    assert [visit(world, 0.9), visit(world), visit(world)] == [0.4, 0.3, 0.2]
    assert visit(world) == 0.9


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(0, 99), max_size=4), min_size=1, max_size=25), st.integers(2, 5))
def test_a_batch_is_the_best_n_of_all_that_wait(
    tmp_path_factory: pytest.TempPathFactory, pages: list[list[int]], stride: int
) -> None:
    deep = Settings(delay_s=0, max_depth=100)  # chains of up to 25 links
    world = World(tmp_path_factory.mktemp("batch") / "crawl.db", deep, stride=stride)
    world.seed("s.example/")
    waiting: list[tuple[float, str]] = [(0.0, "http://s.example/")]
    batch: list[tuple[float, str]] = []
    for number, scores in enumerate(pages):
        if not batch:
            batch, waiting = waiting[:stride], waiting[stride:]
        if not batch:
            break
        links = [(f"{'abc'[score % 3]}.example/{number}-{n}", score / 100) for n, score in enumerate(scores)]
        visited = world.visit(*[link(address, 1, score) for address, score in links])
        best = max(score for score, _ in batch)
        assert visited in [address for score, address in batch if score == best]
        batch = [each for each in batch if each[1] != visited]
        waiting = sorted([*waiting, *[(s, f"http://{a}") for a, s in links]], key=lambda each: -each[0])
    check(world.database.connection)
    world.database.close()
