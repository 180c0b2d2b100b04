"""fusion: what it sees of links, what it learns of visits, and that it is the same after a kill."""

from __future__ import annotations

import itertools
import tracemalloc
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.model import SCRIPT_SRC, Document, Feedback, Link, Purpose, Rank, Relevance, State, SubQueue
from geocrawl.priority.models import shipped_models
from geocrawl.priority.naive_bayes import BayesModel, FeatureReader
from geocrawl.priority.nearness import Levels
from geocrawl.priority.strategies.bayes import BayesStrategy
from geocrawl.priority.strategies.fusion import SEED_TIER, feature_names
from geocrawl.priority.strategies.fusion.feature_names import template_of
from geocrawl.priority.strategies.fusion.link_groups import FALLBACK, FRONT, LinkGroups, arms_of, counts_of, group_of
from geocrawl.priority.strategies.fusion.link_reader import JudgedPages, LinkFeatures, WordModels, unpack_features
from geocrawl.priority.strategies.fusion.strategy import OPTIONS, FusionStrategy
from geocrawl.priority.strategies.fusion.value_model import (
    PRIOR_FILE,
    CrawlMemory,
    Prior,
    ValueModel,
    WaitingLink,
    probability,
    read_prior,
    write_prior,
)
from geocrawl.priority.text_terms import TextModel
from tests.priority.documents import LINKS, TOPIC, link, url, waiting

TEXTS = TextModel(
    {"wms": 2.0, "layer": 1.5, "地图": 2.0, "服务": 1.0},
    {"en": {"wms": 1.0, "layer": 0.5, "地图": 1.0}},
    threshold=0.1,
    typical=0.5,
)
COUNTS = {"anchor wms": (9, 1), "context 地图": (4, 0), "anchor team": (0, 8)}
BAYES = BayesModel(
    10, 10, (5, 5), {"anchor wms": (9, 1), "context 地图": (4, 0), "anchor team": (0, 8)}, ("map layer",)
)
WORDS = WordModels(TEXTS, BAYES)
LEVELS = Levels(TOPIC, LINKS)
PRIOR = {"any": -1.0, "sub-queue:6": 1.0}
HOST = "http://toy.example"
SHIPPED = ValueModel(read_prior(shipped_models() / PRIOR_FILE).weights, rate=0.1, trust=1.0)


def fusion(**options: object) -> FusionStrategy:
    return FusionStrategy(LEVELS, WORDS, PRIOR, {f"fusion.{name}": str(value) for name, value in options.items()})


def page(path: str, links: Sequence[str], anchor: str = "more", depth: int = 1) -> Document:
    return Document(
        url(HOST + path), depth, 200, "text/html", "utf-8", "t", "text", tuple(_listed(to, anchor) for to in links)
    )


def _listed(to: str, anchor: str) -> Link:
    """Return a link in the list of its folder."""
    return link(HOST + to, anchor)._replace(tag_path=f"body ul.{to.split('/')[1]} li a")


class Crawl:
    """Feedback of a toy web: each path is a page; those under /good/ bring a service each."""

    def __init__(self, strategy: FusionStrategy) -> None:
        self.strategy = strategy
        self.ids: dict[str, int] = {}
        self.history: list[Feedback] = []
        self.ranks: dict[int, Rank] = {}

    def id_of(self, path: str) -> int:
        return self.ids.setdefault(path, len(self.ids) + 1)

    def visit(
        self, path: str, links: Sequence[str] = (), *, found_on: str | None = None, finds: int = 0, depth: int = 1
    ) -> None:
        packed = self.strategy.judge(page(path, links)).features
        kept = tuple((url(HOST + to).identity, self.id_of(to)) for to in links)
        parent = None if found_on is None else self.id_of(found_on)
        self.feed(Feedback(0, self.id_of(path), Purpose.PAGE, depth, parent, State.VISITED, "ok", None, kept, packed))
        for _ in range(finds):
            self.feed(Feedback(0, 10_000, Purpose.PROBE, 2, self.id_of(path), State.VISITED, "ok", True))

    def redirect(self, path: str, *, to: str) -> None:
        target = ((url(HOST + to).identity, self.id_of(to)),)
        self.feed(Feedback(0, self.id_of(path), Purpose.PAGE, 1, None, State.VISITED, "redirect", None, target))

    def feed(self, feedback: Feedback) -> None:
        self.history.append(feedback)
        self.strategy.learn(feedback)
        for batch in self.strategy.revise() or ():
            self.ranks.update(batch)


