"""Crawl single-page portals on loopback without and with a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from geocrawl.crawler.report import CrawlReport
from geocrawl.model.search import Selection
from geocrawl.settings import Settings
from geocrawl.store.catalogue.services import read_endpoints
from geocrawl.store.database.database import open_readonly
from tests.support import crawls

SETTINGS = Settings(
    allow_private=True, delay_s=0.05, strategy="bfs", siblings=0, maps=False, patience_s=1.0, max_pages=60, browser=True
)


def settings_with(**changes: object) -> Settings:
    """Return the settings of these crawls with some changed."""
    return replace(SETTINGS, **changes)  # type: ignore[arg-type]


def crawl(path: Path, seeds: list[str], **changes: object) -> tuple[CrawlReport, set[str]]:
    """Crawl into a new catalogue, and return the report and the addresses of the valid services."""
    report, _ = crawls.crawl(settings_with(**changes), path, seeds)
    with open_readonly(path) as connection:
        return report, {row.url for row in read_endpoints(connection, Selection()) if row.status == "valid"}
