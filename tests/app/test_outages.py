"""A fault of this machine stops a crawl for a while and leaves no trace: no failure, no attempt, no back-off."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.app.probe import run_probe
from geocrawl.crawler.report import CrawlReport
from geocrawl.demo import DemoWeb
from geocrawl.demo.web import SEEDS
from geocrawl.model import Entry, SettlementResult, Visit
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from tests.support.crawls import Watcher, crawl, settings_for, url, valid
from tests.support.open_files import NoMoreFiles
from tests.support.proxies import MortalProxy
from tests.support.samples import sampled

_FAILED = """
SELECT count(*) FROM url WHERE reason IN ('proxy', 'machine', 'dns', 'refused', 'reset', 'robots-unreachable')"""
_TRACES = (
    "SELECT count(*) FROM probe WHERE reason IN ('proxy', 'machine', 'dns', 'refused', 'reset')",
    "SELECT count(*) FROM host WHERE errors > 0",
    "SELECT count(*) FROM robots WHERE status IS NULL",
)


class Striker(Watcher):
    """An observer that strikes after so many visits, and mends from a thread of its own some seconds later."""

    def __init__(
        self, after: int, strike: Callable[[], object], mend: Callable[[], object], away_s: float, when_told: str = ""
    ) -> None:
        """`when_told`: mend so many seconds after a line that begins so, rather than after the strike."""
        super().__init__()
        self._when_told = when_told
        self.said: list[str] = []
        self._after = after
        self._strike = strike
        self._mending = threading.Timer(away_s, mend)

    def noted(self, text: str) -> None:
        self.said.append(text)
        if self._when_told and text.startswith(self._when_told):
            self._when_told = ""
            self._mending.start()

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        super().settled(entry, visit, result)
        if len(self.visits) == self._after:
            self._strike()
            if not self._when_told:
                self._mending.start()


def run(settings: Settings, path: Path, observer: Watcher) -> CrawlReport:
    return run_crawl(settings, path, [url(text) for text in SEEDS], observer=observer)


def traces(path: Path) -> list[int]:
    with open_readonly(path) as connection:
        return [connection.execute(statement).fetchone()[0] for statement in (_FAILED, *_TRACES)]


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The catalogue of a crawl in which nothing happened."""
    path = tmp_path_factory.mktemp("calm") / "calm.db"
    with DemoWeb() as web:
        crawl(settings_for(web), path, SEEDS)
    return path


@pytest.mark.parametrize("workers", sampled([1, 8], 8))
def test_a_proxy_that_goes_away_in_a_crawl_and_comes_back_leaves_no_trace(
    tmp_path: Path, calm: Path, workers: int
) -> None:
    with MortalProxy() as proxy:
        watcher = Striker(60, proxy.kill, proxy.start, 3.0)
        settings = Settings(proxy=proxy.url, delay_s=0.0, strategy="bfs", siblings=0, workers=workers)
        report = run(settings, tmp_path / "c.db", watcher)
    assert report.summary.stopped in ("done", "resting")
    assert traces(tmp_path / "c.db") == traces(calm)
    assert valid(tmp_path / "c.db") == valid(calm)
    away, back = watcher.said
    assert away.startswith(f"The proxy {proxy.url} does not answer (") and "nothing is recorded as failed" in away
    assert back.startswith(f"The proxy {proxy.url} answers again (after ")


def test_a_first_start_with_a_dead_proxy_says_so_at_once_and_leaves_the_seed_in_the_queue(tmp_path: Path) -> None:
    watcher = Striker(0, lambda: None, lambda: None, 0.0)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        proxy = f"http://127.0.0.1:{held.getsockname()[1]}"
        report = run(Settings(proxy=proxy, patience_s=1.5, delay_s=0.0), tmp_path / "c.db", watcher)
    assert watcher.said == [f"The proxy {proxy} does not answer (refused): waiting; nothing is recorded as failed."]
    assert (report.summary.stopped, report.summary.failures, report.waiting) == ("outage", 0, len(SEEDS))
    assert sum(host.urls for host in report.left) == len(SEEDS)
    with open_readonly(tmp_path / "c.db") as connection:
        assert connection.execute("SELECT sum(attempts) FROM url").fetchone() == (0,)


def test_a_probe_through_a_dead_proxy_gives_no_verdict(tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        settings = Settings(proxy=f"http://127.0.0.1:{held.getsockname()[1]}", patience_s=1.5, delay_s=0.0)
        lines: list[object] = []
        result = run_probe(
            settings, [url("http://a.example/wms")], database=None, list_file=None, emit=lines.append, say=print
        )
    assert (result.left, result.stopped, lines) == (1, "outage", [])


@contextmanager
def _names(monkeypatch: pytest.MonkeyPatch, web: DemoWeb) -> Iterator[threading.Event]:
    """Look up every name of the demo's web as loopback, its ports as the web's, unless the event is set."""
    down, real, port = threading.Event(), socket.getaddrinfo, int(web.proxy_url.rpartition(":")[2])
    connect = asyncio.SelectorEventLoop.sock_connect

    def getaddrinfo(host: str | bytes | None, wanted: object, *rest: object, **more: object) -> object:
        name = host.decode() if isinstance(host, bytes) else host
        if not name or not name.endswith(".example"):
            return real(host, wanted, *rest, **more)  # type: ignore[arg-type]
        if down.is_set():
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    async def sock_connect(loop: asyncio.SelectorEventLoop, sock: socket.socket, address: tuple[str, int]) -> None:
        await connect(loop, sock, ("127.0.0.1", port) if address[0] == "127.0.0.1" else address)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_connect", sock_connect)
    yield down


def test_names_that_are_not_resolved_for_a_while_leave_no_trace(
    tmp_path: Path, calm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with DemoWeb() as web, _names(monkeypatch, web) as down:
        watcher = Striker(20, down.set, down.clear, 3.0)
        settings = replace(settings_for(web), proxy="", allow_private=True, workers=4)
        report = run(settings, tmp_path / "c.db", watcher)
    assert report.summary.stopped in ("done", "resting")
    assert traces(tmp_path / "c.db") == traces(calm)
    assert valid(tmp_path / "c.db") == valid(calm)
    assert watcher.said[0].startswith("No name can be resolved (DNS): waiting")
    assert watcher.said[-1].startswith("Names are resolved again (after ")


def test_a_process_without_free_descriptors_waits_and_leaves_no_trace(tmp_path: Path, calm: Path) -> None:
    files = NoMoreFiles()
    try:
        with MortalProxy() as proxy:
            watcher = Striker(10, files.strike, files.mend, 3.0)  # before there is a kept connection for each worker
            settings = Settings(proxy=proxy.url, delay_s=0.0, strategy="bfs", siblings=0, workers=8)
            report = run(settings, tmp_path / "c.db", watcher)
    finally:
        files.mend()
    assert report.summary.stopped in ("done", "resting")
    assert traces(tmp_path / "c.db") == traces(calm)
    assert valid(tmp_path / "c.db") == valid(calm)
    assert "LimitNOFILE" in watcher.said[0] and watcher.said[-1].startswith("This machine has resources again")
