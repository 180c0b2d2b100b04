"""Bands group links by value for people, and leave the order to the value."""

from __future__ import annotations

import random

import pytest

from geocrawl.priority.registry import discards_zero, make_strategy, strategies, tier_names
from geocrawl.priority.strategies.fusion import SEED_TIER, TIERS
from geocrawl.priority.strategies.fusion.strategy import rank_of


def test_the_order_of_ranks_is_that_of_values() -> None:
    drawn = random.Random(4)
    values = [drawn.random() ** 6 for _ in range(2000)] + [0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0]
    assert sorted(values, key=rank_of) == sorted(values)
    assert {rank_of(value).tier for value in values} == set(range(SEED_TIER))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1.0, "a service expected in 2 visits"),
        (0.5, "a service expected in 2 visits"),
        (0.49, "a service expected in 5 visits"),
        (0.05, "a service expected in 20 visits"),
        (0.0049, "a service expected later, if at all"),
    ],
)
def test_a_band_is_named_by_its_yield(value: float, name: str) -> None:
    assert TIERS[rank_of(value).tier] == name


def test_every_strategy_names_its_tiers() -> None:
    for name in strategies():
        assert name == "gws" or make_strategy(name, {}).seed_rank().tier in tier_names(name, {}), name
    assert tier_names("nosuch", {}).keys() < tier_names("bfs", {}).keys()


def test_tiers_of_gws_are_the_sub_queues_unless_lambda_is_another() -> None:
    assert tier_names("gws", {}) == tier_names("gws:paper", {}) == tier_names("nosuch", {})
    equal = tier_names("gws", {"gws.lambda": "0.5"})
    assert equal[7] == "1.5: link relevance 2, page relevance 1; link relevance 1, page relevance 2"
    assert equal[0] == "0.0: link relevance 0, page relevance 0" and 3 not in equal  # five priorities are left


def test_the_paper_alone_discards_links_of_priority_zero() -> None:
    assert [discards_zero(name, {}) for name in ("gws:paper", "gws", "fusion", "")] == [True, False, False, False]
    assert discards_zero("gws", {"gws.drop_zero": "true"})
