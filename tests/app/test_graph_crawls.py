"""Whole crawls of the demo web by the strategies over a link graph, iterating every few pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.cli.status import status_lines
from geocrawl.demo import DemoWeb
from geocrawl.model import Entry, FrontierStats, Lease, SettlementResult, Visit
from geocrawl.model.search import Selection
from geocrawl.settings import Settings
from geocrawl.store.catalogue.services import read_endpoints
from geocrawl.store.database.database import open_readonly
from geocrawl.store.frontier.status import read_status
from geocrawl.urls import endpoint_key, read_url
from tests.support.samples import sampled

GRAPH_STRATEGIES = {"hits": "p", "ipagerank": "q", "pagerank": "q"}
"""With the option for how often they iterate."""


class Watcher:
    """Remembers the order of visits."""

    def __init__(self) -> None:
        self.visits: list[str] = []

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        pass

    def noted(self, text: str) -> None:
        """Nothing is shown."""

    def leased(self, lease: Lease) -> None:
        pass

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        self.visits.append(f"{entry.purpose} {entry.url.address}")


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


def settings_for(web: DemoWeb, strategy: str, max_pages: int = 10_000) -> Settings:
    often = {f"{strategy}.{GRAPH_STRATEGIES[strategy]}": "7", f"{strategy}.growth": "1"}
    base = Settings(
        proxy=web.proxy_url, delay_s=0.0, workers=1, strategy=strategy, patience_s=0.2, dump_every=15, siblings=0
    )
    return replace(base, set=often, max_pages=max_pages)


def crawl(settings: Settings, path: Path, seeds: Sequence[str]) -> list[str]:
    watcher = Watcher()
    run_crawl(settings, path, [url for url in map(read_url, seeds) if url is not None], observer=watcher)
    return watcher.visits


@pytest.mark.parametrize("strategy", sampled(GRAPH_STRATEGIES, "pagerank"))
def test_a_crawl_to_its_end_finds_what_there_is(web: DemoWeb, tmp_path: Path, strategy: str) -> None:
    crawl(settings_for(web, strategy), tmp_path / "c.db", web.seeds)
    with open_readonly(tmp_path / "c.db") as connection:
        rows = [row for row in read_endpoints(connection, Selection()) if row.kind == "wms"]
    valid = {endpoint_key(url) for row in rows if row.status == "valid" and (url := read_url(row.url)) is not None}
    assert valid == set(web.expected_valid)


@pytest.mark.parametrize("strategy", sampled(GRAPH_STRATEGIES, "pagerank"))
def test_a_crawl_that_stopped_goes_on_in_the_order_it_had(web: DemoWeb, tmp_path: Path, strategy: str) -> None:
    whole = crawl(settings_for(web, strategy, max_pages=80), tmp_path / "whole.db", web.seeds)
    parts = crawl(settings_for(web, strategy, max_pages=38), tmp_path / "parts.db", web.seeds)
    parts += crawl(settings_for(web, strategy, max_pages=42), tmp_path / "parts.db", ())
    assert parts == whole


@pytest.mark.parametrize("strategy", sampled(GRAPH_STRATEGIES, "pagerank"))
def test_status_tells_how_large_the_graph_is(web: DemoWeb, tmp_path: Path, strategy: str) -> None:
    settings = settings_for(web, strategy, max_pages=40)
    crawl(replace(settings, set={**settings.set, f"{strategy}.edges": "1000"}), tmp_path / "c.db", web.seeds)
    with open_readonly(tmp_path / "c.db") as connection:
        now = read_status(connection, 0.0)
    assert now.held["edges at most"] == 1000
    assert 0 < now.held["graph nodes"] <= now.held["graph edges"] <= 1000
    assert now.held["graph bytes"] > 16 * now.held["graph edges"] > 0 == now.held["edges forgotten"]
    assert any(
        f"graph nodes {now.held['graph nodes']:,}" in line for line in status_lines(now, tmp_path, 0.0, Settings())
    )
    crawl(settings_for(web, strategy, max_pages=1), tmp_path / "c.db", ())
    run_crawl(replace(settings, strategy="bfs", set={}, max_pages=1), tmp_path / "c.db", [], observer=Watcher())
    with open_readonly(tmp_path / "c.db") as connection:
        assert read_status(connection, 0.0).held == {}
