"""Webs that `geocrawl world make` makes: the same for the same seed, whole, and crawled with nothing false."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.check import check
from tests.support.samples import sampled


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("kind", ["portal", "agency", "mixed"])
def test_a_made_web_is_whole_and_the_same_for_the_same_seed(tmp_path: Path, kind: str) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        make(kind, 200, seed, tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a") != contents(tmp_path / "c")
    report = check(tmp_path / "a")
    assert report.problems == ()
    assert 0 < report.reachable <= report.valid <= report.services


@pytest.fixture(scope="module")
def calm_and_troubled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A made web, and the same with pages in trouble and a dead host."""
    root = tmp_path_factory.mktemp("portal")
    make("portal", 200, 5, root / "calm")
    make("portal", 200, 5, root / "troubled", troubled=True)
    assert check(root / "troubled").problems == ()
    return root / "calm", root / "troubled"


@pytest.mark.parametrize("strategy", sampled(["gws", "bfs", "best-first", "adaptive", "fusion"], "fusion"))
def test_pages_in_trouble_and_a_dead_host_end_no_crawl_of_a_made_web(
    calm_and_troubled: tuple[Path, Path], strategy: str
) -> None:
    calm, troubled = (run(Job(folder, strategy, 1000)) for folder in calm_and_troubled)
    assert (troubled.stopped, troubled.score.found) == ("resting", calm.score.found), "only retries are left"
    assert {"/busy/report.html", "/busy/queue.html"} <= {key[key.index("/") :] for key in troubled.visited}


def test_a_crawl_of_a_made_web_finds_services_and_accepts_nothing_false(tmp_path: Path) -> None:
    make("mixed", 300, 11, tmp_path / "w")
    result = run(Job(tmp_path / "w", "bfs", 1000))
    assert result.score.found > 0
    assert result.score.false_accepts == ()
