"""IPageRank as an order of visits: RW from the extended metadata, predictions, cuts, the page filter."""

from __future__ import annotations

from geocrawl.model import Link, Rank
from geocrawl.priority.strategies.ipagerank import IPageRankStrategy, PageFilter, TopicWords, shipped_thesaurus
from geocrawl.priority.text_terms import TextModel
from tests.priority.documents import document, link, waiting
from tests.priority.feedback import approx, feedback

WORDS = TopicWords(shipped_thesaurus(), ["wms", "map"])
SAME, NEAR, FAR = (
    link("http://a.example/1", "WMS"),
    link("http://a.example/2", "wfs"),
    link("http://a.example/3", "soup"),
)
"""RW 1, 0.8 and 0."""
MODEL = TextModel(
    {"wms": 2.0, "layer": 1.5, "soup": 1.0, "bread": 1.0},
    {"en": {"wms": 1.0, "layer": 0.5}},
    threshold=0.6,
    typical=0.8,
)


def ipagerank(page_filter: PageFilter | None = None, **options: str) -> IPageRankStrategy:
    return IPageRankStrategy(WORDS, page_filter, {f"ipagerank.{name}": value for name, value in options.items()})


def ranked(strategy: IPageRankStrategy) -> dict[int, Rank | None]:
    return {id_: rank for batch in strategy.revise() or () for id_, rank in batch}


def read(strategy: IPageRankStrategy, id_: int, *links: tuple[int, Link]) -> dict[int, Rank | None]:
    judgement = strategy.judge(document("", *(each for _, each in links)))
    strategy.learn(feedback(id_, [(each.url.identity, target) for target, each in links], judgement.features))
    return ranked(strategy)


def test_a_new_link_gets_its_share_by_rw_of_a_page_of_rank_one_at_the_start() -> None:
    ranks = ipagerank().judge(document("", SAME, NEAR, FAR)).ranks
    assert ranks == (
        Rank(1, approx(0.15 + 0.85 * 1 / 1.8)),
        Rank(1, approx(0.15 + 0.85 * 0.8 / 1.8)),
        Rank(0, approx(0.15 * (1 / 3) / (1 + 1 / 3))),
    )


def test_words_less_similar_than_c_count_nothing() -> None:
    ranks = ipagerank(c="0.9").judge(document("", SAME, NEAR)).ranks
    assert ranks == (Rank(1, approx(1.0)), Rank(0, approx(0.15 * 0.5 / 1.5)))


def test_the_text_behind_a_link_counts_like_its_anchor_and_the_text_before_it_does_not() -> None:
    """M(url) is the anchor and what follows: RW of the first link is 1, of the others 0, so the first gets all."""
    behind = FAR._replace(context="see a list of WMS", before=4)
    across = Link(SAME.url, "soup", "see the list of WMS", before=len("see the list of WMS"))
    astride = Link(NEAR.url, "soup", "all WMS and bread", before=len("all WMS "))
    first, *others = ipagerank().judge(document("", behind, across, astride)).ranks
    assert first == Rank(1, approx(1.0))
    assert [rank.tier for rank in others if rank] == [0, 0]


def test_links_that_are_cut_are_dropped_on_demand() -> None:
    strategy = ipagerank(drop="true", threshold="0.55")
    assert strategy.judge(document("", SAME, NEAR, FAR)).ranks[1:] == (None, None)
    assert strategy.rank(waiting(anchor="soup")) is None


def test_what_waits_gets_its_ipr_by_the_metadata_of_all_pages_that_link_to_it() -> None:
    """1 → 11 (as FAR), 12 (RW 1); 2 → 11 (RW 0.8): RW(11) = 0.8 on both pages."""
    strategy = ipagerank(q="2", growth="1")
    other = Link(FAR.url, "wfs")
    assert read(strategy, 1, (11, FAR), (12, SAME)) == {}
    ranks = read(strategy, 2, (11, other))
    eleven = 0.15 + 0.85 * (0.15 * 0.8 / 1.8 + 0.15)
    assert ranks == {
        11: Rank(1, approx(eleven, abs=1e-3)),
        12: Rank(1, approx(0.15 + 0.85 * 0.15 / 1.8, abs=1e-3)),
    }
    assert strategy.explain(waiting(anchor="All WMS"))["word"] == "wms"


def test_rank_flows_through_visited_pages_and_a_redirect_hands_it_on() -> None:
    strategy = ipagerank(q="2", growth="1")
    read(strategy, 1, (2, SAME))
    strategy.learn(feedback(2, [("http://b.example/", 3)], reason="redirect"))
    ranks = read(strategy, 9, (10, FAR))
    two = 0.15 + 0.85 * 0.15
    tunnel = 0.15 * 0.15 / 1.15
    assert ranks == {3: Rank(1, approx(0.15 + 0.85 * two, abs=1e-3)), 10: Rank(0, approx(tunnel, abs=1e-3))}


