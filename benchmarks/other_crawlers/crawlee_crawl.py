"""Crawlee doing text and links only, for comparison: `python crawlee_crawl.py PARSER CLIENT PROXY PAGES SEED…`.

Runs in an environment of its own. PARSER is parsel or beautifulsoup, CLIENT impit or httpx. Settings as near to
geocrawl's as they go: five requests at once, no delay, no sessions, no retries, queue in memory; robots.txt is left
out, in the peer's favour.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import warnings

from crawlee import ConcurrencySettings, service_locator
from crawlee.crawlers import BeautifulSoupCrawler, BeautifulSoupCrawlingContext, ParselCrawler, ParselCrawlingContext
from crawlee.http_clients import HttpxHttpClient, ImpitHttpClient
from crawlee.proxy_configuration import ProxyConfiguration
from crawlee.storage_clients import MemoryStorageClient

TEXT = "//body//text()[not(parent::script or parent::style)]"
CLIENTS = {"httpx": HttpxHttpClient, "impit": ImpitHttpClient}


async def read_with_parsel(context: ParselCrawlingContext) -> None:
    """Read one page's text and follow its links."""
    " ".join(" ".join(context.selector.xpath(TEXT).getall()).split())
    await context.enqueue_links(strategy="all")


async def read_with_soup(context: BeautifulSoupCrawlingContext) -> None:
    """Read one page's text and follow its links."""
    " ".join(context.soup.get_text(" ").split())
    await context.enqueue_links(strategy="all")


CRAWLERS = {"parsel": (ParselCrawler, read_with_parsel), "beautifulsoup": (BeautifulSoupCrawler, read_with_soup)}


async def crawl(parser: str, client: str, proxy: str, pages: int, seeds: list[str]) -> None:
    """Crawl until `pages` answers are in."""
    storage = MemoryStorageClient()
    service_locator.set_storage_client(storage)
    crawler_class, read = CRAWLERS[parser]
    crawler = crawler_class(
        request_handler=read,
        storage_client=storage,
        http_client=CLIENTS[client](persist_cookies_per_session=False),
        proxy_configuration=ProxyConfiguration(proxy_urls=[proxy]),
        concurrency_settings=ConcurrencySettings(min_concurrency=5, max_concurrency=5, desired_concurrency=5),
        max_requests_per_crawl=pages,
        max_request_retries=0,
        use_session_pool=False,
        retry_on_blocked=False,
        ignore_http_error_status_codes=range(400, 600),
        configure_logging=False,
    )
    await crawler.run(seeds)


def main() -> None:
    """Crawl, with the library's own messages left out."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    parser, client, proxy, pages, *seeds = sys.argv[1:]
    asyncio.run(crawl(parser, client, proxy, int(pages), seeds))


if __name__ == "__main__":
    main()
