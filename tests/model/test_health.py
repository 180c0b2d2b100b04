"""The health of an endpoint over time: the state machine and the pace of probes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model.availability import likely_availability
from geocrawl.model.health import (
    DAY_S,
    HOUR_S,
    JITTER,
    PACES,
    TRANSITIONS,
    UNSEEN_S,
    Condition,
    Event,
    Health,
    Speed,
    after,
    second_look_s,
    speed_after,
    usual_after,
)

KEY = "maps.example.org/ows"


def live(*answers: bool, start: Condition | None = None, at: float = 1.0e9) -> tuple[Condition, float]:
    """The condition after these answers, each at the time when the one before made it due."""
    condition = start or Condition()
    for ok in answers:
        condition = after(condition, Event.OK if ok else Event.FAIL, at=at, key=KEY)
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


@pytest.mark.parametrize(("failures", "then"), [(1, Health.DEGRADED), (2, Health.DOWN)])
def test_three_failures_in_a_row_make_it_down_although_nobody_could_ask_meanwhile(failures: int, then: Health) -> None:
    doubted, at = live(True, *[False] * failures)
    unconfirmed = after(doubted, Event.PASSED, at=at + UNSEEN_S, key=KEY)
    assert unconfirmed.state is Health.UNCONFIRMED
    assert live(False, start=unconfirmed, at=at + UNSEEN_S)[0].state is then


def test_a_service_that_is_down_for_half_a_year_is_gone_and_never_due() -> None:
    condition, at = live(True, False, False, False)
    down = at
    while condition.state is Health.DOWN:
        condition = after(condition, Event.FAIL, at=at, key=KEY)
        assert condition.due_at is None or condition.due_at - at <= 30 * DAY_S * (1 + JITTER)
        at = condition.due_at or at
    assert condition.state is Health.GONE and condition.due_at is None
    assert 180 * DAY_S <= at - down <= 180 * DAY_S + 60 * DAY_S


def test_an_address_that_never_worked_is_asked_ever_more_rarely_for_half_a_year_and_then_given_up() -> None:
    condition, at = live(*[False] * 9)
    assert condition.interval_s == 30 * DAY_S
    while condition.due_at is not None:
        assert condition.state is Health.NEW
        condition = after(condition, Event.FAIL, at=at, key=KEY)
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
    failing = after(stable, Event.FAIL, at=at, key=KEY)
    assert failing.interval_s == HOUR_S and failing.due_at is not None and failing.due_at - at <= HOUR_S * (1 + JITTER)


def test_endpoints_found_together_are_not_asked_together_for_ever() -> None:
    due = {after(Condition(), Event.OK, at=0.0, key=f"host-{i}/ows").due_at for i in range(200)}
    assert len(due) > 150


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.floats(0, 4e9))
def test_whatever_happens_the_next_probe_lies_ahead_within_the_pace_of_the_state(
    answers: list[bool], at: float
) -> None:
    condition = Condition()
    for ok in answers:
        condition = after(condition, Event.OK if ok else Event.FAIL, at=at, key=KEY)
        pace = PACES[condition.state]
        assert (condition.due_at is None) == (pace is None)
        assert (condition.in_a_row > 0) == ok and condition.since <= at
        if pace is not None and condition.due_at is not None:
            assert pace.first_s <= condition.interval_s <= pace.longest_s
            assert 0 < condition.due_at - at <= pace.longest_s * (1 + JITTER) + 1
            at = condition.due_at


def test_every_state_can_be_reached_and_left_but_for_the_end() -> None:
    assert {row.then for row in TRANSITIONS} | {Health.NEW} == set(Health) == {row.state for row in TRANSITIONS}


@pytest.mark.parametrize("event", [Event.OK, Event.FAIL])
def test_the_first_answer_starts_the_count(event: Event) -> None:
    assert abs(after(Condition(), event, at=5.0, key=KEY).in_a_row) == 1


# --------------------------------------------------------------------------- what is no verdict


def test_a_service_that_may_not_be_asked_is_called_alive_for_two_weeks_only() -> None:
    alive, at = live(True)
    for days in range(1, 14):
        alive = after(alive, Event.UNASKED, at=1.0e9 + days * DAY_S, key=KEY, wait_s=DAY_S)
        assert alive.state is Health.ALIVE and alive.in_a_row == 1
        assert alive.due_at == 1.0e9 + (days + 1) * DAY_S
    unconfirmed = after(alive, Event.UNASKED, at=1.0e9 + 14 * DAY_S, key=KEY, wait_s=DAY_S)
    assert unconfirmed.state is Health.UNCONFIRMED
    assert after(unconfirmed, Event.OK, at=at + 1, key=KEY).state is Health.ALIVE
    assert after(unconfirmed, Event.FAIL, at=at + 1, key=KEY).state is Health.DEGRADED


def test_a_service_that_nobody_asks_is_called_alive_for_a_month_only() -> None:
    for state in (live(True)[0], live(True, False)[0]):
        assert after(state, Event.PASSED, at=1.0e9 + 29 * DAY_S, key=KEY) == state
        aged = after(state, Event.PASSED, at=1.0e9 + 31 * DAY_S, key=KEY)
        assert aged.state is Health.UNCONFIRMED and aged.due_at == state.due_at


def test_a_server_that_asks_for_patience_runs_so_that_its_service_never_dies_of_it() -> None:
    condition, _ = live(True)
    for hours in range(1, 24 * 300):
        condition = after(condition, Event.LIMITED, at=1.0e9 + hours * HOUR_S, key=KEY, wait_s=HOUR_S)
    assert condition.state is Health.UNCONFIRMED and condition.in_a_row == 1
    assert condition.due_at is not None


def test_failures_between_which_a_server_asks_for_patience_are_not_in_a_row() -> None:
    condition, at = live(True, False)
    for event in (Event.LIMITED, Event.FAIL, Event.LIMITED, Event.FAIL, Event.LIMITED):
        at += DAY_S
        condition = after(condition, event, at=at, key=KEY)
        assert condition.state is Health.DEGRADED
    down = after(
        after(after(condition, Event.FAIL, at=at, key=KEY), Event.FAIL, at=at, key=KEY), Event.FAIL, at=at, key=KEY
    )
    assert down.state is Health.DOWN


def test_half_a_year_in_which_nobody_looked_buries_no_service() -> None:
    down, at = live(True, False, False, False)
    at += 200 * DAY_S
    failures, condition = 0, down
    while condition.due_at is not None:
        condition = after(condition, Event.FAIL, at=at, key=KEY)
        failures, at = failures + 1, condition.due_at or at
    assert condition.state is Health.GONE and failures > 4


@given(st.lists(st.floats(1.0, 400.0), min_size=1, max_size=40))
def test_a_death_has_failures_on_four_days_whatever_the_gaps_between_probes(gaps: list[float]) -> None:
    condition, at = live(True, False, False, False)
    days = {at // DAY_S}
    for gap in gaps:
        last, at = at, at + gap * DAY_S
        condition = after(condition, Event.FAIL, at=at, key=KEY)
        days.add(at // DAY_S)
        if condition.due_at is None:
            assert len(days) >= 4 and at - last <= 60 * DAY_S
            return


def test_a_share_of_few_probes_is_not_named_and_one_of_many_has_bounds() -> None:
    assert likely_availability(99, 99) is None
    low, high = likely_availability(950, 1000) or (0.0, 0.0)
    assert (round(low, 4), round(high, 4)) == (0.9347, 0.9619), "Wilson's interval of 95 % at 95 %"
    low, high = likely_availability(8640, 8640) or (0.0, 0.0)
    assert 0.9995 < low < high == pytest.approx(1.0), "30 days of answers do not prove 100 %"


def test_a_watched_endpoint_keeps_step_and_is_asked_soon_while_in_doubt() -> None:
    known = Condition(Health.ALIVE, 1.0, 5, 300.0, due_at=1000.0, judged_at=700.0, confirmed_at=700.0)
    late = after(known, Event.OK, at=1040.0, key="a", every_s=300.0)
    assert late.due_at == 1300.0, "lateness does not add up"
    failed = after(known, Event.FAIL, at=1040.0, key="a", every_s=300.0)
    assert failed.due_at == 1040.0 + second_look_s(300.0) == 1100.0
    assert after(failed, Event.FAIL, at=1100.0, key="a", every_s=300.0).due_at == 1160.0
    assert after(known, Event.OK, at=1040.0, key="a").due_at != 1300.0, "unwatched: the pace of its health"


def test_a_watched_service_is_slow_after_two_slow_answers_and_usual_after_two_as_before() -> None:
    speed, usual, seen = Speed.USUAL, None, list[Speed]()
    for place, answer_ms in enumerate(
        [200.0] * 12 + [9000.0, 200.0, 9000.0, 9000.0, 9000.0, 200.0, 9000.0, 200.0, 200.0]
    ):
        speed = speed_after(speed, usual, answer_ms, place)
        usual = usual_after(speed, usual, answer_ms)
        seen.append(speed)
    once, slow, again, well = Speed.ONCE_SLOW, Speed.SLOW, Speed.ONCE_USUAL, Speed.USUAL
    assert seen == [*[well] * 12, once, well, once, slow, slow, again, slow, again, well]
    assert usual is not None and 180 < usual < 225
    assert speed_after(well, 200.0, 9000.0, 11) is well, "too few answers"
    assert speed_after(well, 200.0, 1100.0, 99) is well, "a second more is nothing"
