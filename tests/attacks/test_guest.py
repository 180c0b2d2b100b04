"""Crawls that share a catalogue across namespaces, and hosts that are one machine."""

from __future__ import annotations

import pytest

from tests.attacks import guest
from tests.support.parts import NAMESPACES, lack


@pytest.fixture(scope="module", autouse=True)
def namespaces() -> None:
    if not guest.can_unshare():
        lack(NAMESPACES)


@pytest.mark.long
def test_strangers_resets_a_signal_and_two_pid_namespaces_make_no_bad_guest() -> None:
    figures = guest.measure_two_namespaces(9, 1, 8, stop_after_s=3.0)
    assert figures["most_at_once_a_host"] == 1
    assert figures["gaps_below_the_delay"] == 0
    assert figures["forbidden_requests"] == figures["asked_before_retry_after"] == 0
    assert figures["strangers_visited"] == 9


def test_each_of_many_names_on_one_address_keeps_its_own_pace() -> None:
    figures = guest.measure_names_on_one_address(6, 8)
    assert figures["names_visited"] == 6 and figures["most_at_once_a_host"] == 1
    assert figures["smallest_gap_a_host_s"] >= guest.NAMES_DELAY_S - guest.CLOCKS_S
