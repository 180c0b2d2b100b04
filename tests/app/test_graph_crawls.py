"""Whole crawls of the demo web by the strategies over a link graph, iterating every few pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.cli.status import status_lines
from geocrawl.demo import DemoWeb
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from geocrawl.store.frontier.status import read_status
from tests.support.crawls import crawl, valid
from tests.support.samples import sampled

GRAPH_STRATEGIES = {"hits": "p", "ipagerank": "q", "pagerank": "q"}
"""With the option for how often they iterate."""


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


@pytest.mark.parametrize("strategy", sampled(GRAPH_STRATEGIES, "pagerank"))
def test_a_crawl_to_its_end_finds_what_there_is(web: DemoWeb, tmp_path: Path, strategy: str) -> None:
    crawl(settings_for(web, strategy), tmp_path / "c.db", web.seeds)
    assert valid(tmp_path / "c.db") == web.expected_valid


@pytest.mark.parametrize("strategy", sampled(GRAPH_STRATEGIES, "pagerank"))
def test_a_crawl_that_stopped_goes_on_in_the_order_it_had(web: DemoWeb, tmp_path: Path, strategy: str) -> None:
    _, whole = crawl(settings_for(web, strategy, max_pages=80), tmp_path / "whole.db", web.seeds)
    _, first = crawl(settings_for(web, strategy, max_pages=38), tmp_path / "parts.db", web.seeds)
    _, second = crawl(settings_for(web, strategy, max_pages=42), tmp_path / "parts.db")
    assert first.visits + second.visits == whole.visits


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
    crawl(settings_for(web, strategy, max_pages=1), tmp_path / "c.db")
    crawl(replace(settings, strategy="bfs", set={}, max_pages=1), tmp_path / "c.db")
    with open_readonly(tmp_path / "c.db") as connection:
        assert read_status(connection, 0.0).held == {}
