"""Crawl many hosts that are one machine with several processes, and read from its log how often the machine was asked.

The names lead to 127.0.0.1 in the processes that crawl: Python's site customisation replaces the resolver.
"""

from __future__ import annotations

import statistics
import threading
import time
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.loopback import Handler, Server, running
from tests.support.processes import Started, clean_environment, geocrawl

DELAY_S = 0.4
ANSWER_S = 0.5
"""Longer than the gap: without a bound more than two requests would be under way."""
_RESOLVER = """
import socket
_ask = socket.getaddrinfo
def getaddrinfo(host, port, *rest, **more):
    if str(host).endswith(".example"):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
    return _ask(host, port, *rest, **more)
socket.getaddrinfo = getaddrinfo
"""


class _Machine(Server):
    """A server that notes when each request came and how many were under way then."""

    def __init__(self) -> None:
        super().__init__(_Page)
        self.lock = threading.Lock()
        self.under_way = self.most = 0
        self.came: list[float] = []
        self.pages: set[str] = set()


class _Page(Handler):
    server: _Machine

    def respond(self) -> None:
        machine = self.server
        with machine.lock:
            machine.came.append(time.monotonic())
            machine.under_way += 1
            machine.most = max(machine.most, machine.under_way)
        time.sleep(ANSWER_S)
        with machine.lock:
            machine.under_way -= 1
            if self.path != "/robots.txt":
                machine.pages.add(self.headers["Host"] + self.path)
        links = b'<a href="/map">map</a>' if self.path == "/" else b""
        kind = "text/plain" if self.path == "/robots.txt" else "text/html"
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(links)))
        self.end_headers()
        self.write(links)


def measure(folder: Path, *, hosts: int, crawls: int, processes: int = 1) -> dict[str, Any]:
    """Return what the log of one machine shows when `crawls` crawls of `processes` processes each visit its hosts."""
    (folder / "sitecustomize.py").write_text(_RESOLVER)
    with running(_Machine()) as machine:
        assert isinstance(machine, ThreadingHTTPServer)
        seeds = folder / "seeds.txt"
        seeds.write_text("".join(f"http://host{n}.example:{machine.server_port}/\n" for n in range(hosts)))
        command = geocrawl(
            "crawl", "--db", str(folder / "c.db"), "--strategy", "bfs", "--quiet", "--allow-private",
            "--delay", f"{DELAY_S}s", "--workers", "12", "--processes", str(processes), "--patience", "60s",
        )  # fmt: skip
        env = clean_environment(folder, PYTHONPATH=str(folder))
        begun = time.monotonic()
        started = [Started([*command, "--seeds", str(seeds)], env=env)]
        while not machine.came and started[0].running():  # the catalogue exists from then on
            time.sleep(0.05)
        started += [Started(command, env=env) for _ in range(crawls - 1)]
        ended = [each.wait(limit_s=300.0) for each in started]
        seconds = time.monotonic() - begun
    gaps = [later - earlier for earlier, later in zip(machine.came, machine.came[1:], strict=False)]
    return {
        "crawls": crawls,
        "processes": processes,
        "exit_codes": [each.exit_code for each in ended],
        "requests": len(machine.came),
        "pages": len(machine.pages),
        "most_at_once": machine.most,
        "least_gap_s": round(min(gaps), 3),
        "median_gap_s": round(statistics.median(gaps), 3),
        "promised_gap_s": DELAY_S / 2,
        "seconds": round(seconds, 1),
    }
