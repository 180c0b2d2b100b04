"""A crawl ends when the web is done: one page in trouble ends nothing, and a host in back-off is waited for."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.crawler.report import CrawlReport
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from geocrawl.wording import counted
from tests.support.crawls import Watcher, url
from tests.support.loopback import Handler, Server, running

LEAVES = 60


@dataclass
class Site:
    """A home page that names `LEAVES` pages; some targets are in trouble, for good or for so many requests."""

    trouble: Mapping[str, tuple[int, str, int]] = field(default_factory=dict)
    """Target → (status, Retry-After, number of requests answered so)."""
    asked: Counter[str] = field(default_factory=Counter)
    base: str = ""

    def answer(self, target: str) -> tuple[int, dict[str, str], bytes]:
        self.asked[target] += 1
        status, retry_after, times = self.trouble.get(target, (200, "", 0))
        if self.asked[target] <= times:
            return status, {"Retry-After": retry_after} if retry_after else {}, b"busy"
        if target == "/":
            links = "".join(f'<a href="/leaf{n}.html">map {n}</a>' for n in range(LEAVES))
            return 200, {}, f"<title>home</title>{links}".encode()
        return (404, {}, b"no") if target == "/robots.txt" else (200, {}, b"<title>leaf</title><p>text</p>")

    @property
    def leaves_read(self) -> int:
        return sum(1 for target in self.asked if target.startswith("/leaf"))


@contextmanager
def serving(trouble: Mapping[str, tuple[int, str, int]]) -> Iterator[Site]:
    site = Site(trouble)

    class Answers(Handler):
        def respond(self) -> None:
            status, fields, body = site.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self.write(body)

    with running(Server(Answers)) as server:
        site.base = f"http://127.0.0.1:{server.server_address[1]}"
        yield site


class Listener(Watcher):
    """Records the lines that are said while the crawl runs."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def noted(self, text: str) -> None:
        self.said.append(text)


def crawl(site: Site, path: Path, **more: float) -> tuple[CrawlReport, Listener]:
    settings = Settings(strategy="bfs", allow_private=True, delay_s=0.0, workers=5, siblings=0, **more)  # type: ignore[arg-type]
    listener = Listener()
    return run_crawl(settings, path, [url(f"{site.base}/")], observer=listener), listener


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_one_page_in_trouble_keeps_no_other_page_of_its_host_from_being_read(tmp_path: Path, status: int) -> None:
    with serving({"/leaf7.html": (status, "120", 99)}) as site:
        report, _ = crawl(site, tmp_path / "c.db")
    assert site.leaves_read == LEAVES and site.asked["/leaf7.html"] == 1
    assert report.summary.pages == LEAVES + 1
    assert (report.summary.stopped, report.left, report.retries) == ("resting", (), 1)
    assert report.next_retry_at is not None
    assert any("1 address failed and will be retried after " in line for line in report.lines())
    with open_readonly(tmp_path / "c.db") as connection:
        assert connection.execute("SELECT troubled_address, errors FROM host").fetchall() == [
            (f"{site.base}/leaf7.html", 0)
        ]


def test_a_page_is_asked_again_no_sooner_than_its_retry_after(tmp_path: Path) -> None:
    with serving({"/leaf7.html": (503, "1200", 1)}) as site:
        before = time.time()
        report, _ = crawl(site, tmp_path / "c.db", retry_first_s=0.0)
    assert report.next_retry_at is not None and 1200 <= report.next_retry_at - before < 1230


def test_a_host_that_asks_to_be_left_alone_is_waited_for_while_pages_were_never_visited(tmp_path: Path) -> None:
    with serving({"/leaf7.html": (429, "7", 1)}) as site:
        report, listener = crawl(site, tmp_path / "c.db")
    assert site.leaves_read == LEAVES and report.left == ()
    assert len(listener.said) == 1 and listener.said[0].startswith("Waiting for 127.0.0.1 until 20")


def test_two_pages_in_trouble_put_their_host_into_back_off(tmp_path: Path) -> None:
    trouble = {"/leaf7.html": (503, "3", 1), "/leaf8.html": (503, "3", 1)}
    with serving(trouble) as site:
        begun = time.monotonic()
        report, _ = crawl(site, tmp_path / "c.db")
    assert time.monotonic() - begun > 3 and site.leaves_read == LEAVES and report.left == ()


def test_what_is_left_after_the_patience_is_named_with_the_time_when_it_can_go_on(tmp_path: Path) -> None:
    with serving(dict.fromkeys(("/leaf7.html", "/leaf8.html"), (503, "3600", 1))) as site:
        report, _ = crawl(site, tmp_path / "c.db", patience_s=60.0)
    assert report.summary.stopped == "patience"
    (left,) = report.left
    assert left.name == "127.0.0.1" and left.urls == LEAVES - site.leaves_read > 0
    assert left.ready_at - time.time() == pytest.approx(3600, abs=60)
    assert report.as_json()["left"] == [{"host": left.name, "addresses": left.urls, "ready_at": left.ready_at}]
    assert any(line.startswith(f"Not visited: {counted(left.urls, 'address')} of 127.0.0.1") for line in report.lines())


def test_a_host_that_never_answers_ends_the_patience(tmp_path: Path) -> None:
    """Each visit fails and doubles the back-off: what is counted is the time since the last answer."""
    with serving({}) as site:
        base = site.base
    site.base = base  # nobody listens there any more
    report, _ = crawl(site, tmp_path / "c.db", patience_s=3.0, backoff_after=1, backoff_first_s=1.0)
    assert report.summary.stopped == "resting" and report.retries == 1
