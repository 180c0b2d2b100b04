"""Many hosts on one IP address: few requests there at once, nothing failed for it, and other hosts are visited
meanwhile."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from tests.app import one_address
from tests.support.crawls import crawl
from tests.support.loopback import Handler, running

CROWDED = [f"crowded{n}.example" for n in range(12)]
ELSEWHERE = [f"elsewhere{n}.example" for n in range(6)]


class Seen:
    """What servers share: the crowded hosts are answered when those elsewhere have been read."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.elsewhere_read = threading.Event()
        self.left = set(ELSEWHERE)
        self.under_way = self.most = 0
        self.in_vain = False


class Machine(ThreadingHTTPServer):
    """A server on one IP address."""

    daemon_threads = True

    def __init__(self, ip: str, port: int, seen: Seen) -> None:
        super().__init__((ip, port), _Page)
        self.seen = seen


class _Page(Handler):
    server: Machine

    def respond(self) -> None:
        host, seen = self.headers["Host"].partition(":")[0], self.server.seen
        if host.startswith("crowded"):
            self._wait_for_the_others(seen)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()
        if host.startswith("elsewhere") and self.path == "/":
            with seen.lock:
                seen.left.discard(host)
                if not seen.left:
                    seen.elsewhere_read.set()

    def _wait_for_the_others(self, seen: Seen) -> None:
        with seen.lock:
            seen.under_way += 1
            seen.most = max(seen.most, seen.under_way)
        seen.in_vain |= not seen.elsewhere_read.wait(120)
        with seen.lock:
            seen.under_way -= 1


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Yield the machine of the crowded hosts; those elsewhere are at another address, on the same port."""

    def look_up(host: str, port: int, *rest: object, **more: object) -> list[tuple[object, ...]]:
        ip = "127.0.0.2" if host.startswith("elsewhere") else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))]

    seen = Seen()
    with (
        running(Machine("127.0.0.1", 0, seen)) as crowded,
        running(Machine("127.0.0.2", crowded.server_port, seen)),
    ):
        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        yield crowded


def test_hosts_of_a_busy_address_wait_and_hold_up_nobody(web: Machine, tmp_path: Path) -> None:
    pages = [f"http://{host}:{web.server_port}/" for host in (*CROWDED, *ELSEWHERE)]
    settings = Settings(strategy="bfs", delay_s=0.0, workers=4, allow_private=True, patience_s=30.0)
    crawl(settings, tmp_path / "c.db", pages)
    assert not web.seen.in_vain, "a worker was free for the hosts elsewhere"
    assert web.seen.most == 2
    with open_readonly(tmp_path / "c.db") as connection:
        ended = connection.execute("SELECT state, reason, attempts FROM url WHERE purpose = 'page'").fetchall()
        errors = connection.execute("SELECT sum(errors) FROM host").fetchone()
    assert [tuple(row) for row in ended] == [("visited", "ok", 0)] * len(pages)
    assert tuple(errors) == (0,)


@pytest.mark.long
def test_several_processes_keep_the_bound_together(tmp_path: Path) -> None:
    figures = one_address.measure(tmp_path, hosts=6, crawls=2, processes=2)
    assert figures["exit_codes"] == [0, 0]
    assert figures["pages"] == 12
    assert figures["most_at_once"] <= 2
