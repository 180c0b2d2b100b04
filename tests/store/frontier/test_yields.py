"""What each way of finding services brought."""

from __future__ import annotations

from pathlib import Path

from geocrawl.app.crawl import run_crawl
from geocrawl.demo import DemoWeb
from geocrawl.settings import Settings
from geocrawl.store.catalogue.read.statistics import signal_yields
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.database import open_readonly
from geocrawl.urls import read_url
from tests.support.crawls import Watcher


def test_each_signal_counts_its_endpoints_once_and_those_that_it_alone_found(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with DemoWeb() as web:
        seeds = [url for url in map(read_url, web.seeds) if url is not None]
        settings = Settings(proxy=web.proxy_url, delay_s=0.0, strategy="bfs", siblings=0, maps=False)
        run_crawl(settings, path, seeds, observer=Watcher())
    with open_readonly(path) as connection:
        rows = signal_yields(connection)
        assert {row.signal for row in rows} >= {"query", "form"}
        for row in rows:
            assert row.candidates >= row.probed >= row.valid >= row.alone >= 0
            assert row.candidates == _count(connection, row.signal, row.kind, "1")
            assert row.valid == _count(connection, row.signal, row.kind, "e.status = 'valid'")
        (valid,) = connection.execute("SELECT count(*) FROM endpoint WHERE status = 'valid'").fetchone()
        assert sum(row.alone for row in rows) <= valid <= sum(row.valid for row in rows)


def _count(connection: Connection, signal: str, kind: str, condition: str) -> int:
    statement = (
        "SELECT count(*) FROM endpoint e WHERE e.kind = ? AND "
        f"{condition} AND EXISTS (SELECT 1 FROM evidence WHERE endpoint_id = e.id AND signal = ?)"
    )
    (count,) = connection.execute(statement, (kind, signal)).fetchone()
    return int(count)
