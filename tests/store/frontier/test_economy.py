"""Pages that promise little wait while better ones wait at hosts that are busy for a moment or rest for minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.model import BATCH_TIER
from geocrawl.settings import Settings
from geocrawl.store.database.core import compiler
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.economy import LOOK_S, MOMENT_S
from tests.support.world import World, candidate, link

DELAY_S = 1.0


def made(tmp_path: Path, economy: float = 0.5, **more: bool | int) -> World:
    """A world whose seed, on a host of its own, was read."""
    settings = Settings(delay_s=DELAY_S, economy=economy, max_fruitless_per_pattern=0)
    world = World(tmp_path / "c.db", settings, **more)  # type: ignore[arg-type]
    world.seed("seed.example/")
    return world


def rich_and_poor(tmp_path: Path, economy: float = 0.5, *, poor: float = 0.1) -> World:
    """Two pages at a rich host, one just read, and one that promises less at another host."""
    world = made(tmp_path, economy, by_yield=True)
    links = (link("rich.example/1", 1, 0.9), link("rich.example/2", 1, 0.8), link("poor.example/", 1, poor))
    world.settle(world.lease(), *links)
    return world


def names(world: World, count: int) -> list[str]:
    return [world.lease().host.name for _ in range(count)]


def test_a_page_of_little_promise_waits_while_the_better_host_is_busy(tmp_path: Path) -> None:
    world = rich_and_poor(tmp_path)
    rich = world.lease()
    assert rich.host.name == "rich.example"
    assert world.frontier.lease() is None
    world.settle(rich, next_at=world.clock.now() + DELAY_S)
    assert world.frontier.lease() is None, "the host rests for a moment"
    assert world.frontier.ready_at() == world.clock.now() + DELAY_S
    world.clock.time += DELAY_S
    assert names(world, 2) == ["rich.example", "poor.example"]


def test_a_host_that_another_process_has_leased_is_looked_at_again_soon(tmp_path: Path) -> None:
    world = rich_and_poor(tmp_path)
    other = World(tmp_path / "c.db", world.settings, by_yield=True, owner="other:1")
    rich = other.lease()
    assert rich.host.name == "rich.example"
    assert world.frontier.lease() is None, "pages of little promise wait for those of other processes, too"
    assert world.frontier.ready_at() == world.clock.now() + LOOK_S, "nothing wakes this process when the other is done"
    other.settle(rich, next_at=world.clock.now())
    assert names(world, 1) == ["rich.example"]


@pytest.mark.parametrize(("economy", "poor"), [(0.0, 0.1), (0.5, 0.41), (1.0, 0.8)])
def test_a_page_that_promises_enough_is_taken(tmp_path: Path, economy: float, poor: float) -> None:
    world = rich_and_poor(tmp_path, economy, poor=poor)
    assert names(world, 2) == ["rich.example", "poor.example"]


def test_no_busy_host_is_waited_for_longer_than_a_moment(tmp_path: Path) -> None:
    world = rich_and_poor(tmp_path)
    world.lease()
    assert world.frontier.lease() is None
    assert world.frontier.ready_at() == world.clock.now() + MOMENT_S
    world.clock.time += MOMENT_S
    assert world.lease().host.name == "poor.example"


def test_a_host_that_is_leased_again_at_once_is_waited_for_no_longer(tmp_path: Path) -> None:
    world = made(tmp_path, by_yield=True)
    links = [link(f"rich.example/{n}", 1, 0.9) for n in range(3)]
    world.settle(world.lease(), *links, link("poor.example/", 1, 0.1))
    rich = world.lease()
    assert world.frontier.lease() is None
    world.clock.time += MOMENT_S * 0.6
    world.settle(rich, next_at=world.clock.now() + DELAY_S)
    assert world.frontier.lease() is None
    world.clock.time += DELAY_S
    assert names(world, 1) == ["rich.example"]
    assert world.frontier.lease() is None
    assert world.frontier.ready_at() == pytest.approx(world.clock.now() + MOMENT_S * 0.4 + DELAY_S)
    world.clock.time += MOMENT_S * 0.4 + DELAY_S
    assert names(world, 1) == ["poor.example"]


@pytest.mark.parametrize(("rest_s", "poor"), [(120.0, 0.13), (120.0, 0.08), (500.0, 0.04), (30.0, 0.25)])
def test_a_page_of_a_tenth_waits_while_the_better_host_rests_for_minutes(
    tmp_path: Path, rest_s: float, poor: float
) -> None:
    world = rich_and_poor(tmp_path, poor=poor)
    world.settle(world.lease(), next_at=world.clock.now() + rest_s)
    assert world.frontier.lease() is None
    assert world.frontier.ready_at() == world.clock.now() + rest_s
    world.clock.time += rest_s
    assert names(world, 2) == ["rich.example", "poor.example"]


@pytest.mark.parametrize(("rest_s", "poor"), [(30.0, 0.3), (120.0, 0.14), (500.0, 0.05), (700.0, 0.01)])
def test_the_longer_the_better_host_rests_the_less_a_page_has_to_promise(
    tmp_path: Path, rest_s: float, poor: float
) -> None:
    world = rich_and_poor(tmp_path, poor=poor)
    world.settle(world.lease(), next_at=world.clock.now() + rest_s)
    assert world.lease().host.name == "poor.example"


def test_a_host_that_is_taken_for_dead_holds_nothing(tmp_path: Path) -> None:
    world = rich_and_poor(tmp_path)
    world.settle(world.lease(), next_at=world.clock.now() + 60.0)
    assert world.frontier.lease() is None
    world.database.connection.execute("UPDATE host SET errors = 3 WHERE name = 'rich.example'")
    assert names(world, 1) == ["poor.example"]


def test_a_host_in_back_off_holds_nothing(tmp_path: Path) -> None:
    world = rich_and_poor(tmp_path)
    world.settle(world.lease(), next_at=world.clock.now() + 3600.0)
    assert world.lease().host.name == "poor.example"


def test_a_crawl_of_little_patience_holds_nothing(tmp_path: Path) -> None:
    settings = Settings(delay_s=DELAY_S, economy=1.0, patience_s=0.0, max_fruitless_per_pattern=0)
    world = World(tmp_path / "c.db", settings, by_yield=True)
    world.seed("seed.example/")
    world.settle(world.lease(), link("a.example/1", 1, 0.9), link("a.example/2", 1, 0.9), link("b.example/", 1, 0.1))
    assert names(world, 2) == ["a.example", "b.example"]


def test_probes_are_never_held(tmp_path: Path) -> None:
    world = made(tmp_path, 1.0, by_yield=True)
    links = (link("rich.example/1", 1, 0.9), link("rich.example/2", 1, 0.8))
    found = candidate("http://poor.example/wms?service=WMS&request=GetCapabilities")
    world.settle(world.lease(), *links, candidates=[(found, None)])
    assert names(world, 2) == ["poor.example", "rich.example"]


def test_pages_behind_a_probe_count_as_waiting(tmp_path: Path) -> None:
    world = made(tmp_path, by_yield=True)
    links = (link("rich.example/1", 1, 0.9), link("rich.example/2", 1, 0.8), link("poor.example/", 1, 0.1))
    world.settle(world.lease(), *links)
    found = candidate("http://rich.example/wms?service=WMS&request=GetCapabilities")
    world.settle(world.lease(), candidates=[(found, None)], next_at=world.clock.now() + DELAY_S)
    assert world.frontier.lease() is None
    assert world.frontier.ready_at() == world.clock.now() + DELAY_S
    world.clock.time += DELAY_S
    assert world.lease().entry.candidate is not None
    assert world.frontier.lease() is None


def test_the_page_under_way_is_no_page_that_waits(tmp_path: Path) -> None:
    world = made(tmp_path, 1.0, by_yield=True)
    world.settle(world.lease(), link("rich.example/1", 1, 0.9), link("poor.example/", 1, 0.1))
    assert names(world, 2) == ["rich.example", "poor.example"]


def test_breadth_first_holds_the_depth(tmp_path: Path) -> None:
    world = made(tmp_path, 0.1, by_depth=True)
    world.settle(world.lease(), link("a.example/1", 0, -1), link("a.example/2", 0, -1), link("b.example/", 0, -1))
    a, b = world.lease(), world.lease()
    world.settle(b, link("c.example/", 0, -2))
    assert world.frontier.lease() is None, "a page of depth 1 waits at the busy host"
    world.settle(a)
    assert names(world, 2) == ["a.example", "c.example"]


def test_a_strategy_without_yields_holds_the_tier(tmp_path: Path) -> None:
    world = made(tmp_path, 0.1)
    links = [
        link("a.example/1", 5, 0.9),
        link("a.example/2", 5, 0.8),
        link("b.example/", 5, 0),
        link("c.example/", 4, 1),
    ]
    world.settle(world.lease(), *links)
    assert names(world, 2) == ["a.example", "b.example"]
    assert world.frontier.lease() is None, "a page of tier 5 waits at the busy host"


def test_the_best_page_is_found_by_indexes(tmp_path: Path) -> None:
    """A queue of any length costs the same: no step of the queries reads a whole table or sorts."""
    world = made(tmp_path)
    for statement, values in (
        (
            sql.BEST_PAGES_SOON,
            {"tier": BATCH_TIER, "soon": 0.0, "probing": 9, "at_tier": 1, "at_score": 0.1, "more_than": 0.2},
        ),
        (sql.NEXT_BETTER, {"least": 1, "score": 0.5}),
        (sql.RESTING, {"tier": BATCH_TIER, "now": 0.0, "until": 600.0, "dead_after": 3, "more_than": 0.2}),
    ):
        prepared = compiler("sqlite").prepared(statement, values)
        explained = f"EXPLAIN QUERY PLAN {prepared.text(values)}"
        steps = [row[3] for row in world.database.connection.execute(explained, prepared.bind(values))]
        reads = [
            step
            for step in steps
            if step.startswith(("SCAN", "SEARCH")) and not step.startswith(("SCAN resting", "SCAN probing"))
        ]
        assert reads
        assert all("INDEX" in step or "INTEGER PRIMARY KEY" in step for step in reads if "CONSTANT" not in step), steps
        assert not any("TEMP B-TREE" in step for step in steps), steps


def test_a_held_page_that_another_process_takes_is_waited_for_no_longer(tmp_path: Path) -> None:
    world = rich_and_poor(tmp_path)
    world.lease()
    assert world.frontier.lease() is None, "the page of the poor host is held"
    other = World(tmp_path / "c.db", world.settings, owner="other:1")
    other.clock.time = world.clock.time
    poor = other.lease()
    assert poor.host.name == "poor.example", "another strategy holds nothing"
    world.clock.time += 2 * MOMENT_S
    assert world.frontier.lease() is None, "both hosts are leased"
    assert (world.frontier.ready_at() or 0.0) > world.clock.now(), "who waits until a time that is past asks for ever"


def test_a_lease_that_lasts_longer_than_a_moment_is_no_time_to_look_again(tmp_path: Path) -> None:
    world = made(tmp_path, by_yield=True)
    rows = (
        ("slow.example/1", 0.9),
        ("slow.example/2", 0.9),
        ("rich.example/1", 0.9),
        ("rich.example/2", 0.8),
        ("rich.example/3", 0.8),
    )
    world.settle(world.lease(), *(link(text, 1, score) for text, score in (*rows, ("poor.example/", 0.1))))
    slow, rich = world.lease(), world.lease()
    assert (slow.host.name, rich.host.name) == ("slow.example", "rich.example")
    assert world.frontier.lease() is None
    world.clock.time += MOMENT_S / 2
    world.settle(rich, next_at=world.clock.now() + MOMENT_S / 2)
    assert world.frontier.lease() is None, "the rich host rests for as long as it was leased"
    world.clock.time += MOMENT_S / 2
    assert names(world, 1) == ["rich.example"]
    world.clock.time += MOMENT_S * 0.75
    assert world.frontier.lease() is None, "the rich host is waited for"
    assert (world.frontier.ready_at() or 0.0) > world.clock.now()


def test_a_host_that_rests_by_a_wrong_clock_holds_nothing(tmp_path: Path) -> None:
    world = rich_and_poor(tmp_path)
    world.database.connection.execute("UPDATE host SET next_at = 1e10 WHERE name = 'rich.example'")
    assert names(world, 1) == ["poor.example"], "it is not parked: its rest was short by the clock that was wrong"
