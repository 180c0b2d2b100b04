"""Contests with bad input: one clear line for each, and the rest goes on. And a whole contest held twice."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from geocrawl.lab.contest.contest import ORACLE, ContestResults, Plan, run_contest
from geocrawl.lab.contest.results import COLUMNS, COSTS, to_csv
from geocrawl.lab.made_worlds.folder import make
from geocrawl.priority.models import shipped_models
from geocrawl.priority.registry import strategies
from tests.lab.small_world import write_world


def _cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def _seeds(folder: Path, *seeds: str) -> None:
    meta = json.loads((folder / "world.json").read_text())
    (folder / "world.json").write_text(json.dumps({**meta, "seeds": seeds}))


BAD_WORLDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "lacking": (lambda folder: (folder / "truth.csv").unlink(), "is no recorded web: it has no truth.csv"),
    "cut": (lambda folder: _cut(folder / "pages.warc.gz"), "pages.warc.gz is cut off in the answer of http://"),
    "unread": (lambda folder: (folder / "world.json").write_text("{"), "world.json is not JSON"),
    "seedless": (lambda folder: _seeds(folder), "world.json names no seeds"),
    "columns": (lambda folder: (folder / "truth.csv").write_text("a,b\n1,2\n"), "truth.csv has no column"),
}
"""Folder → how it is spoilt, and what is said of it."""


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory: pytest.TempPathFactory) -> ContestResults:
    """A contest in which one strategy of four can run, on one world of nine."""
    folder = tmp_path_factory.mktemp("worlds")
    worlds = [write_world(folder / "whole")]
    for name, (spoil, _) in BAD_WORLDS.items():
        worlds.append(write_world(folder / name))
        spoil(worlds[-1])
    worlds.append(write_world(folder / "silent"))
    _seeds(worlds[-1], "http://gone.example/")
    for name, data in (("foreign.warc.gz", gzip.compress(b"hello")), ("none.warc.gz", b"")):
        worlds.append(folder / name)
        worlds[-1].write_bytes(data)
    old = json.loads((shipped_models() / "bayes_links.json").read_text("utf-8"))
    (folder / "old.json").write_text(json.dumps({**old, "version": 99}))
    options = {"gws.nosuch": "1", "bayes.model": str(folder / "old.json")}
    return run_contest(Plan(worlds, ["bfs", "gws", "nosuch", "bayes"], set=options), lambda line: None)


def test_what_can_run_runs(spoilt: ContestResults) -> None:
    assert [(row.world, row.strategy, row.found) for row in spoilt.rows()] == [("whole", "bfs", 1)]


@pytest.mark.parametrize("name", BAD_WORLDS)
def test_a_bad_world_is_skipped_with_one_line_that_names_the_file(spoilt: ContestResults, name: str) -> None:
    (line,) = [line for line in spoilt.skipped if f"/{name}:" in line]
    assert BAD_WORLDS[name][1] in line and "\n" not in line


def test_a_world_whose_seeds_do_not_answer_is_no_row_of_zeros(spoilt: ContestResults) -> None:
    (line,) = [line for line in spoilt.skipped if line.startswith("bfs on silent")]
    assert line == "bfs on silent: none of the seeds answered: http://gone.example/"


@pytest.mark.parametrize("name", ["foreign.warc.gz", "none.warc.gz"])
def test_a_file_that_is_no_recording_is_skipped(spoilt: ContestResults, name: str) -> None:
    (line,) = [line for line in spoilt.skipped if f"/{name}:" in line]
    assert "\n" not in line and name in line.partition(": ")[2]


def test_unknown_strategies_and_options_and_old_models_are_said_once_a_world(spoilt: ContestResults) -> None:
    of_whole = {line.partition(" on whole: ")[0]: line for line in spoilt.skipped if " on whole: " in line}
    assert set(of_whole) == {"gws", "nosuch", "bayes"}
    assert "unknown option gws.nosuch" in of_whole["gws"]
    assert "unknown strategy 'nosuch'" in of_whole["nosuch"]
    assert "old.json has version 99" in of_whole["bayes"] and "train it again" in of_whole["bayes"]


@pytest.mark.acceptance
@pytest.mark.timeout(1_800)
def test_a_contest_of_all_strategies_held_twice_gives_the_same_bytes_but_for_costs(tmp_path: Path) -> None:
    make("mixed", 200, 11, tmp_path / "mixed", ())
    names = [*strategies(), ORACLE]
    first, second = (
        run_contest(Plan([tmp_path / "mixed"], names, budget=60, seed=2, processes=processes), lambda line: None)
        for processes in (2, 3)
    )
    assert [row.strategy for row in first.rows()] == names
    assert not first.skipped
    assert _without_costs(to_csv(first)) == _without_costs(to_csv(second))


def _without_costs(text: str) -> str:
    """The CSV less the columns of CPU seconds and memory, else byte by byte."""
    kept = [number for number, name in enumerate(COLUMNS) if name not in COSTS]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([row[number] for number in kept] for row in csv.reader(io.StringIO(text)))
    return out.getvalue()
