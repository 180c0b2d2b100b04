"""With several workers a crawl keeps nearly the order of one, and finds the same in the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.lab.contest.run import CrawlResult, Job, run
from geocrawl.lab.made_worlds.folder import make
from tests.support.samples import sampled


@pytest.fixture(scope="module")
def agency(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("worlds") / "agency"
    make("agency", 300, 7, folder)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("strategy", sampled(["fusion", "bfs", "gws"], "fusion"))
def test_five_workers_keep_the_order_and_find_the_same(agency: Path, strategy: str) -> None:
    def crawled(workers: int, delay_s: float, economy: float) -> CrawlResult:
        return run(Job(agency, strategy, 1000, workers=workers, delay_s=delay_s, economy=economy))

    one, five, free = crawled(1, 0.0, 1.0), crawled(5, 1.0, 0.5), crawled(5, 1.0, 0.0)
    assert five.score.found == free.score.found == one.score.found
    assert five.score.pages == free.score.pages == one.score.pages
    assert five.stopped == free.stopped == one.stopped
    assert five.score.area >= 0.95 * one.score.area
    assert _moved(one, five) < _moved(one, free)
    assert five.wall_s < 3 * free.wall_s


def _moved(one: CrawlResult, other: CrawlResult) -> float:
    """Return by how many places a page was read earlier or later, in the mean."""
    places = {key: place for place, key in enumerate(one.visited)}
    moves = [abs(place - places[key]) for place, key in enumerate(other.visited) if key in places]
    return sum(moves) / len(moves)
