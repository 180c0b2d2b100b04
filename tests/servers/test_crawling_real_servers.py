"""A crawl for real: a page on loopback names MapServer, QGIS Server and MapProxy, each in its own way."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.servers.conftest import EXPECTED, Geocrawl
from tests.support.loopback import folder_served

pytestmark = [pytest.mark.servers, pytest.mark.shared]

PAGE = """<!DOCTYPE html><title>Maps of the town</title><h1>Web map services (WMS)</h1>
<p><a href="{mapserver}?service=WMS&amp;version=1.1.1&amp;request=GetCapabilities">Town map</a>
<p>QGIS users add <a href="{qgis}?service=wms&request=getcapabilities">this address</a> as a WMS layer.
<p><a href="{demo}">Tiles and maps</a> <a href="{password}?SERVICE=WMS&amp;REQUEST=GetCapabilities">Staff only</a>
<p><a href="about.html">About</a>"""
ABOUT = "<!DOCTYPE html><title>About</title><p>Opening hours of the town hall."


SAID = [
    # server, entry of its addresses, page beneath it, software, kind, path of the first request
    ("mapserver", "wms", "", "MapServer", None, "/ms?SERVICE=WMS"),
    ("mapserver", "ogcapi", "", None, "ogcapi", "/ms/DEMO/ogcapi"),
    ("qgis", "wms", "", "QGIS Server", None, "/qgis?SERVICE=WMS"),
    ("mapcache", "wms", "", "MapCache", "wms", "/mapcache/?SERVICE=WMS"),
    ("mapproxy", "wms", "../", "MapProxy", None, "/service?SERVICE=WMS"),
    ("mapproxy", "html", "", "MapProxy", None, "/service?SERVICE=WMS"),
    ("pygeoapi", "ogcapi", "", "pygeoapi", None, "/"),
    ("pycsw", "csw", "../", "pycsw", "csw", "/csw?SERVICE=CSW"),
    ("pywps", "wps", "", None, "wps", "/wps?SERVICE=WPS"),
]


@pytest.mark.parametrize(("server", "entry", "page", "software", "kind", "first"), SAID)
def test_a_servers_own_page_tells_its_software_and_where_its_services_are(
    servers: dict[str, dict[str, Any]],
    command: Geocrawl,
    server: str,
    entry: str,
    page: str,
    software: str | None,
    kind: str | None,
    first: str,
) -> None:
    address = urljoin(servers[server][entry], page)
    done = command.run("identify", address, "--json", "--allow-private", "--delay", "0")
    found = json.loads(done.stdout)
    assert (found["software"], found["kind"], done.returncode) == (software, kind, 0)
    assert found["requests"][0].startswith(urljoin(address, first))


def test_an_exception_report_alone_is_no_kind_of_service(servers: dict[str, dict[str, Any]], command: Geocrawl) -> None:
    done = command.run("identify", servers["mapproxy"]["wms"], "--json", "--allow-private", "--delay", "0")
    assert (json.loads(done.stdout)["kind"], done.returncode) == (None, 1)


def test_a_crawl_from_a_page_catalogues_the_servers_it_names(
    servers: dict[str, dict[str, Any]], command: Geocrawl, tmp_path: Path
) -> None:
    folder, table = tmp_path / "site", tmp_path / "catalogue.csv"
    folder.mkdir()
    (folder / "about.html").write_text(ABOUT, encoding="utf-8")
    urls = {name: servers[name]["wms"] for name in EXPECTED}
    page = PAGE.format(**urls, demo=servers["mapproxy"]["html"], password=servers["extras"]["password"])
    (folder / "index.html").write_text(page, encoding="utf-8")

    with folder_served(folder) as seed:
        where = ("--db", str(command.db))
        crawled = command.run(
            "crawl",
            f"{seed}/",
            *where,
            "--wait",
            "--allow-private",
            "--delay",
            "0",
            "--max-depth",
            "2",
            "--json",
            "--quiet",
        )
    assert crawled.returncode == 0, crawled.stderr
    assert json.loads(crawled.stdout)["pages"] >= 2

    assert command.run("export", "--format", "csv", "--out", str(table), *where).returncode == 0
    with table.open(newline="", encoding="utf-8-sig") as file:
        rows = {row["url"]: row for row in csv.DictReader(file) if row["kind"] == "wms"}
    for name, expected in EXPECTED.items():
        row = rows[urls[name]]
        assert (row["kind"], row["status"], row["title"]) == ("wms", "valid", expected.title)
        assert int(row["layers"]) == expected.layers
    assert rows[servers["extras"]["password"]]["status"] == "invalid"

    status = command.run("status", "--json", *where)
    assert status.returncode == 0, status.stderr
    found = command.run("search", "Zürich", "--format", "json", *where)
    assert found.returncode == 0, found.stderr
    assert EXPECTED["qgis"].title in found.stdout
