"""The best-first family: which similarities make a score, and what a rank is where the page is gone."""

from __future__ import annotations

import pytest

from geocrawl.errors import UsageError
from geocrawl.model import Rank, Relevance
from geocrawl.priority.strategies.best_first import LINK_TIER, BestFirst
from geocrawl.priority.text_terms import TextModel
from tests.priority.documents import document, link, waiting

MODEL = TextModel({"wms": 1.0, "map": 1.0}, {"en": {"wms": 3.0, "map": 4.0}}, threshold=0.6, typical=0.8)
PAGE = document("wms", link("http://a.example/1", "map"), link("http://a.example/2", "sport"), depth=1)


def make(name: str, **options: str) -> BestFirst:
    return BestFirst(name, MODEL, {f"{name}.{key}": value for key, value in options.items()})


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("best-first", (0.6 + 0.8, 0.6)),
        ("best-first-page", (0.6, 0.6)),
        ("best-first-anchor", (0.8, 0.0)),
        ("best-n-first", (0.6 + 0.8, 0.6)),
    ],
)
def test_a_score_is_the_similarity_of_page_and_anchor_or_one_of_them(name: str, scores: tuple[float, ...]) -> None:
    judgement = make(name).judge(PAGE)
    assert judgement.score == pytest.approx(0.6)
    ranks = [rank for rank in judgement.ranks if rank is not None]
    assert [rank.tier for rank in ranks] == [LINK_TIER, LINK_TIER]
    assert [rank.score for rank in ranks] == pytest.approx(list(scores))


def test_terms_that_tell_the_topic_may_be_selected() -> None:
    """With the best term alone, map, the axes and the topic are that term: "wms" has similarity 0, "map" 1."""
    model = TextModel(
        MODEL.idf, MODEL.topics, threshold=0.6, typical=0.8, selections={"gain": ["map", "wms"], "chi2": ["wms", "map"]}
    )
    page = document("map", link("http://a.example/1", "wms"), depth=1)
    for options, score in (
        ({}, 0.8),
        ({"features": "gain"}, 0.8),
        ({"features": "gain", "terms": "1"}, 1.0),
        ({"features": "chi2", "terms": "1"}, 0.0),
    ):
        strategy = BestFirst("best-first-page", model, {f"best-first-page.{k}": v for k, v in options.items()})
        assert strategy.judge(page).score == pytest.approx(score), options
    with pytest.raises(UsageError, match="features=nosuch: this text model has the features all, gain, chi2"):
        BestFirst("best-first-page", model, {"best-first-page.features": "nosuch"})


def test_seeds_come_before_all_links() -> None:
    strategy = make("best-first")
    assert strategy.seed_rank() > Rank(LINK_TIER, 2.0)
    assert strategy.rank(waiting(depth=0)) == strategy.seed_rank()


def test_only_best_n_first_takes_several_at_once() -> None:
    assert make("best-first").stride == 1
    assert make("best-n-first").stride == 10
    assert make("best-n-first", n="25").stride == 25
    with pytest.raises(UsageError, match=r"unknown option best-first\.n"):
        make("best-first", n="25")


def test_a_page_at_the_threshold_is_followed_unless_it_is_to_be_cut() -> None:
    assert None not in make("best-first").judge(PAGE).ranks
    assert make("best-first", cut="yes").judge(PAGE).ranks == (None, None)


def test_a_seed_is_followed_whatever_it_says() -> None:
    seed = document("sport", link("http://a.example/1", "map"), depth=0)
    (rank,) = make("best-first", cut="yes").judge(seed).ranks
    assert rank is not None
    assert rank.score == pytest.approx(0.8)


def test_a_link_of_another_strategy_is_ranked_by_its_anchor_and_the_level_of_its_page() -> None:
    strategy = make("best-first")
    rank = strategy.rank(waiting(anchor="map", page=Relevance.SOME))
    assert rank is not None
    assert rank.score == pytest.approx(0.6 + 0.8)
    assert strategy.rank(waiting(anchor="sport")) == Rank(LINK_TIER, 0.0)
    assert strategy.explain(waiting(anchor="map", page=Relevance.SOME)) == {
        "page_at_least": 0.6,
        "anchor_similarity": 0.8,
        "threshold": 0.6,
        "seed": False,
    }


def test_it_keeps_nothing() -> None:
    strategy = make("best-first")
    assert not strategy.learns
    assert strategy.revise() is None
    strategy.load(strategy.dump())
