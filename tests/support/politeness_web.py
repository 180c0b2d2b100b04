"""Many hosts on loopback behind one proxy, with an access log: what each asks for, and whether it was heeded.

Each host is of a sort by its name: plain, with a Crawl-delay, with rules in robots.txt, slow, strained (429 with a
Retry-After at every fifth page), or suspended (503 for an hour from its third answer on).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlsplit

from tests.support.loopback import Handler, Server, running

SORTS = ("plain", "crawl-delay", "robots", "slow", "strained", "suspended")
CRAWL_DELAY_S, RETRY_AFTER_S, SUSPENDED_S, SLOW_S = 1.5, 3.0, 3600.0, 0.6
PAGES = 12


@dataclass(frozen=True, slots=True)
class Access:
    """One request."""

    host: str
    path: str
    begun: float
    ended: float
    status: int


class PoliteWeb(Server):
    """The server; `log` holds every request in the order of their ends."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.log: list[Access] = []
        self.answers = Counter[str]()
        self.lock = threading.Lock()


class _Handler(Handler):
    server: PoliteWeb

    def respond(self) -> None:
        begun = time.monotonic()
        parts = urlsplit(self.path)
        host, path = parts.hostname or "", parts.path
        sort = host.partition(".")[0].rstrip("0123456789").rstrip("-")
        status, body, headers = self._answer(sort, host, path)
        if sort == "slow":
            time.sleep(SLOW_S)
        # What the crawl learns with the last byte it cannot heed before: the end is when that is about to be sent.
        with self.server.lock:
            self.server.log.append(Access(host, path, begun, time.monotonic(), status))
        try:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def _answer(self, sort: str, host: str, path: str) -> tuple[int, bytes, dict[str, str]]:
        if path == "/robots.txt":
            rules = {
                "crawl-delay": f"User-agent: *\nCrawl-delay: {CRAWL_DELAY_S}\n",
                "robots": "User-agent: *\nDisallow: /private\n",
            }
            return 200, rules.get(sort, "").encode(), {"Content-Type": "text/plain"}
        with self.server.lock:
            self.server.answers[host] += 1
            number = self.server.answers[host]
        if sort == "strained" and number % 5 == 0:
            return 429, b"", {"Retry-After": f"{RETRY_AFTER_S:g}"}
        if sort == "suspended" and number >= 3:
            return 503, b"", {"Retry-After": f"{SUSPENDED_S:g}"}
        links = "".join(f"<a href=/page/{n}>map {n}</a>" for n in range(PAGES)) + "<a href=/private/wms>wms map</a>"
        return 200, f"<title>{host}</title>{links}".encode(), {"Content-Type": "text/html"}


def polite_web() -> AbstractContextManager[PoliteWeb]:
    """A running web."""
    return running(PoliteWeb())


def sort_of(host: str) -> str:
    """The sort of a host."""
    return host.partition(".")[0].rstrip("0123456789").rstrip("-")


def demanded_s(sort: str, delay_s: float) -> float:
    """The least time from an answer to the next request that this sort of host is to see."""
    return max(delay_s, CRAWL_DELAY_S) if sort == "crawl-delay" else delay_s


def most_at_once(log: list[Access]) -> int:
    """Most requests of one host that were under way at the same time."""
    most = 0
    for host in {access.host for access in log}:
        edges = [(access.begun, 1) for access in log if access.host == host]
        edges += [(access.ended, -1) for access in log if access.host == host]
        running = 0
        for _, step in sorted(edges):
            running += step
            most = max(most, running)
    return most


def gaps_s(log: list[Access], sort: str) -> list[float]:
    """Seconds from an answer of such a host to the next request, each host by itself. The one after robots.txt is left
    out where that file is what names the delay."""
    gaps = []
    for host in {access.host for access in log if sort_of(access.host) == sort}:
        mine = sorted((access for access in log if access.host == host), key=lambda access: access.begun)
        gaps += [after.begun - before.ended for before, after in pairwise(mine)]
    return gaps


def asked_while_resting(log: list[Access]) -> int:
    """Requests that came before a Retry-After was over. The first 503 of a host speaks for its own address alone."""
    early = 0
    troubled: dict[str, str] = {}
    for access in log:
        rest_s = {429: RETRY_AFTER_S, 503: SUSPENDED_S}.get(access.status, 0.0)
        until = access.ended + rest_s - 0.05
        is_address = access.status == 503 and troubled.setdefault(access.host, access.path) == access.path
        early += sum(
            1
            for each in log
            if each.host == access.host
            and access.ended < each.begun < until
            and (not is_address or each.path == access.path)
        )
    return early
