"""The fit of the weights that fusion starts from: it finds what links are worth, with evidence the right way round."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from geocrawl.errors import UsageError
from geocrawl.lab.training.fusion_fit import Worth, fit, generic_places
from geocrawl.priority.strategies.fusion import feature_names as see
from geocrawl.priority.strategies.fusion.value_model import probability

PLACES = {name: place for place, name in enumerate(see.generic_names())}


def worth(value: float, *names: str, offset: float = 0.0) -> Worth:
    return Worth(tuple(PLACES[name] for name in names), offset, value)


def level(weights: dict[str, float], family: str) -> list[float]:
    names = [name for name in PLACES if name.startswith(f"{family}:")]
    return [weights.get(name, 0.0) for name in names]


def test_weights_give_back_the_worth_that_made_the_examples() -> None:
    lot = random.Random(5)
    examples = []
    for _ in range(4000):
        odds = lot.randrange(9)
        examples.append(worth(float(lot.random() < probability(odds - 4.0)), "any", f"bayes:{odds}"))
    weights = fit(examples, penalty=0.1)
    for odds in range(9):
        fitted = probability(weights["any"] + weights.get(f"bayes:{odds}", 0.0))
        assert fitted == pytest.approx(probability(odds - 4.0), abs=0.08)


def test_more_evidence_never_counts_less() -> None:
    against = [worth(1.0 - n / 8, "any", f"bayes:{n}", "sub-queue:8") for n in range(9) for _ in range(30)]
    against += [worth(1.0, "any", "host so far:3 0"), worth(0.0, "any", "host so far:3 5")] * 50
    weights = fit(against, penalty=1.0)
    assert level(weights, "bayes") == sorted(level(weights, "bayes"))
    assert weights.get("host so far:3 5", 0.0) >= weights.get("host so far:3 0", 0.0)


def test_links_begin_in_the_order_of_the_sub_queues_whatever_the_examples_say() -> None:
    weights = fit([worth(1.0 - n / 8, "any", f"sub-queue:{n}") for n in range(9) for _ in range(30)])
    queues = level(weights, "sub-queue")
    assert all(below < above for below, above in pairwise(queues))
    assert len(queues) == 9


def test_visits_in_vain_make_an_arm_worse_and_finds_better() -> None:
    examples = [worth(0.0, "any", "host so far:5 0"), worth(1.0, "any", "host so far:5 5"), worth(0.3, "any")] * 40
    weights = fit(examples, penalty=1.0)
    assert weights["host so far:5 0"] < 0.0 < weights["host so far:5 5"]
    assert weights["host so far:6 5"] >= weights["host so far:5 5"]


def test_what_the_crawl_learnt_itself_is_not_learnt_again() -> None:
    examples = [worth(0.9, "any", "form:word", offset=2.2), worth(0.1, "any", offset=-2.2)] * 100
    weights = fit(examples, penalty=1.0)
    assert abs(weights.get("form:word", 0.0)) < 0.1


def test_examples_of_one_worth_teach_nothing() -> None:
    with pytest.raises(UsageError, match="name more worlds"):
        fit([])
    with pytest.raises(UsageError, match="name more worlds"):
        fit([worth(0.0, "any"), worth(0.0, "form:word")])


def test_generic_names_are_few_and_fall_into_buckets_of_their_own() -> None:
    assert len(generic_places()) == len(PLACES) < 600
