"""`geocrawl seeds check` asks the start pages of a small web on loopback."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.demo import DemoWeb
from geocrawl.fetch.clock import SystemClock
from geocrawl.settings import Settings
from geocrawl.store.database.database import Database, open_readonly
from geocrawl.store.frontier.yields import services_by_seed
from geocrawl.store.upkeep.forget import forget
from geocrawl.store.upkeep.seeds import NewSeed, add_seeds
from tests.support import forked
from tests.support.killed_crawl import Watcher
from tests.support.loopback import Handler, Server, running
from tests.support.processes import clean_environment
from tests.support.world import World, candidate, link, url, verdict

DELAY_S = 0.2
STATUS = {
    "gone.example": 404,
    "sick.example": 500,
    "moved.example": 301,
    "lost.example": 302,
    "login.example": 401,
    "busy.example": 429,
}
TARGETS = {"moved.example": "http://new.example/maps", "lost.example": "http://gone.example/"}


class Web(Server):
    """Hosts by their names; `log` holds (host, path, begun)."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.log: list[tuple[str, str, float]] = []
        self.lock = threading.Lock()


class _Handler(Handler):
    server: Web

    def respond(self) -> None:
        parts = urlsplit(self.path)
        host = parts.hostname or ""
        with self.server.lock:
            self.server.log.append((host, parts.path, time.monotonic()))
        status, body = STATUS.get(host, 200), b"<p>maps</p>"
        if parts.path == "/robots.txt":
            status, body = 200, b"User-agent: *\nDisallow: /\n" if host == "closed.example" else b""
            if host == "unsaid.example":
                status = 503
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", TARGETS[host])
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.write(body)


@pytest.fixture
def web() -> Iterator[Web]:
    with running(Web()) as web:
        yield web


def keep(home: Path, *addresses: str, forgotten: str = "") -> None:
    """Put start pages into the database, one host of them left alone on request."""
    with closing(Database.open(home / "c.db", create=True, clock=SystemClock())) as database:
        if forgotten:
            forget(database, forgotten, "", 0.0)
        add_seeds(database, [NewSeed(url(address)) for address in addresses], 0.0)


def check(home: Path, web: Web, *options: str) -> subprocess.CompletedProcess[str]:
    proxy = f"http://127.0.0.1:{web.server_port}"
    common = "--db", str(home / "c.db"), "--proxy", proxy, "--delay", f"{DELAY_S}s"
    return forked.geocrawl(("seeds", "check", *common, *options), env=clean_environment(home))


def crawl(home: Path, proxy: str, *seeds: str) -> None:
    settings = Settings(proxy=proxy, delay_s=0.0, maps=False, max_pages=10_000, strategy="bfs")
    run_crawl(settings, home / "c.db", [url(seed) for seed in seeds], observer=Watcher(lambda moment: None))


def test_it_says_of_each_start_page_whether_it_answers_where_it_moved_and_why_it_does_not(
    tmp_path: Path, web: Web
) -> None:
    names = ("fine", "moved", "lost", "gone", "sick", "login", "busy", "closed", "unsaid", "left")
    keep(tmp_path, *(f"http://{name}.example/" for name in names), forgotten="left.example")
    done = check(tmp_path, web, "--json")
    assert done.returncode == 1, done.stderr
    found = {row["url"]: row["today"] for row in json.loads(done.stdout)}
    assert {urlsplit(url).hostname: (each["outcome"], each["reason"]) for url, each in found.items()} == {
        "fine.example": ("answers", "ok"),
        "moved.example": ("moved", "ok"),
        "lost.example": ("dead", "http-404"),
        "gone.example": ("dead", "http-404"),
        "sick.example": ("dead", "http-500"),
        "login.example": ("refused", "http-401"),
        "busy.example": ("resting", "http-429"),
        "closed.example": ("refused", "robots"),
        "unsaid.example": ("dead", "robots-unreachable"),
        "left.example": ("refused", "forgotten"),
    }
    assert found["http://moved.example/"]["moved_to"] == "http://new.example/maps"
    assert "http://gone.example/" in found["http://lost.example/"]["detail"]
    assert not [host for host, _, _ in web.log if host == "left.example"]
    assert [path for host, path, _ in web.log if host == "closed.example"] == ["/robots.txt"]


def test_living_start_pages_end_with_0_and_keep_the_delay_of_their_host(tmp_path: Path, web: Web) -> None:
    keep(tmp_path, *(f"http://fine.example/{n}" for n in range(4)), "http://other.example/")
    done = check(tmp_path, web)
    assert done.returncode == 0 and "5 that answer" in done.stdout, done.stderr
    begun = [at for host, _, at in web.log if host == "fine.example"]
    assert len(begun) == 5, "four pages and robots.txt"
    assert min(after - before for before, after in pairwise(begun)) >= DELAY_S - 0.02


