"""Plain PageRank as an order of visits."""

from __future__ import annotations

import pytest

from geocrawl.errors import UsageError
from geocrawl.model import Rank
from geocrawl.priority.strategies.pagerank import PageRankStrategy
from tests.priority.documents import document, link, waiting
from tests.priority.feedback import approx, feedback

A, B = link("http://a.example/1"), link("http://a.example/2")


def pagerank(**options: str) -> PageRankStrategy:
    return PageRankStrategy({f"pagerank.{name}": value for name, value in options.items()})


def ranked(strategy: PageRankStrategy) -> dict[int, Rank | None]:
    return {id_: rank for batch in strategy.revise() or () for id_, rank in batch}


def test_a_new_link_is_worth_what_a_page_of_rank_one_gives_it_at_the_start() -> None:
    judgement = pagerank().judge(document("", A, B, A))
    assert judgement.ranks == (Rank(0, approx(0.15 + 0.85 / 2)),) * 3


def test_what_waits_gets_its_pagerank_and_what_was_visited_nothing() -> None:
    """1 → 2, 3; 2 → 3: PR(1) = 0.15, PR(2) = 0.15 + 0.85·0.15/2, PR(3) = PR(2) + 0.85·PR(2)."""
    strategy = pagerank(q="2", growth="1")
    strategy.learn(feedback(1, [("b", 2), ("c", 3)]))
    assert ranked(strategy) == {}
    strategy.learn(feedback(2, [("c", 3)]))
    two = 0.15 + 0.85 * 0.15 / 2
    assert ranked(strategy) == {3: Rank(0, approx(two + 0.85 * two, abs=1e-3))}
    assert ranked(strategy) == {}


def test_later_a_new_link_is_worth_what_a_page_of_mean_rank_gives_it() -> None:
    """1 → 2, and both were read: their mean is that of 0.15 and 0.15 + 0.85·0.15."""
    strategy = pagerank(q="2", growth="1")
    strategy.learn(feedback(1, [("b", 2)]))
    strategy.learn(feedback(2))
    mean = (0.15 + 0.15 + 0.85 * 0.15) / 2
    assert strategy.judge(document("", A, B)).ranks[0] == Rank(0, approx(0.15 + 0.85 * mean / 2, abs=1e-3))


def test_a_redirect_passes_its_rank_to_its_target() -> None:
    strategy = pagerank(q="1", growth="1")
    strategy.learn(feedback(1, [("b", 2)], reason="redirect"))
    strategy.learn(feedback(9, [("x", 10), ("y", 11)]))
    ranks = ranked(strategy)
    assert ranks[2] == Rank(0, approx(0.15 + 0.85 * 0.15, abs=1e-3))
    assert ranks[10] == Rank(0, approx(0.15 + 0.85 * 0.15 / 2, abs=1e-3))


def test_seeds_come_first_and_unknown_links_have_the_least_rank() -> None:
    strategy = pagerank()
    assert strategy.rank(waiting(depth=0)) == strategy.seed_rank()
    assert strategy.rank(waiting()) == Rank(0, approx(0.15))
    assert strategy.seed_rank() > Rank(0, 1e9)


def test_a_dump_and_the_feedback_after_it_give_the_same_strategy() -> None:
    whole, first, second = pagerank(q="5"), pagerank(q="5"), pagerank(q="5")
    history = [feedback(n, [(str(k), 100 + n * k % 23) for k in range(1, 6)]) for n in range(1, 61)]
    for each in history[:32]:
        whole.learn(each)
        first.learn(each)
    ranked(whole)
    second.load(first.dump())
    for each in history[32:]:
        whole.learn(each)
        second.learn(each)
        assert ranked(whole) == ranked(second)
    assert whole.dump() == second.dump()


def test_a_damping_of_one_would_never_end_and_is_refused() -> None:
    with pytest.raises(UsageError):
        pagerank(d="1")
