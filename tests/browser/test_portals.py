"""Single-page portals built with React, Vue and OpenLayers: what a crawl finds in them without and with a browser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from geocrawl.store.database.database import open_readonly
from tests.browser.portal_crawls import crawl
from tests.browser.portal_web import BACKEND, OPENLAYERS, REACT, SERVICES, VUE, PortalWeb, Request, portals

PORTALS = (REACT, VUE, OPENLAYERS)


@dataclass(frozen=True, slots=True)
class Crawled:
    """One crawl of all portals."""

    web: PortalWeb
    found: set[str]
    log: list[Request]
    requests: dict[str, int]
    """By host: how many requests the fetcher counted."""


@pytest.fixture(scope="module")
def crawled(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    path = tmp_path_factory.mktemp("portals") / "c.db"
    with portals() as web:
        _, found = crawl(path, [web.address(host) for host in PORTALS])
        with open_readonly(path) as connection:
            counted = connection.execute("SELECT name, asked FROM host").fetchall()
        yield Crawled(web, found, list(web.log), dict(counted))


def test_portals_give_nothing_without_a_browser(web: PortalWeb, tmp_path: Path) -> None:
    report, found = crawl(tmp_path / "c.db", [web.address(host) for host in PORTALS], browser=False)
    assert report.summary.pages == len(PORTALS) and found == set()


def test_portals_give_their_services_to_a_browser(crawled: Crawled) -> None:
    assert crawled.found == set[str]().union(*map(crawled.web.truth, PORTALS))


def test_every_request_of_scripts_is_one_of_the_fetcher(crawled: Crawled) -> None:
    received = Counter(request.host for request in crawled.log)
    assert set(received) == {*PORTALS, BACKEND, SERVICES}
    assert {host: crawled.requests[host] for host in received} == received
    for host in received:
        assert next(request.target for request in crawled.log if request.host == host) == "/robots.txt"


def test_what_scripts_received_is_not_requested_again(crawled: Crawled) -> None:
    data = Counter(
        (request.host, request.target)
        for request in crawled.log
        if request.target.startswith(("/api/", "/catalog/", "/settings", "/project"))
    )
    assert len(data) >= 6 and set(data.values()) == {1}
