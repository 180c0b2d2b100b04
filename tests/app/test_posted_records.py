"""Harvests of catalogues on 127.0.0.1 that give records by POST alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import pytest
from lxml import etree

from geocrawl.app.harvest import run_harvest
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.crawler.report import HarvestReport
from geocrawl.settings import Settings
from geocrawl.urls import get_records_url
from geocrawl.urls.posted import posted_records
from tests.app.test_slices import EXCEPTION, Csw
from tests.support.pages import url

SETTINGS = Settings(delay_s=0.0, maps=False, siblings=0, strategy="bfs", allow_private=True)
CSW = "{http://www.opengis.net/cat/csw/2.0.2}"


class PostOnly:
    """A catalogue on a port of this machine; `gets` and `posts` count what was requested of it."""

    def __init__(self, csw: Csw | None, refusal: int) -> None:
        """`csw`: answers what is posted, None refuses that too. `refusal`: status of a GET."""
        self.csw = csw
        self.refusal = refusal
        self.gets: list[str] = []
        self.posts: list[str] = []
        self.address = ""

    def posted(self, path: str, body: bytes) -> bytes:
        """Answer a request whose body has to be XML as the standard has it."""
        self.posts.append(path)
        root = etree.fromstring(body)
        query, constraint = root.find(f"{CSW}Query"), root.find(f"{CSW}Query/{CSW}Constraint")
        assert (root.tag, root.get("service"), query is not None) == (f"{CSW}GetRecords", "CSW", True)
        if self.csw is None:
            return EXCEPTION
        values = {"request": "GetRecords", **{name: root.get(name, "") for name in ("startPosition", "maxRecords")}}
        if constraint is not None:
            is_cql = constraint[0].tag == f"{CSW}CqlText"
            values["constraintLanguage"] = "CQL_TEXT" if is_cql else "FILTER"
            values["constraint"] = (
                (constraint[0].text or "") if is_cql else etree.tostring(constraint[0], encoding="unicode")
            )
        return self.csw(urlencode(values))[1]


@contextmanager
def served(catalogue: PostOnly) -> Iterator[PostOnly]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            if "GetRecords" in self.path:
                catalogue.gets.append(self.path)
            self.reply(404 if "robots.txt" in self.path else catalogue.refusal, EXCEPTION)

        def do_POST(self) -> None:
            self.reply(200, catalogue.posted(self.path, self.rfile.read(int(self.headers["Content-Length"]))))

        def reply(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    catalogue.address = f"http://127.0.0.1:{server.server_port}/csw?map=/m.map&service=CSW&request=GetCapabilities"
    try:
        yield catalogue
    finally:
        server.shutdown()
        server.server_close()


def harvest(catalogue: PostOnly, path: Path, *, max_pages: int = 0, since: str = "") -> HarvestReport:
    observer = LogObserver(log_to())
    return run_harvest(SETTINGS, path, url(catalogue.address), since=since, max_pages=max_pages, observer=observer)


@pytest.mark.parametrize("refusal", [200, 400, 405], ids=["a report", "bad request", "no such method"])
def test_a_catalogue_that_refuses_get_is_read_to_its_total_by_post(tmp_path: Path, refusal: int) -> None:
    with served(PostOnly(Csw(120), refusal)) as catalogue:
        report = harvest(catalogue, tmp_path / "c.db")
    (source,) = report.sources
    assert (source.stated, source.read, report.is_whole) == (120, 120, True)
    assert (len(catalogue.gets), catalogue.posts) == (1, ["/csw?map=/m.map"] * 3)


def test_a_harvest_by_post_that_was_interrupted_goes_on_by_post(tmp_path: Path) -> None:
    with served(PostOnly(Csw(120), 405)) as catalogue:
        harvest(catalogue, tmp_path / "c.db", max_pages=1)
        report = harvest(catalogue, tmp_path / "c.db")
    assert (report.sources[0].read, report.is_whole) == (120, True)
    assert len(catalogue.posts) <= 4


@pytest.mark.parametrize("language", ["FILTER", "CQL_TEXT"])
def test_slices_are_posted_in_the_language_that_the_server_takes(tmp_path: Path, language: str) -> None:
    with served(PostOnly(Csw(1000, undated=50, language=language), 405)) as catalogue:
        report = harvest(catalogue, tmp_path / "c.db")
    (source,) = report.sources
    assert (source.stated, source.read, report.is_whole) == (1000, 1000, True)
    assert 5 * len(catalogue.gets) < len(catalogue.posts), "one a round of slices"


@pytest.mark.parametrize("language", ["FILTER", "CQL_TEXT"])
def test_a_list_since_a_day_is_posted_in_the_language_that_the_server_takes(tmp_path: Path, language: str) -> None:
    with served(PostOnly(Csw(140, language=language), 405)) as catalogue:
        report = harvest(catalogue, tmp_path / "c.db", since="2022-01-01")
    (source,) = report.sources
    assert (report.since, source.stated, report.is_whole) == ("2022-01-01", source.read, True)
    assert 50 < source.read < 100


def test_a_catalogue_that_refuses_both_is_asked_by_post_once(tmp_path: Path) -> None:
    with served(PostOnly(None, 400)) as catalogue:
        report = harvest(catalogue, tmp_path / "c.db")
    assert (len(catalogue.gets), len(catalogue.posts)) == (1, 1)
    assert not report.is_whole


def test_text_of_an_address_is_escaped_and_version_3_has_its_namespace() -> None:
    asked = get_records_url(url("http://c.example/csw"), version="3.0.0", schema='a"&<b')
    posted = posted_records(asked)
    assert posted is not None
    root = etree.fromstring(posted.body)
    assert root.tag == "{http://www.opengis.net/cat/csw/3.0}GetRecords"
    assert (root.get("outputSchema"), root.get("resultType"), root.get("version")) == ('a"&<b', None, "3.0.0")
    assert posted_records(url("http://c.example/csw?request=GetCapabilities")) is None