def toy(strategy: FusionStrategy) -> Crawl:
    crawl = Crawl(strategy)
    good, bad = [f"/good/{n}" for n in range(40)], [f"/bad/{n}" for n in range(40)]
    crawl.visit("/", [*bad, *good])
    for n in range(15):
        crawl.visit(bad[n], found_on="/")
        crawl.visit(good[n], found_on="/", finds=1)
    return crawl


def scores(strategy: FusionStrategy, document: Document) -> list[float]:
    return [rank.score for rank in strategy.judge(document).ranks if rank is not None]


def test_a_folder_that_brought_services_comes_before_one_that_did_not() -> None:
    before = scores(fusion(), page("/new", ["/good/99", "/bad/99"]))
    after = scores(toy(fusion()).strategy, page("/new", ["/good/99", "/bad/99"]))
    assert before[0] == before[1]
    assert after[0] > 2 * after[1]


def test_waiting_links_are_ranked_again_by_what_was_learnt() -> None:
    crawl = toy(fusion())
    good, bad = crawl.ranks[crawl.id_of("/good/15")], crawl.ranks[crawl.id_of("/bad/15")]
    assert good > bad


def test_the_next_links_of_a_group_are_ranked_as_if_each_visit_would_find_nothing() -> None:
    crawl = Crawl(fusion(explore=0))
    crawl.visit("/", [f"/list/{n}" for n in range(30)])
    ranked = [crawl.ranks[crawl.id_of(f"/list/{n}")] for n in range(FRONT)]
    assert sorted(ranked, reverse=True) == ranked
    assert len(set(ranked)) == FRONT
    crawl.ranks.clear()
    crawl.visit("/list/0", found_on="/")
    assert list(crawl.ranks) == [crawl.id_of(f"/list/{FRONT}")], "a visit without a find only ranks the next link"
    crawl.visit("/list/1", found_on="/", finds=1)
    assert crawl.ranks[crawl.id_of("/list/2")] > ranked[0], "a find raises the links behind it"


def test_the_best_and_the_oldest_link_of_a_group_take_turns() -> None:
    groups = LinkGroups(lambda group: (0.0, 0.0), explore=0.05)
    for id_ in range(20):
        groups.put(id_, 7, value=id_ / 20)
    assert [id_ for id_, _ in groups.changes(100)] == [19, 0, 18, 1, 17, 2, 16, 3]


def test_a_group_keeps_nothing_of_links_that_left_below_its_best() -> None:
    groups = LinkGroups(lambda group: (0.0, 0.0), explore=0.05)

    def memory_after(links: range) -> int:
        for id_ in links:  # each is better than all before it, and most are forgotten
            groups.put(id_, 7, value=0.5 - 1 / (2 + id_))
            groups.remove(id_ - 50)
            list(groups.changes(100))
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = memory_after(range(1_000))
        assert memory_after(range(1_000, 2_000)) < before + 10_000
    finally:
        tracemalloc.stop()


def test_a_group_without_visits_is_tried_before_one_that_brought_nothing() -> None:
    groups = LinkGroups({1: (50.0, 0.0), 2: (0.0, 0.0)}.__getitem__, explore=0.05)
    groups.put(10, 1, value=0.02)
    groups.put(20, 2, value=0.01)
    worth = dict(groups.changes(100))
    assert worth[20] > worth[10]
    groups.remove(20)
    groups.touch_all()
    assert dict(groups.changes(100)) == {}, "a worth that did not change is not written again"


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("http://h.example/data/roads-of-the-town.html", "http://h.example/data/all-lakes-2019.html", True),
        ("http://h.example/list?page=2&sort=name", "http://h.example/list?sort=date&page=31", True),
        ("http://h.example/wiki/%E5%9C%B0%E5%9B%BE", "http://h.example/wiki/%E6%B9%96", True),
        ("http://h.example/list?page=2", "http://h.example/list", False),
        ("http://h.example/data/roads-of-the-town.html", "http://h.example/news/roads-of-the-town.html", False),
        ("http://h.example/about", "http://h.example/imprint", False),
    ],
)
def test_pages_of_one_template_have_addresses_of_one_form(one: str, other: str, is_one: bool) -> None:
    assert (template_of(one) == template_of(other)) is is_one


