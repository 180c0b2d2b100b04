"""adaptive: a topic from the seeds alone, in any language; the centroid's formula; what comes back after a kill."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

import pytest

from geocrawl.errors import UsageError
from geocrawl.model import Document, Feedback, Judgement, Purpose, Rank, Relevance, State
from geocrawl.priority.strategies.adaptive import (
    BLIND_PAGES,
    LINK_TIER,
    MAX_SEEDS,
    Adaptive,
    Centroid,
    pack,
    page_words,
    unpack,
)
from tests.priority.documents import document, link, waiting

SAMPLES = {
    "en": (
        ("soil map of clay soils and sandy soils", "soil survey: clay, sand, erosion of soils"),
        "clay soils and sand in the soil survey",
        "football league results of the weekend",
    ),
    "de": (
        ("Bodenkarte der Tonböden und Sandböden", "Bodenkarte: Tonböden, Sandböden und die Erosion"),
        "die Bodenkarte zeigt Tonböden und Sandböden",
        "die Ergebnisse der Bundesliga vom Wochenende und die Tabelle",
    ),
    "zh": (
        ("土壤图展示黏土和砂土", "土壤普查：黏土、砂土和侵蚀"),
        "土壤普查中的黏土与砂土",
        "周末足球联赛的比赛结果",
    ),
    "ja": (
        ("土壌図は粘土と砂質土を示す", "土壌調査と粘土の分布データについて"),
        "土壌図と粘土の調査データ",
        "週末のサッカーの試合結果について",
    ),
}
"""Language → two seeds, a page on the topic, and one on another."""


def seed(text: str, *links: str) -> Document:
    return document(text, *(link(address) for address in links), depth=0)


def deeper(text: str) -> Document:
    return document(text, link("http://b.example/1"), depth=1)


def feedback(number: int, judged: Judgement, *, depth: int = 0, links: Sequence[int] = ()) -> Feedback:
    pairs = tuple((f"http://x.example/{id_}", id_) for id_ in links)
    return Feedback(
        number, number, Purpose.PAGE, depth, None, State.VISITED, "ok", links=pairs, features=judged.features
    )


def taught(*texts: str, **options: str) -> Adaptive:
    strategy = Adaptive({f"adaptive.{key}": value for key, value in options.items()})
    for number, text in enumerate(texts):
        strategy.learn(feedback(number, strategy.judge(seed(text)), links=[100 + number]))
    return strategy


def revised(strategy: Adaptive) -> dict[int, Rank]:
    batches = strategy.revise()
    assert batches is not None
    return dict(chain.from_iterable(batches))


@pytest.mark.parametrize("language", SAMPLES)
def test_the_seeds_alone_make_the_topic_in_every_language(language: str) -> None:
    seeds, near, far = SAMPLES[language]
    strategy = taught(*seeds)
    assert strategy.judge(deeper(near)).score > 0.4 > 0.1 > strategy.judge(deeper(far)).score


def test_a_priority_is_the_cosine_of_the_page_with_the_centre_by_hand() -> None:
    strategy = taught("clay clay sand", "clay peat")
    centroid = {"clay": (2 / 3 + 1 / 2) / 2, "sand": (1 / 3) / 2, "peat": (1 / 2) / 2}
    length = math.sqrt(sum(weight**2 for weight in centroid.values()))
    judged = strategy.judge(deeper("sand sand football"))
    assert judged.score == pytest.approx(centroid["sand"] / length)
    assert judged.ranks == (Rank(LINK_TIER, judged.score),)


def test_the_space_is_the_most_frequent_words_of_the_seeds() -> None:
    strategy = taught("clay clay clay sand sand peat", m="2")
    assert strategy.judge(deeper("peat")).score == 0.0
    assert strategy.judge(deeper("sand")).score > 0.0


def test_a_page_near_a_seed_moves_the_centre_by_the_formula() -> None:
    centroid = Centroid(10).with_seed(1, {"clay": 1, "sand": 1}).with_seed(2, {"clay": 2})
    before, v = centroid.mean(), centroid.vector({"sand": 3, "clay": 1, "football": 5})
    assert before == {"clay": 0.75, "sand": 0.25}
    assert v == {"sand": 0.75, "clay": 0.25}
    for u in range(3):
        centroid.correct(v)
        n = 2
        before = {word: (before[word] * (n + u) + v[word]) / (n + u + 1) for word in before}
        assert centroid.mean() == pytest.approx(before)
    assert centroid.updates == 3


def test_only_a_page_above_the_threshold_is_handed_back_as_a_correction() -> None:
    strategy = taught("clay sand")
    near, far = strategy.judge(deeper("clay sand")), strategy.judge(deeper("football"))
    assert near.features
    assert near.features
    assert far.features == b""
    strategy.learn(feedback(9, near, depth=1))
    strategy.learn(feedback(10, far, depth=1))
    assert strategy.explain(waiting())["corrections"] == 1
    assert strategy.revise() is not None
    assert strategy.revise() is None


def test_links_of_the_seeds_are_ranked_again_when_another_seed_is_read() -> None:
    strategy = taught("clay sand")
    alone = revised(strategy)
    assert alone.keys() == {100}
    assert alone[100].score == pytest.approx(1.0)
    strategy.learn(feedback(5, strategy.judge(seed("peat")), links=[100, 200]))
    both = revised(strategy)
    assert both.keys() == {100, 200}
    assert both[100].score < 1.0


def test_a_seed_is_judged_by_the_centre_that_it_becomes_part_of() -> None:
    strategy = taught("clay sand")
    judged = strategy.judge(seed("clay peat", "http://b.example/1"))
    strategy.learn(feedback(7, judged, links=[300]))
    assert judged.ranks[0] == revised(strategy)[300]


def test_a_seed_that_cannot_be_read_or_says_nothing_is_left_out_of_n() -> None:
    strategy = taught("clay", "", "the and of")
    failed = Feedback(8, 8, Purpose.PAGE, 0, None, State.FAILED, "http-404")
    strategy.learn(failed)
    assert strategy.explain(waiting())["seeds"] == 1


def test_a_seed_that_is_visited_again_takes_its_own_place() -> None:
    strategy = taught("clay")
    strategy.learn(feedback(0, strategy.judge(seed("peat"))))
    assert strategy.explain(waiting())["seeds"] == 1
    assert strategy.explain(waiting())["topic_words"] == ["peat"]


def test_no_more_than_fifty_seeds_make_the_topic() -> None:
    strategy = taught(*(f"clay{number}" for number in range(MAX_SEEDS)))
    further = strategy.judge(seed("peat"))
    assert further.features == b""
    assert strategy.explain(waiting())["seeds"] == MAX_SEEDS


def test_without_any_seed_a_few_pages_pass_and_then_it_is_an_error() -> None:
    strategy = Adaptive({})
    for _ in range(BLIND_PAGES):
        assert strategy.judge(deeper("clay")).ranks == (Rank(LINK_TIER, 0.0),)
    with pytest.raises(UsageError, match="none of them was read"):
        strategy.judge(deeper("clay"))
    strategy.learn(feedback(1, strategy.judge(seed("clay"))))
    assert strategy.judge(deeper("clay")).score == pytest.approx(1.0)


def test_a_hub_page_is_its_anchors_and_a_topic_page_its_prose() -> None:
    page = document("clay map sand", link("http://b.example/", "map"))._replace(prose="clay sand")
    assert page_words(page._replace(anchor_chars=13), 0.6) == "clay sand"
    assert page_words(page._replace(anchor_chars=14), 0.6) == "map"
    assert page_words(page._replace(prose="", anchor_chars=0), 0.6) == "clay map sand"


def test_a_dump_and_the_feedback_after_it_give_the_same_strategy() -> None:
    texts = ["clay sand soil", "soil survey clay", "soil peat"]
    whole = taught(*texts)
    corrections = [whole.judge(deeper(text)) for text in ("clay soil", "soil survey sand", "soil peat clay")]
    dumps = [whole.dump()]
    for number, judged in enumerate(corrections):
        whole.learn(feedback(20 + number, judged, depth=1))
        dumps.append(whole.dump())
    for start, state in enumerate(dumps):
        again = Adaptive({})
        again.load(state)
        for number in range(start, len(corrections)):
            again.learn(feedback(20 + number, corrections[number], depth=1))
        assert again.dump() == whole.dump()
        assert again.judge(deeper("sand clay")) == whole.judge(deeper("sand clay"))


def test_a_state_of_another_version_is_refused() -> None:
    for state in (b"{}", b"[]", b'{"strategy": "adaptive", "version": 99}', b"\xff"):
        with pytest.raises(UsageError, match="another version"):
            Adaptive({}).load(state)
    Adaptive({}).load(b"")


def test_a_memo_gives_its_numbers_back_to_the_last_bit() -> None:
    words = {"clay": 1 / 3, "土壤": 2.0, "böden": 0.1}
    assert unpack(pack(words)) == words


def test_a_link_of_another_strategy_is_ranked_by_the_level_of_its_page() -> None:
    strategy = Adaptive({})
    high, none = strategy.rank(waiting(page=Relevance.HIGH)), strategy.rank(waiting())
    assert high is not None
    assert none is not None
    assert strategy.seed_rank() > high > none
    assert strategy.rank(waiting(depth=0)) == strategy.seed_rank()
