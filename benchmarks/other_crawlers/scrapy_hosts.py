"""Scrapy on many polite hosts, for comparison: `python scrapy_hosts.py REQUESTS_AT_ONCE SEEDS_FILE`.

Runs in an environment of its own, until it is stopped. As its documentation advises for broad crawls; it obeys
robots.txt, asks a host one thing at a time, a second after the last, and follows all links.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Request, Response
from scrapy.linkextractors import LinkExtractor

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "DOWNLOAD_DELAY": 1,
    "RANDOMIZE_DOWNLOAD_DELAY": False,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
    "REACTOR_THREADPOOL_MAXSIZE": 20,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "DOWNLOAD_TIMEOUT": 20,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "CRITICAL",
}


class AllLinks(scrapy.Spider):  # type: ignore[misc]  # Scrapy is not installed where types are checked
    """Follows every link."""

    name = "all-links"
    links = LinkExtractor()

    def __init__(self, seeds: list[str], **options: Any) -> None:
        super().__init__(**options)
        self._seeds = seeds

    async def start(self) -> AsyncIterator[Request]:
        """The first requests."""
        for url in self._seeds:
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Request]:
        """Follow the links of one page."""
        for link in self.links.extract_links(response):
            yield response.follow(link)


if __name__ == "__main__":
    at_once, seeds_file = sys.argv[1:]
    process = CrawlerProcess({**SETTINGS, "CONCURRENT_REQUESTS": int(at_once)})
    process.crawl(AllLinks, seeds=Path(seeds_file).read_text(encoding="utf-8").split())
    process.start()
