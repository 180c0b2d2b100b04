"""Scrapy doing text and links only, for comparison: `python scrapy_crawl.py PROXY PAGES SEED…`.

Runs in an environment of its own. Settings as near to geocrawl's as they go: five requests at once, no delay, no
cookies, no retries, breadth first; robots.txt is left out, in the peer's favour. Duplicates are dropped by Scrapy's
own fingerprints, held in memory.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Request, Response

TEXT = "//body//text()[not(parent::script or parent::style)]"
LINKS = "//a/@href | //area/@href | //frame/@src | //iframe/@src"


class TextAndLinks(scrapy.Spider):  # type: ignore[misc]  # Scrapy is not installed where types are checked
    """Reads every page's visible text and follows its links."""

    name = "text-and-links"

    def __init__(self, proxy: str, seeds: list[str], **options: Any) -> None:
        super().__init__(**options)
        self._seeds = seeds
        self._proxy = proxy
        self.characters = 0

    async def start(self) -> AsyncIterator[Request]:
        """The first requests."""
        for url in self._seeds:
            yield Request(url, meta={"proxy": self._proxy})

    def parse(self, response: Response) -> Iterator[Request]:
        """Read one page."""
        if not isinstance(response, HtmlResponse):
            return
        text = " ".join(" ".join(response.xpath(TEXT).getall()).split())
        self.characters += len(text)
        for href in dict.fromkeys(response.xpath(LINKS).getall()):
            try:
                url = response.urljoin(href.strip())
            except ValueError:
                continue
            if url.startswith("http://"):
                yield Request(url, meta={"proxy": self._proxy})


def settings(pages: int) -> dict[str, Any]:
    """Scrapy's settings for a run of `pages` answers."""
    return {
        "CONCURRENT_REQUESTS": 5,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 5,
        "DOWNLOAD_DELAY": 0,
        "CLOSESPIDER_PAGECOUNT": pages,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "CRITICAL",
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
    }


def main() -> None:
    """Crawl until that many answers are in."""
    proxy, pages, *seeds = sys.argv[1:]
    process = CrawlerProcess(settings(int(pages)))
    process.crawl(TextAndLinks, proxy=proxy, seeds=seeds)
    process.start()


if __name__ == "__main__":
    main()
