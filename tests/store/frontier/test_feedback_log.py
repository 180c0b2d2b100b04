"""Feedback: written with its visit, kept until a dump covers it, read back unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.errors import DatabaseFault
from geocrawl.model import Feedback, Purpose, Rank, State
from tests.support.world import World, candidate, link, url, verdict


@pytest.fixture
def world(engine_url: str) -> World:
    return World(engine_url, learns=True)


def learn(world: World, *names: str) -> Feedback:
    """Settle the next page with links of these names; return its feedback."""
    lease = world.lease()
    features = lease.entry.url.address.encode()
    feedback = world.settle(lease, *[link(f"a.example/{name}") for name in names], features=features).feedback
    assert feedback is not None
    return feedback


def test_a_strategy_that_does_not_learn_leaves_no_feedback(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db")
    world.seed("a.example/")
    assert world.settle(world.lease(), link("a.example/1")).feedback is None
    assert [*world.frontier.feedback()] == []


def test_feedback_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    world = World(tmp_path / "crawl.db", learns=True)
    world.seed("a.example/")
    every = [learn(world, "1", "2?b=2&a=1", "3"), learn(world, "2?a=1&b=2", "4"), learn(world)]
    first, second = every[0], every[1]
    assert (first.number, first.purpose, first.depth, first.found_on) == (1, Purpose.PAGE, 0, None)
    assert (second.depth, second.found_on, second.features) == (1, first.entry_id, b"http://a.example/1")
    assert dict(first.links)[url("a.example/2?a=1&b=2").identity] == second.links[0][1]
    world.database.close()
    assert [*World(tmp_path / "crawl.db").frontier.feedback()] == every


def test_refused_links_are_left_out_of_feedback_and_redirects_are_not(world: World) -> None:
    world.seed("a.example/")
    feedback = world.settle(
        world.lease(),
        link("a.example/1"),
        link("a.example/song.mp3", refused="stop:media"),
        link("b.example/", same_depth=True),
        candidates=[(candidate("a.example/wms", weak=True), link("a.example/wms"))],
    ).feedback
    assert feedback is not None
    assert [identity for identity, _ in feedback.links] == [url("a.example/1").identity, url("b.example/").identity]
    assert all(number > 0 for _, number in feedback.links)
    assert [*world.frontier.feedback()] == [feedback]


@pytest.mark.parametrize(("reason", "valid"), [("ok", True), ("exception", False), (None, None)])
def test_the_feedback_of_a_probe_names_its_verdict(world: World, reason: str | None, valid: bool | None) -> None:
    world.seed("a.example/")
    page = world.settle(world.lease(), candidates=[(candidate("a.example/wms?service=wms"), None)]).feedback
    lease = world.lease()
    proved = verdict(reason) if reason else None
    state = State.VISITED if reason else State.REFUSED
    feedback = world.settle(lease, state=state, reason=reason or "robots", verdict=proved).feedback
    assert page is not None and feedback is not None
    assert (feedback.purpose, feedback.valid, feedback.state, feedback.found_on) == (
        Purpose.PROBE,
        valid,
        state,
        page.entry_id,
    )
    assert [*world.frontier.feedback()] == [page, feedback]


def test_a_dump_replaces_the_feedback_before_it(world: World) -> None:
    world.seed("a.example/")
    learn(world, "1", "2", "3")
    second, third = learn(world), learn(world)
    assert (world.frontier.strategy_state(), world.frontier.version()) == (None, 0)
    world.frontier.publish(b"two visits", {"visits": 2}, second.number)
    assert (world.frontier.strategy_state(), world.frontier.version()) == (b"two visits", second.number)
    assert [*world.frontier.feedback()] == [third]
    world.frontier.publish(b"three visits", {}, third.number)
    assert [*world.frontier.feedback()] == []
    fourth = learn(world)
    assert (fourth.number, [*world.frontier.feedback()]) == (third.number + 1, [fourth]), "numbers go on"


def test_a_settlement_that_comes_too_late_writes_no_feedback(world: World) -> None:
    world.seed("a.example/")
    lease = world.lease()
    world.clock.time += world.settings.lease_s + 1
    again = world.lease()
    late = world.settle(lease)
    assert late.ignored and late.feedback is None
    assert world.settle(again).feedback is not None


def test_a_settlement_that_is_undone_leaves_no_feedback(world: World) -> None:
    world.seed("a.example/")
    lease = world.lease()
    if world.database.connection.engine != "sqlite":
        pytest.skip("the way to a full disk is SQLite's own")
    pages = world.database.connection.execute("PRAGMA page_count").fetchone()[0]
    world.database.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DatabaseFault, match="disk is full"):
        world.settle(lease, features=b"x" * 100_000)
    assert [*world.frontier.feedback()] == []


def test_ranking_again_names_the_feedback_it_came_after_with_its_last_rank(world: World) -> None:
    world.seed("a.example/")
    feedback = learn(world, "1", "2")
    ranks = [(number, Rank(0, float(number))) for _, number in feedback.links]
    assert world.frontier.revised() == 0
    assert world.frontier.rerank(ranks, through=feedback.number) == 2
    assert world.frontier.revised() == feedback.number
    assert world.frontier.rerank([], through=7) == 0
    assert world.frontier.revised() == 7


def test_a_ranking_that_fails_halfway_is_not_named(world: World) -> None:
    world.seed("a.example/")
    feedback = learn(world, *[str(n) for n in range(3000)])

    def ranks() -> object:
        yield from ((number, Rank(1)) for _, number in feedback.links)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.frontier.rerank(ranks(), through=feedback.number)  # type: ignore[arg-type]
    assert world.frontier.revised() == 0


def test_another_strategy_begins_with_nothing(world: World) -> None:
    world.seed("a.example/")
    first = learn(world, "1")
    learn(world)
    assert world.frontier.lead()
    world.frontier.publish(b"dump", {}, first.number)
    world.frontier.rerank([], through=2)
    world.frontier.clear_feedback()
    assert (world.frontier.strategy_state(), world.frontier.revised(), [*world.frontier.feedback()]) == (None, 0, [])
    assert world.frontier.version() == 0
