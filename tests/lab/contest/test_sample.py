"""Samples of visited pages: drawn alike each time, judged by a person, read back with an interval."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from geocrawl.cli import app
from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.lab.contest.contest import ContestResults, Plan, run_contest
from geocrawl.lab.contest.sample import (
    COLUMNS,
    Precision,
    Size,
    draw,
    interval,
    read_judged,
    read_size,
    refuse_judged,
    write_sample,
)
from tests.lab.small_world import HOST, write_world


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ContestResults]:
    folder = write_world(tmp_path_factory.mktemp("worlds") / "small")
    return folder, run_contest(Plan([folder], ["bfs", "gws:paper", "oracle"], processes=1), lambda line: None)


def written(contest: tuple[Path, ContestResults], folder: Path, size: Size) -> list[dict[str, str]]:
    world, results = contest
    assert list(write_sample(draw(results, size, seed=1), [world], folder, 1))
    with (folder / "sample.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def judge(folder: Path, judgements: dict[str, str], delimiter: str = ",") -> Path:
    path = folder / "sample.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8-sig", newline="") as file:  # as spreadsheets write it
        writer = csv.DictWriter(file, COLUMNS, delimiter=delimiter)
        writer.writeheader()
        writer.writerows({**row, "judgement": judgements.get(row["url"], "")} for row in rows)
    return path


@pytest.mark.parametrize(
    ("text", "size"), [("200", Size(pages=200)), ("5%", Size(share=0.05)), ("100%", Size(share=1))]
)
def test_a_sample_is_a_number_of_pages_or_a_share(text: str, size: Size) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize("text", ["", "0", "-3", "0%", "101%", "5.5", "many", "nan%"])
def test_any_other_size_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match="expected a number of pages"):
        read_size(text)


def test_a_size_is_rounded_up_and_no_more_than_was_visited() -> None:
    assert (Size(share=0.05).of(41), Size(pages=200).of(41), Size(pages=2).of(41)) == (3, 41, 2)


def test_the_same_pages_are_drawn_each_time_and_alike_for_strategies(contest: tuple[Path, ContestResults]) -> None:
    _, results = contest
    bfs, gws = draw(results, Size(pages=2), seed=1)
    assert (bfs.strategy, bfs.visited, len(bfs.pages), gws.strategy) == ("bfs", 5, 2, "gws:paper")
    assert draw(results, Size(pages=2), seed=1) == [bfs, gws]
    everything = {page for seed in range(20) for page in draw(results, Size(pages=1), seed)[0].pages}
    assert len(everything) > 2  # another seed draws others


def test_a_person_gets_title_and_text_and_no_strategy(contest: tuple[Path, ContestResults], tmp_path: Path) -> None:
    rows = written(contest, tmp_path, Size(share=1))
    assert [*rows[0]] == list(COLUMNS) and len(rows) == 5
    assert {row["judgement"] for row in rows} == {""} and {row["world"] for row in rows} == {"small"}
    (maps,) = [row for row in rows if row["url"] == f"{HOST}/maps.html"]
    assert maps["title"] and maps["excerpt"]
    assert "bfs" not in (tmp_path / "sample.csv").read_text()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_judgements_are_read_back_as_precision(
    contest: tuple[Path, ContestResults], tmp_path: Path, delimiter: str
) -> None:
    urls = [row["url"] for row in written(contest, tmp_path, Size(share=1))]
    said = dict(zip(urls, ["Yes", "y", "0", "?", ""], strict=True))
    found = {each.strategy: each for each in read_judged(judge(tmp_path, said, delimiter))}
    bfs = found["bfs"]
    assert (bfs.visited, bfs.judged, bfs.relevant, bfs.not_judged) == (5, 3, 2, 2)
    assert bfs.precision == pytest.approx(2 / 3, abs=1e-6)
    assert bfs.low is not None and bfs.high is not None and bfs.low < 2 / 3 < bfs.high


def test_a_sample_without_judgements_has_no_precision(contest: tuple[Path, ContestResults], tmp_path: Path) -> None:
    written(contest, tmp_path, Size(share=1))
    nothing = {each.strategy: each for each in read_judged(judge(tmp_path, {}))}["bfs"]
    assert nothing == Precision("small", "bfs", 5, 0, 0, 5, None, None, None)


def test_an_interval_is_wilsons_for_a_large_crawl_and_a_point_when_all_is_judged() -> None:
    low, high = interval(81, 100, 10**9)
    assert low == pytest.approx(0.7222, abs=1e-4)
    assert high == pytest.approx(0.8749, abs=1e-4)
    assert interval(3, 4, 4) == (0.75, 0.75)
    assert interval(0, 10, 1000)[0] == 0.0 and interval(10, 10, 1000)[1] == 1.0


def test_bad_files_are_named_with_the_line(contest: tuple[Path, ContestResults], tmp_path: Path) -> None:
    urls = [row["url"] for row in written(contest, tmp_path, Size(share=1))]
    path = judge(tmp_path, {urls[1]: "perhaps"})
    with pytest.raises(UsageError, match=r"sample\.csv, line 3: judgement 'perhaps'; expected yes, no"):
        read_judged(path)
    path.write_text("url\nx\n")
    with pytest.raises(UsageError, match="has no column judgement and world"):
        read_judged(path)
    judge_file = tmp_path / "sample.json"
    path.write_text("world,url,judgement\n")
    judge_file.write_text("{}")
    with pytest.raises(UsageError, match="is no record of a sample"):
        read_judged(path)
    judge_file.unlink()
    with pytest.raises(EnvironmentFault, match="tells which strategy"):
        read_judged(path)


def test_a_sample_that_may_be_judged_is_not_replaced(contest: tuple[Path, ContestResults], tmp_path: Path) -> None:
    refuse_judged(tmp_path)
    written(contest, tmp_path, Size(pages=1))
    with pytest.raises(UsageError, match="may hold judgements"):
        refuse_judged(tmp_path)


def test_the_command_writes_a_sample_and_reads_it_back(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "contest"
    arguments = ["evaluate", str(small), "--strategies", "bfs", "--processes", "1", "--quiet"]
    refused = CliRunner().invoke(app, [*arguments, "--sample", "2"])
    assert isinstance(refused.exception, UsageError) and "--out DIR" in str(refused.exception)
    run = CliRunner().invoke(app, [*arguments, "--sample", "2", "--out", str(out)], catch_exceptions=False)
    assert run.exit_code == 0 and "sample.csv: 2 pages to judge" in run.stderr
    rows = list(csv.DictReader((out / "sample.csv").read_text().splitlines()))
    path = judge(out, {row["url"]: "yes" for row in rows})
    back = CliRunner().invoke(app, ["evaluate", "--judged", str(path), "--json"], catch_exceptions=False)
    (found,) = json.loads(back.stdout)
    assert (found["strategy"], found["judged"], found["relevant"], found["precision"]) == ("bfs", 2, 2, 1.0)
    shown = CliRunner().invoke(app, ["evaluate", "--judged", str(path)], catch_exceptions=False)
    assert "100.0%" in shown.stdout
