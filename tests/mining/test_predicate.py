"""SQL selects every address that the crawler's own classifiers recognise, and few others."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocrawl.detect import Detector
from geocrawl.detect.software import all_software, portal_of
from geocrawl.mining.engines import DuckDbEngine
from geocrawl.mining.index import first_test, predicate
from geocrawl.probe.registry import declarations
from geocrawl.urls import read_url
from tests.mining.made_index import _ordinary

DETECTOR = Detector(declarations())
SQL, FIRST = predicate(declarations()), first_test(declarations())
ENGINE = DuckDbEngine(declarations())
EXAMPLES = [
    *(form.example for each in declarations() for form in each.paths),
    *(form.example for each in declarations() for form in each.hosts),
    *(form.example for each in declarations() for form in each.parameters),
    *(form.example for each in all_software() for form in each.paths),
    *(form.example for each in all_software() for form in each.hosts),
]
REQUESTS = [
    f"{name}={value}"
    for each in declarations()
    for name, values in (
        ("service", each.services),
        ("request", each.requests | each.shared_requests | each.old_requests),
    )
    for value in sorted(values)
] + ["tilematrix=3", "layers=a", "bbox=1,2,3,4", "wmtver=1.0.0", "map=/data/a.map", "q=x", "f=json", ""]


def selected(addresses: Iterable[str]) -> set[str]:
    """Return the addresses that SQL selects; assert that the first test dismisses none of them."""
    table = pa.table({"url": list(addresses)})
    connection = ENGINE._connection
    connection.register("given", table)
    rows = f"SELECT url, {FIRST} FROM (SELECT url, lower(url) AS address FROM given) WHERE {SQL}"
    found = connection.execute(rows).fetchall()
    connection.unregister("given")
    assert all(first for _, first in found)
    return {url for url, _ in found}


def recognised(address: str) -> bool:
    """Return whether a classifier recognises anything by an address."""
    url = read_url(address)
    return url is not None and (bool(DETECTOR.of_text(url)) or portal_of(url) is not None)


def missed(addresses: Iterable[str]) -> set[str]:
    """Return the addresses that a classifier recognises and SQL does not select."""
    known = {address for address in addresses if recognised(address)}
    return known - selected(known)


def test_every_form_is_selected_by_its_example() -> None:
    assert all(map(recognised, EXAMPLES))
    assert missed(EXAMPLES) == set()


def test_addresses_of_the_corpus_are_selected_as_the_classifiers_recognise_them(shared: Path) -> None:
    addresses = set()
    for name in ("urls.csv", "seed_endpoints.csv"):
        with (shared / "corpus" / name).open(encoding="utf-8", newline="") as file:
            addresses |= {row["url"] for row in csv.DictReader(file)}
    known = {address for address in addresses if recognised(address)}
    found = selected(addresses)
    assert len(known) > 15_000
    assert known - found == set()
    assert len(found - known) < 0.1 * len(known)


ODD = [
    "HTTPS://MAPS.EXAMPLE.ORG/GEOSERVER/WMS",
    "http://maps.example.org/geoserver/wms#top",
    "http://maps.example.org/cgi?REQUEST=GetCapabilities&x=1&SERVICE=WMS#a?b",
    "http://maps.example.org/cgi?%73ervice=%57MS&requ%65st=GetMap",
    "http://maps.example.org/cgi?service%3DWMS%26request%3DGetCapabilities",
    "http://maps.example.org/cgi?service%3D%2557MS",
    "http://maps.example.org/cgi?service=+WMS&request=%20GetMap",
    "http://maps.example.org/cgi?x=1&amp;service=WMS&amp;request=GetMap",
    "http://maps.example.org/cgi?map=/a.map?SERVICE=WMS;REQUEST=GetMap",
    "http://maps.example.org/cgi?map=%2Fdata%2Froads%2Emap",
    "http://maps.example.org/geoserver/./wms/.",
    "http://maps.example.org/geoserver/a/../wms/b/..",
    "http://maps.example.org/geoserver/wms/%2e",
    "http:\\\\maps.example.org\\geoserver\\wms",
    "http:maps.example.org/rest/./services/roads",
    "http://maps.example.org/geoserver/w\tms",
    " http://maps.example.org/geoserver/wms ",
    "http://user:pass@stac.example.org:8080",
    "https://stac.example.org",
    "https://STAC.example.org?f=json",
    "https://%73tac.example.org/",
    "https://ｓｔａｃ.example.org/",
    "http://www.example.org/map?wms=http%3A%2F%2Fmaps.example.org%2Fows%3Fservice%3DWMS",
    "http://www.example.org/map?wms=http://maps.example.org/ows&x=1",
    "http://www.example.org/map?wms=HTTP%3a//maps.example.org/geoserver/wms%20&x",
    "http://www.example.org/map?wms=https%3A%2F%2Fstac.example.org",
    "http://www.example.org/map?u=http%3A%2F%2Fmaps.example.org%2Fgeoserver%5Cwms",
    "http://www.example.org/map?u=http%3A%2F%2Fmaps.example.org%2Fcgi%3F%2573ervice%3Dwms",
    "http://www.example.org/map?u=http%3A%2F%2Fmaps.example.org%2Frest%2F.%2Fservices%2Fa",
    "http://www.example.org/map?u=http%3A%2F%2Fmaps.example.org%2Fwms%23top",
    "http://example.org/collections/?x=1&F=JSON",
]


@pytest.mark.parametrize("address", ODD)
def test_odd_spellings_are_selected(address: str) -> None:
    assert recognised(address)
    assert selected([address]) == {address}


def _misspelt(text: str, draw: random.Random) -> str:
    """Return an address with some of its characters in another case or escaped, and oddities put in."""
    scheme, colon, rest = text.partition("://")
    out = []
    for character in rest:
        dice = draw.random()
        if dice < 0.03:
            character = f"%{ord(character):02{draw.choice('xX')}}" if character.isascii() else quote(character)
        elif dice < 0.2:
            character = character.swapcase()
        elif dice < 0.22:
            character += draw.choice(["\t", "/./", "\\", "%20", "+", "#", "?", "&", ";", "%26", "//", "/../", "é", "="])
        out.append(character)
    return scheme + colon + "".join(out)


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_no_misspelling_hides_what_is_recognised(seed: int) -> None:
    draw, addresses = random.Random(seed), set()
    for base in draw.sample(EXAMPLES, 12):
        asked = "&".join(draw.choices(REQUESTS, k=draw.randrange(5)))
        whole = base + ("&" if "?" in base else "?") + asked if asked else base
        escaped = quote(whole, safe=draw.choice(["", "/:", "/:?="]))
        for address in (whole, f"https://viewer.example.org/?layer=1&url={escaped}"):
            addresses |= {address, *(_misspelt(address, draw) for _ in range(8))}
    assert missed(addresses) == set()


def test_ordinary_addresses_are_dismissed() -> None:
    import numpy as np

    addresses = _ordinary(20_000, 0, np.random.default_rng(3))["url"].to_pylist()
    assert len(selected(addresses)) < 0.005 * len(addresses)
