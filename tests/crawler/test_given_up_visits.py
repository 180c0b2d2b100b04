"""Visits that are given up: their hosts keep the pace of the requests that were made, and nothing else changes."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app import fetchers, wiring
from geocrawl.crawler.loop import Crawler
from geocrawl.errors import PassingFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.politeness import DAY_S
from geocrawl.model import Lease
from geocrawl.ports import HostBusy
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from geocrawl.store.store import Store
from tests.support.crawls import Watcher, url
from tests.support.http_server import answer, pages, redirect, serve
from tests.support.world import World

SLOW_S = 60.0
"""Longer than any test: an answer that is never seen."""


def settings_for(**changes: object) -> Settings:
    chosen = {"allow_private": True, "strategy": "bfs", "workers": 1, "settle_s": 0.1, **changes}
    return Settings(**chosen)  # type: ignore[arg-type]


def _start(
    path: Path, settings: Settings, seeds: Sequence[str], store: Store, watcher: Watcher | None = None
) -> tuple[Crawler, asyncio.Task[object]]:
    session = wiring.make_session(settings, store, SystemClock())
    session.add_seeds([url(seed) for seed in seeds], again=False)
    fetcher = fetchers.make_session_fetcher(session)
    crawler = wiring.make_crawler(session, watcher or Watcher(), fetcher, max_pages=100)

    async def run() -> None:
        try:
            await crawler.run()
        finally:
            await fetcher.close()

    return crawler, asyncio.create_task(run())


class _Silent:
    """A server that answers robots.txt alone; a request for anything else stops the crawl, and waits."""

    def __init__(self, robots: bytes) -> None:
        self._robots = robots
        self._asked = asyncio.Event()

    def __call__(self, target: str, writer: asyncio.StreamWriter) -> bytes | Awaitable[None]:
        return self._robots if target == "/robots.txt" else self._wait()

    async def _wait(self) -> None:
        self._asked.set()
        await asyncio.sleep(SLOW_S)

    async def crawl(self, path: Path, settings: Settings) -> None:
        """Crawl this server, and stop the crawl in the middle of a request."""
        async with serve(self) as server:
            with Store.open(path, clock=SystemClock()) as store:
                crawler, task = _start(path, settings, [server.base + "/"], store)
                await self._asked.wait()
                crawler.stop("signal")
                await task


def _host(path: Path, columns: str) -> tuple[float, ...]:
    with open_readonly(path) as connection:
        row: tuple[float, ...] = connection.execute(f"SELECT {columns} FROM host").fetchone()
        return row


async def test_a_visit_that_a_signal_cuts_off_leaves_its_hosts_pace_behind(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    rules = answer(b"User-agent: *\nCrawl-delay: 7", content_type="text/plain")
    await _Silent(rules).crawl(path, settings_for(delay_s=0.05, max_crawl_delay_s=0.2))
    stopped = time.time()
    next_at, day, asked, crawl_delay_s, leased = _host(path, "next_at, asked_day, asked, crawl_delay_s, lease_until")
    assert next_at >= stopped + 10.0 - 1.0, "the server may still be at work on the request"
    assert (day, asked) == (stopped // DAY_S, 2)
    assert (crawl_delay_s, leased) == (7.0, 0.0)
    with open_readonly(path) as connection:
        assert connection.execute("SELECT state, attempts FROM url").fetchall() == [("waiting", 0)]


async def test_without_a_delay_a_request_that_is_cut_off_leaves_none(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    await _Silent(answer(b"")).crawl(path, settings_for(delay_s=0.0))
    next_at, asked = _host(path, "next_at, asked")
    assert next_at <= time.time() and asked == 2


def test_a_visit_given_up_while_the_database_is_locked_leaves_its_pace_when_it_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geocrawl.store.database.connection.BUSY_S", 0.1)
    world = World(tmp_path / "c.db", Settings(delay_s=1.0))
    world.seed("a.example/", "b.example/")
    leases: list[Lease] = [world.lease(), world.lease()]
    resting = world.clock.now() + 600.0
    with closing(sqlite3.connect(tmp_path / "c.db")) as holder:
        holder.execute("BEGIN IMMEDIATE")
        for lease in leases:
            with pytest.raises(PassingFault):
                world.frontier.release(lease, replace(lease.host, next_at=resting, errors=1, asked=3))
    world.frontier.release_all()
    rows = world.database.connection.execute("SELECT next_at, asked, lease_until FROM host").fetchall()
    assert rows == [(resting, 3, 0.0)] * 2


# --------------------------------------------------------------------------- hosts that are not free


async def test_a_visit_whose_robots_txt_leads_to_a_host_that_is_leased_waits_and_counts_no_attempt(
    tmp_path: Path,
) -> None:
    path = tmp_path / "c.db"
    web = {
        "http://a.example/robots.txt": redirect("http://b.example/robots.txt"),
        "http://b.example/robots.txt": answer(b"", content_type="text/plain"),
        "http://a.example/": answer(b"<p>a"),
    }
    async with serve(pages(web)) as server:
        settings = settings_for(delay_s=0.3, proxy=server.base, max_time_s=0.8)
        with Store.open(path, clock=SystemClock()) as store:
            leases = store.politeness(settings)
            lease = await leases.lease("b.example", time.time(), wait_s=0.0)
            assert not isinstance(lease, HostBusy)
            await _start(path, settings, ["http://a.example/"], store)[1]
            assert "http://b.example/robots.txt" not in server.targets
            row = store.database.connection.execute("SELECT state, attempts FROM url").fetchone()
            assert row == ("waiting", 0)
            await lease.release(lease.state, time.time())
            await _start(path, replace(settings, max_time_s=0.0), [], store)[1]
    assert server.targets[-2:] == ["http://b.example/robots.txt", "http://a.example/"]


class _Slow:
    """A server that answers slowly, and counts how many requests it has at once."""

    def __init__(self, answer_s: float) -> None:
        self._answer_s = answer_s
        self.now = self.most = 0
        self.asked: list[str] = []

    async def __call__(self, target: str, writer: asyncio.StreamWriter) -> None:
        self.asked.append(target)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(self._answer_s)
        self.now -= 1
        writer.write(answer(b'<p><a href="/map">map</a>'))


async def test_a_lease_lasts_as_long_as_its_requests_whatever_they_take(tmp_path: Path) -> None:
    path, slow = tmp_path / "c.db", _Slow(3.0)
    settings = settings_for(delay_s=0.01, lease_s=2.5, map_requests=0)
    async with serve(slow) as server:
        with Store.open(path, clock=SystemClock()) as first, Store.open(path, clock=SystemClock()) as second:
            runs = [
                _start(path, settings, [server.base + "/"] if store is first else [], store)[1]
                for store in (first, second)
            ]
            await asyncio.gather(*runs)
    assert slow.most == 1
    assert sorted(slow.asked) == sorted({"/robots.txt", "/", "/map"})


def _steal(path: Path, crawler: Crawler) -> None:
    """Lease the host for another process; the crawl, which then waits for it, is stopped soon after."""
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE host SET lease_token = lease_token + 1, lease_until = 9e12, lease_owner = 'else:7'")
    asyncio.get_running_loop().call_later(0.5, crawler.stop, "test")


async def test_a_visit_whose_host_another_process_has_leased_is_dropped_before_its_next_request(tmp_path: Path) -> None:
    path = tmp_path / "c.db"

    async def steal(target: str, writer: asyncio.StreamWriter) -> None:
        _steal(path, crawler)
        writer.write(answer(b"", content_type="text/plain"))

    async with serve(steal) as server:
        with Store.open(path, clock=SystemClock()) as store:
            settings = settings_for(delay_s=0.01, lease_s=0.001, map_requests=0)
            crawler, task = _start(path, settings, [server.base + "/"], store)
            await task
    assert server.targets == ["/robots.txt"]
    with open_readonly(path) as connection:
        assert connection.execute("SELECT state, attempts FROM url").fetchall() == [("waiting", 0)]
        assert connection.execute("SELECT lease_owner FROM host").fetchall() == [("else:7",)]


async def test_a_settlement_after_the_lease_was_lost_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    watcher = Watcher()

    async def steal(target: str, writer: asyncio.StreamWriter) -> None:
        if target == "/robots.txt":
            writer.write(answer(b"", content_type="text/plain"))
            return
        _steal(path, crawler)
        writer.write(answer(b"<p>page"))

    async with serve(steal) as server:
        with Store.open(path, clock=SystemClock()) as store:
            settings = settings_for(delay_s=0.0)
            crawler, task = _start(path, settings, [server.base + "/"], store, watcher)
            await task
    assert (crawler.summary.visits, watcher.visits, server.targets) == (0, [], ["/robots.txt", "/"])
