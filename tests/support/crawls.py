"""Crawls of the demo web: their settings, what an observer saw, what they found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from geocrawl.app.crawl import run_crawl
from geocrawl.crawler.report import CrawlReport
from geocrawl.demo import DemoWeb
from geocrawl.model import Entry, FrontierStats, Lease, SettlementResult, Url, Visit
from geocrawl.model.search import Selection
from geocrawl.settings import Settings
from geocrawl.store.catalogue.services import read_endpoints
from geocrawl.store.database.database import open_readonly
from geocrawl.urls import endpoint_key, read_url


class Watcher:
    """An observer that records the order of visits and the notes."""

    def __init__(self) -> None:
        self.visits: list[str] = []
        self.notes: list[str] = []

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        self.notes = list(notes)

    def noted(self, text: str) -> None:
        """Nothing is shown."""

    def leased(self, lease: Lease) -> None:
        pass

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        self.visits.append(f"{entry.purpose} {entry.url.address}")


def url(text: str) -> Url:
    found = read_url(text)
    assert found is not None
    return found


def settings_for(web: DemoWeb, **more: object) -> Settings:
    base = Settings(proxy=web.proxy_url, delay_s=0.0, strategy="bfs", siblings=0)
    return replace(base, **more)  # type: ignore[arg-type]


def crawl(
    settings: Settings, path: Path, seeds: Sequence[str] = (), *, again: bool = False
) -> tuple[CrawlReport, Watcher]:
    watcher = Watcher()
    report = run_crawl(settings, path, [url(text) for text in seeds], observer=watcher, again=again)
    return report, watcher


def verdicts(path: Path) -> dict[str, tuple[str, str]]:
    """Return the key of each WMS endpoint, the kind that the demo's truth is about → (status, reason)."""
    with open_readonly(path) as connection:
        rows = [row for row in read_endpoints(connection, Selection()) if row.kind == "wms"]
    return {endpoint_key(url(row.url)): (row.status, row.reason) for row in rows}


def valid(path: Path) -> frozenset[str]:
    return frozenset(key for key, (status, _) in verdicts(path).items() if status == "valid")
