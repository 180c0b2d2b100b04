"""The strategy of the paper: its equations, its sub-queues, its options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.errors import UsageError
from geocrawl.model import Rank, Relevance, priority
from geocrawl.ports import MeasuresLevels
from geocrawl.priority.nearness import LinkModel
from geocrawl.priority.registry import make_strategy
from geocrawl.priority.strategies.gws import GwsStrategy
from tests.priority.documents import LINKS, TOPIC, document, link, waiting

ON_TOPIC = "WMS layer WMS map WMS layer"
NEAR_TOPIC = "A map of the town, with a map of its bus lines."
OFF_TOPIC = "Recipes for soup and bread."
KEYWORD, ABBREVIATION, PLAIN = "http://a.example/wms/list", "http://a.example/gis/", "http://a.example/soup"


def gws(**options: str) -> GwsStrategy:
    return GwsStrategy(TOPIC, LINKS, {f"gws.{name.rstrip('_')}": value for name, value in options.items()})


@pytest.mark.parametrize(
    ("text", "address", "tier"),
    [
        (ON_TOPIC, KEYWORD, 8),
        (NEAR_TOPIC, KEYWORD, 7),
        (OFF_TOPIC, KEYWORD, 6),
        (ON_TOPIC, ABBREVIATION, 5),
        (NEAR_TOPIC, ABBREVIATION, 4),
        (OFF_TOPIC, ABBREVIATION, 3),
        (ON_TOPIC, PLAIN, 2),
        (NEAR_TOPIC, PLAIN, 1),
        (OFF_TOPIC, PLAIN, 0),
    ],
)
def test_the_nine_priorities_are_eight_sub_queues_and_a_last_one(text: str, address: str, tier: int) -> None:
    judgement = gws().judge(document(text, link(address)))
    assert judgement.ranks == (Rank(tier, 0.0),)


def test_the_nine_priorities_are_those_of_the_paper() -> None:
    values = sorted({priority(0.7, link_level, page) for link_level in Relevance for page in Relevance})
    assert values == [0, 0.3, 0.6, 0.7, 1.0, 1.3, 1.4, 1.7, 2.0]


def test_a_link_of_priority_zero_is_dropped_on_demand() -> None:
    strategy = gws(drop_zero="true")
    page = document(OFF_TOPIC, link(PLAIN), link(KEYWORD))
    assert strategy.judge(page).ranks == (None, Rank(6))
    assert strategy.rank(waiting(PLAIN)) is None


@pytest.mark.parametrize(("both", "tier"), [("1", 3), ("2", 6)])
def test_wms_and_ows_are_abbreviations_of_level_one_by_equation_three(both: str, tier: int) -> None:
    """The page is off the topic, so the priority is 0.7 · 1 = 0.7 (tier 3), or 0.7 · 2 = 1.4 (tier 6)."""
    in_both = LinkModel({"en": ("wms", "ows", "getcapabilities")}, ("wms", "ows", "gis"))
    strategy = GwsStrategy(TOPIC, in_both, {"gws.both": both})
    links = [link("http://a.example/wms/"), link("http://a.example/1", "OWS"), link("http://a.example/getcapabilities")]
    assert strategy.judge(document(OFF_TOPIC, *links)).ranks == (Rank(tier), Rank(tier), Rank(6))


def test_the_cap_of_a_keyword_is_a_setting_and_the_paper_has_none() -> None:
    """Of the shipped Chinese topic, wms alone has r = 0.65 with the cap and 0.73 ≥ 0.68 without."""
    page = document("WMS")
    for name, options, level in (
        ("gws", {}, Relevance.SOME),
        ("gws", {"gws.cap": "0.7"}, Relevance.HIGH),
        ("gws:paper", {"gws.standard": "false"}, Relevance.HIGH),
        ("gws:paper", {"gws.standard": "false", "gws.cap": "0.65"}, Relevance.SOME),
    ):
        strategy = make_strategy(name, options)
        assert isinstance(strategy, MeasuresLevels)
        assert strategy.levels.page(page) is level, (name, options)


def test_page_levels_change_at_the_thresholds_of_the_paper() -> None:
    strategy = gws()
    levels = [strategy.levels.level(r) for r in (1.0, 0.68, 0.6799, 0.01, 0.0099, 0.0)]
    assert levels == [2, 2, 1, 1, 0, 0]


def test_thresholds_can_be_set() -> None:
    strategy = gws(high="0.9", low="0.5")
    assert [strategy.levels.level(r) for r in (0.9, 0.68, 0.4)] == [2, 1, 0]


def test_the_title_weighs_as_much_as_the_body() -> None:
    page = document("A map " + "of soup " * 50, title="WMS layer")
    assert gws().levels.page(page) is Relevance.HIGH
    assert gws(title_weight="0").levels.page(page) is Relevance.SOME


def test_the_score_of_a_page_is_its_cosine() -> None:
    assert gws().judge(document("WMS WMS WMS layer layer map")).score == pytest.approx(1.0)
    assert gws().judge(document(OFF_TOPIC)).score == 0.0


def test_an_empty_page_is_of_level_zero() -> None:
    judgement = gws().judge(document())
    assert (gws().levels.page(document()), judgement.score, judgement.ranks) == (Relevance.NONE, 0.0, ())


def test_seeds_enter_the_highest_sub_queue() -> None:
    assert gws().seed_rank() == Rank(8)
    assert gws().rank(waiting(PLAIN, depth=0)) == Rank(8)


def test_a_waiting_link_is_ranked_as_on_its_page() -> None:
    strategy = gws()
    for page in Relevance:
        assert strategy.rank(waiting(ABBREVIATION, page=page)) == Rank(3 + page)


def test_the_parts_of_a_rank_are_explained() -> None:
    explained = gws().explain(waiting("http://a.example/x", "WMS 地图服务", page=Relevance.SOME))
    assert explained["keywords"] == ["wms", "地图服务"]
    assert explained["priority"] == 1.7


def test_with_another_lambda_tiers_follow_the_order_of_priorities() -> None:
    pages_only = gws(lambda_="0")
    tiers = [pages_only.judge(document(text, link(KEYWORD), link(PLAIN))).ranks for text in (ON_TOPIC, NEAR_TOPIC)]
    assert tiers == [(Rank(8), Rank(8)), (Rank(7), Rank(7))]
    assert pages_only.judge(document(OFF_TOPIC, link(KEYWORD))).ranks == (Rank(0),)


@given(st.floats(0.0, 1.0))
def test_a_higher_priority_never_has_a_lower_tier(lambda_: float) -> None:
    strategy = gws(lambda_=repr(lambda_))
    addresses = {0: PLAIN, 1: ABBREVIATION, 2: KEYWORD}
    ranked = []
    for page in Relevance:
        for level, address in addresses.items():
            rank = strategy.rank(waiting(address, page=page))
            assert rank is not None
            ranked.append((priority(lambda_, Relevance(level), page), rank.tier))
    for value, tier in ranked:
        assert 0 <= tier <= 8
        assert (tier == 0) == (value == 0)
        assert all(tier >= other for less, other in ranked if less <= value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gws.lamda": "0.7"}, ["gws.lamda", "did you mean gws.lambda", "gws.drop_zero"]),
        ({"gws.lambda": "1.7"}, ["gws.lambda=1.7", "from 0 to 1"]),
        ({"gws.lambda": "nan"}, ["from 0 to 1"]),
        ({"gws.high": "much"}, ["gws.high=much", "a number"]),
        ({"gws.drop_zero": "perhaps"}, ["true or false"]),
        ({"gws.low": "0.9"}, ["gws.low=0.9", "gws.high=0.68"]),
    ],
)
def test_an_unknown_option_or_a_bad_value_is_named(options: dict[str, str], words: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        GwsStrategy(TOPIC, LINKS, options)
    assert all(word in str(caught.value) for word in words)


def test_options_of_other_strategies_are_left_alone() -> None:
    assert GwsStrategy(TOPIC, LINKS, {"random.seed": "3"}).seed_rank() == Rank(8)


def test_it_learns_nothing() -> None:
    strategy = gws()
    strategy.load(strategy.dump())
    assert strategy.dump() == b""
    assert strategy.revise() is None
