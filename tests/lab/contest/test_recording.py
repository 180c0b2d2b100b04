"""A crawl of the demo web, recorded, and its replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.crawler.report import CrawlReport
from geocrawl.demo import DemoWeb
from geocrawl.errors import UsageError
from geocrawl.lab.contest.contest import Plan, run_contest
from geocrawl.lab.contest.judge import PageJudge
from geocrawl.lab.contest.recorded_crawls import study_recording
from geocrawl.lab.contest.run import Job, _Stopwatch, read_seeds, run, settings_for, valid_endpoints
from geocrawl.lab.recorded_worlds.recording import RecordedWeb
from geocrawl.lab.recorded_worlds.world import TOPIC_KIND
from geocrawl.urls import endpoint_key, read_url

DEPTH = 5
"""Beyond it is the calendar, which goes on for as long as the clock of the crawl says: a replay has another one."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CrawlReport, set[str]]:
    """A breadth-first crawl of the demo web: its recording, its summary, the keys of its valid WMS."""
    folder = tmp_path_factory.mktemp("recorded")
    file = folder / "demo.warc.gz"
    with DemoWeb() as web:
        settings = replace(settings_for(Job(file, "bfs", 1000, max_depth=DEPTH)), proxy=web.proxy_url)
        seeds = read_seeds(web.seeds)
        report = run_crawl(settings, folder / "a.db", seeds, observer=_Stopwatch(), record=file)
    return file, report, {_key(url) for url, kind in valid_endpoints(folder / "a.db") if kind == TOPIC_KIND}


def _key(address: str) -> str:
    url = read_url(address)
    assert url is not None
    return endpoint_key(url)


def test_a_replay_of_a_recording_finds_what_the_crawl_found(recorded: tuple[Path, CrawlReport, set[str]]) -> None:
    file, _, endpoints = recorded
    again = run(Job(file, "bfs", 1000, max_depth=DEPTH))
    assert set(again.score.endpoints) == endpoints
    assert again.unrecorded == 0


def test_a_recording_knows_its_seeds_and_pages(recorded: tuple[Path, CrawlReport, set[str]]) -> None:
    web = RecordedWeb(recorded[0])
    with DemoWeb() as demo:
        assert sorted(web.seeds) == sorted(url.address for url in read_seeds(demo.seeds))
    summary = recorded[1].summary
    # A recording cannot tell the HTML that a probe was answered with from a page that was read.
    assert 0 < web.pages <= summary.pages + summary.probes
    known = study_recording(web, PageJudge({}, 1.0, {}))
    assert len(known.judged) == len(known.reachable) == known.pages
    assert not known.has_truth


def test_another_strategy_on_a_recording_is_measured_by_the_pool_and_says_what_was_not_recorded(
    recorded: tuple[Path, CrawlReport, set[str]],
) -> None:
    contest = run_contest(Plan([recorded[0]], ["bfs", "gws", "oracle"]), lambda line: None)
    rows = {row.strategy: row for row in contest.rows()}
    assert set(rows) == {"bfs", "gws"}
    assert rows["bfs"].reachable >= rows["gws"].found
    assert rows["gws"].unrecorded is not None
    assert rows["gws"].harvest_rate is None and rows["gws"].judged_harvest_rate is not None


def test_a_recording_that_is_gone_on_with_is_one_file(tmp_path: Path) -> None:
    file = tmp_path / "demo.warc.gz"
    with DemoWeb() as web:
        for pages in (5, 10):
            settings = replace(settings_for(Job(file, "bfs", pages)), proxy=web.proxy_url)
            run_crawl(settings, tmp_path / "a.db", read_seeds(web.seeds), observer=_Stopwatch(), record=file)
    assert RecordedWeb(file).pages > 5


def test_a_recording_without_answers_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "none.warc.gz"
    file.write_bytes(b"")
    with pytest.raises(UsageError):
        RecordedWeb(file)
