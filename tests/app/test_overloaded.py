"""A platform whose hosts all answer 503 with Retry-After is left alone for as long as each of them asks for."""

from __future__ import annotations

import socket
import time
from collections import Counter
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from tests.support.crawls import crawl
from tests.support.loopback import Handler, running

HOSTS = [f"tenant{number}.example" for number in range(12)]
REST_S = 3600


class Platform(ThreadingHTTPServer):
    """Serves all hosts at one address."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Overloaded)
        self.asked = Counter[str]()


class _Overloaded(Handler):
    server: Platform

    def respond(self) -> None:
        host = self.headers["Host"].partition(":")[0]
        self.server.asked[f"{host}{self.path}"] += 1
        is_there = self.path != "/robots.txt"
        self.send_response(503 if is_there else 404)
        if is_there:
            self.send_header("Retry-After", str(REST_S))
        self.send_header("Content-Length", "0")
        self.end_headers()


def test_hosts_that_all_ask_for_an_hour_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(host: str, port: int, *rest: object, **more: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    platform, path = Platform(), tmp_path / "c.db"
    with running(platform):
        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        port = platform.server_address[1]
        settings = Settings(delay_s=0.0, allow_private=True, patience_s=3.0, requests_per_ip=0)
        before = time.time()
        crawl(settings, path, [f"http://{host}:{port}/" for host in HOSTS])
        crawl(settings, path)
    assert platform.asked == Counter(f"{host}{page}" for host in HOSTS for page in ("/robots.txt", "/"))
    with open_readonly(path) as connection:
        waiting = connection.execute("SELECT attempts, retry_at FROM url").fetchall()
    assert len(waiting) == len(HOSTS)
    assert all(attempts == 1 and retry_at > before + 0.9 * REST_S for attempts, retry_at in waiting)
