"""The classifier of links: figures worked out by hand, its order, and what it learns from its own finds."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.model import Feedback, Link, Purpose, Rank, State
from geocrawl.priority.models import shipped_models
from geocrawl.priority.naive_bayes import (
    BAYES_FILE,
    BAYES_PAGES_FILE,
    BayesModel,
    FeatureReader,
    for_links,
    read_bayes,
    write_bayes,
)
from geocrawl.priority.registry import make_strategy
from geocrawl.priority.strategies.bayes import (
    MAX_PACKED_BYTES,
    BayesStrategy,
    Sample,
    model_file,
    pack_features,
    train_bayes,
    unpack_features,
)
from tests.priority.documents import document, url, waiting

SAMPLES = [
    Sample("wms", ("layers",), True, "a.example"),
    Sample("wms maps", (), True, "b.example"),
    Sample("soup", ("layers",), False, "a.example"),
    Sample("maps", ("soup",), False, "d.example"),
    Sample("soup", ("soup",), False, "c.example"),
]
TOY = train_bayes(SAMPLES, ["wms"])


def beside(anchor: str, context: str = "", address: str = "http://a.example/x") -> Link:
    return Link(url(address), anchor, context)


def scores(strategy: BayesStrategy, *links: Link) -> list[float]:
    return [rank.score for rank in strategy.judge(document("", *links)).ranks if rank is not None]


# --------------------------------------------------------------------------- probabilities


def test_a_model_counts_the_samples_that_have_a_feature_and_leaves_out_words_of_one_site() -> None:
    assert (TOY.positive, TOY.negative, TOY.with_context) == (2, 3, (1, 3))
    assert TOY.features == {
        "anchor map": (1, 1),
        "anchor soup": (0, 2),
        "anchor wms": (2, 0),
        "context soup": (0, 2),
        "term in anchor": (2, 0),
    }


def test_a_score_is_the_probability_of_the_class_given_the_features_that_are_present() -> None:
    # P(+) = 3/7, P(-) = 4/7; with n_+ = 2 and n_- = 3: P(wms|+) = 3/4, P(wms|-) = 1/5; so is P(term in anchor|c);
    # P(map|+) = 2/4, P(map|-) = 2/5; the context "soup" against all samples, with or without context: 1/4 and 3/5.
    plus, minus = 3 / 7 * (3 / 4) ** 2 * (2 / 4) * (1 / 4), 4 / 7 * (1 / 5) ** 2 * (2 / 5) * (3 / 5)
    assert scores(BayesStrategy(TOY, {}), beside("WMS maps", "soup")) == [pytest.approx(plus / (plus + minus))]


def test_the_anchor_alone_is_read_without_context_and_lexicon() -> None:
    """P(+ | wms, map) of the anchor's two words: 3/7 · 3/4 · 2/4 against 4/7 · 1/5 · 2/5."""
    plus, minus = 3 / 7 * (3 / 4) * (2 / 4), 4 / 7 * (1 / 5) * (2 / 5)
    strategy = BayesStrategy(TOY, {"bayes.anchors": "true"})
    assert scores(strategy, beside("WMS maps", "soup")) == [pytest.approx(plus / (plus + minus))]


PAGES = train_bayes(
    [
        Sample("the wms of the survey has layers", (), True, "a.example"),
        Sample("wms layers", (), True, "b.example"),
        Sample("soup with layers", (), False, "c.example"),
        Sample("soup of the day", (), False, "d.example"),
    ],
    ["wms"],
)


def test_the_control_reads_a_link_by_the_words_of_pages() -> None:
    """P(+) = P(−); wms in 2 of 2 pages and 0 of 2, so are pages with a term; layers in 2 and 1; soup in 0 and 2."""
    strategy = BayesStrategy(for_links(PAGES), {})
    wms = (3 / 4) ** 2 / ((3 / 4) ** 2 + (1 / 4) ** 2)
    soup = (3 / 4) * (1 / 4) / ((3 / 4) * (1 / 4) + (2 / 4) * (3 / 4))
    assert scores(strategy, beside("WMS")) == scores(strategy, beside("", "WMS")) == [pytest.approx(wms)]
    assert scores(strategy, beside("layers", "soup")) == [pytest.approx(soup)]


