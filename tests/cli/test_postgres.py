"""Whole crawls on PostgreSQL: the same catalogue as on SQLite, by one process and by two."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import time
from pathlib import Path

import pytest

from geocrawl.demo import DemoWeb
from geocrawl.store.store import Store
from tests.support.invariants import check_invariants
from tests.support.postgres import Server

pytestmark = pytest.mark.acceptance


def geocrawl(*arguments: str, ends: int = 0) -> str:
    ran = subprocess.run([sys.executable, "-m", "geocrawl", *arguments], capture_output=True, text=True, timeout=800)
    assert ran.returncode == ends, ran.stderr
    return ran.stdout


def endpoints(database: str) -> set[tuple[str, ...]]:
    rows = csv.DictReader(io.StringIO(geocrawl("export", "--format", "csv", "--db", database)))
    return {(row["url"], row["kind"], row["status"], row["title"], row["reason"], row["level"]) for row in rows}


def test_one_and_two_processes_make_the_catalogue_that_sqlite_has(postgres_server: Server, tmp_path: Path) -> None:
    file, one, two, helped = str(tmp_path / "c.db"), *(postgres_server.new_database() for _ in range(3))
    with DemoWeb() as web:
        crawl = ["crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--quiet", "--contact", "a@b.example"]
        for database in (file, one):
            geocrawl(*crawl, "--db", database)
        both = [subprocess.Popen([sys.executable, "-m", "geocrawl", *crawl, "--db", two]) for _ in range(2)]
        assert [each.wait(800) for each in both] == [0, 0]
        geocrawl(*crawl, "--db", helped, "--processes", "2")
    assert endpoints(file) == endpoints(one) == endpoints(two) == endpoints(helped)
    for query in ("water", "rivers wfs", "土地利用"):
        found = [geocrawl("search", query, "--db", database).split("\t")[5:6] for database in (file, one)]
        assert found[0] == found[1]
    assert "(service 1)" in geocrawl("show", "1", "--db", one)
    assert "39 with" in geocrawl("status", "--db", two, ends=0)
    geocrawl("backup", str(tmp_path / "b.db"), "--db", one, ends=2)


def test_a_killed_worker_loses_nothing_and_its_hosts_are_asked_again(postgres_server: Server, tmp_path: Path) -> None:
    file, database = str(tmp_path / "c.db"), postgres_server.new_database()
    with DemoWeb() as web:
        crawl = ["crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--quiet", "--contact", "a@b.example"]
        geocrawl(*crawl, "--db", file)
        for requests in (100, 60):
            before = len(web.requests)
            worker = subprocess.Popen([sys.executable, "-m", "geocrawl", *crawl, "--db", database])
            while len(web.requests) < before + requests:
                assert worker.poll() is None, "it was killed at work"
                time.sleep(0.02)
            worker.kill()
            worker.wait(300)
        geocrawl(*crawl, "--db", database)
    assert endpoints(file) == endpoints(database)
    with Store.open_readonly(database) as connection:
        check_invariants(connection)
    assert geocrawl("workers", "--db", database) == "No crawl runs on this catalogue.\n"