def test_a_group_that_nobody_visited_has_a_part_of_what_its_place_brought() -> None:
    group, sister, stranger = group_of(5, "/list/0?"), group_of(5, "/about?"), group_of(6, "/list/0?")
    made: dict[int, tuple[float, float]] = {arms_of(group)[0]: (40.0, 20.0), arms_of(group)[1]: (40.0, 20.0)}

    def arm(bucket: int) -> tuple[float, float]:
        return made.get(bucket, (0.0, 0.0))

    assert counts_of(group, arm) == (40.0, 20.0), "its own visits count once"
    assert counts_of(sister, arm) == (FALLBACK, FALLBACK / 2)
    assert counts_of(stranger, arm) == (0.0, 0.0)


def test_what_is_never_visited_holds_no_place_among_the_next_links_of_a_group() -> None:
    """The page itself, the source of a redirect and links too deep took such places for good."""
    strategy = FusionStrategy(LEVELS, WORDS, PRIOR, {}, max_depth=2)
    crawl = Crawl(strategy)
    crawl.visit("/m/0", ["/m/0", "/m/1"])
    crawl.redirect("/m/1", to="/m/2")
    crawl.visit("/m/3", ["/m/1", "/m/2", "/m/3", "/m/4"], found_on="/m/0")
    crawl.visit("/m/4", ["/m/5"], found_on="/m/3", depth=2)
    assert set(strategy._memory.links) == {crawl.id_of("/m/2")}


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3), st.floats(0, 1), st.booleans()), max_size=80))
def test_groups_rank_waiting_links_alone_and_come_back_from_a_dump(
    steps: list[tuple[int, int, float, bool]],
) -> None:
    groups, waiting = LinkGroups(lambda group: (group, 0.0), explore=0.05), dict[int, tuple[int, float]]()
    for id_, group, value, leaves in steps:
        if leaves:
            groups.remove(id_)
            waiting.pop(id_, None)
        else:
            groups.put(id_, group, value)
            waiting[id_] = (group, value)
        assert {id_ for id_, _ in groups.changes(50)} <= set(waiting)
    again = LinkGroups(lambda group: (group, 0.0), explore=0.05)
    again.restore(groups.arrays(), ((id_, *link) for id_, link in waiting.items()))
    for each in (groups, again):
        each.touch_all()
    assert dict(groups.changes(60)) == dict(again.changes(60))


def test_links_that_an_older_state_ranked_get_the_ranks_of_this_one() -> None:
    crawl = Crawl(fusion())
    crawl.visit("/", [f"/list/{n}" for n in range(30)])
    crawl.visit("/list/0", ["/list/1", "/list/20", "/list/0", "/new"], found_on="/")
    known, before = dict(crawl.ranks), crawl.strategy.dump()
    crawl.ranks.clear()
    crawl.strategy.correct(crawl.history[-1])
    for batch in crawl.strategy.revise() or ():
        crawl.ranks.update(batch)
    front, behind, new = (crawl.id_of(path) for path in ("/list/1", "/list/20", "/new"))
    assert {*crawl.ranks} == {front, behind, new}, "those that wait"
    assert crawl.ranks[front] == known[front] > crawl.ranks[behind]
    assert behind not in known, "no visit changes its rank"
    assert crawl.strategy.dump() == before and crawl.strategy.revise() is None


def test_links_that_an_older_state_valued_get_the_values_of_this_one() -> None:
    crawl, paths = toy(fusion()), ["/good/77", "/bad/77"]
    crawl.visit("/news", paths)
    right = dict(crawl.strategy.waiting_scores())
    again = toy(fusion())
    late = replace(crawl.history[-1], features=fusion().judge(page("/news", paths)).features)
    again.feed(late)
    ids = [crawl.id_of(path) for path in paths]
    assert not {round(right[id_], 4) for id_ in ids} & {
        round(dict(again.strategy.waiting_scores())[id_], 4) for id_ in ids
    }
    again.strategy.correct(late)
    corrected = dict(again.strategy.waiting_scores())
    assert [corrected[id_] for id_ in ids] == pytest.approx([right[id_] for id_ in ids], abs=0.02)
    assert corrected[ids[0]] > 2 * corrected[ids[1]]


