"""Crawls ask where the software of a portal has its services: a few places, and none after one is missing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.cli.progress import LogObserver, log_to
from geocrawl.store.catalogue.read.statistics import signal_yields
from geocrawl.store.database.database import open_readonly
from tests.app.recorded_web import Answer, Answers, environment
from tests.app.test_records_in_crawls import CAPABILITIES as CSW
from tests.app.test_records_in_crawls import PAGE, SETTINGS
from tests.support.answers import CAPABILITIES
from tests.support.pages import url

WMS = CAPABILITIES.encode()
HOME = ("text/html", b"<title>GeoServer: Welcome</title><p>Welcome")
BLOG = (
    "text/html",
    b"<meta name='generator' content='WordPress 6.4'><a href='/geoserver/b/'>b</a><a href='/a/geoserver/'>a</a>",
)


def crawl(web: Answers, path: Path, seed: str, **more: object) -> None:
    settings = replace(SETTINGS, strategy="bfs", **more)  # type: ignore[arg-type]
    run_crawl(settings, path, [url(seed)], observer=LogObserver(log_to()), environment=environment(web))


def signals(path: Path) -> dict[tuple[str, str], tuple[int, int, int]]:
    """(signal, kind) → endpoints found, with a verdict, valid."""
    with open_readonly(path) as connection:
        return {(row.signal, row.kind): (row.candidates, row.probed, row.valid) for row in signal_yields(connection)}


def guessed(web: Answers) -> list[str]:
    return [address for address in web.asked if "REQUEST=GetCapabilities" in address]


def test_a_portals_page_leads_to_its_services_and_signals_count_what_the_guess_was_worth(tmp_path: Path) -> None:
    web = Answers({"g.example/geoserver/web/": HOME, "g.example/geoserver/ows": ("text/xml", WMS)})
    crawl(web, tmp_path / "c.db", "http://g.example/geoserver/web/")
    assert signals(tmp_path / "c.db") == {("guess:geoserver", "wms"): (1, 1, 1)}


def test_a_catalogue_that_is_guessed_is_read(tmp_path: Path) -> None:
    def catalogue(query: str) -> Answer:
        return ("application/xml", CSW) if "GetCapabilities" in query else PAGE

    home = ("text/html", b"<html data-ng-app='gn_search_default'>")
    web = Answers({"m.example/": home, "m.example/srv/eng/csw": catalogue})
    crawl(web, tmp_path / "c.db", "http://m.example/")
    assert any("GetRecords" in each for each in web.asked)


def test_the_services_of_a_portal_whose_pages_are_forbidden_are_asked_all_the_same(tmp_path: Path) -> None:
    web = Answers({"g.example/geoserver/ows": ("text/xml", WMS)})
    crawl(web, tmp_path / "c.db", "http://g.example/geoserver")
    assert signals(tmp_path / "c.db")["guess:geoserver", "wms"] == (1, 1, 1)


def test_a_path_that_only_looks_like_a_software_costs_one_request_a_host(tmp_path: Path) -> None:
    """After a 404 no further root of that host is tried: a blog has as many such paths as it likes."""
    web = Answers({f"w.example/{path}": BLOG for path in ("geoserver/", "geoserver/b/", "a/geoserver/")})
    crawl(web, tmp_path / "c.db", "http://w.example/geoserver/")
    assert len(guessed(web)) == 1
    assert {found: counts[2] for found, counts in signals(tmp_path / "c.db").items()} == {("guess:geoserver", "wms"): 0}


@pytest.mark.parametrize("body", [b"<title>For sale</title>", b""])
def test_a_host_that_answers_everything_costs_three_guesses_and_gives_no_service(tmp_path: Path, body: bytes) -> None:
    class Everything(Answers):
        def respond(self, scheme: str, host: str, target: str):  # type: ignore[no-untyped-def]
            self._answers = {host + target.partition("?")[0]: ("text/html", body or BLOG[1])}
            return super().respond(scheme, host, target)

    web = Everything({})
    crawl(web, tmp_path / "c.db", "http://e.example/a/geoserver/", max_pages=30)
    found = signals(tmp_path / "c.db")
    assert 1 <= sum(counts[0] for (signal, _), counts in found.items() if signal.startswith("guess:")) <= 3
    assert not any(counts[2] for counts in found.values())


def test_no_place_is_guessed_where_the_setting_says_so(tmp_path: Path) -> None:
    web = Answers({"g.example/geoserver/web/": HOME})
    crawl(web, tmp_path / "c.db", "http://g.example/geoserver/web/", guesses=0)
    assert not guessed(web)


def test_guesses_that_fail_are_no_entries_of_the_catalogue(tmp_path: Path) -> None:
    web = Answers({"g.example/geoserver/web/": HOME})
    crawl(web, tmp_path / "c.db", "http://g.example/geoserver/web/")
    with open_readonly(tmp_path / "c.db") as connection:
        assert connection.execute("SELECT weak FROM endpoint").fetchall() == [(2,)]