def test_the_shipped_control_was_trained_on_pages_of_no_recorded_world() -> None:
    model = read_bayes(shipped_models() / BAYES_PAGES_FILE)
    assert (model.positive, model.negative, model.with_context) == (92, 207, (0, 0))
    assert {"portal", "agency", "mixed"} == {each["file"] for each in model.made["exclude"]}  # type: ignore[attr-defined]
    good, poor = (make_strategy("bayes:pages", {}).rank(waiting(anchor=a)) for a in ("WMS GetCapabilities", "Twitter"))
    assert good is not None and poor is not None and good > poor


def test_a_link_without_known_words_has_the_probability_of_the_class() -> None:
    assert scores(BayesStrategy(TOY, {}), beside("unheard"), beside("")) == [pytest.approx(3 / 7)] * 2


def test_a_word_counts_once_however_often_it_stands_there() -> None:
    strategy = BayesStrategy(TOY, {})
    once, often = beside("soup", "soup"), beside("soup soup soup", "soup soup")
    assert scores(strategy, once) == scores(strategy, often)


WORDS = st.sampled_from(["wms", "maps", "layers", "soup", "天地图", "kartendienst", "地図サービス", "x1"])
TEXTS = st.lists(WORDS, max_size=5).map(" ".join)


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=6))
def test_every_link_is_ranked_and_scores_are_probabilities(texts: list[tuple[str, str]]) -> None:
    links = [beside(anchor, context) for anchor, context in texts]
    judgement = BayesStrategy(TOY, {"bayes.online": "false"}).judge(document("", *links))
    assert len(judgement.ranks) == len(links)
    assert all(rank is not None and rank.tier == 1 and 0.0 <= rank.score <= 1.0 for rank in judgement.ranks)
    assert judgement.features == b""


@given(WORDS, st.integers(1, 5))
def test_more_positive_samples_of_a_word_never_lower_its_links(word: str, more: int) -> None:
    added = [Sample(word, (), True, f"{number}.example") for number in range(more)]
    richer = train_bayes([*SAMPLES, *added], ["wms"], least=1)
    before, after = BayesStrategy(train_bayes(SAMPLES, ["wms"], least=1), {}), BayesStrategy(richer, {})
    assert scores(after, beside(word))[0] >= scores(before, beside(word))[0] - 1e-12


def test_extreme_evidence_stays_a_probability() -> None:
    words = [f"w{number}" for number in range(800)]
    model = BayesModel(10**6, 10**6, (0, 0), {f"anchor {word}": (10**6, 0) for word in words}, ())
    assert scores(BayesStrategy(model, {}), beside(" ".join(words))) == [1.0]
    opposite = replace(model, features=dict.fromkeys(model.features, (0, 10**6)))
    assert 0.0 <= scores(BayesStrategy(opposite, {}), beside(" ".join(words)))[0] < 1e-300


def test_seeds_come_before_all_links_and_a_waiting_link_goes_by_its_anchor() -> None:
    strategy = BayesStrategy(TOY, {})
    assert strategy.seed_rank() == strategy.rank(waiting(depth=0)) > Rank(1, 1.0)
    assert strategy.rank(waiting(anchor="WMS maps")) == strategy.judge(document("", beside("WMS maps"))).ranks[0]


def test_an_explanation_names_the_features_that_weighed_most() -> None:
    parts = BayesStrategy(TOY, {}).explain(waiting(anchor="WMS soup pot"))
    assert list(parts["features"])[:2] == ["anchor wms", "term in anchor"]  # type: ignore[call-overload]
    assert parts["unknown"] == ["anchor pot"]


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(UsageError, match=r"bayes\.onlin.*did you mean bayes\.online"):
        BayesStrategy(TOY, {"bayes.onlin": "true"})
    assert model_file({}) is None


