"""Contests: the same twice, going on with what is left, fair about models; and how they are written down."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from geocrawl.errors import UsageError
from geocrawl.lab.contest import plots
from geocrawl.lab.contest.contest import ContestResults, Plan, jobs, run_contest
from geocrawl.lab.contest.judge import PageJudge, read_judge
from geocrawl.lab.contest.models import Model, models_read, refuse_trained_on
from geocrawl.lab.contest.papers import PAPERS
from geocrawl.lab.contest.report import to_html, write_all
from geocrawl.lab.contest.results import COSTS, options_of, to_csv, to_json
from geocrawl.lab.contest.study import study
from geocrawl.lab.contest.table import HEADS, cells, tables
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.priority.models import shipped_models
from geocrawl.settings import DEFAULT_STRATEGY, Settings
from tests.lab.small_world import HOST, write_world

NOBODY = PageJudge({}, -1.0, {})


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, ContestResults, list[str]]:
    folder = write_world(tmp_path_factory.mktemp("worlds") / "small")
    lines: list[str] = []
    plan = Plan([folder, folder / "documents"], ["bfs", "gws:paper", "nosuch", "oracle"], seed=3)
    return plan, run_contest(plan, lines.append), lines


def test_a_contest_goes_on_with_what_is_left_and_says_what_it_skipped(
    contest: tuple[Plan, ContestResults, list[str]],
) -> None:
    _, outcome, lines = contest
    assert [row.strategy for row in outcome.rows()] == ["bfs", "gws:paper", "oracle"]
    assert len(outcome.skipped) == 2
    assert any("nosuch" in line for line in outcome.skipped)
    assert any("no recorded web" in line for line in outcome.skipped)
    assert {f"skipped {line}" for line in outcome.skipped} <= set(lines)


def test_the_same_contest_twice_gives_the_same_lines_but_for_costs(
    contest: tuple[Plan, ContestResults, list[str]],
) -> None:
    plan, outcome, _ = contest
    again = run_contest(Plan(plan.worlds[:1], plan.strategies, seed=3, processes=1), lambda line: None)
    assert _without_costs(to_csv(again)) == _without_costs(to_csv(outcome))


def _without_costs(text: str) -> list[dict[str, str]]:
    return [{k: v for k, v in row.items() if k not in COSTS} for row in csv.DictReader(io.StringIO(text))]


def test_a_contest_in_which_nobody_can_run_is_an_error(small: Path) -> None:
    with pytest.raises(UsageError, match="no world"):
        run_contest(Plan([], ["bfs"]), lambda line: None)


def test_a_contest_begins_at_the_seeds_that_are_given_and_recorded(small: Path) -> None:
    given = (f"{HOST}/maps.html", "http://elsewhere.example/")
    outcome = run_contest(Plan([small], ["bfs", "oracle"], seeds=given), lambda line: None)
    (world,) = outcome.worlds
    crawl, oracle = world.strategies
    assert crawl.results[0].visited == ("www.small.example/maps.html",)
    assert world.study.reachable == {"www.small.example/maps.html"}
    assert (oracle.row.pages, oracle.row.found) == (1, 1)
    with pytest.raises(UsageError, match="none of the 1 seeds is recorded in small"):
        run_contest(Plan([small], ["bfs"], seeds=given[1:]), lambda line: None)


def test_a_contest_may_be_about_another_topic(small: Path) -> None:
    plan = Plan([small], ["best-first"], topic="environment/soil")
    outcome = run_contest(plan, lambda line: None)
    (result,) = outcome.worlds[0].strategies[0].results
    assert result.job.topic == "environment/soil"
    assert json.loads(to_json(plan, outcome))["plan"]["topic"] == "environment/soil"
    assert "the topic environment/soil" in to_html(plan, outcome, with_plots=False)


def test_random_runs_with_five_seeds_and_the_others_once(small: Path) -> None:
    plan = Plan([small], ["random"], seed=7)
    assert [job.set["random.seed"] for job in jobs(plan, small, "random", 5)] == ["7", "8", "9", "10", "11"]
    assert len(jobs(plan, small, "bfs", 5)) == 1


def test_a_model_that_was_trained_on_the_world_is_refused_and_one_kept_from_it_is_not() -> None:
    seen = Model("m.json", {"files": [{"file": "w", "sha256": "abc"}]})
    kept = Model("m.json", {"files": [{"file": "p", "sha256": "123"}], "exclude": [{"file": "w", "sha256": "abc"}]})
    refuse_trained_on([kept], "w", "abc")
    with pytest.raises(UsageError, match=r"m\.json was trained on w"):
        refuse_trained_on([kept, seen], "w", "abc")


def test_the_models_that_are_opened_are_known_with_what_they_learnt_from() -> None:
    path = shipped_models() / "gws_topic.json"
    models = models_read(path.read_text)
    assert [model.name for model in models] == ["gws_topic.json"]
    assert "pages.jsonl.gz" in [name for name, _ in models[0].learnt_from()]


def test_a_study_knows_what_is_relevant_what_can_be_reached_and_the_way(small: Path) -> None:
    found = study(World(small), NOBODY)
    host = "www.small.example"
    assert found.relevant == {f"{host}{at}" for at in ("/", "/maps.html", "/secret/a.html")}
    assert found.reachable == {f"{host}{at}" for at in ("/", "/maps.html", "/news.html", "/old.html", "/target.html")}
    assert found.oracle == (2,)
    assert not found.judged


def test_the_oracle_is_above_all_others(contest: tuple[Plan, ContestResults, list[str]]) -> None:
    rows = {row.strategy: row for row in contest[1].rows()}
    assert rows["oracle"].area == max(row.area for row in rows.values())
    assert (rows["oracle"].pages, rows["oracle"].found) == (2, 1)


def test_harvest_and_discovery_count_relevant_pages(contest: tuple[Plan, ContestResults, list[str]]) -> None:
    row = next(row for row in contest[1].rows() if row.strategy == "bfs")
    assert (row.pages, row.harvest_rate, row.discovery_rate) == (5, 0.4, 1.0)


def test_everything_is_written_and_the_report_needs_nothing_beside_it(
    contest: tuple[Plan, ContestResults, list[str]], tmp_path: Path
) -> None:
    plan, outcome, _ = contest
    assert list(write_all(plan, outcome, tmp_path))
    names = {path.name for path in tmp_path.iterdir()}
    drawings = {f"small-{what}.{form}" for what in ("curves", "areas") for form in ("svg", "png")}
    assert names == {"results.csv", "results.json", "rates.csv", "claims.csv", "report.html", *drawings}
    assert (tmp_path / "rates.csv").read_text().splitlines()[1] == ",small,bfs,6,0.2,0.4,1.0,0.0,1.0"
    data = json.loads((tmp_path / "results.json").read_text())
    assert data["models"]["gws:paper"]["gws_topic.json"]["files"][0]["file"] == "pages.jsonl.gz"
    assert data["worlds"][0]["rows"][0]["curve"] == [2]
    assert data["options"]["gws:paper"]["drop_zero"] is True and data["options"]["bfs"] == {}
    page = (tmp_path / "report.html").read_text()
    asked = page.partition("<h2>")[0]
    assert "<td>bfs, gws:paper, nosuch, oracle</td>" in asked and "<td>small (6 pages)</td>" in asked
    assert "<td>as many pages as its web has</td>" in asked
    assert re.search(r"<td>answer, small</td><td>\S+ found 1 of 1 service, half of them after 2 pages", asked)
    heads = re.findall("<h2>(.+?)</h2>", page)
    assert heads[0] == "World small" and heads.index("What the papers claim, and what is seen here") == 2
    assert page.count("data:image/svg+xml;base64,") == 2  # curves and areas of the web; none like a web of the papers
    assert "http://" not in page.replace("http://www.w3.org", "") and "<script" not in page
    for paper in PAPERS:
        assert paper.title in page
    assert "small: bfs, gws:paper ended because the queue was empty." in page
    assert "<h3>gws:paper</h3>" in page and "eq. 4, priority = λ·link + (1−λ)·page" in page


def test_the_same_drawing_has_the_same_bytes(contest: tuple[Plan, ContestResults, list[str]]) -> None:
    world = contest[1].worlds[0]
    for form in ("svg", "png"):
        assert plots.drawn(plots.curves(world), form) == plots.drawn(plots.curves(world), form)


def test_options_on_top_of_a_preset_are_those_of_the_contest() -> None:
    found = options_of(Plan([], ["gws:paper", "gws", "nosuch"], set={"gws.high": "0.5", "gws:paper.low": "0.2"}))
    assert list(found) == ["gws:paper", "gws"]
    assert (found["gws:paper"]["high"], found["gws:paper"]["low"], found["gws:paper"]["drop_zero"]) == (0.5, 0.2, True)
    assert (found["gws"]["high"], found["gws"]["low"], found["gws"]["drop_zero"]) == (0.5, 0.01, False)


def test_a_narrow_terminal_shows_fewer_columns(contest: tuple[Plan, ContestResults, list[str]]) -> None:
    outcome = contest[1]
    (wide,), (narrow,) = tables(outcome, 200), tables(outcome, 80)
    assert len(wide.columns) == len(HEADS) == len(cells(next(outcome.rows())))
    assert len(narrow.columns) < len(wide.columns)


def test_the_shipped_judge_tells_map_services_from_news() -> None:
    judge = read_judge()
    about = "The OGC Web Map Service (WMS) and WFS of this GeoServer publish layers; GetCapabilities lists them."
    assert judge.is_relevant("OGC WMS layers", about)
    assert not judge.is_relevant("News", "The choir sings on Sunday in the town hall, with tea and cake.")


def test_the_row_as_used_has_the_workers_and_the_delay_of_a_crawl(small: Path) -> None:
    plan = Plan([small], ["bfs", "as-used"])
    (job,) = jobs(plan, small, "as-used", 10)
    used = Settings()
    assert (job.strategy, job.workers, job.delay_s) == (DEFAULT_STRATEGY, used.workers, used.delay_s)
    outcome = run_contest(plan, lambda line: None)
    plain, as_used = outcome.rows()
    assert (plain.strategy, as_used.strategy) == ("bfs", "as-used")
    assert as_used.found == plain.found
    assert as_used.wall_s is not None and plain.wall_s is not None and as_used.wall_s > plain.wall_s
    assert f"as-used is {DEFAULT_STRATEGY} as a crawl runs it by default, with 64 workers" in to_html(
        plan, outcome, with_plots=False
    )
