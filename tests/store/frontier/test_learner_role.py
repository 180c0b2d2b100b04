"""The learner of a database: one process at a time, and what another one wrote meanwhile is safe from it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from geocrawl.errors import LearnsElsewhere
from geocrawl.model import Feedback, Rank
from geocrawl.store.database.owner import Owner, started_ticks, this_process
from geocrawl.store.frontier.learner import TERM_S
from tests.support.world import World, link


@pytest.fixture
def worlds(shared_url: str) -> tuple[World, World]:
    """Two processes of other machines on one database."""
    one = World(shared_url, learns=True, owner="one:1")
    other = World(shared_url, learns=True, owner="other:1")
    other.clock.time = one.clock.time
    return one, other


def feedback_of(world: World, *names: str) -> Feedback:
    """Settle the next page with links of these names; return its feedback."""
    settled = world.settle(world.lease(), *[link(name) for name in names])
    assert settled.feedback is not None
    return settled.feedback


def test_one_process_learns_until_its_role_runs_out(worlds: tuple[World, World]) -> None:
    one, other = worlds
    assert one.frontier.lead() and one.frontier.lead() and not other.frontier.lead()
    other.clock.time += TERM_S - 1
    one.clock.time += TERM_S - 1
    assert not other.frontier.lead()
    assert one.frontier.lead(), "renewed"
    other.clock.time += TERM_S - 1
    assert not other.frontier.lead()
    other.clock.time += 2
    assert other.frontier.lead()
    one.clock.time = other.clock.time
    assert not one.frontier.lead()
    other.frontier.resign()
    assert one.frontier.lead()
    other.frontier.resign()
    assert not other.frontier.lead(), "only the learner can give the role up"


def test_the_role_of_a_killed_process_is_free_at_once(shared_url: str) -> None:
    here = this_process()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        owner = Owner(here.machine, process.pid, started_ticks(process.pid) or 0, here.boot, here.namespace)
        assert World(shared_url, learns=True, owner=owner.text).frontier.lead()
        follower = World(shared_url, learns=True, owner=here.text)
        assert not follower.frontier.lead()
        process.kill()
        process.wait()
        assert follower.frontier.lead()


def test_a_learner_that_slept_through_the_end_of_its_role_writes_nothing(worlds: tuple[World, World]) -> None:
    one, other = worlds
    one.seed("a.example/")
    assert one.frontier.lead()
    feedback = feedback_of(one, "a.example/1")
    (_, page) = feedback.links[0]
    other.clock.time += TERM_S + 1
    assert other.frontier.lead()
    other.frontier.rerank([(page, Rank(5, 0.25))], through=feedback.number)
    other.frontier.publish(b"new", {}, feedback.number)
    with pytest.raises(LearnsElsewhere):
        one.frontier.rerank([(page, Rank(5, 0.75))], through=feedback.number + 1)
    with pytest.raises(LearnsElsewhere):
        one.frontier.rerank([(page, Rank(5, 0.75))] * 1_500, through=feedback.number + 1)
    with pytest.raises(LearnsElsewhere):
        one.frontier.publish(b"old", {}, feedback.number + 1)
    assert (one.frontier.strategy_state(), one.frontier.version()) == (b"new", feedback.number)
    assert one.frontier.revised() == feedback.number
    score = one.database.connection.execute("SELECT score FROM url WHERE id = ?", (page,)).fetchone()[0]
    assert score == 0.25
