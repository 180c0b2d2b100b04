"""Addresses that may not be requested are refused as they arrive, and cost no visit: a page may name thousands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from tests.support.crawls import Watcher, url
from tests.support.loopback import Handler, Server, running

NAMED = 3_000
LEAVES = 10


@contextmanager
def web(link: str) -> Iterator[tuple[str, list[str]]]:
    """A proxy to a site whose home page names `NAMED` addresses of the form `link`, and pages of its own; yields the
    proxy's address and what it was asked for."""
    asked: list[str] = []

    class Answers(Handler):
        def respond(self) -> None:
            asked.append(self.path)
            status, body = 200, "<title>leaf</title><p>text</p>"
            if self.path.endswith("/robots.txt"):
                status, body = 404, "no"
            elif self.path.endswith(".example/"):
                named = (f'<a href="{link.format(n >> 8, n & 255, n=n)}">map {n}</a>' for n in range(NAMED))
                leaves = (f'<a href="/leaf{n}.html">leaf {n}</a>' for n in range(LEAVES))
                body = f"<title>home</title>{''.join(named)}{''.join(leaves)}"
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.write(body.encode())

    with running(Server(Answers)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked


@pytest.mark.parametrize(
    ("link", "reason", "purpose"),
    [
        ("http://h{n}.denied.example/ows?service=WMS&amp;request=GetCapabilities", "deny", "probe"),
        ("http://denied.example/{n}/ows?service=WMS&amp;request=GetCapabilities", "deny", "probe"),
        ("http://10.0.{}.{}/ows?service=WMS&amp;request=GetCapabilities", "guard", "probe"),
        ("http://10.0.{}.{}/map.html", "guard", "page"),
    ],
)
def test_no_visit_is_spent_on_addresses_that_may_not_be_asked(
    link: str, reason: str, purpose: str, tmp_path: Path
) -> None:
    path, watcher = tmp_path / "c.db", Watcher()
    with web(link) as (proxy, asked):
        settings = Settings(strategy="bfs", proxy=proxy, deny=("denied.example",), delay_s=0.0, siblings=0)
        run_crawl(settings, path, [url("http://a.example/")], observer=watcher)
    assert sorted(watcher.visits) == sorted(
        ["page http://a.example/", *(f"page http://a.example/leaf{n}.html" for n in range(LEAVES))]
    )
    assert all(target.startswith("http://a.example/") for target in asked)
    with open_readonly(path) as connection:
        rows = Counter(connection.execute("SELECT purpose, state, reason FROM url").fetchall())
        endpoints = Counter(connection.execute("SELECT reason FROM endpoint").fetchall())
    assert rows[(purpose, "refused", reason)] == NAMED
    assert endpoints == ({(reason,): NAMED} if purpose == "probe" else {})


def test_a_seed_that_may_not_be_asked_is_visited_and_the_reason_is_stored(tmp_path: Path) -> None:
    watcher = Watcher()
    with web("/") as (proxy, _):
        report = run_crawl(
            Settings(strategy="bfs", proxy=proxy), tmp_path / "c.db", [url("http://10.0.0.1/")], observer=watcher
        )
    assert watcher.visits == ["page http://10.0.0.1/"]
    assert report.summary.pages == 0
