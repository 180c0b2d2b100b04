"""A server on loopback that logs every request, and what its log shows of a crawl's manners."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from tests.support.loopback import Handler, Server

RETRY_AFTER_S, SUSPENDED_S, SLOW_S = 3.0, 3600.0, 0.6


@dataclass(frozen=True, slots=True)
class Access:
    """One request."""

    host: str
    path: str
    begun: float
    ended: float
    status: int


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; the status 0 cuts the connection instead."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    after_s: float = 0.0


class LoggingWeb(Server, ABC):
    """Many hosts behind one proxy; `log` contains every request in the order of their ends."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.log: list[Access] = []
        self._answers = Counter[str]()
        self._lock = threading.Lock()

    @abstractmethod
    def reply(self, host: str, path: str) -> Reply:
        """Return the answer of a host."""

    def count(self, host: str) -> int:
        """Count one more answer of a host, and return how many there are."""
        with self._lock:
            self._answers[host] += 1
            return self._answers[host]

    def write(self, access: Access) -> None:
        """Append to the log."""
        with self._lock:
            self.log.append(access)


class _Handler(Handler):
    server: LoggingWeb

    def respond(self) -> None:
        begun = time.monotonic()
        parts = urlsplit(self.path)
        host = parts.hostname or self.headers.get("Host", "").partition(":")[0]
        reply = self.server.reply(host, parts.path)
        time.sleep(reply.after_s)
        # The crawl cannot heed before the last byte what it learns with it: the end is when that is about to be sent.
        self.server.write(Access(host, parts.path, begun, time.monotonic(), reply.status))
        if not reply.status:
            self.reset()
            return
        try:
            self.send_response(reply.status)
            for name, value in (*reply.headers, ("Content-Length", str(len(reply.body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)
        except OSError:
            self.close_connection = True


def page_of(host: str, links: str) -> Reply:
    """Return a page with these links."""
    return Reply(200, f"<title>{host}</title>{links}".encode(), (("Content-Type", "text/html"),))


def rules(text: str) -> Reply:
    """Return a robots.txt."""
    return Reply(200, text.encode(), (("Content-Type", "text/plain"),))


def wait(status: int, seconds: float) -> Reply:
    """Return an answer that asks to be left alone for so many seconds."""
    return Reply(status, headers=(("Retry-After", f"{seconds:g}"),))


def sort_of(host: str) -> str:
    """Return the sort of a host, by its name."""
    return host.partition(".")[0].rstrip("0123456789").rstrip("-")


def most_at_once(log: Iterable[Access]) -> int:
    """Return the most requests of one host that were under way at the same time."""
    edges: dict[str, list[tuple[float, int]]] = {}
    for access in log:
        edges.setdefault(access.host, []).extend([(access.begun, 1), (access.ended, -1)])
    most = 0
    for of_host in edges.values():
        running = 0
        for _, step in sorted(of_host):
            running += step
            most = max(most, running)
    return most


def gaps_s(log: Sequence[Access], sort: str) -> list[float]:
    """Return the seconds from the end of each request to the next one, for each host of a sort by itself."""
    gaps = []
    for host in {access.host for access in log if sort_of(access.host) == sort}:
        mine = sorted((access for access in log if access.host == host), key=lambda access: access.begun)
        gaps += [after.begun - before.ended for before, after in pairwise(mine)]
    return gaps


def asked_while_resting(log: Sequence[Access]) -> int:
    """Count requests that came before a Retry-After was over. The first 503 of a host counts for its address only."""
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


def row_of(log: Sequence[Access], sort: str) -> dict[str, Any]:
    """Return the figures of one sort of hosts."""
    gaps = gaps_s(log, sort)
    requests = [access for access in log if sort_of(access.host) == sort]
    return {
        "sort": sort,
        "requests": len(requests),
        "pages": len({(access.host, access.path) for access in requests if access.status == 200}),
        "smallest_gap_s": round(min(gaps), 3) if gaps else None,
    }