def test_without_tunnels_all_links_that_are_cut_wait_alike() -> None:
    strategy = ipagerank(tunnels="false", q="1", growth="1")
    assert strategy.judge(document("", SAME, NEAR, FAR)).ranks[2] == Rank(0, approx(0.15))
    assert read(strategy, 1, (2, SAME), (10, FAR))[10] == Rank(0, approx(0.15))
    assert read(ipagerank(q="1", growth="1"), 1, (2, SAME), (10, FAR))[10] != Rank(0, approx(0.15))


def test_a_threshold_below_1_minus_d_cuts_no_link_to_which_no_rw_leads() -> None:
    """IPR of FAR is 1 − d = 0.15 by the equation, of SAME 0.15 + 0.85 · 0.15 after an iteration."""
    for threshold, tier in (("0.14", 1), ("0.15", None), ("-1", None)):
        strategy = ipagerank(tunnels="false", drop="true", threshold=threshold, q="1", growth="1")
        expected = None if tier is None else Rank(tier, approx(0.15))
        assert strategy.judge(document("", SAME, FAR)).ranks[1] == expected
        assert strategy.rank(waiting(anchor="soup")) == expected
        ranks = read(strategy, 1, (2, SAME), (10, FAR))
        assert ranks == {2: Rank(1, approx(0.15 + 0.85 * 0.15)), 10: expected}


def test_of_the_links_that_are_cut_those_on_pages_of_high_rank_come_first() -> None:
    strategy = ipagerank(q="3", growth="1")
    read(strategy, 1, (2, SAME))
    read(strategy, 2, (11, FAR))
    ranks = read(strategy, 3, (12, FAR))
    low, high = ranks[12], ranks[11]
    assert low is not None
    assert high is not None
    assert low < high < Rank(0, 0.15)


def test_a_dump_and_the_feedback_after_it_give_the_same_strategy() -> None:
    whole, first, second = ipagerank(q="4"), ipagerank(q="4"), ipagerank(q="4")
    for n in range(1, 25):
        links = [(100 + n, SAME), (100 + 3 * n % 11, NEAR), (50, FAR)]
        assert read(whole, n, *links) == read(first, n, *links)
    second.load(first.dump())
    for n in range(25, 60):
        links = [(100 + n, SAME), (100 + 3 * n % 11, NEAR), (50, FAR)]
        assert read(whole, n, *links) == read(second, n, *links)
    assert whole.dump() == second.dump()


FILTER = PageFilter(MODEL, shipped_thesaurus(), title_weight=3.0)


def test_the_page_filter_is_off_unless_asked_for() -> None:
    judgement = ipagerank().judge(document("wms wms layer"))
    assert judgement.score == 0.0
    assert ipagerank().needs == frozenset()
    assert ipagerank(FILTER).needs == {"headline"}


def test_the_page_filter_tells_pages_of_the_topic_from_others() -> None:
    strategy = ipagerank(FILTER)
    assert strategy.judge(document("wms layer")).score > 0.5
    off = strategy.judge(document("soup bread"))
    assert off.score == 0.0


def test_a_word_of_the_headline_weighs_more_than_one_of_the_text() -> None:
    assert FILTER.similarity("wms", "soup bread") > FILTER.similarity("", "wms soup bread")
    page = document("soup bread", title="soup")._replace(headline="wms layer")
    assert FILTER.score(page) == FILTER.similarity("wms layer", "soup bread")


def test_summary_and_keywords_of_a_page_count_like_its_text() -> None:
    page = document("soup bread")._replace(summary="wms layer")
    assert FILTER.score(page) == FILTER.score(document("wms layer soup bread"))
    assert FILTER.score(page) > FILTER.score(document("soup bread"))


def test_a_synonym_of_a_word_of_the_topic_counts_as_that_word() -> None:
    model = TextModel({"图层": 1.0, "layer": 1.0}, {"en": {"layer": 1.0}}, threshold=0.5, typical=0.8)
    assert PageFilter(model, shipped_thesaurus(), title_weight=1.0).similarity("", "图层") == approx(0.5**0.5)


def test_a_long_page_is_not_drowned_in_its_own_words() -> None:
    words = ["soup" + a + b for a in "bcdfghjklmnp" for b in "bcdfghjklmnpqrst"]
    idf = {"wms": 1.0, **dict.fromkeys(words, 0.1)}
    model = TextModel(idf, {"en": {"wms": 1.0}}, threshold=0.5, typical=0.8)
    text = " ".join(["wms", *words])
    assert PageFilter(model, shipped_thesaurus(), title_weight=1.0).similarity("", text) > model.similarity(text)
