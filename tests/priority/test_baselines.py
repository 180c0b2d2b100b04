"""Breadth-first and random order."""

from __future__ import annotations

import pytest

from geocrawl.errors import UsageError
from geocrawl.model import Rank
from geocrawl.priority.strategies.breadth_first import BreadthFirst
from geocrawl.priority.strategies.random_order import Random
from tests.priority.documents import document, link, url, waiting

ADDRESSES = [f"http://a.example/{number}" for number in range(50)]


def random_scores(seed: str, addresses: list[str]) -> dict[str, float]:
    ranks = Random({"random.seed": seed}).judge(document("", *map(link, addresses))).ranks
    return {address: rank.score for address, rank in zip(addresses, ranks, strict=True) if rank is not None}


def test_breadth_first_goes_by_depth_alone() -> None:
    strategy = BreadthFirst({})
    page = document("WMS", link("http://a.example/wms"), link("http://a.example/soup"), depth=3)
    assert strategy.by_depth
    assert strategy.judge(page).ranks == (Rank(0, -4.0), Rank(0, -4.0))
    assert strategy.rank(waiting(depth=4)) == Rank(0, -4.0)
    assert strategy.rank(waiting(depth=0)) == strategy.seed_rank() == Rank(0, 0.0)


def test_random_order_does_not_depend_on_the_order_of_discovery() -> None:
    assert random_scores("1", ADDRESSES) == random_scores("1", ADDRESSES[::-1])
    assert all(0.0 <= score < 1.0 for score in random_scores("1", ADDRESSES).values())
    assert len(set(random_scores("1", ADDRESSES).values())) == len(ADDRESSES)


def test_another_random_seed_gives_another_order() -> None:
    one, two = random_scores("1", ADDRESSES), random_scores("2", ADDRESSES)
    assert sorted(one, key=one.__getitem__) != sorted(two, key=two.__getitem__)


def test_random_ranks_a_waiting_link_as_on_its_page_and_seeds_first() -> None:
    strategy = Random({})
    (rank,) = strategy.judge(document("", link(ADDRESSES[7]))).ranks
    assert strategy.rank(waiting(ADDRESSES[7])) == rank
    assert rank is not None
    assert rank < strategy.seed_rank()
    assert strategy.rank(waiting(ADDRESSES[7], depth=0)) == strategy.seed_rank()


def test_two_spellings_of_one_page_have_one_place_in_the_random_order() -> None:
    spellings = ["http://a.example:80/x/../7", "http://A.example/7"]
    assert url(spellings[0]).identity == url(spellings[1]).identity
    assert len(set(random_scores("1", spellings).values())) == 1


@pytest.mark.parametrize("strategy", [BreadthFirst({}), Random({})])
def test_baselines_find_no_page_relevant_and_learn_nothing(strategy: BreadthFirst | Random) -> None:
    judgement = strategy.judge(document("WMS WMS"))
    assert (judgement.score, judgement.ranks) == (0.0, ())
    strategy.load(strategy.dump())
    assert strategy.dump() == b""
    assert strategy.revise() is None
    assert strategy.stride == 1
    assert strategy.explain(waiting())


@pytest.mark.parametrize("options", [{"bfs.depth": "3"}, {"bfs.": ""}])
def test_breadth_first_takes_no_options(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="known: none"):
        BreadthFirst(options)


def test_a_random_seed_is_a_whole_number() -> None:
    with pytest.raises(UsageError, match=r"random\.seed=1\.5.*whole number"):
        Random({"random.seed": "1.5"})