def test_it_changes_nothing_but_politeness_and_heeds_that_of_others(tmp_path: Path, web: Web) -> None:
    keep(tmp_path, "http://fine.example/", "http://other.example/")
    assert check(tmp_path, web, "--quiet").returncode == 0
    with open_readonly(tmp_path / "c.db") as connection:
        for table in ("url", "endpoint", "probe", "run", "daily"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    with closing(sqlite3.connect(tmp_path / "c.db")) as writer, writer:
        writer.execute("UPDATE host SET next_at = ? WHERE name = 'fine.example'", (time.time() + 3600,))
    asked = len(web.log)
    done = check(tmp_path, web, "--json")
    outcomes = {row["url"]: row["today"]["outcome"] for row in json.loads(done.stdout)}
    assert outcomes == {"http://fine.example/": "resting", "http://other.example/": "answers"}
    assert [host for host, _, _ in web.log[asked:]] == ["other.example"] and done.returncode == 0


def test_the_stored_states_are_told_without_a_request(tmp_path: Path, web: Web) -> None:
    keep(tmp_path, "http://gone.example/", "http://fine.example/")
    done = check(tmp_path, web, "--stored")
    assert (done.returncode, web.log) == (0, []) and "No start page failed" in done.stdout
    crawl(tmp_path, f"http://127.0.0.1:{web.server_port}", "http://gone.example/", "http://fine.example/")
    asked = len(web.log)
    done = check(tmp_path, web, "--stored", "--json")
    assert done.returncode == 1 and [row["reason"] for row in json.loads(done.stdout)] == ["http-404"]
    assert len(web.log) == asked


def test_no_start_pages_are_no_error(tmp_path: Path, web: Web) -> None:
    keep(tmp_path)
    assert check(tmp_path, web).returncode == 0


# --------------------------------------------------------------------------- what a start page led to


def test_a_service_counts_for_the_start_page_at_the_beginning_of_its_way(tmp_path: Path) -> None:
    world = World(tmp_path / "c.db")
    connection = world.database.connection
    for text in ("a.example/", "b.example/", "c.example/"):
        connection.execute("INSERT INTO seed VALUES (?1, 'http://' || ?1, '', '', '', '', 0)", (text,))
    world.seed("a.example/", "b.example/", "c.example/")
    assert world.visit(link("a.example/sub/")) == "http://a.example/"
    assert world.visit(candidates=[(candidate("b.example/wms"), None)]) == "http://b.example/"
    while lease := world.frontier.lease():
        if lease.entry.candidate is not None:
            is_good = "bad" not in lease.entry.url.address
            world.settle(lease, verdict=verdict("ok" if is_good else "html"))
        elif lease.entry.url.address == "http://a.example/sub/":
            named = [candidate(f"maps.example/{name}") for name in ("wms1", "wms2", "bad")]
            world.settle(lease, candidates=[(each, None) for each in named])
        else:
            world.settle(lease)
    assert services_by_seed(connection) == {"http://a.example/": 2, "http://b.example/": 1}


def test_after_a_whole_crawl_every_service_has_its_start_page(tmp_path: Path) -> None:
    with DemoWeb() as web:
        keep(tmp_path, *web.seeds)
        crawl(tmp_path, web.proxy_url, *web.seeds)
    with open_readonly(tmp_path / "c.db") as connection:
        led_to = services_by_seed(connection)
        (services,) = connection.execute("SELECT count(*) FROM service").fetchone()
    assert set(led_to) == set(web.seeds)
    assert services <= sum(led_to.values()) <= services + 2, "one at several addresses may count twice"


def test_a_proxy_that_is_away_ends_the_check_at_once_with_one_line(tmp_path: Path, web: Web) -> None:
    keep(tmp_path, "http://a.example/", "http://b.example/", "http://c.example/")
    with running(Web()) as away:
        port = away.server_port
    arguments = ("seeds", "check", "--db", str(tmp_path / "c.db"), "--proxy", f"http://127.0.0.1:{port}")
    done = forked.geocrawl(arguments, env=clean_environment(tmp_path))
    assert done.returncode == 3
    assert done.stderr.strip() == f"geocrawl: The proxy http://127.0.0.1:{port} does not answer (refused)"
    assert done.stdout == ""
    with World(tmp_path / "c.db").reading() as connection:
        assert connection.execute("SELECT count(*) FROM url WHERE state = 'failed'").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM host WHERE errors > 0").fetchone() == (0,)
