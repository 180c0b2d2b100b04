"""Whole crawls of the demo web, over real sockets, against its known truth."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.crawler.report import CrawlReport
from geocrawl.demo import DemoWeb
from geocrawl.model import Lease, Page
from geocrawl.page.document import PageReader
from geocrawl.priority.models import VECTORS_FILE, read_vectors, shipped_models
from geocrawl.priority.strategies.ipagerank import make_page_filter
from geocrawl.store import Store
from geocrawl.store.database.database import open_readonly
from geocrawl.store.frontier.page_store import kept_pages
from geocrawl.store.upkeep.seeds import NewSeed, add_seeds
from geocrawl.urls import read_url
from tests.support.crawls import Watcher, crawl, settings_for, url, valid, verdicts
from tests.support.samples import sampled
from tests.support.world import ManualClock


@pytest.fixture
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


@dataclass(frozen=True)
class WholeCrawl:
    """A crawl of the demo web by one worker that went on until its queue was empty."""

    web: DemoWeb
    path: Path
    report: CrawlReport
    visits: list[str]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeCrawl]:
    path = tmp_path_factory.mktemp("whole") / "c.db"
    with DemoWeb() as web:
        report, watcher = crawl(settings_for(web, workers=1, strategy="gws"), path, web.seeds)
        yield WholeCrawl(web, path, report, watcher.visits)


def test_a_crawl_to_its_end_finds_what_there_is_and_accepts_nothing_else(whole: WholeCrawl) -> None:
    assert whole.report.summary.stopped in ("done", "resting")
    assert valid(whole.path) == whole.web.expected_valid
    rejected = {key: reason for key, (status, reason) in verdicts(whole.path).items() if status == "invalid"}
    assert rejected == dict(whole.web.expected_invalid)


@pytest.mark.parametrize("strategy", sampled(["gws", "bfs", "random"], "bfs"))
def test_five_workers_find_the_same_and_never_hold_two_connections_to_one_host(tmp_path: Path, strategy: str) -> None:
    with DemoWeb(latency_s=0.005) as web:
        crawl(settings_for(web, workers=5, strategy=strategy), tmp_path / "c.db", web.seeds)
        assert set(web.most_at_once.values()) == {1}
        assert valid(tmp_path / "c.db") == web.expected_valid


def test_every_valid_wms_of_the_web_delivers_maps(whole: WholeCrawl) -> None:
    with open_readonly(whole.path) as connection:
        statement = "SELECT DISTINCT level FROM endpoint WHERE status = 'valid' AND kind = 'wms'"
        assert connection.execute(statement).fetchall() == [("delivers",)]


def test_nothing_is_asked_twice_and_nothing_that_robots_forbids(whole: WholeCrawl) -> None:
    requests, content = whole.web.requests, whole.web.content
    pages = Counter(request.url for request in requests if request.kind in ("page", "redirect", "robots"))
    assert [address for address, count in pages.items() if count > 1] == []
    asked = {request.url.partition("?")[0] for request in requests}
    forbidden = {address.partition("?")[0] for address in content.pages if address not in content.depths}
    assert forbidden & asked == set()


def test_a_crawl_stopped_by_its_page_limit_and_resumed_ends_with_the_same_catalogue(
    web: DemoWeb, tmp_path: Path
) -> None:
    first, _ = crawl(settings_for(web, max_pages=40), tmp_path / "c.db", web.seeds)
    assert (first.summary.pages, first.summary.stopped) == (40, "max-pages")
    second, watcher = crawl(settings_for(web), tmp_path / "c.db")
    assert watcher.notes[0].startswith("Continuing with ")
    assert second.summary.pages > 0
    assert valid(tmp_path / "c.db") == web.expected_valid


def test_with_one_worker_two_crawls_visit_in_the_same_order(web: DemoWeb, tmp_path: Path, whole: WholeCrawl) -> None:
    _, second = crawl(settings_for(web, workers=1, strategy="gws"), tmp_path / "b.db", web.seeds)
    assert second.visits == whole.visits
    assert len(second.visits) > 150


def test_probes_run_right_after_the_visit_that_gave_them(whole: WholeCrawl) -> None:
    with open_readonly(whole.path) as connection:
        statement = "SELECT url, page FROM endpoint JOIN evidence ON endpoint_id = endpoint.id WHERE signal <> 'answer'"
        found_on = set(connection.execute(statement))
    page = ""
    for visit in whole.visits:
        purpose, _, address = visit.partition(" ")
        if purpose == "probe":
            assert (address, page) in found_on
        else:
            page = address


@pytest.mark.parametrize("budget", sampled([0, 2, 50], 2))
def test_other_kinds_beside_a_valid_service_are_asked_within_a_budget_of_the_host(
    web: DemoWeb, tmp_path: Path, budget: int
) -> None:
    crawl(settings_for(web, siblings=budget, workers=1), tmp_path / "c.db", web.seeds)
    statement = """SELECT e.host, e.status FROM endpoint e JOIN evidence v ON v.endpoint_id = e.id
                   WHERE v.signal = 'sibling' AND v.id = (SELECT min(id) FROM evidence WHERE endpoint_id = e.id)"""
    with open_readonly(tmp_path / "c.db") as connection:
        found = connection.execute(statement).fetchall()
    assert max(Counter(host for host, _ in found).values(), default=0) <= budget
    assert ("valid" in {status for _, status in found}) is (budget > 0)


def test_a_larger_depth_reaches_further_without_fetching_a_page_twice(web: DemoWeb, tmp_path: Path) -> None:
    shallow, _ = crawl(settings_for(web, max_depth=2), tmp_path / "c.db", web.seeds)
    deep, _ = crawl(settings_for(web, max_depth=5), tmp_path / "c.db")
    assert shallow.summary.pages > 0 < deep.summary.pages
    pages = Counter(request.url for request in web.requests if request.kind == "page")
    assert max(pages.values()) == 1
    assert valid(tmp_path / "c.db") == web.expected_valid


def test_another_strategy_ranks_again_what_waits_and_says_so(web: DemoWeb, tmp_path: Path) -> None:
    crawl(settings_for(web, max_pages=30), tmp_path / "c.db", web.seeds)
    report, watcher = crawl(settings_for(web, strategy="gws"), tmp_path / "c.db")
    assert watcher.notes[0].startswith("Strategy gws instead of bfs: ")
    assert report.strategy == "gws"
    assert valid(tmp_path / "c.db") == web.expected_valid


def test_the_stored_strategy_is_kept_when_none_is_named(web: DemoWeb, tmp_path: Path) -> None:
    crawl(settings_for(web, max_pages=10, strategy="random"), tmp_path / "c.db", web.seeds)
    report, _ = crawl(settings_for(web, max_pages=10, strategy=""), tmp_path / "c.db")
    assert report.strategy == "random"


def test_a_visited_seed_is_visited_again_only_when_asked_to(web: DemoWeb, tmp_path: Path) -> None:
    crawl(settings_for(web, max_depth=0), tmp_path / "c.db", web.seeds)
    _, watcher = crawl(settings_for(web, max_depth=0), tmp_path / "c.db", web.seeds)
    assert watcher.visits == []
    assert watcher.notes[-1].startswith("All given pages were visited before")
    _, watcher = crawl(settings_for(web, max_depth=0), tmp_path / "c.db", web.seeds, again=True)
    assert sorted(watcher.visits) == sorted(f"page {seed}" for seed in web.seeds)


def test_stored_start_pages_begin_an_empty_queue_once(web: DemoWeb, tmp_path: Path) -> None:
    with Store.open(tmp_path / "c.db", clock=ManualClock()) as store:
        add_seeds(store.database, [NewSeed(url(seed)) for seed in web.seeds], 0.0)
    _, watcher = crawl(settings_for(web, max_depth=0), tmp_path / "c.db")
    assert sorted(watcher.visits) == sorted(f"page {seed}" for seed in web.seeds)
    assert watcher.notes[-1].startswith(f"The queue was empty: {len(web.seeds)} start pages of `geocrawl seeds list`")
    _, watcher = crawl(settings_for(web, max_depth=0), tmp_path / "c.db")
    assert watcher.visits == [] and watcher.notes[-1].startswith("The queue is empty: give a page to start from")


def test_scope_host_keeps_pages_on_the_seeds_hosts_but_probes_elsewhere(web: DemoWeb, tmp_path: Path) -> None:
    crawl(settings_for(web, scope="host"), tmp_path / "c.db", web.seeds)
    hosts = {url(request.url).host for request in web.requests if request.kind in ("page", "redirect")}
    assert hosts == {url(seed).host for seed in web.seeds}
    assert {url(request.url).host for request in web.requests if request.kind == "service"} - hosts


def test_a_given_address_of_a_service_is_probed(web: DemoWeb, tmp_path: Path) -> None:
    key = sorted(web.expected_valid)[0]
    address = f"http://{key}{'&' if '?' in key else '?'}SERVICE=WMS&REQUEST=GetCapabilities"
    report, _ = crawl(settings_for(web, max_depth=0), tmp_path / "c.db", [address])
    assert (report.summary.probes, report.summary.valid, report.no_seed_answered) == (1, 1, False)


def test_a_seed_that_cannot_be_fetched_is_said_and_nothing_is_lost(web: DemoWeb, tmp_path: Path) -> None:
    report, _ = crawl(settings_for(web), tmp_path / "c.db", ["http://nobody.example/"])
    assert report.no_seed_answered
    report, _ = crawl(settings_for(web, max_pages=5), tmp_path / "c.db", web.seeds)
    assert not report.no_seed_answered


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_crawl_that_a_signal_stops_blames_no_start_page(web: DemoWeb, tmp_path: Path, number: int) -> None:
    class Stopper(Watcher):
        def leased(self, lease: Lease) -> None:
            os.kill(os.getpid(), number)

    report = run_crawl(settings_for(web), tmp_path / "c.db", [url("http://nobody.example/")], observer=Stopper())
    assert (report.summary.stopped, report.no_seed_answered) == ("signal", False)


@pytest.mark.parametrize("strategy", sampled(["gws", "bayes", "pagerank", "ipagerank", "bfs"], "gws", "bfs"))
def test_pages_of_the_topic_are_kept_by_one_threshold_whatever_the_strategy(
    web: DemoWeb, tmp_path: Path, strategy: str
) -> None:
    """The score of a kept page is that of the page filter, whose threshold is the text model's."""
    settings = settings_for(web, strategy=strategy, max_pages=40, store_pages=True)
    crawl(settings, tmp_path / "c.db", web.seeds)
    page_filter, threshold = make_page_filter(None, 0.0), read_vectors(shipped_models() / VECTORS_FILE).threshold
    with open_readonly(tmp_path / "c.db") as connection:
        kept = list(kept_pages(connection))
    assert kept
    for page in kept:
        url = read_url(page.address)
        assert url is not None
        document = PageReader(headline=True).read(
            Page(url, url, 200, {"content-type": f"text/html; charset={page.encoding}"}, page.body, 0.0, 0.0), depth=1
        )
        assert page.score == page_filter.score(document) > threshold


def test_the_least_nearness_of_a_kept_page_is_a_setting(web: DemoWeb, tmp_path: Path) -> None:
    kept = {}
    for least in (1e-6, 0.25):
        settings = settings_for(web, strategy="bfs", max_pages=20, store_pages=True, store_pages_min_score=least)
        crawl(settings, tmp_path / f"{least}.db", web.seeds)
        with open_readonly(tmp_path / f"{least}.db") as connection:
            kept[least] = {page.address: page.score for page in kept_pages(connection)}
    assert kept[0.25] == {address: score for address, score in kept[1e-6].items() if score >= 0.25}
    assert 0 < len(kept[0.25]) < len(kept[1e-6])
