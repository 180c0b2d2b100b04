"""Some of the attacks on whole crawls, each in a process of its own; `python -m benchmarks attacks` runs all."""

from __future__ import annotations

import pytest

from tests.attacks.attacks import ATTACKS, measure
from tests.support.samples import sampled

CHEAP = [
    "decimal address",
    "IPv4 mapped into IPv6",
    "redirect to loopback",
    "header flood",
    "billion laughs",
    "external entities",
    "image bomb in a map",
    "SQL, terminal and log injection",
    "path loops",
]
MOST_MIB = 300


@pytest.mark.parametrize("name", sampled(CHEAP, "redirect to loopback", "image bomb in a map"))
def test_an_attack_costs_no_more_than_it_may(name: str) -> None:
    for row in measure(name):
        assert row["held"], row
        assert row["peak_mib"] < MOST_MIB, row


def test_those_tested_here_are_among_all() -> None:
    assert set(CHEAP) <= {attack.name for attack in ATTACKS}
