"""Counts of the first page, of facets, cards and lists agree with what their links lead to, on each engine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from geocrawl.store import Store
from geocrawl.urls.database import place_of
from tests.store.catalogue.search.catalogue import filled, record, service
from tests.support.made_catalogue import make_catalogue
from tests.support.world import ManualClock
from tests.web.conftest import Serve

ITEMS = "/collections/services/items"
WORLD, EUROPE, PACIFIC = (-180.0, -90.0, 180.0, 90.0), (11.0, 41.0, 19.0, 49.0), (170.5, -29.0, -170.5, -21.0)
MORE = {
    "http://north.example/roads/wms": ("Roads of the north", "Northern Council", ("roads",), EUROPE),
    "http://north.example/ports/wms": ("Ports of the north", "Northern Council", ("ports",), EUROPE),
    "http://south.example/roads/wms": ("Roads of the south", "Northern Council of the South", ("roads",), EUROPE),
    "http://two.example/named/wms": ("Winds", "Two", ("winds",), PACIFIC),
    "http://world.example/a/wms": ("Elevation", "Rail & Ports, Ltd", ("dem",), WORLD),
    "http://one.example/a/wms": ("Tides", "", ("tides",), PACIFIC),
    "http://two.example/a/wms": ("Currents", "", ("currents",), (179.0, 11.0, 180.0, 19.0)),
    "http://two.example/b/wms": ("Point", "", ("point",), (21.0, 51.0, 21.0, 51.0)),
}
_COUNTED = re.compile(r'<li><a href="([^"]+)"[^>]*>(?:(?!</a>).)*</a> <span class="count">([\d,]+)</span></li>', re.S)
_FACET = re.compile(r'<a href="([^"]+)"[^>]*>(?:(?!</a>).)*<span class="count">([\d,]+)</span></a>', re.S)
_OF_CARD = re.compile(r'<p class="meta"><a href="([^"]+)">[\d,]+ services? found</a>')
_SQUARE = re.compile(r'<a href="([^"]+)" tabindex="-1"><rect[^>]*><title>([\d,]+)</title>')


@pytest.fixture(params=["disk", "postgres"])
def client(request: pytest.FixtureRequest, tmp_path: Path, serve: Serve) -> Iterator[TestClient]:
    """A client of a catalogue with twins, nameless providers, and extents at the antimeridian and of the world."""
    place = request.getfixturevalue("postgres_url") if request.param == "postgres" else f"sqlite:///{tmp_path / 'c.db'}"
    world = filled(place)
    for address, about in MORE.items():
        record(world, address, service(*about))
    world.store.close()
    yield serve(place_of(place))


def shown(client: TestClient, path: str) -> str:
    """Return a page as a browser gets it."""
    return client.get(path, headers={"Accept": "text/html"}).text


def links_of(pattern: re.Pattern[str], page: str) -> list[tuple[str, int]]:
    """Return the links of a page with the counts beside them."""
    return [(unescape(href), int(count.replace(",", ""))) for href, count in pattern.findall(page)]


def matched(client: TestClient, href: str) -> int:
    """Return how many services a link of the search leads to."""
    return int(client.get(f"{href}&f=json").json()["numberMatched"])


def test_each_count_is_that_of_its_link(client: TestClient) -> None:
    home = shown(client, "/")
    squares, counted = links_of(_SQUARE, home), links_of(_COUNTED, home)
    facets = links_of(_FACET, shown(client, ITEMS))
    assert len(squares) > 20 and len(counted) > 8 and len(facets) > 8
    of_search = [each for each in [*squares, *counted, *facets] if each[0].startswith(ITEMS)]
    assert [(href, count, found) for href, count in of_search if (found := matched(client, href)) != count] == []


def test_the_parts_add_up_to_the_whole(client: TestClient) -> None:
    whole = client.get(f"{ITEMS}?f=json&facets=true&limit=100").json()
    facets = {name: sum(each["count"] for each in facet["buckets"]) for name, facet in whole["facets"].items()}
    assert facets["kind"] == facets["health"] == whole["numberMatched"] == len(whole["features"])
    assert f"{whole['numberMatched']} services" in shown(client, "/")
    providers = {each["provider"]: each["services"] for each in client.get("/providers?f=json").json()["providers"]}
    assert sum(providers.values()) == whole["numberMatched"]
    for name, number in providers.items():
        card = client.get("/providers", params={"name": name, "f": "json"}).json()
        assert len(card["services"]) == number, name
        shown_card = shown(client, f"/providers?{urlencode({'name': name})}")
        linked = [unescape(href) for href in _OF_CARD.findall(shown_card)]
        assert len(linked) == 1
        found = client.get(linked[0], headers={"Accept": "application/json"}).json()
        assert found.get("numberMatched", len(found.get("services", ()))) == number, name


def test_words_of_a_provider_find_each_whose_name_has_them(client: TestClient) -> None:
    assert matched(client, f"{ITEMS}?provider=Northern+Council") == 2
    assert matched(client, f"{ITEMS}?provider=council+northern") == 3
    assert matched(client, f"{ITEMS}?q=provider:%22Northern+Council%22") == 2


def test_a_page_says_of_how_many_a_file_holds_some_and_leads_to_the_rest(tmp_path: Path, serve: Serve) -> None:
    make_catalogue(tmp_path / "c.db", 1_100)
    Store.open(tmp_path / "c.db", clock=ManualClock()).close()  # what is missing in the index is added
    client = serve(tmp_path / "c.db")
    for path, said, most in (
        (f"{ITEMS}?q=", "first 1,000 of 1,100 services", 1_000),
        ("/layers?q=roads", "that for QGIS the first 100", 500),
    ):
        assert said in shown(client, path)
        pages = (client.get(f"{path}&f=csv&limit={most}&offset={offset}").text for offset in (0, most))
        first, rest = (set(page.splitlines()[1:]) for page in pages)
        assert len(first) == most and rest and not first & rest, path
