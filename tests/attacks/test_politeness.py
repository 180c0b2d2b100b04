"""Politeness by the log of the asked, small: `python -m benchmarks politeness` is the same at full size."""

from __future__ import annotations

import pytest

from tests.attacks.access_log import Access, asked_while_resting, gaps_s, most_at_once
from tests.attacks.politeness import measure

CLOCKS_S = 0.02
"""The log's clock is read when a request is read, a little after it was sent."""


@pytest.mark.long
def test_two_processes_killed_and_started_again_keep_to_what_each_host_asks_for() -> None:
    figures = measure(2, 25, kill_after_s=2.0)
    assert figures["most_at_once_a_host"] == 1
    assert figures["robots_violations"] == 0
    # A process that is killed between an answer and its settlement takes the Retry-After with it.
    assert figures["asked_before_retry_after"] <= figures["kills"]
    assert figures["hosts_not_finished"] == [], "a suspended host blocks nobody"
    for row in figures["hosts"]:
        assert row["smallest_gap_s"] >= row["demanded_s"] - CLOCKS_S, row


def test_the_log_shows_what_breaks_the_rules() -> None:
    log = [Access("plain-0.a.example", "/", 0.0, 1.0, 200), Access("plain-0.a.example", "/b", 0.5, 1.5, 429)]
    log.append(Access("plain-0.a.example", "/c", 2.0, 2.1, 200))
    assert most_at_once(log) == 2
    assert min(gaps_s(log, "plain")) == -0.5
    assert asked_while_resting(log) == 1
    first = Access("suspended-0.a.example", "/a", 0.0, 0.1, 503)
    log = [first, Access("suspended-0.a.example", "/b", 1.0, 1.1, 503)]
    assert asked_while_resting(log) == 0, "one address was in trouble"
    log.append(Access("suspended-0.a.example", "/a", 2.0, 2.1, 503))
    assert asked_while_resting(log) == 2, "its time had not come, and its host's neither"
