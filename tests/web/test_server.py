"""The server itself: clients that hang, ports that are taken, many clients at once while a crawl writes."""

from __future__ import annotations

import socket
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from geocrawl.demo import DemoWeb
from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.web import application
from geocrawl.web.options import Options
from tests.web.conftest import served

ITEMS = "/collections/services/items"
PATIENCE_S = 120
"""Longest wait of a client. A server that never closes a connection fails the tests by it."""


@pytest.fixture
def impatient(crawled: Path, demo_web: DemoWeb, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server that keeps a connection for one second after an answer."""
    monkeypatch.setattr(application, "IDLE_S", 1)
    with served(crawled, demo_web) as address:
        yield address


def connected(address: str) -> socket.socket:
    parts = urlsplit(address)
    assert parts.hostname and parts.port
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE_S)


def test_a_connection_is_closed_when_no_second_request_comes(impatient: str) -> None:
    with connected(impatient) as client:
        client.sendall(b"GET /conformance HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        while client.recv(65536):
            pass


def test_a_head_without_an_end_is_cut_off(impatient: str) -> None:
    with connected(impatient) as client:
        with suppress(OSError):  # reset or broken pipe
            client.sendall(b"GET / HTTP/1.1\r\n")
            for _ in range(100):
                client.sendall(b"X-A: " + 1024 * b"b" + b"\r\n")
        with suppress(OSError):
            assert client.recv(65536)[:12] in (b"HTTP/1.1 400", b"")


def test_a_slow_answer_is_no_hanging_client(crawled: Path, demo_web: DemoWeb) -> None:
    with served(crawled, demo_web) as address, httpx.Client(base_url=address, timeout=PATIENCE_S) as client:
        for _ in range(3):
            assert client.get(ITEMS).status_code == 200


@pytest.mark.long
def test_many_clients_are_answered_while_a_crawl_writes(catalogue: Path, demo_web: DemoWeb) -> None:
    over = threading.Event()

    def write() -> None:
        connection = sqlite3.connect(catalogue, isolation_level=None, timeout=PATIENCE_S)
        while not over.wait(0.01):
            connection.execute("UPDATE endpoint SET last_probe = last_probe + 1")
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with served(catalogue, demo_web) as address, ThreadPoolExecutor(20) as pool:
            paths = [f"{ITEMS}?q=water&offset={n % 7}" if n % 2 else f"{ITEMS}/{1 + n % 20}" for n in range(200)]
            codes = list(pool.map(lambda path: httpx.get(address + path, timeout=PATIENCE_S).status_code, paths))
    finally:
        over.set()
        writer.join()
    assert set(codes) == {200}


def test_a_port_that_is_taken_is_said(crawled: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        options = Options(crawled, port=taken.getsockname()[1], preview=False)
        with pytest.raises(EnvironmentFault, match="choose another --host or --port"):
            application.listen(options)


def test_a_body_does_not_wait_until_the_client_has_confirmed_the_head(crawled: Path) -> None:
    with (
        application.listen(Options(crawled, port=0, preview=False)) as listening,
        socket.create_connection(listening.getsockname()),
        listening.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.parametrize("host", ["a\udcffb", "a" * 64])
def test_a_host_that_has_no_name_is_refused(crawled: Path, host: str) -> None:
    options = Options(crawled, host, preview=False)
    with pytest.raises(UsageError, match=r"^--host = a.*: expected the address or the name of a host$"):
        application.listen(options)
