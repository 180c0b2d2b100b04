"""The papers' experiments on a web whose pages can be counted by hand (`experiment_world`): figures, seeds, bounds."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from geocrawl.lab.contest import contest, experiments
from geocrawl.lab.contest.claims import Evidence, Verdict, findings
from geocrawl.lab.contest.contest import ContestResults, Plan, StrategyResult, WorldResults, run_contest
from geocrawl.lab.contest.experiments import _from_ten_seeds, _second_topic, run_experiments
from geocrawl.lab.contest.judge import PageJudge
from geocrawl.lab.contest.papers import AS_SHEN, OFF_TOPIC_SEEDS, SECOND_TOPIC, TEN_SEEDS
from geocrawl.lab.contest.study import study
from geocrawl.lab.recorded_worlds.world import World
from tests.lab.experiment_world import OFF, ON, PAGES, SITES, write_experiment_world

THIRD = PAGES // 3


@pytest.fixture(scope="module")
def said() -> list[str]:
    return []


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory, said: list[str]) -> Evidence:
    folder = write_experiment_world(tmp_path_factory.mktemp("worlds") / "sites")
    plan = Plan([folder], ["bfs"], set={"hits.p": "10"})
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.MonkeyPatch.context() as patch:
        for module in (contest, experiments):  # one process for all crawls: starting one takes longer than a crawl
            patch.setattr(module, "in_own_process", lambda work, what: pool.submit(work, what).result())
        return run_experiments(plan, run_contest(plan, said.append), said.append)


def _strategies(results: ContestResults) -> dict[str, StrategyResult]:
    (world,) = results.worlds
    return {each.row.strategy: each for each in world.strategies}


@pytest.mark.long
def test_the_contest_itself_reads_the_web_from_its_own_seed(evidence: Evidence) -> None:
    (world,) = evidence.experiments[""].worlds
    assert world.study.pages == PAGES and world.study.relevant == set(ON)
    bfs = _strategies(evidence.experiments[""])["bfs"].row
    assert (bfs.pages, bfs.found, bfs.reachable) == (PAGES, SITES, SITES)
    assert (bfs.harvest_rate, bfs.discovery_rate) == pytest.approx((len(ON) / PAGES, 1.0), abs=1e-6)
    assert bfs.precision == pytest.approx(SITES / PAGES, abs=1e-6)


@pytest.mark.long
def test_ten_seeds_are_relevant_pages_of_ten_sites_and_a_third_of_the_web_is_read(evidence: Evidence) -> None:
    ran = _strategies(evidence.experiments[TEN_SEEDS])
    assert list(ran) == ["best-first-page:gain", "best-first-page:chi2", "adaptive:paper", "bfs"]
    for each in ran.values():
        (result,) = each.results
        seeds = {seed.removeprefix("http://") for seed in result.job.seeds}
        assert len(seeds) == len({seed.partition("/")[0] for seed in seeds}) == 10 and seeds <= set(ON)
        assert (result.score.pages, set(result.visited[:10])) == (THIRD, seeds)
        assert each.row.harvest_rate == pytest.approx(len(set(result.visited) & set(ON)) / THIRD, abs=1e-6)


@pytest.mark.long
def test_breadth_first_from_ten_seeds_reads_as_many_pages_as_it_should(evidence: Evidence) -> None:
    """After the seeds each seed's site and the other site that it links to take turns: 10 relevant, 10 not. Of the last
    two of 32 pages both are relevant: the other sites have only pages left that are one link deeper."""
    row = _strategies(evidence.experiments[TEN_SEEDS])["bfs"].row
    assert row.harvest_rate == pytest.approx((10 + 10 + 2) / THIRD, abs=1e-6)


@pytest.mark.long
def test_ten_seeds_off_the_topic_are_on_no_relevant_page(evidence: Evidence) -> None:
    (bayes,) = _strategies(evidence.experiments[OFF_TOPIC_SEEDS]).values()
    (result,) = bayes.results
    assert {seed.removeprefix("http://") for seed in result.job.seeds} <= set(OFF)
    assert (bayes.row.strategy, bayes.row.pages) == ("bayes:paper", THIRD)
    # Ten pages off the topic, and then none: a link to each site on the topic waits with "WMS layers" as its anchor.
    assert bayes.row.harvest_rate == pytest.approx((THIRD - 10) / THIRD, abs=1e-6)


@pytest.mark.long
def test_both_crawlers_have_the_set_up_of_the_paper_of_gws(evidence: Evidence) -> None:
    ran = _strategies(evidence.experiments[AS_SHEN])
    assert list(ran) == ["gws:paper", "bfs"]
    for each in ran.values():
        (result,) = each.results
        assert (result.job.detect, result.job.max_depth, result.job.workers) == ("paper", 5, 5)
        assert each.row.found == SITES  # each WMS is named with its request


@pytest.mark.long
def test_the_second_topic_is_that_of_pages_which_lead_to_arcgis_services(evidence: Evidence) -> None:
    (world,) = evidence.experiments[SECOND_TOPIC].worlds
    assert world.study.relevant == set(ON)  # c does not name the service but links to a, which does
    assert _strategies(evidence.experiments[SECOND_TOPIC]).keys() == {
        "hits:paper",
        "best-n-first:paper",
        "best-first:paper",
    }
    for each in world.strategies:
        (result,) = each.results
        assert (result.job.topic, result.job.budget) == ("geoservices/arcgis", THIRD)
        relevant = len(set(result.visited) & set(ON))
        assert each.row.discovery_rate == pytest.approx(relevant / len(ON), abs=1e-6)


@pytest.mark.long
def test_recalls_of_the_second_topic_are_compared_after_the_third_that_was_read(evidence: Evidence) -> None:
    held = [each for each in findings(evidence) if each.where == "sites (second topic)"]
    rates = [each.figures.partition(" after ")[0] for each in held]
    assert rates == ["harvest rate"] * 2 + ["discovery rate"] * 3
    assert all(f" after {THIRD} pages" in each.figures for each in held)


@pytest.mark.long
def test_links_whose_anchors_say_what_they_lead_to_are_all_classified(evidence: Evidence) -> None:
    classes = evidence.links["sites"]
    assert classes.positive == classes.negative >= 100
    for name in ("bayes:paper", "bayes:anchors"):
        assert tuple(classes.scores[name]) == (1.0, 1.0, 1.0)


def test_a_web_with_few_pages_on_the_topic_is_left_out_and_the_claims_say_so(small: Path) -> None:
    plan = Plan([small], ["bfs"])
    lines: list[str] = []
    evidence = run_experiments(plan, run_contest(plan, lines.append), lines.append)
    assert not evidence.links and not any(evidence.experiments[name].worlds for name in evidence.not_run)
    for name in (TEN_SEEDS, OFF_TOPIC_SEEDS, SECOND_TOPIC):
        assert evidence.not_run[name] == "no web of the contest has enough pages on the topic"
    told = [each for each in findings(evidence) if each.where == TEN_SEEDS]
    assert {each.verdict for each in told} == {Verdict.NOT_COMPARABLE}
    assert "experiment: ten seeds, on 0 webs" in lines


def test_experiments_keep_to_a_budget_that_is_smaller_than_their_own(tmp_path: Path) -> None:
    folder = write_experiment_world(tmp_path / "sites")
    plan = Plan([folder], ["bfs"], budget=12)
    world = WorldResults(study(World(folder), PageJudge({}, -1.0, {})), ())
    plans = [_from_ten_seeds(plan, folder, world, on_topic=True), _second_topic(plan, folder, world)]
    assert [each.budget for each in plans if each is not None] == [12, 12]
    wide = replace(plan, budget=None)
    plans = [_from_ten_seeds(wide, folder, world, on_topic=True), _second_topic(wide, folder, world)]
    assert [each.budget for each in plans if each is not None] == [THIRD, THIRD]
