"""A crawl without a browser finds the services of map viewers, on loopback, through the files that each loads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from geocrawl.model.search import Selection
from geocrawl.page.viewers import all_viewers, files_of_page
from geocrawl.settings import Settings
from geocrawl.store.catalogue.services import read_endpoints
from geocrawl.store.database.database import open_readonly
from geocrawl.urls import read_url
from tests.app.viewer_sites import SITES, Site
from tests.support import crawls
from tests.support.loopback import Handler, running

SETTINGS = Settings(
    allow_private=True,
    delay_s=0.0,
    strategy="bfs",
    siblings=0,
    guesses=0,
    maps=False,
    patience_s=1.0,
    max_pages=400,
    workers=8,
)
_VAIN = 2
"""Most requests for files that a viewer's page does not have."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str) -> None:
        super().__init__((host, 0), _Answers)
        self.origin = f"http://{host}:{self.server_address[1]}"
        self.site = Site("/", {})
        self.missing: list[str] = []


class _Answers(Handler):
    server: _Server

    def respond(self) -> None:
        found = self.server.site.answer(self.path)
        is_program = self.path.endswith(".js")  # named by the page itself, which is rebuilt without it
        if found is None and not is_program and self.path not in ("/robots.txt", "/"):
            self.server.missing.append(self.path)
        kind, text = found or ("text/plain", "nothing here")
        data = text.encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.write(data)


class _Crawled(NamedTuple):
    servers: dict[str, _Server]
    valid: set[str]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Crawled]:
    """One crawl of all viewers, each on a host of its own."""
    path: Path = tmp_path_factory.mktemp("viewers") / "c.db"
    with ExitStack() as stack:
        servers = {key: stack.enter_context(running(_Server(f"127.0.1.{n}"))) for n, key in enumerate(SITES, 1)}
        for key, server in servers.items():
            server.site = SITES[key](server.origin)
        crawls.crawl(SETTINGS, path, [server.origin + server.site.home for server in servers.values()])
        with open_readonly(path) as connection:
            valid = {row.url for row in read_endpoints(connection, Selection()) if row.status == "valid"}
        yield _Crawled(servers, valid)


@pytest.mark.parametrize("key", SITES)
def test_the_services_of_a_viewer_are_found_and_the_wrong_one_is_not(crawled: _Crawled, key: str) -> None:
    server = crawled.servers[key]
    found = {address for address in crawled.valid if address.startswith(server.origin)}
    assert found == {server.origin + service for service in server.site.services}


@pytest.mark.parametrize("key", SITES)
def test_a_viewer_costs_few_requests_for_files_that_it_has_not(crawled: _Crawled, key: str) -> None:
    assert len(crawled.servers[key].missing) <= _VAIN, crawled.servers[key].missing


def test_every_program_of_the_table_has_a_rebuilt_site() -> None:
    assert {viewer.key for viewer in all_viewers()} <= SITES.keys()


@pytest.mark.parametrize(
    "source",
    [
        "js/jimujiaoyu.js",
        "/qwc2/jquery.js",
        "/blog/oskari/app.js",
        "terria-fonts.js",
        "vcmapping.js",
    ],
)
def test_a_script_with_part_of_a_viewers_name_is_no_viewer(source: str) -> None:
    url = read_url("http://h.example/")
    assert url is not None
    assert list(files_of_page(url, f"<script src='{source}'></script>", [source], [])) == []
