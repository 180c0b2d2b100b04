"""Every kind in XML that the real servers offer: read by `geocrawl probe`, proved by its content, found by a crawl."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.servers.conftest import Geocrawl
from tests.support.loopback import folder_served

pytestmark = [pytest.mark.servers, pytest.mark.shared]

MAPSERVER, QGIS = "Demo map server: Zürich & 地图", "Demo QGIS server: Zürich & 地图"
MAPCACHE, MAPPROXY = "Demo MapCache: Zürich & 地图", "Demo MapProxy: Zürich & 地图"


class Offer(NamedTuple):
    """What a server's configuration says that it offers."""

    server: str
    at: str
    """Which of the server's addresses."""
    kind: str
    version: str
    """That it answers in when asked as geocrawl asks."""
    title: str
    items: int
    level: str
    """That its content proves; '' where the kind is not asked for content."""


OFFERS = [
    Offer("mapserver", "wfs", "wfs", "2.0.0", MAPSERVER, 3, "delivers"),
    Offer("mapserver", "wcs", "wcs", "2.0.1", MAPSERVER, 1, ""),
    Offer("mapserver", "sos", "sos", "1.0.0", MAPSERVER, 0, ""),
    Offer("qgis", "wfs", "wfs", "1.1.0", QGIS, 2, "delivers"),
    Offer("qgis", "wcs", "wcs", "1.0.0", QGIS, 1, ""),
    Offer("qgis", "wmts", "wmts", "1.0.0", QGIS, 3, "delivers"),
    Offer("mapcache", "wms", "wms", "1.1.1", MAPCACHE, 1, "delivers"),
    Offer("mapcache", "wmts", "wmts", "1.0.0", MAPCACHE, 1, "delivers"),
    Offer("mapcache", "wmts_rest", "wmts", "1.0.0", MAPCACHE, 1, "delivers"),
    Offer("mapproxy", "wmts", "wmts", "1.0.0", MAPPROXY, 1, "delivers"),
    Offer("mapproxy", "wmts_rest", "wmts", "1.0.0", MAPPROXY, 1, "delivers"),
    Offer("pycsw", "csw", "csw", "2.0.2", "Demo catalogue: Zürich & 地图", 2, "delivers"),
    Offer("pywps", "wps", "wps", "1.0.0", "Demo WPS: Zürich & 地图", 1, ""),
]
IDS = [f"{offer.server}-{offer.at}" for offer in OFFERS]


def asked(servers: dict[str, dict[str, Any]], offer: Offer) -> str:
    """The address as pages write it; a RESTful document's as it stands."""
    base: str = servers[offer.server][offer.at]
    return base if base.endswith(".xml") else f"{base}?service={offer.kind.upper()}&request=GetCapabilities"


@pytest.mark.parametrize("offer", OFFERS, ids=IDS)
def test_a_kind_is_read_and_proved(servers: dict[str, dict[str, Any]], command: Geocrawl, offer: Offer) -> None:
    verdict = command.probe(asked(servers, offer), "--maps")
    assert (verdict["status"], verdict["reason"], verdict["exit_code"]) == ("valid", "ok", 0), verdict
    assert (verdict["kind"], verdict["version"]) == (offer.kind, offer.version)
    assert (verdict["title"], verdict["layers"]) == (offer.title, offer.items)
    assert verdict["url"] == servers[offer.server][offer.at]
    assert verdict.get("level", "") in ({offer.level} if offer.level else {"", "advertised"}), verdict["proof"]


@pytest.mark.parametrize("offer", [o for o in OFFERS if o.kind in ("wfs", "csw")], ids=str)
def test_a_page_that_names_a_version_nobody_has_leads_to_the_service(
    servers: dict[str, dict[str, Any]], command: Geocrawl, offer: Offer
) -> None:
    verdict = command.probe(f"{asked(servers, offer)}&version=9.9.9")
    assert (verdict["status"], verdict["kind"], verdict["title"]) == ("valid", offer.kind, offer.title), verdict


@contextmanager
def page_of_all(servers: dict[str, dict[str, Any]], folder: Path) -> Iterator[str]:
    """A page on loopback that names every offer in a link; yields its address."""
    folder.mkdir()
    links = "".join(
        f'<li><a href="{asked(servers, offer).replace("&", "&amp;")}">{offer.server} {offer.kind}</a>'
        for offer in OFFERS
    )
    page = f"<!DOCTYPE html><title>Geospatial web services</title><h1>Our services</h1><ul>{links}</ul>"
    (folder / "index.html").write_text(page, encoding="utf-8")
    with folder_served(folder) as address:
        yield f"{address}/"


def test_a_crawl_finds_every_kind_that_a_page_names(
    servers: dict[str, dict[str, Any]], command: Geocrawl, tmp_path: Path
) -> None:
    table, where = tmp_path / "catalogue.csv", ("--db", str(command.db))
    with page_of_all(servers, tmp_path / "site") as seed:
        crawled = command.run(
            "crawl", seed, *where, "--wait", "--allow-private", "--delay", "0", "--max-depth", "1", "--quiet"
        )
    assert crawled.returncode == 0, crawled.stderr
    assert command.run("export", "--format", "csv", "--out", str(table), *where).returncode == 0
    with table.open(newline="", encoding="utf-8-sig") as file:
        found = {(row["kind"], row["url"]): row for row in csv.DictReader(file)}
    for offer in OFFERS:
        row = found[offer.kind, servers[offer.server][offer.at]]
        assert (row["status"], row["title"]) == ("valid", offer.title)
        assert int(row["layers"]) == offer.items