def test_visited_pages_are_not_ranked_again() -> None:
    crawl = toy(fusion())
    crawl.ranks.clear()
    for n in range(15, 30):
        crawl.visit(f"/good/{n}", found_on="/", finds=1)
    assert crawl.ranks
    assert crawl.id_of("/good/3") not in crawl.ranks


def test_a_find_is_credited_to_the_way_that_led_there() -> None:
    with_find, without = Crawl(fusion()), Crawl(fusion())
    for crawl, finds in ((with_find, 1), (without, 0)):
        crawl.visit("/", ["/hub/1"])
        crawl.visit("/hub/1", ["/leaf"], found_on="/")
        crawl.visit("/leaf", found_on="/hub/1", finds=finds)
        crawl.visit("/end")
    value = [scores(crawl.strategy, page("/x", ["/hub/2"]))[0] for crawl in (with_find, without)]
    assert value[0] > value[1]


def test_a_script_keeps_the_rank_of_its_page_and_its_find_is_that_of_the_page() -> None:
    with_find, without = Crawl(fusion()), Crawl(fusion())
    for crawl, finds in ((with_find, 1), (without, 0)):
        crawl.visit("/", ["/view/1", "/view/2"])
        script = link(HOST + "/js/map.js")._replace(where=SCRIPT_SRC)
        judged = crawl.strategy.judge(page("/view/1", [])._replace(links=(script,)))
        kept = ((script.url.identity, crawl.id_of("/js/map.js")),)
        view = crawl.id_of("/view/1")
        crawl.feed(Feedback(0, view, Purpose.PAGE, 1, 1, State.VISITED, "ok", None, kept, judged.features))
        assert crawl.id_of("/js/map.js") not in crawl.ranks
        crawl.visit("/js/map.js", found_on="/view/1", finds=finds)
        crawl.visit("/end")
    assert with_find.ranks[with_find.id_of("/view/2")] > without.ranks[without.id_of("/view/2")]


def test_a_dump_and_the_feedback_after_it_give_the_strategy_back() -> None:
    whole = toy(fusion())
    again = Crawl(fusion())
    for feedback in whole.history[:17]:
        again.feed(feedback)
    resumed = Crawl(fusion())
    resumed.strategy.load(again.strategy.dump())
    for feedback in whole.history[17:]:
        resumed.feed(feedback)
    assert resumed.strategy.dump() == whole.strategy.dump()
    document = page("/new", ["/good/99", "/bad/99"])
    assert resumed.strategy.judge(document) == whole.strategy.judge(document)
    assert {id_: whole.ranks[id_] for id_ in resumed.ranks} | resumed.ranks == resumed.ranks


def test_the_same_feedback_gives_the_same_bytes() -> None:
    assert toy(fusion()).strategy.dump() == toy(fusion()).strategy.dump()


def test_a_dump_of_another_version_is_refused() -> None:
    with pytest.raises(UsageError, match="geocrawl-fusion"):
        fusion().load(b'{"format": "geocrawl-fusion 0", "arrays": []}\n')
    with pytest.raises(UsageError):
        fusion().load(b"nonsense")


def test_a_memo_stays_within_20_kib_and_forgets_no_rank() -> None:
    document = page("/", [f"/some/long/folder-{n}/page-{n * 7919}?id={n}" for n in range(3_000)], "words of an anchor")
    judged = fusion().judge(document)
    assert len(judged.features) <= 20 * 1024
    assert len(judged.ranks) == 3_000
    assert None not in judged.ranks


def test_waiting_links_and_pages_are_bounded() -> None:
    crawl = Crawl(fusion(links=100, pages=100))
    for n in range(150):
        crawl.visit(f"/p{n}", [f"/p{n}/{k}" for k in range(5)])
    memory = crawl.strategy._memory
    assert len(memory.links) <= 125
    assert len(memory.pages) <= 100


def test_a_page_pays_for_a_hundred_waiting_links_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = Crawl(fusion(every=1))
    for n in range(20):
        crawl.visit(f"/p{n}", [f"/p{n}/{k}" for k in range(100)])
    memory, valued = crawl.strategy._memory, list[int]()
    inputs = memory.inputs

    def counted(ids: Any) -> Any:
        valued.append(len(ids))
        return inputs(ids)

    monkeypatch.setattr(memory, "inputs", counted)
    for n in range(60):
        crawl.visit(f"/p0/{n}")
    assert 1_900 < max(valued) <= len(memory.links) + 60, "all of them are valued"
    assert sum(valued) <= 60 * 100 + max(valued), "sixty visits, and what was due before"


