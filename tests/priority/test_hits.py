"""The fusion of Best-First and HITS: LinkScore, the graph's growth, what is followed, and a state that comes back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from geocrawl.errors import UsageError
from geocrawl.model import Link, Purpose, Rank, Relevance, State
from geocrawl.priority.strategies.hits import HitsStrategy
from geocrawl.priority.text_terms import TextModel
from tests.priority.documents import document, link, waiting
from tests.priority.feedback import approx, feedback

MODEL = TextModel({"wms": 1.0, "map": 1.0, "soup": 1.0}, {"en": {"wms": 1.0}}, threshold=0.5, typical=0.8)
ON_TOPIC, HALF, OFF_TOPIC = "wms", "wms map soup", "soup"
"""Similarities 1, 1/√3 and 0."""
WMS, PLAIN = link("http://a.example/1", "wms"), link("http://a.example/2", "soup")


def hits(**options: str) -> HitsStrategy:
    return HitsStrategy(MODEL, {f"hits.{name}": value for name, value in options.items()})


def read(strategy: HitsStrategy, id_: int, text: str, *links: tuple[int, Link]) -> dict[int, Rank | None]:
    """Judge a page and teach what it brought; returns what was ranked again then."""
    judgement = strategy.judge(document(text, *(each for _, each in links)))
    strategy.learn(feedback(id_, [(each.url.identity, target) for target, each in links], judgement.features))
    return ranked(strategy)


def ranked(strategy: HitsStrategy) -> dict[int, Rank | None]:
    batches: Iterable[Iterable[tuple[int, Rank | None]]] = strategy.revise() or ()
    return {id_: rank for batch in batches for id_, rank in batch}


def test_before_the_first_iteration_a_link_has_the_best_first_score() -> None:
    judgement = hits(a="0.5", b="0.25").judge(document(ON_TOPIC, WMS, PLAIN))
    assert judgement.ranks == (Rank(1, 0.75), Rank(1, 0.5))
    assert judgement.score == 1.0


def test_links_of_pages_at_or_below_the_threshold_are_served_last() -> None:
    judgement = hits(a="0.5", b="0.25").judge(document(OFF_TOPIC, WMS, PLAIN))
    assert judgement.ranks == (Rank(0, 0.25), Rank(0, 0.0))
    at = hits(threshold="1.0").judge(document(ON_TOPIC, WMS))
    assert at.ranks[0] is not None
    assert at.ranks[0].tier == 0


def test_links_of_irrelevant_pages_are_dropped_on_demand_as_in_the_paper() -> None:
    strategy = hits(drop="true")
    assert strategy.judge(document(OFF_TOPIC, WMS)).ranks == (None,)
    assert strategy.rank(waiting()) is None
    assert strategy.rank(waiting(page=Relevance.HIGH)) is not None


def test_every_p_downloads_what_waits_gets_its_link_score() -> None:
    """Both pages link to 11, one to 12: a(11) = 1, a(12) = 1/φ²·φ = 1/φ by the eigenvector; h of both is 0."""
    strategy = hits(a="0.25", b="0.25", alpha="0.8", p="2", growth="1")
    assert read(strategy, 1, ON_TOPIC, (11, WMS), (12, PLAIN)) == {}
    scores = read(strategy, 2, HALF, (11, WMS))
    authority = {11: 1.0, 12: 2 / (1 + 5**0.5)}
    assert scores.keys() == {11, 12}
    assert scores[11] == Rank(1, approx(0.25 + 0.25 + 0.5 * 0.8 * authority[11], abs=1e-3))
    assert scores[12] == Rank(1, approx(0.25 + 0.0 + 0.5 * 0.8 * authority[12], abs=1e-3))
    assert strategy.explain(waiting())["authority"] == 0.0


def test_only_relevant_pages_join_the_graph() -> None:
    strategy = hits(p="1", growth="1")
    assert read(strategy, 1, OFF_TOPIC, (11, WMS)) == {}
    assert strategy.counts["graph edges"] == 0
    assert read(strategy, 2, ON_TOPIC, (11, WMS)).keys() == {11}


def test_a_visited_page_is_not_ranked_again() -> None:
    strategy = hits(p="2", growth="1")
    read(strategy, 1, ON_TOPIC, (11, WMS), (12, PLAIN))
    assert read(strategy, 11, ON_TOPIC, (12, PLAIN)).keys() == {12}


def test_a_score_that_hardly_moved_is_not_written_again() -> None:
    strategy = hits(p="1", growth="1")
    assert read(strategy, 1, ON_TOPIC, (11, WMS)).keys() == {11}
    assert read(strategy, 2, OFF_TOPIC) == {}


def test_seeds_are_the_root_set_though_they_are_off_the_topic() -> None:
    seed = document(OFF_TOPIC, WMS, depth=0)
    dropped = hits(drop="true").judge(seed)
    root = hits(drop="true", root_seeds="true").judge(seed)
    assert dropped.ranks == (None,) and not dropped.features
    assert root.features
    assert [rank.tier for rank in root.ranks if rank] == [1]
    assert hits(drop="true", root_seeds="true").judge(document(OFF_TOPIC, WMS)).ranks == (None,)


@pytest.mark.parametrize(
    ("options", "threshold"),
    [
        ({}, 0.5),
        ({"quantile": "0"}, 0.0),
        ({"quantile": "0.5"}, 0.3),
        ({"quantile": "0.74"}, 0.3),
        ({"quantile": "1"}, 0.9),
        ({"quantile": "0.5", "threshold": "0.7"}, 0.7),
    ],
)
def test_the_threshold_is_a_quantile_of_the_scores_of_relevant_pages(options: dict[str, str], threshold: float) -> None:
    model = TextModel(MODEL.idf, MODEL.topics, threshold=0.5, typical=0.8, percentiles=[0.0, 0.1, 0.3, 0.6, 0.9])
    strategy = HitsStrategy(model, {f"hits.{name}": value for name, value in options.items()})
    half = strategy.judge(document(HALF, WMS))
    assert bool(half.features) == (threshold < 1 / 3**0.5)
    assert strategy.rank(waiting(page=Relevance.HIGH, anchor="soup")) == Rank(1, approx(0.35 * threshold))


def test_low_scores_are_served_last_or_dropped() -> None:
    for drop, expected in (("false", 0), ("true", None)):
        strategy = hits(p="1", growth="1", a="0", b="0.1", least="0.95", drop=drop)
        rank = read(strategy, 1, ON_TOPIC, (11, WMS))[11]
        assert (None if rank is None else rank.tier) == expected


def test_redirects_failures_and_probes_are_no_downloads() -> None:
    strategy = hits(p="1", growth="1")
    strategy.learn(feedback(1, [("http://a.example/1", 11)], reason="redirect"))
    strategy.learn(feedback(2, state=State.FAILED, reason="http-404"))
    strategy.learn(replace(feedback(3, [("http://a.example/1", 11)]), purpose=Purpose.PROBE, valid=True))
    assert ranked(strategy) == {}


def test_iterations_become_rarer_as_the_crawl_grows() -> None:
    strategy = hits(p="10", growth="1.5")
    due = []
    for page in range(1, 101):
        read_now = strategy.judge(document(ON_TOPIC, WMS))
        strategy.learn(feedback(page, [(WMS.url.identity, 1000 + page)], read_now.features))
        if strategy.revise() is not None:
            due.append(page)
    assert due == [10, 20, 30, 45, 68]


def test_a_dump_and_the_feedback_after_it_give_the_same_strategy() -> None:
    def feed(strategy: HitsStrategy, pages: range) -> list[dict[int, Rank | None]]:
        return [
            read(strategy, n, ON_TOPIC if n % 3 else OFF_TOPIC, *((100 + n * k % 17, WMS) for k in range(1, 6)))
            for n in pages
        ]

    whole, first, second = hits(p="7", growth="1.2"), hits(p="7", growth="1.2"), hits(p="7", growth="1.2")
    feed(whole, range(1, 31))
    feed(first, range(1, 31))
    second.load(first.dump())
    assert feed(second, range(31, 61)) == feed(whole, range(31, 61))
    assert second.dump() == whole.dump()


def test_asking_for_new_ranks_or_not_does_not_change_what_is_learnt() -> None:
    asked, unasked = hits(p="1", growth="1"), hits(p="1", growth="1")
    for n in range(1, 20):
        judgement = asked.judge(document(ON_TOPIC, WMS))
        for strategy in (asked, unasked):
            strategy.learn(feedback(n, [(WMS.url.identity, 50 + n % 5)], judgement.features))
        ranked(asked)
    assert asked.dump() == unasked.dump()


@pytest.mark.parametrize("options", [{"a": "0.7", "b": "0.4"}, {"alpha": "0.5"}, {"p": "0"}, {"x": "1"}])
def test_weights_that_break_the_papers_conditions_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        hits(**options)


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(UsageError, match="geocrawl-link-graph"):
        hits().load(b"{}\n")
