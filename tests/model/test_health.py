"""The health of an endpoint over time: the state machine and the pace of probes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model.health import DAY_S, HOUR_S, JITTER, PACES, TRANSITIONS, Condition, Health, after

KEY = "maps.example.org/ows"


def live(*answers: bool, start: Condition | None = None, at: float = 1.0e9) -> tuple[Condition, float]:
    """The condition after these answers, each at the time when the one before made it due."""
    condition = start or Condition()
    for ok in answers:
        condition = after(condition, ok=ok, at=at, key=KEY)
        at = condition.due_at or at + DAY_S
    return condition, at


def test_one_valid_answer_makes_a_new_service_alive() -> None:
    assert live(True)[0].state is Health.ALIVE


def test_one_failure_puts_a_service_in_doubt_and_one_more_answer_does_not_clear_it() -> None:
    assert live(True, False)[0].state is Health.DEGRADED
    assert live(True, False, True)[0].state is Health.DEGRADED
    assert live(True, False, True, True)[0].state is Health.ALIVE


def test_three_failures_in_a_row_make_it_down() -> None:
    assert live(True, False, False)[0].state is Health.DEGRADED
    assert live(True, False, False, False)[0].state is Health.DOWN
    assert live(True, False, False, True, False, False)[0].state is Health.DEGRADED


def test_a_service_that_is_down_for_half_a_year_is_gone_and_never_due() -> None:
    condition, at = live(True, False, False, False)
    down = at
    while condition.state is Health.DOWN:
        condition = after(condition, ok=False, at=at, key=KEY)
        assert condition.due_at is None or condition.due_at - at <= 30 * DAY_S * (1 + JITTER)
        at = condition.due_at or at
    assert condition.state is Health.GONE and condition.due_at is None
    assert 180 * DAY_S <= at - down <= 180 * DAY_S + 60 * DAY_S


def test_an_address_that_never_worked_is_asked_ever_more_rarely_for_half_a_year_and_then_given_up() -> None:
    condition, at = live(*[False] * 9)
    assert condition.interval_s == 30 * DAY_S
    while condition.due_at is not None:
        assert condition.state is Health.NEW
        condition = after(condition, ok=False, at=at, key=KEY)
        at = condition.due_at or at
    assert condition.state is Health.GONE
    assert 180 * DAY_S <= at - 1.0e9 <= 240 * DAY_S


def test_a_service_that_was_announced_before_it_stood_is_found_when_it_stands() -> None:
    announced, at = live(*[False] * 6)
    assert live(True, start=announced, at=at)[0].state is Health.ALIVE


def test_a_dead_service_that_answers_again_must_prove_itself() -> None:
    dead, at = live(True, False, False, False)
    assert live(True, start=dead, at=at)[0].state is Health.DEGRADED
    assert live(True, True, start=dead, at=at)[0].state is Health.ALIVE


def test_stable_services_are_asked_rarely_and_failing_ones_soon() -> None:
    stable, at = live(*[True] * 12)
    assert stable.interval_s == 7 * DAY_S
    failing = after(stable, ok=False, at=at, key=KEY)
    assert failing.interval_s == HOUR_S and failing.due_at is not None and failing.due_at - at <= HOUR_S * (1 + JITTER)


def test_endpoints_found_together_are_not_asked_together_for_ever() -> None:
    due = {after(Condition(), ok=True, at=0.0, key=f"host-{i}/ows").due_at for i in range(200)}
    assert len(due) > 150


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.floats(0, 4e9))
def test_whatever_happens_the_next_probe_lies_ahead_within_the_pace_of_the_state(
    answers: list[bool], at: float
) -> None:
    condition = Condition()
    for ok in answers:
        condition = after(condition, ok=ok, at=at, key=KEY)
        pace = PACES[condition.state]
        assert (condition.due_at is None) == (pace is None)
        assert (condition.in_a_row > 0) == ok and condition.since <= at
        if pace is not None and condition.due_at is not None:
            assert pace.first_s <= condition.interval_s <= pace.longest_s
            assert 0 < condition.due_at - at <= pace.longest_s * (1 + JITTER) + 1
            at = condition.due_at


def test_every_state_can_be_reached_and_left_but_for_the_end() -> None:
    assert {row.then for row in TRANSITIONS} | {Health.NEW} == set(Health) == {row.state for row in TRANSITIONS}


@pytest.mark.parametrize("ok", [True, False])
def test_the_first_answer_starts_the_count(ok: bool) -> None:
    assert abs(after(Condition(), ok=ok, at=5.0, key=KEY).in_a_row) == 1
