"""A database that is locked, or whose server stands still, holds up no request under way, and nothing is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from geocrawl.app import fetchers, wiring
from geocrawl.app.crawl import run_crawl
from geocrawl.demo import DemoWeb
from geocrawl.fetch.clock import SystemClock
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.database import runner
from geocrawl.store.database.postgres.connection import PostgresConnection
from geocrawl.store.database.sqlite.connection import SqliteConnection
from geocrawl.urls.database import place_of
from tests.support.crawls import Watcher, settings_for, url
from tests.support.http_server import NOT_FOUND, answer, serve
from tests.support.loop_time import until
from tests.support.postgres import Server

PIECES = 40
"""Pieces of a body that are sent while the database is held."""

Held = tuple[Callable[[], object], Callable[[], object]]
"""What holds a database, and what lets it go."""


@contextmanager
def _sqlite(path: Path) -> Iterator[Held]:
    other = sqlite3.connect(path, isolation_level=None)
    try:
        yield lambda: other.execute("BEGIN IMMEDIATE"), lambda: other.execute("ROLLBACK")
    finally:
        other.close()


@contextmanager
def _postgres(server: Server, store: Store) -> Iterator[Held]:
    """Stop the server's first process and the one that answers the store."""
    (first,) = (server.folder / "data" / "postmaster.pid").read_text().split()[:1]
    (answers,) = store.connection.execute("SELECT pg_backend_pid()").fetchone()
    pids = (int(first), answers)

    def send(number: signal.Signals) -> None:
        for pid in pids:
            os.kill(pid, number)

    try:
        yield lambda: send(signal.SIGSTOP), lambda: send(signal.SIGCONT)
    finally:
        send(signal.SIGCONT)


class _Web:
    """Two hosts. The database is held as soon as both were asked; only then the second one sends its page, in pieces,
    and only after its last piece the database is let go. The loop of the test serves both, and the crawl runs in it."""

    def __init__(self, hold: Callable[[], object], let_go: Callable[[], object]) -> None:
        self._hold = hold
        self._let_go = let_go
        self._asked, self._held = asyncio.Event(), asyncio.Event()
        self.told: list[str] | None = None
        """What must be told to a person before the database is let go, if anything."""
        self.sent_while_held = 0

    def __call__(self, target: str, writer: asyncio.StreamWriter) -> bytes | Awaitable[None]:
        if target.endswith("/robots.txt"):
            return NOT_FOUND
        return self._first(writer) if "first" in target else self._second(writer)

    async def _first(self, writer: asyncio.StreamWriter) -> None:
        await self._asked.wait()
        self._hold()
        self._held.set()
        writer.write(answer(b"<p>first"))  # its visit is settled while the database is held

    async def _second(self, writer: asyncio.StreamWriter) -> None:
        self._asked.set()
        await self._held.wait()
        await asyncio.sleep(0.3)  # by now the first visit is being settled
        body = b"<p>second" + b"x" * 100_000 * PIECES
        head = answer(body)[: -len(body)]
        writer.write(head)
        for begin in range(0, len(body), 100_000):
            writer.write(body[begin : begin + 100_000])
            await writer.drain()  # until the crawl has read what was sent before
            self.sent_while_held += 1
            await asyncio.sleep(0.01)
        await until(lambda: self.told != [])
        self._let_go()


async def _crawl(
    url_of_database: str, make_held: Callable[[Store], Any], *, until_told: bool = False
) -> tuple[_Web, list[str]]:
    """Crawl both hosts; return the web, and what was told to a person. `until_told`: the database is held so long."""
    settings = Settings(strategy="bfs", workers=4, delay_s=0.0, ignore_robots=True, max_depth=0)
    with Store.open(url_of_database, clock=SystemClock()) as store, make_held(store) as (hold, let_go):
        told: list[str] = []
        store.tell_waits(lambda event, **values: told.append(f"{event}: {values}"))
        web = _Web(hold, let_go)
        web.told = told if until_told else None
        async with serve(web) as server:
            bounded = Settings(**{**_fields(settings), "proxy": server.base})
            session = wiring.make_session(bounded, store, SystemClock())
            session.add_seeds([url("http://a.example/first"), url("http://b.example/second")], again=False)
            fetcher = fetchers.make_session_fetcher(session)
            crawler = wiring.make_crawler(session, Watcher(), fetcher, max_pages=100)
            try:
                await crawler.run()
            finally:
                await fetcher.close()
        rows = store.connection.execute("SELECT state, attempts FROM url ORDER BY id").fetchall()
        assert rows == [("visited", 1)] * 2 or rows == [("visited", 0)] * 2
        assert crawler.summary.pages == 2
    return web, told


def _fields(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


async def test_a_request_goes_on_while_another_process_has_the_lock_of_sqlite(tmp_path: Path) -> None:
    web, _ = await _crawl(f"sqlite:///{tmp_path / 'c.db'}", lambda store: _sqlite(tmp_path / "c.db"))
    assert web.sent_while_held > PIECES


async def test_a_request_goes_on_while_a_server_of_postgresql_stands_still(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_SLOW_S", 0.2)
    place = postgres_server.new_catalogue()
    web, told = await _crawl(place, lambda store: _postgres(postgres_server, store), until_told=True)
    assert web.sent_while_held > PIECES
    assert told[0].startswith("waiting for the database") and "no answer for" in told[0]
    assert told[-1].startswith("the database answers again")
    assert str(place_of(place)) in told[0]


def test_no_statement_of_a_crawl_is_executed_in_its_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_loop, elsewhere = list[str](), list[str]()
    execute = SqliteConnection.execute

    def noted(self: SqliteConnection, statement: str, values: Any = ()) -> Any:
        (in_loop if asyncio._get_running_loop() is not None else elsewhere).append(statement)
        return execute(self, statement, values)

    monkeypatch.setattr(SqliteConnection, "execute", noted)
    with DemoWeb() as web:
        settings = settings_for(web, strategy="fusion", max_pages=20, dump_every=3)
        run_crawl(settings, tmp_path / "c.db", [url(seed) for seed in web.seeds], observer=Watcher())
    assert len(elsewhere) > 200
    assert in_loop == []


def test_a_lost_line_to_postgresql_is_made_again_after_it_was_cut_off(postgres_server: Server) -> None:
    with Store.open(postgres_server.new_catalogue(), clock=SystemClock()) as store:
        assert isinstance(store.connection, PostgresConnection)
        store.connection.cut_off()
        with pytest.raises(Exception, match="connection was lost"):
            store.connection.execute("SELECT 1")
        assert store.connection.execute("SELECT 1").fetchone() == (1,)
