"""QGIS loads and draws layers of real servers from the connection files that geocrawl writes."""

from __future__ import annotations

import json
import operator
import sqlite3
import subprocess
import xml.etree.ElementTree as ET
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from geocrawl.settings import Settings
from geocrawl.web.application import make_application
from geocrawl.web.options import Options
from tests.servers.conftest import Geocrawl
from tests.support.parts import QGIS, lack
from tests.support.places import ROOT

pytestmark = [pytest.mark.servers, pytest.mark.shared]

SYSTEM_PYTHON = "/usr/bin/python3"
LOADER = ROOT / "tests" / "servers" / "qgis_layers.py"
LAYERS = """
SELECT l.name FROM v_layers l JOIN v_health h USING (service_id) WHERE h.url = ? AND h.kind = ? AND l.name <> ''
"""
WITH_FIELDS = """
SELECT DISTINCT s.url FROM v_layers l JOIN v_services s ON s.id = l.service_id WHERE s.kind = 'wfs' AND l.fields <> '[]'
"""
EXTENT = "SELECT west, south, east, north FROM v_services WHERE url = ?"


def loaded(sources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What QGIS says of each data source."""
    done = subprocess.run(
        [SYSTEM_PYTHON, str(LOADER)],
        input=json.dumps(sources),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def raster(url: str, layer: str) -> dict[str, Any]:
    """A WMS layer as QGIS's data source manager names it."""
    return {
        "provider": "wms",
        "uri": f"crs=EPSG:4326&dpiMode=7&format=image/png&layers={quote(layer)}&styles=&url={quote(url, safe='')}",
        "extent": None,
    }


def vector(url: str, type_name: str) -> dict[str, Any]:
    return {
        "provider": "WFS",
        "uri": f"pagingEnabled='true' typename='{type_name}' url='{url}' version='auto'",
        "extent": None,
    }


def crawled(servers: dict[str, dict[str, Any]], command: Geocrawl) -> tuple[str, str]:
    """Crawl all servers; return the options that name their catalogue. Without QGIS the test ends here."""
    if subprocess.run([SYSTEM_PYTHON, "-c", "import qgis.core"], capture_output=True, check=False).returncode != 0:
        lack(QGIS)
    wms = [servers[name]["wms"] for name in ("mapserver", "qgis", "mapproxy")]
    tiles = [servers[name]["tms"] for name in ("mapcache", "mapproxy")]
    seeds = [f"{url}?service={kind}&request=GetCapabilities" for url in wms for kind in ("WMS", "WFS")] + tiles
    where = ("--db", str(command.db))
    done = command.run(
        "crawl", *seeds, *where, "--wait", "--allow-private", "--delay", "0", "--max-depth", "1", "--quiet"
    )
    assert done.returncode == 0, done.stderr
    return where


def test_layers_of_every_server_are_loaded_and_drawn(
    servers: dict[str, dict[str, Any]], command: Geocrawl, tmp_path: Path
) -> None:
    where = crawled(servers, command)
    folder = tmp_path / "connections"
    assert command.run("export", "--format", "qgis", "--out", str(folder), *where).returncode == 0

    sources: list[dict[str, Any]] = []
    with closing(sqlite3.connect(command.db)) as catalogue:
        for form, source in (("wms", raster), ("wfs", vector)):
            for connection in ET.parse(folder / f"{form}.xml").getroot():
                url = connection.attrib["url"]
                sources += [source(url, name) for (name,) in catalogue.execute(LAYERS, (url, form))]
        (extent,) = catalogue.execute(EXTENT, (servers["mapproxy"]["wms"],))
        wfs = {url for (url,) in catalogue.execute("SELECT url FROM v_services WHERE kind = 'wfs'")}
        assert wfs == {url for (url,) in catalogue.execute(WITH_FIELDS)}, "each tells the fields of its features"
    (connection,) = ET.parse(folder / "xyz.xml").getroot()  # MapProxy's first zoom level is four tiles: none for QGIS
    uri = f"type=xyz&zmin=0&zmax=6&url={quote(connection.attrib['url'])}"
    sources.append({"provider": "wms", "uri": uri, "extent": extent})
    assert {each["provider"] for each in sources} == {"wms", "WFS"} and len(sources) >= 15
    drawn: dict[str, int] = {}
    for layer, found in zip(sources, loaded(sources), strict=True):
        assert found["valid"] and found["features"] != 0, (layer, found)
        service = layer["provider"] + layer["uri"].partition("url=")[2]
        drawn[service] = max(drawn.get(service, 0), found["colours"])
    assert len(drawn) >= 7 and min(drawn.values()) > 1, drawn  # MapServer draws one of its layers in no picture


def test_found_layers_open_by_one_file(servers: dict[str, dict[str, Any]], command: Geocrawl, tmp_path: Path) -> None:
    crawled(servers, command)
    with TestClient(make_application(Options(command.db), Settings()), base_url="http://localhost") as client:
        features = client.get("/layers", params={"q": "kind:wms,wfs provider:127.0.0.1", "limit": 100}).json()[
            "features"
        ]
        answer = client.get("/layers", params={"q": "kind:wms,wfs provider:127.0.0.1", "f": "qlr"})
    path = tmp_path / "layers.qlr"
    path.write_bytes(answer.content)
    found = loaded([{"qlr": str(path)}])
    assert [each["name"] for each in found] == [each["properties"]["title"] for each in features]
    assert len(found) >= 12 and all(each["valid"] and each["features"] != 0 for each in found), found
    assert sum(each["colours"] > 1 for each in found) >= len(found) - 2, found


def test_a_layer_of_a_file_is_drawn_like_one_that_is_added_by_hand(
    servers: dict[str, dict[str, Any]], command: Geocrawl, tmp_path: Path
) -> None:
    crawled(servers, command)
    compared = 0
    with TestClient(make_application(Options(command.db), Settings()), base_url="http://localhost") as client:
        features = client.get("/layers", params={"q": "kind:wms provider:127.0.0.1", "limit": 100}).json()["features"]
        for feature in features:
            layer = feature["properties"]
            if "EPSG:3857" not in layer["crs"]:
                continue
            [page] = [link["href"] for link in feature["links"] if link["rel"] == "alternate"]
            file = tmp_path / "layer.qlr"
            file.write_bytes(client.get(page.replace("?", "/layer.qlr?")).content)
            url = quote(layer["service"]["address"], safe="")
            uri = f"crs=EPSG:3857&dpiMode=7&format=image/png&layers={quote(layer['name'])}&styles=&url={url}"
            by_hand, by_file = loaded([{"provider": "wms", "uri": uri, "extent": None}, {"qlr": str(file)}])
            alike = sum(map(operator.eq, by_file["pixels"], by_hand["pixels"])) / len(by_hand["pixels"])
            assert alike > 0.9, (layer["name"], alike, by_file["colours"], by_hand["colours"])
            compared += by_hand["colours"] > 1
    assert compared >= 3