# --------------------------------------------------------------------------- the file


def test_a_written_model_is_read_as_it_was(tmp_path: Path) -> None:
    model = replace(TOY, made={"how": "by hand"})
    write_bayes(model, tmp_path / "m.json")
    assert read_bayes(tmp_path / "m.json") == model


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "geocrawl-bayes-links", "version": 9}', "version 9, this geocrawl reads 1"),
        ('{"format": "geocrawl-link-model", "version": 1}', "no geocrawl-bayes-links"),
        ("[]", "no geocrawl-bayes-links"),
        ("{", "not JSON"),
        ('{"format": "geocrawl-bayes-links", "version": 1, "samples": {}}', "malformed"),
    ],
)
def test_a_file_that_is_no_model_of_ours_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "m.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=message):
        make_strategy("bayes", {"bayes.model": str(file)})


def test_counts_that_cannot_be_are_refused(tmp_path: Path) -> None:
    write_bayes(replace(TOY, features={**TOY.features, "anchor wms": (7, 0)}), tmp_path / "m.json")
    with pytest.raises(UsageError, match="more samples with 'anchor wms' than samples"):
        read_bayes(tmp_path / "m.json")
    with pytest.raises(EnvironmentFault, match="cannot be read"):
        read_bayes(tmp_path / "none.json")


def test_the_shipped_model_prefers_links_to_services_in_each_of_its_languages() -> None:
    model = read_bayes(shipped_models() / BAYES_FILE)
    strategy = BayesStrategy(model, {})
    good = ["WMS GetCapabilities", "OGC web services", "Geodienste", "地图服务 WMS", "地理空間情報 WMS"]
    poor = ["Twitter", "Android", "微博", "Python reference", "LibreOffice"]
    ranked = scores(strategy, *[beside(anchor, "…") for link in zip(good, poor, strict=True) for anchor in link])
    assert all(good > poor for good, poor in zip(ranked[::2], ranked[1::2], strict=True))
    assert {"portal", "agency", "mixed"} == {each["file"] for each in model.made["exclude"]}  # type: ignore[attr-defined]


# --------------------------------------------------------------------------- learning


def page_feedback(entry: int, links: dict[str, int], packed: bytes, found_on: int | None = None) -> Feedback:
    return Feedback(
        0, entry, Purpose.PAGE, 1, found_on, State.VISITED, "ok", links=tuple(links.items()), features=packed
    )


def probe_feedback(page: int, *, valid: bool) -> Feedback:
    return Feedback(0, 99, Purpose.PROBE, 1, page, State.VISITED, "ok", valid)


def crawl_feedback(strategy: BayesStrategy, *, valid: bool = True) -> list[Feedback]:
    """Seed 1 links to 2 ("zebra") and 3 ("quagga"); 2 links to 4 ("unicorn"); a service stands on 4."""
    home = [beside("zebra", address="http://a.example/2"), beside("quagga", address="http://a.example/3")]
    inner = [beside("unicorn", address="http://a.example/4")]
    ids = {link.url.identity: number for number, link in zip((2, 3, 4), [*home, *inner], strict=True)}
    first, second = ({link.url.identity: ids[link.url.identity] for link in links} for links in (home, inner))
    return [
        page_feedback(1, first, strategy.judge(document("", *home)).features),
        page_feedback(3, {}, b"", 1),
        page_feedback(2, second, strategy.judge(document("", *inner)).features, 1),
        page_feedback(4, {}, b"", 2),
        probe_feedback(4, valid=valid),
    ]


def test_links_that_led_to_a_service_within_two_hops_become_positive() -> None:
    strategy = BayesStrategy(TOY, {"bayes.online": "true"})
    before = scores(strategy, beside("zebra"), beside("quagga"), beside("unicorn"))
    for feedback in crawl_feedback(strategy):
        strategy.learn(feedback)
    zebra, quagga, unicorn = scores(strategy, beside("zebra"), beside("quagga"), beside("unicorn"))
    assert zebra == unicorn > before[0] > quagga


