"""Pages that send their readers on without end are left after some requests; a page that moved is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from tests.support.crawls import crawl
from tests.support.loopback import Handler, Server, running

SETTINGS = Settings(delay_s=0.0, allow_private=True, allow=("127.0.0.1",), siblings=0, maps=False, max_pages=200)


class _Refreshing(Handler):
    def respond(self) -> None:
        place, _, number = self.path.partition("?")[0].strip("/").partition("/")
        following, headers = f"/{place}/{int(number or 0) + 1}", dict[str, str]()
        body = "<title>Maps</title><p>Maps of the city.</p>"
        if place == "robots.txt":
            body = ""
        elif place == "element" or (place == "moved" and int(number or 0) < 3):
            body += f"<meta http-equiv=refresh content='0; url={following}'>"
        elif place == "header":
            headers["Refresh"] = f"0; url={following}"
        elif place == "query":
            body += f"<meta http-equiv=refresh content='1;URL=/query/{int(number or 0) + 1}?session={number}'>"
        elif place == "links" and int(number or 0) < 40:
            body += f"<a href='{following}'>Next map</a>"
        self.send_response(200 if body else 404)
        for name, value in {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.write(body.encode())


def _visited(tmp_path: Path, place: str) -> int:
    """Return how many pages a crawl reads from here on."""
    with running(Server(_Refreshing)) as server:
        crawl(SETTINGS, tmp_path / "c.db", [f"http://127.0.0.1:{server.server_port}/{place}/0"])
    with open_readonly(tmp_path / "c.db") as connection:
        (count,) = connection.execute(
            "SELECT count(*) FROM url WHERE state = 'visited' AND purpose = 'page'"
        ).fetchone()
    return int(count)


@pytest.mark.parametrize("place", ["element", "header", "query"])
def test_an_endless_chain_of_refreshes_ends(tmp_path: Path, place: str) -> None:
    assert 5 < _visited(tmp_path, place) <= 25


@pytest.mark.parametrize(("place", "least"), [("moved", 4), ("links", 41)])
def test_a_page_that_moved_and_a_row_of_links_are_read(tmp_path: Path, place: str, least: int) -> None:
    assert _visited(tmp_path, place) >= least
