"""Hosts that strain a crawl's manners, on one server with an access log.

Strangers redirect their robots.txt to the one victim (to its robots.txt, to rules that it allows, to rules that it
forbids); resetting hosts cut every third connection instead of answering; slow ones take their time; strained ones
answer 429 with a Retry-After; the plain ones and the victim are crawled for their pages.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import Counter
from contextlib import AbstractContextManager
from urllib.parse import urlsplit

from tests.support.loopback import Handler, Server, running
from tests.support.politeness_web import RETRY_AFTER_S, Access, sort_of

VICTIM = "victim-0.victim.example"
SORTS = ("plain", "slow", "reset", "strained", "stranger", "victim")
PAGES, SLOW_S, NAMED_S = 6, 0.6, 0.05
FORBIDDEN = "/private"


class GuestWeb(Server):
    """The server; `log` holds every request in the order of their ends."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.log: list[Access] = []
        self.answers = Counter[str]()
        self.lock = threading.Lock()


class _Handler(Handler):
    server: GuestWeb

    def respond(self) -> None:
        begun = time.monotonic()
        parts = urlsplit(self.path)
        host = parts.hostname or self.headers.get("Host", "").partition(":")[0]
        sort = sort_of(host)
        with self.server.lock:
            self.server.answers[host] += 1
            number = self.server.answers[host]
        is_cut = sort == "reset" and number % 3 == 0
        status, body, headers = (0, b"", {}) if is_cut else _answer(sort, host, parts.path, number)
        time.sleep({"slow": SLOW_S, "named": NAMED_S}.get(sort, 0.0))
        # What the crawl learns with the last byte it cannot heed before: the end is when that is about to be sent.
        with self.server.lock:
            self.server.log.append(Access(host, parts.path, begun, time.monotonic(), status))
        if is_cut:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
            return
        try:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True


def _answer(sort: str, host: str, path: str, number: int) -> tuple[int, bytes, dict[str, str]]:
    text = {"Content-Type": "text/plain"}
    if path == "/robots.txt" and sort == "stranger":
        return 302, b"", {"Location": f"http://{VICTIM}{_target(int(host.partition('.')[0].rpartition('-')[2]))}"}
    if path == "/robots.txt":
        return 200, f"User-agent: *\nDisallow: {FORBIDDEN}\n".encode(), text
    if path.startswith("/rules"):
        return 200, b"User-agent: *\nDisallow: /page/0\n", text
    if sort == "strained" and number % 5 == 0:
        return 429, b"", {"Retry-After": f"{RETRY_AFTER_S:g}"}
    count = 0 if sort == "named" else 1 if sort == "stranger" else PAGES
    links = "".join(f"<a href=/page/{n + 1}>map {n}</a>" for n in range(count))
    return 200, f"<title>{host}</title>{links}".encode(), {"Content-Type": "text/html"}


def _target(number: int) -> str:
    """The path on the victim to which a stranger's robots.txt leads."""
    return ("/robots.txt", f"/rules/{number}", f"{FORBIDDEN}/{number}")[number % 3]


def guest_web() -> AbstractContextManager[GuestWeb]:
    """A running web."""
    return running(GuestWeb())
