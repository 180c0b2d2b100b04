"""The learner of a database: one process at a time, and what another one wrote meanwhile is safe from it."""

from __future__ import annotations

import pytest

from geocrawl.errors import LearnsElsewhere
from geocrawl.model import Feedback, Rank
from tests.support.lives import end
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


def test_one_process_learns_as_long_as_it_lives(worlds: tuple[World, World]) -> None:
    one, other = worlds
    assert one.frontier.lead() and one.frontier.lead() and not other.frontier.lead()
    one.frontier.resign()
    assert other.frontier.lead() and not one.frontier.lead()
    one.frontier.resign()
    assert not one.frontier.lead(), "only the learner can give the role up"
    other.store.close()
    assert one.frontier.lead()


def test_a_learner_that_slept_through_the_end_of_its_role_writes_nothing(worlds: tuple[World, World]) -> None:
    one, other = worlds
    one.seed("a.example/")
    assert one.frontier.lead()
    feedback = feedback_of(one, "a.example/1")
    (_, page) = feedback.links[0]
    end(one.database, "one:1")
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