def test_links_that_led_nowhere_become_negative() -> None:
    strategy = BayesStrategy(TOY, {"bayes.online": "true"})
    for feedback in crawl_feedback(strategy, valid=False):
        strategy.learn(feedback)
    assert max(scores(strategy, beside("zebra"), beside("quagga"), beside("unicorn"))) < 3 / 7


def test_without_online_learning_nothing_is_learnt() -> None:
    strategy = BayesStrategy(TOY, {"bayes.online": "false"})
    assert not strategy.learns
    for feedback in crawl_feedback(strategy):
        strategy.learn(feedback)
    assert scores(strategy, beside("zebra")) == [pytest.approx(3 / 7)]
    assert (strategy.dump(), strategy.revise()) == (b"", None)


@pytest.mark.parametrize("killed_after", range(6))
def test_a_dump_and_the_feedback_after_it_give_the_same_strategy(killed_after: int) -> None:
    options = {"bayes.online": "true", "bayes.revise": "2"}
    whole, first, second = (BayesStrategy(TOY, options) for _ in range(3))
    history = crawl_feedback(whole)
    for feedback in history:
        whole.learn(feedback)
    for feedback in history[:killed_after]:
        first.learn(feedback)
    second.load(first.dump())
    for feedback in history[killed_after:]:
        second.learn(feedback)
    assert second.dump() == whole.dump()
    assert scores(second, beside("zebra", "unicorn")) == scores(whole, beside("zebra", "unicorn"))


def test_waiting_links_are_ranked_again_when_it_is_time() -> None:
    strategy = BayesStrategy(TOY, {"bayes.online": "true", "bayes.revise": "1"})
    home = [beside("zebra", "cage", address=f"http://a.example/{number}") for number in (2, 3)]
    ids = {link.url.identity: number for number, link in enumerate(home, 2)}
    strategy.learn(page_feedback(1, ids, strategy.judge(document("", *home)).features))
    assert [number for batch in strategy.revise() or () for number, _ in batch] == [2, 3]
    assert strategy.revise() is None
    strategy.learn(page_feedback(2, {}, b"", 1))
    assert [list(batch) for batch in strategy.revise() or ()] == [[(3, Rank(1, scores(strategy, home[0])[0]))]]


def test_the_target_of_a_redirect_has_the_words_that_led_to_the_redirect() -> None:
    strategy = BayesStrategy(TOY, {"bayes.online": "true"})
    home = [beside("zebra", address="http://a.example/2")]
    strategy.learn(page_feedback(1, {home[0].url.identity: 2}, strategy.judge(document("", *home)).features))
    strategy.learn(page_feedback(2, {"http://b.example/": 3}, b"", 1))
    strategy.learn(page_feedback(3, {}, b"", 2))
    strategy.learn(probe_feedback(3, valid=True))
    assert scores(strategy, beside("zebra"))[0] > 3 / 7


def test_a_dump_of_another_version_is_refused() -> None:
    strategy = BayesStrategy(TOY, {"bayes.online": "true"})
    strategy.load(b"")
    for state in (b"rubbish", b"x\x9c\xabVP*K-*\xce\xcc\xcfS\xb2\x02\xd1\xb5\x00&\xd8\x04\xcb"):
        with pytest.raises(UsageError, match="cannot be restored"):
            strategy.load(state)


def test_a_memo_of_a_page_with_thousands_of_links_is_bounded() -> None:
    links = [beside(f"w{number} {number * 7919:x}", address=f"http://a.example/{number}") for number in range(5000)]
    features = [FeatureReader([]).of_link(link.anchor) for link in links]
    packed = pack_features(links, features)
    assert len(packed) <= MAX_PACKED_BYTES
    noted = unpack_features(packed)
    assert len(noted) > 100
    assert math.isclose(sum(map(len, noted.values())) / len(noted), 2.0, abs_tol=1.0)
