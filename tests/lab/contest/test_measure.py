"""The figures are those of the recorded worlds' own scorer."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from geocrawl.lab.contest.measure import area, at_share, measure
from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.recorded_worlds.replay import Request
from geocrawl.lab.recorded_worlds.world import World
from tests.lab.conftest import Recorded


def write_log(path: Path, log: Sequence[Request]) -> None:
    """As the server writes it."""
    with path.open("w", encoding="utf-8") as file:
        for number, request in enumerate(log, 1):
            row = {**request._asdict(), "n": number, "t": 0.0}
            del row["key"]
            file.write(json.dumps(row) + "\n")


@pytest.mark.shared
@pytest.mark.parametrize("budget", [None, 200, 5000])
def test_our_figures_equal_the_scorers(recorded: Recorded, tmp_path: Path, budget: int | None) -> None:
    write_log(tmp_path / "access.jsonl", recorded.crawled.log)
    wrong = [("http://nowhere.example/wms", "wms"), (recorded.world.services[1].base + "?foo=bar", "wms")]
    broken = next(s for s in recorded.world.services if s.behaviour == "exception")
    catalogue = [*recorded.crawled.catalogue, *wrong, (broken.base, broken.kind)]
    with (tmp_path / "catalog.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("url", "kind", "status"), *((url, kind, "valid") for url, kind in catalogue)])
    files = (str(recorded.world.folder), str(tmp_path / "access.jsonl"), str(tmp_path / "catalog.csv"))
    theirs = recorded.scorer.score(*files, budget)
    ours = measure(recorded.world, recorded.crawled.log, catalogue, budget or theirs["pages_downloaded"])
    assert ours.found > 0
    assert (ours.pages, ours.service_requests) == (theirs["pages_downloaded"], theirs["service_requests"])
    assert (ours.found, ours.reachable) == (theirs["wms_found"], theirs["wms_reachable"])
    assert (ours.recall, ours.precision, ours.area) == (theirs["recall"], theirs["precision"], theirs["area"])
    assert (ours.pages_50, ours.pages_90, ours.pages_100) == tuple(theirs[f"pages_to_{n}"] for n in (50, 90, 100))
    assert list(ours.pages_at_finds) == theirs["moments"]
    assert len(ours.false_accepts) == theirs["false_accepts"]


@pytest.mark.shared
def test_a_replay_violates_no_robots_txt(recorded: Recorded, tmp_path: Path) -> None:
    write_log(tmp_path / "access.jsonl", recorded.crawled.log)
    (tmp_path / "catalog.csv").write_text("url,kind,status\n")
    files = (str(recorded.world.folder), str(tmp_path / "access.jsonl"), str(tmp_path / "catalog.csv"))
    assert recorded.scorer.score(*files)["robots_violations"] == 0


def test_a_slow_service_counts_neither_as_found_nor_as_false(small: Path) -> None:
    score = run(Job(small, "bfs", 100)).score
    assert (score.found, score.reachable, score.recall, score.false_accepts) == (1, 1, 1.0, ())


def test_a_service_in_the_catalogue_that_was_never_asked_is_not_found(small: Path) -> None:
    score = measure(World(small), [], [("http://maps.small.example/wms", "wms")], 10)
    assert (score.found, score.area) == (0, 0.0)


def test_a_crawl_that_ended_keeps_its_last_recall() -> None:
    assert area([1], 1, 10) == 1.0
    assert area([6], 1, 10) == 0.5
    assert area([6], 1, 5) == 0.0
    assert area([], 0, 5) == 0.0
    assert at_share([1, 2, 3, 9], 0.5) == 2
    assert at_share([], 0.9) is None
