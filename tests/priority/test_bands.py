"""Bands group links by value for people, and leave the order to the value."""

from __future__ import annotations

import random

import pytest

from geocrawl.priority.fusion.bands import SEED_TIER, TIERS, rank_of
from geocrawl.priority.registry import strategies, tier_names


def test_the_order_of_ranks_is_that_of_values() -> None:
    drawn = random.Random(4)
    values = [drawn.random() ** 6 for _ in range(2000)] + [0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
    assert sorted(values, key=rank_of) == sorted(values)
    assert {rank_of(value).tier for value in values} == set(range(SEED_TIER))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1.0, "one service in 2 pages or fewer"),
        (0.5, "one service in 2 pages or fewer"),
        (0.49, "one service in 5 pages or fewer"),
        (0.05, "one service in 20 pages or fewer"),
        (0.0049, "one service in more than 200 pages"),
    ],
)
def test_a_band_is_named_by_its_yield(value: float, name: str) -> None:
    assert TIERS[rank_of(value).tier] == name


def test_every_strategy_names_its_tiers() -> None:
    for name in strategies():
        assert tier_names(name), name
    assert tier_names("gws:paper") == tier_names("gws")
    assert not tier_names("nosuch")