def test_memory_keeps_the_better_of_two_places_of_a_link() -> None:
    memory = CrawlMemory(most_links=10, most_pages=10, forgotten=list[int]().append)
    memory.remember_link(1, WaitingLink(b"2" * 20, 5, 77, 0.5, 1))
    memory.remember_link(1, WaitingLink(b"3" * 20, 6, 77, 0.4, 1))
    assert memory.links[1].page == 5
    assert memory.link_by_key(77) == memory.remove_link(1)
    assert memory.link_by_key(77) is None


def test_seeds_come_before_all_links() -> None:
    strategy = fusion()
    assert strategy.seed_rank() == strategy.rank(waiting(depth=0)) == Rank(SEED_TIER)
    assert all(rank is not None and rank < strategy.seed_rank() for rank in strategy.judge(page("/", ["/a"])).ranks)


def test_a_rank_is_explained_by_the_features_that_counted() -> None:
    crawl = toy(fusion())
    parts = crawl.strategy.explain(waiting(HOST + "/good/50", "WMS"))
    features, visits, brought = parts["features"], parts["visits"], parts["brought"]
    assert isinstance(features, Mapping)
    assert isinstance(visits, Mapping)
    assert isinstance(brought, Mapping)
    assert features["sub-queue:6"] > 0
    assert visits["folder:toy.example/good"] == 15
    assert brought["folder:toy.example/good"] == 15.0
    weights = [abs(weight) for weight in features.values()]
    assert weights == sorted(weights, reverse=True)


def test_a_redirect_hands_its_worth_on() -> None:
    crawl = Crawl(fusion())
    crawl.visit("/", ["/from"])
    target = (url(HOST + "/to").identity, 99)
    crawl.feed(Feedback(0, crawl.id_of("/from"), Purpose.PAGE, 1, 1, State.VISITED, "redirect", None, (target,)))
    crawl.feed(Feedback(0, 99, Purpose.PAGE, 1, 1, State.VISITED, "ok", None))
    before = scores(crawl.strategy, page("/x", ["/from"]))
    crawl.feed(Feedback(0, 100, Purpose.PROBE, 2, 99, State.VISITED, "ok", True))
    assert scores(crawl.strategy, page("/x", ["/from"])) > before


def test_links_valued_at_once_have_the_value_of_each_alone() -> None:
    value = ValueModel(PRIOR, rate=0.1, trust=10)
    page = feature_names.buckets(["pattern:x/0", "page:x", "hit:x", "any", "tunnel:1"])
    links = [
        array("I", feature_names.buckets([f"host:{h}", "folder:x/", "anchor:a", "pattern:x/a", "url:wms"])).tobytes()
        for h in "ab"
    ]
    for visits in range(40):
        examples = [value.example(link, page) for link in links]
        at_once = value.logits(links, [page], np.zeros(2, np.intp))
        assert at_once == pytest.approx([value.logit(example.ids) for example in examples])
        value.count_visit(examples[0].arms)
        value.add_reward(examples[0].arms, visits % 3 / 2)
        value.step(examples[0].ids, visits % 2)
    assert at_once[0] != pytest.approx(at_once[1])


def test_words_in_latin_letters_and_in_chinese_are_measured_by_the_models() -> None:
    assert WORDS.anchor_nearness("地图") > 0.5 > WORDS.anchor_nearness("道路")
    assert WORDS.anchor_nearness("layers of WMS") > 0.5 > WORDS.anchor_nearness("team")
    assert WORDS.anchor_nearness("新地图服务") > 0.0  # 新, 地图, 服务
    assert WORDS.page_nearness("地图", "服务") > WORDS.page_nearness("道路", "") == 0.0


def test_odds_are_those_of_the_classifier() -> None:
    strategy = BayesStrategy(BAYES, {"bayes.online": "false"})
    for anchor, context in (("WMS", ()), ("team", ("地图",)), ("other", ()), ("a map layer", ("the map layer",))):
        features = FeatureReader(BAYES.lexicon).of_link(anchor, context)
        assert probability(WORDS.odds(anchor, context)) == pytest.approx(strategy.score(features))


