"""Many hosts on loopback behind one proxy, with an access log: what each asks for, and whether it was heeded.

Each host is of a sort by its name: plain, with a Crawl-delay, with rules in robots.txt, slow, strained (429 with a
Retry-After at every fifth page), or suspended (503 for an hour from its third answer on).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace

from tests.attacks.access_log import (
    RETRY_AFTER_S,
    SLOW_S,
    SUSPENDED_S,
    LoggingWeb,
    Reply,
    page_of,
    rules,
    sort_of,
    wait,
)
from tests.support.loopback import running

SORTS = ("plain", "crawl-delay", "robots", "slow", "strained", "suspended")
CRAWL_DELAY_S = 1.5
PAGES = 12
_RULES = {
    "crawl-delay": f"User-agent: *\nCrawl-delay: {CRAWL_DELAY_S}\n",
    "robots": "User-agent: *\nDisallow: /private\n",
}


class PoliteWeb(LoggingWeb):
    """The hosts of all sorts."""

    def reply(self, host: str, path: str) -> Reply:
        """Return the answer of a host, late when it is slow."""
        sort = sort_of(host)
        return replace(self._reply(sort, host, path), after_s=SLOW_S if sort == "slow" else 0.0)

    def _reply(self, sort: str, host: str, path: str) -> Reply:
        if path == "/robots.txt":
            return rules(_RULES.get(sort, ""))
        number = self.count(host)
        if sort == "strained" and number % 5 == 0:
            return wait(429, RETRY_AFTER_S)
        if sort == "suspended" and number >= 3:
            return wait(503, SUSPENDED_S)
        links = "".join(f"<a href=/page/{n}>map {n}</a>" for n in range(PAGES)) + "<a href=/private/wms>wms map</a>"
        return page_of(host, links)


def polite_web() -> AbstractContextManager[PoliteWeb]:
    """Return a running web."""
    return running(PoliteWeb())


def demanded_s(sort: str, delay_s: float) -> float:
    """Return the least time from an answer to the next request that this sort of host is to see."""
    return max(delay_s, CRAWL_DELAY_S) if sort == "crawl-delay" else delay_s
