"""The life of a URL as a table."""

from __future__ import annotations

import pytest

from geocrawl.model import State
from geocrawl.store.frontier.lifecycle import arrival_state, seed_reopens
from tests.support.world import World


@pytest.mark.parametrize(
    ("depth", "refused", "state"),
    [
        (0, "", State.WAITING),
        (5, "", State.WAITING),
        (6, "", State.TOO_DEEP),
        (1, "stop:media", State.REFUSED),
        (6, "stop:media", State.REFUSED),
    ],
)
def test_a_new_link(depth: int, refused: str, state: State) -> None:
    assert arrival_state(depth, 5, refused) is state


@pytest.mark.parametrize(
    ("outcome", "retry_after_s", "attempts_before", "state", "comes_back"),
    [
        (State.VISITED, None, 0, "visited", False),
        (State.VISITED, 10.0, 0, "visited", False),
        (State.REFUSED, None, 0, "refused", False),
        (State.FAILED, None, 0, "failed", False),
        (State.FAILED, 10.0, 0, "failed", True),
        (State.FAILED, 10.0, 1, "failed", True),
        (State.FAILED, 10.0, 2, "failed", False),
    ],
)
def test_a_settled_visit(
    engine_url: str, outcome: State, retry_after_s: float | None, attempts_before: int, state: str, comes_back: bool
) -> None:
    world = World(engine_url)
    world.seed("a.example/")
    for _ in range(attempts_before):
        world.settle(world.lease(), state=State.FAILED, reason="dns", retry_after_s=0.0)
    world.settle(world.lease(), state=outcome, reason="x", retry_after_s=retry_after_s)
    assert world.row("a.example/")[0] == state
    world.clock.time += 10
    assert (world.frontier.lease() is not None) is comes_back


@pytest.mark.parametrize(
    ("state", "reason", "again", "expected"),
    [
        (State.WAITING, "", False, True),
        (State.VISITED, "ok", False, False),
        (State.VISITED, "ok", True, True),
        (State.FAILED, "dns", False, True),
        (State.TOO_DEEP, "", False, True),
        (State.REFUSED, "stop:social", False, True),
        (State.REFUSED, "trap:queries", False, True),
        (State.REFUSED, "candidate", False, True),
        (State.REFUSED, "robots", False, False),
        (State.REFUSED, "robots", True, True),
    ],
)
def test_a_known_page_named_as_a_seed(state: State, reason: str, again: bool, expected: bool) -> None:
    assert seed_reopens(state, reason, again=again) is expected
