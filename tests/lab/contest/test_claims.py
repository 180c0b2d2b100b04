"""The papers' claims against figures that are known: seen, not seen, not comparable, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from geocrawl.lab.contest.claims import Evidence, Finding, Verdict, findings, findings_csv, findings_lines, findings_of
from geocrawl.lab.contest.contest import ContestResults, StrategyResult, WorldResults, mean_row
from geocrawl.lab.contest.cuts import cuts_of, sentence
from geocrawl.lab.contest.experiments import chosen_seeds
from geocrawl.lab.contest.link_classes import LinkClasses, Scores
from geocrawl.lab.contest.measure import Score, area, at_share
from geocrawl.lab.contest.papers import (
    AS_SHEN,
    PAPERS,
    Claim,
    HarvestClaim,
    LinkClaim,
    Remark,
    strategies_of_papers,
)
from geocrawl.lab.contest.papers_report import figures
from geocrawl.lab.contest.plots import rate_curves
from geocrawl.lab.contest.rates import checkpoints, rate_after, rate_rows, rates_csv, sooner, value_of
from geocrawl.lab.contest.run import CrawlResult, Job
from geocrawl.lab.contest.study import Study
from geocrawl.priority.registry import presets

PAGES = tuple(f"www.a.example/{number}" for number in range(1000))
GWS, HITS, _, IPAGERANK, BAYES = PAPERS
WEB = Study(
    world="web",
    pages=1000,
    relevant=frozenset(PAGES[:100]),
    reachable=frozenset(PAGES),
    judged=frozenset(PAGES[:200]),
    oracle=(),
    sha256="",
    parents={PAGES[0]: None, **{page: PAGES[number // 10] for number, page in enumerate(PAGES) if number}},
    named={PAGES[500]: {"s1"}, PAGES[501]: {"s2", "s3"}, PAGES[40]: {"s3"}, PAGES[7]: {"s4"}},
)


def crawl(
    strategy: str, finds: tuple[int, ...], pages: tuple[str, ...] = PAGES, *, cpu_s: float = 1.0, period: int = 50
) -> CrawlResult:
    score = Score(
        pages=len(pages),
        service_requests=len(finds),
        found=len(finds),
        reachable=4,
        recall=len(finds) / 4,
        precision=round(len(finds) / len(pages), 6),
        pages_50=at_share(finds, 0.5),
        pages_90=at_share(finds, 0.9),
        pages_100=at_share(finds, 1.0),
        area=area(finds, 4, 1000),
        false_accepts=(),
        pages_at_finds=finds,
        curve=finds,
    )
    job = Job(Path(), strategy, 1000, {"hits.p": str(period), "ipagerank.q": "50"})
    return CrawlResult(job, score, pages, "done", cpu_s, 100.0, 0.0, ())


def evidence(*results: CrawlResult, links: Mapping[str, LinkClasses] | None = None, world: str = WEB.world) -> Evidence:
    web = replace(WEB, world=world)
    strategies = tuple(StrategyResult(mean_row(web, [each]), (each,), each.score.curve) for each in results)
    return Evidence({"": ContestResults((WorldResults(web, strategies),), ())}, links=links or {})


def finding(paper: Any, text: str, held: Evidence) -> Finding:
    (found,) = [each for each in findings_of(paper, held) if text in each.claim and each.where in ("", "web")]
    return found


def test_gws_that_is_sooner_and_more_precise_is_seen() -> None:
    held = evidence(crawl("gws:paper", (10, 20, 30, 40), PAGES[:100]), crawl("bfs", (50, 60, 70, 80)))
    own = [each for each in findings_of(GWS, held) if each.where == "web"]
    assert {each.verdict for each in own} == {Verdict.SEEN} and len(own) == 5
    alone = [each for each in findings_of(GWS, held) if each.where == AS_SHEN]
    assert {each.verdict for each in alone} == {Verdict.NOT_COMPARABLE} and len(alone) == 5
    assert finding(GWS, "precise", held).figures.startswith("precision: 0.04 for gws:paper, 0.004 for bfs")
    assert finding(GWS, "first service", held).figures.startswith(
        "page of the first find: 10 for gws:paper, 50 for bfs"
    )
    assert finding(GWS, "all services", held).figures == "4 of 4 finds after no more pages"


def test_gws_that_loses_services_is_not_seen_and_the_pages_are_named_whose_links_it_discarded() -> None:
    held = evidence(crawl("gws:paper", (10, 20), PAGES[:51]), crawl("bfs", (5, 60, 70, 80)))
    lost = finding(GWS, "as many", held)
    assert (lost.verdict, lost.figures) == (Verdict.NOT_SEEN, "2 found of 4")
    assert "ended after 51 of 1,000 pages, because it discards links by its paper's rule (a link of a page" in lost.why
    assert "2 missed services behind 1 page whose links it discarded, 0 of them behind pages that are" in lost.why
    assert "most (2) behind www.a.example/50, whose link to www.a.example/500 it did not follow." in lost.why
    assert "Not measured, but possible" in lost.why
    assert finding(GWS, "all services", held).figures == "1 of 4 finds after no more pages, 2 are not found at all"


def test_pages_and_finds_at_the_end_are_not_comparable_with_a_crawl_whose_budget_was_spent() -> None:
    spent = replace(crawl("bfs", (50, 60), PAGES[:500]), stopped="max-pages")
    held = evidence(crawl("gws:paper", (10, 20, 30), PAGES[:100]), spent)
    for claim in ("fewer pages", "as many"):
        found = finding(GWS, claim, held)
        assert (found.verdict, found.why) == (
            Verdict.NOT_COMPARABLE,
            "bfs had not read what it could when its budget was spent",
        )
    assert finding(GWS, "precise", held).verdict is Verdict.SEEN
    whole = evidence(crawl("gws:paper", (10,), PAGES[:100]), replace(crawl("bfs", (50,)), stopped="max-pages"))
    assert finding(GWS, "fewer pages", whole).verdict is Verdict.SEEN


@pytest.mark.parametrize(
    ("finds", "verdict", "ends"),
    [
        ((50,), "not seen", "no difference to speak of"),
        ((60,), "not seen", "(a factor of 1.20)"),
        ((40,), "seen", "1.25)"),
    ],
)
def test_a_difference_of_less_than_a_hundredth_is_none(finds: tuple[int, ...], verdict: str, ends: str) -> None:
    held = evidence(crawl("gws:paper", finds), crawl("bfs", (50,)))
    found = finding(GWS, "first service", held)
    assert found.verdict == verdict and found.figures.endswith(ends)


def test_what_did_not_run_or_found_nothing_is_not_comparable() -> None:
    held = evidence(crawl("gws:paper", ()), crawl("bfs", (50,)))
    assert finding(GWS, "first service", held).why == "one of the two found nothing"
    assert finding(HITS, "run time", held).why == "best-first:paper and hits:paper did not run"
    (second, *_) = [each for each in findings_of(HITS, held) if each.where == "second topic"]
    assert (second.verdict, "--papers" in second.why) == (Verdict.NOT_COMPARABLE, True)
    threads = finding(IPAGERANK, "ten threads", held)
    assert threads.verdict is Verdict.NOT_COMPARABLE and "virtual" in threads.why


@pytest.mark.parametrize(("read", "verdict"), [(PAGES[50:150], "not seen"), (PAGES[:100], "seen")])
def test_the_harvest_of_hits_is_held_against_both_rivals(read: tuple[str, ...], verdict: str) -> None:
    """Of 100 pages the rivals read 50 relevant ones, hits as many or all."""
    rivals = [crawl(f"{name}:paper", (1,), PAGES[50:150]) for name in ("best-first", "best-n-first")]
    held = evidence(crawl("hits:paper", (1,), read), *rivals)
    for rival in ("best-first", "best-n-first"):
        assert finding(HITS, f"harvests more than {rival} (Fig. 3, 4)", held).verdict == verdict


@pytest.mark.parametrize(("period", "pages"), [(50, "333"), (120, "360"), (200, "")])
def test_hits_is_compared_after_three_iterations_and_within_half_of_the_web(period: int, pages: str) -> None:
    rivals = [crawl(f"{name}:paper", (1,)) for name in ("best-first", "best-n-first")]
    found = finding(HITS, "harvests more than best-first", evidence(crawl("hits:paper", (1,), period=period), *rivals))
    assert (f"after {pages} pages" in found.figures) == bool(pages)
    assert (found.verdict is Verdict.NOT_COMPARABLE) == (not pages)
    assert pages or found.why.startswith("hits:paper iterates every 200 pages")


def test_a_figure_of_a_paper_has_a_line_for_each_strategy_to_the_end_of_its_crawl() -> None:
    pytest.importorskip("matplotlib")
    held = evidence(crawl("hits:paper", (1,), PAGES[:130]), crawl("best-first:paper", (1,)), crawl("bfs", (1,)))
    (world,) = held.experiments[""].worlds
    (axes,) = rate_curves(world, HITS.strategies, "harvest_rate", 400, "title").axes
    lines = {str(line.get_label()): np.asarray(line.get_xydata()) for line in axes.get_lines()}
    assert lines.keys() == {"hits:paper", "best-first:paper"}
    own = lines["hits:paper"]
    assert len(own) >= 20 and own[-1].tolist() == [130, 100 / 130]
    assert np.allclose(own[own[:, 0] <= 100][:, 1], 1.0)
    assert lines["best-first:paper"][-1].tolist() == [400, 0.25]
    looks = {(line.get_linestyle(), str(line.get_marker())) for line in axes.get_lines()}
    assert len(looks) == len(lines)  # in grey, too


def test_the_papers_figures_are_drawn_of_the_web_that_is_most_like_theirs() -> None:
    pytest.importorskip("matplotlib")
    strategies = [crawl(f"{name}:paper", (1,)) for name in ("hits", "best-first", "ipagerank")]
    own = evidence(*strategies, world="mixed")
    made = evidence(*strategies, world="made-mixed")
    both = ContestResults((*made.experiments[""].worlds, *own.experiments[""].worlds), ())
    drawn = {name: title for name, title, _ in figures(Evidence({"": both}))}
    assert set(drawn) == {
        *(f"hits-{what}-first-topic-mixed" for what in ("fig-3", "recall")),
        *(f"ipagerank-fig-{what}-mixed" for what in ("3-precision", "3-discovery-rate", "4")),
    }
    assert drawn["hits-fig-3-first-topic-mixed"] == "hits (Liu & Li 2017), Fig. 3, first topic\nmixed, its own seeds"
    assert not list(figures(evidence(*strategies)))  # of a web that is like none of the papers'


def test_a_harvest_is_held_against_half_of_the_pages_on_the_topic() -> None:
    on, off = PAGES[:96] + PAGES[900:], PAGES[900:] + PAGES[:100]
    assert finding(BAYES, "about 90 %", evidence(crawl("bayes:paper", (1,), on))).verdict is Verdict.SEEN
    late = finding(BAYES, "about 90 %", evidence(crawl("bayes:paper", (1,), off)))
    assert (late.verdict, late.figures) == (
        Verdict.NOT_SEEN,
        "0.0% of the first 100 pages; the web has 200 on the topic",
    )


def test_classifiers_of_links_are_held_against_each_other() -> None:
    scores = {
        "bayes:paper": Scores(0.95, 0.84, 0.9),
        "bayes:anchors": Scores(0.96, 0.7, 0.8),
        "bayes:pages": Scores(0.9, 0.7, 0.88),
    }
    divergences = {"links : pages": 3.0, "pages : links": 2.09, "pages : pages": 0.57, "links : links": 2.5}
    classes = LinkClasses("web", 9, 9, 5, scores, divergences)
    found = {each.claim: each for each in findings_of(BAYES, evidence(links={"web": classes})) if each.where == "web"}
    assert [str(each.verdict) for each in found.values()] == [
        *("not seen", "seen", "seen"),  # precision and recall of anchors alone, precision of training on pages
        *("seen", "not seen"),
        *("seen", "seen", "seen", "not seen"),  # one direction of the divergence, the other one
        "not comparable",
    ]
    recall = found["training on pages has a higher recall than anchors alone"]
    assert recall.figures == "recall: 0.700 for bayes:pages, 0.700 for bayes:anchors: no difference to speak of"


def test_findings_are_written_a_line_each() -> None:
    found = findings(evidence(crawl("gws:paper", (10,)), crawl("bfs", (50,))))
    assert len(findings_csv(found).splitlines()) == len(found) + 1
    lines = list(findings_lines(found))
    assert lines[0].startswith("gws (Shen et al. 2015): gws is more precise") and lines[1].startswith("  not seen, web")
    verdicts = [each.verdict is Verdict.NOT_COMPARABLE for each in found]
    assert verdicts == sorted(verdicts) and True in verdicts


def test_every_claim_is_about_presets_of_its_paper_and_breadth_first() -> None:
    known = {*presets(), "bfs"}
    assert set(strategies_of_papers()) == known
    for paper in PAPERS:
        for claim in paper.claims:
            if isinstance(claim, Claim) or (isinstance(claim, LinkClaim) and claim.measured != "divergence"):
                assert {claim.better, claim.worse} <= {*paper.strategies} & known
            elif isinstance(claim, HarvestClaim):
                assert claim.preset in paper.strategies
            elif isinstance(claim, Remark):
                assert claim.why and {*claim.presets} <= {*paper.strategies}


def test_the_report_claims_nothing_that_the_papers_do_not_say() -> None:
    texts = [claim.text for paper in PAPERS for claim in paper.claims]
    assert not any("PageRank" in text and "breadth-first" in text and "IPageRank" not in text for text in texts)
    assert "training on pages has a lower precision than anchors alone" in texts
    assert "training on pages has a higher recall than anchors alone" in texts


# --------------------------------------------------------------------------- rates


def test_rates_after_so_many_pages() -> None:
    result = crawl("gws", (10, 20, 600), PAGES[:700])
    values = [rate_after(result, WEB, rate, 200) for rate in ("precision", "recall", "harvest_rate", "discovery_rate")]
    assert values == [2 / 200, 2 / 4, 100 / 200, 1.0]
    assert rate_after(result, WEB, "judged_harvest_rate", 400) == 0.5
    assert rate_after(result, WEB, "precision", 5000) == 3 / 700


def test_rates_are_written_every_500_pages_and_to_the_end_of_a_crawl() -> None:
    (world,) = evidence(crawl("gws:paper", (10,), PAGES[:450]), crawl("bfs", (50,))).experiments[""].worlds
    assert checkpoints(1800, 1500) == [500, 1000, 1500] and checkpoints(300, 4000) == [300]
    rows = {name: cells for name, *cells in rate_rows(world, ["gws:paper", "bfs"], "precision", [500, 1000])}
    assert rows == {"gws:paper": ["0.2%*", "0.2%*"], "bfs": ["0.2%", "0.1%"]}
    lines = rates_csv({"": ContestResults((world,), ())}).splitlines()
    assert [line.split(",")[2:4] for line in lines[1:]] == [["gws:paper", "500"], ["bfs", "500"], ["bfs", "1000"]]


def test_first_find_and_cpu_of_a_page() -> None:
    (world,) = evidence(crawl("gws", (7, 9), cpu_s=2.0)).experiments[""].worlds
    (strategy,) = world.strategies
    assert value_of(strategy, world, "first_find") == 7.0 and value_of(strategy, world, "cpu_ms") == 2.0
    assert value_of(strategy, world, "harvest_rate@5000") == 100 / 333  # a third of the budget
    assert sooner((1, 5, 9), (2, 4, 9, 10)) == (2, 4)


# --------------------------------------------------------------------------- cuts and seeds


def test_cuts_count_services_behind_pages_whose_links_were_discarded() -> None:
    cuts = cuts_of(crawl("gws:paper", (1,), (*PAGES[:5], PAGES[50])), WEB)
    assert (cuts.missed, dict(cuts.at), cuts.off_topic) == (4, {PAGES[50]: 2, PAGES[4]: 1, PAGES[0]: 1}, 0)
    assert sentence("bfs", crawl("bfs", (1,)), WEB) == ""


def test_seeds_are_from_as_many_sites_as_possible_and_the_same_each_time() -> None:
    pages = [*PAGES[:50], *(f"www.b{number}.example/" for number in range(8))]
    study = Study("web", 60, frozenset(), frozenset(pages), frozenset(), (), "")
    seeds = chosen_seeds(study, pages)
    assert len(seeds) == 10 and len({seed.partition("/")[0] for seed in seeds}) == 9
    assert seeds == chosen_seeds(study, [*reversed(pages), "www.elsewhere.example/"])