def test_without_a_classifier_all_odds_are_even() -> None:
    assert WordModels(TEXTS, None).odds("wms", ("地图",)) == 0.0


@given(st.text(), st.text(), st.text())
def test_any_text_has_features(address: str, anchor: str, context: str) -> None:
    names = (*feature_names.of_url("http://" + address).names, *feature_names.of_text(anchor, context, "a", "h").names)
    assert all(0 <= bucket < feature_names.BUCKETS for bucket in feature_names.buckets(names))
    assert len(feature_names.of_url("http://" + address).arms) == 3


@given(st.floats(allow_nan=False))
def test_a_value_lies_between_0_and_1(logit: float) -> None:
    assert 0.0 <= probability(logit) <= 1.0


def test_chinese_text_gives_pairs_of_characters() -> None:
    assert feature_names.words("地图服务 WMS", 10) == ["地图", "图服", "服务", "wms"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Géoportail de la région", ["géoportail", "de", "la", "région"]),
        ("Mapové služby, geoportál", ["mapové", "služby", "geoportál"]),
        ("bản đồ không gian", ["bản", "đồ", "không", "gian"]),
        ("राष्ट्रीय भू-स्थानिक पोर्टल", ["राष्ट्रीय", "भू", "स्थानिक", "पोर्टल"]),
        ("ভূ-স্থানিক তথ্য", ["ভূ", "স্থানিক", "তথ্য"]),
        ("البوابة الجغرافيّة", ["البوابة", "الجغرافيّة"]),
        ("מידע גאוגרפי", ["מידע", "גאוגרפי"]),
        ("геопортала области", ["геопортала", "области"]),
        ("แผนที่", ["แผ", "ผน", "นท", "ที", "ี่"]),
        ("ພູມ", ["ພູ", "ູມ"]),
        ("공간정보 WMS", ["공간", "간정", "정보", "wms"]),
    ],
)
def test_words_of_other_scripts_are_whole_and_those_without_spaces_in_pairs(text: str, words: list[str]) -> None:
    assert feature_names.words(text, 10) == words


@given(
    st.sets(st.sampled_from([name for name in feature_names.generic_names() if not name.startswith("sub-queue:")])),
    st.sampled_from(["http://a.example/", "http://b.a.example/", "http://b.example/"]),
)
def test_at_first_links_stand_in_the_order_of_gws_all_else_equal(names: set[str], page: str) -> None:
    """Whatever else is seen of them, and so a link with a keyword is never below one without."""
    levels = itertools.product(Relevance, Relevance)
    order = sorted(levels, key=lambda both: SubQueue(*both).priority)
    seen = [
        (*names, *feature_names.of_both(link, level, feature_names.place_of("a.example", feature_names.host_of(page))))
        for link, level in order
    ]
    values = [SHIPPED.logit(feature_names.buckets(each)) for each in seen]
    assert all(below < above for below, above in itertools.pairwise(values))


def test_weights_are_written_and_read(tmp_path: Path) -> None:
    write_prior(Prior({"any": -1.25, "page r:3": 0.5}, {"webs": 3}), tmp_path / "p.json")
    assert read_prior(tmp_path / "p.json") == Prior({"any": -1.25, "page r:3": 0.5}, {"webs": 3})
    (tmp_path / "p.json").write_text("{}")
    with pytest.raises(UsageError, match="train one with geocrawl train fusion"):
        read_prior(tmp_path / "p.json")
    with pytest.raises(EnvironmentFault, match="cannot be read"):
        read_prior(tmp_path / "none.json")


def test_every_option_has_its_range_checked() -> None:
    with pytest.raises(UsageError, match=r"fusion\.credit"):
        fusion(credit=2)
    assert all(option.help for option in OPTIONS.values())


def test_features_that_were_kept_are_those_that_are_unpacked() -> None:
    links = {
        key: LinkFeatures(key / 10_000, 7, array("I", range(key, key + size)).tobytes())
        for key, size in ((1, 9), (2, 0), (3_000, 12))
    }
    many = {key: LinkFeatures(0.5, 7, array("I", range(40)).tobytes()) for key in range(1_000)}
    for each in (links, many, {}):
        judged = JudgedPages()
        packed = judged.pack((4, 5, 6, 7), Relevance.SOME, each)
        assert judged.unpack(packed) == judged.unpack(packed) == unpack_features(packed)
