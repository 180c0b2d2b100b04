"""QGIS loads and draws layers of real servers from the connection files that geocrawl writes."""

from __future__ import annotations

import json
import operator
import os
import sqlite3
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
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


def has_qgis() -> bool:
    """Return whether QGIS stands on this machine."""
    return subprocess.run([SYSTEM_PYTHON, "-c", "import qgis.core"], capture_output=True, check=False).returncode == 0


def loaded(sources: list[dict[str, Any]], *, proxy: str = "") -> list[dict[str, Any]]:
    """What QGIS says of each data source, asked through `proxy`, if one is named."""
    done = subprocess.run(
        [SYSTEM_PYTHON, str(LOADER)],
        input=json.dumps(sources),
        env={**os.environ, "http_proxy": proxy},
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
    if not has_qgis():
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


@pytest.mark.parametrize("kind", ["wms", "wfs"])
def test_a_layer_of_a_file_is_drawn_like_one_that_is_added_by_hand(
    servers: dict[str, dict[str, Any]], command: Geocrawl, tmp_path: Path, kind: str
) -> None:
    crawled(servers, command)
    query = {"q": f"kind:{kind} provider:127.0.0.1", "limit": "100"}
    with TestClient(make_application(Options(command.db), Settings()), base_url="http://localhost") as client:
        assert compared(client, query, tmp_path) >= 3


def compared(client: TestClient | httpx.Client, query: Mapping[str, str], folder: Path, *, proxy: str = "") -> int:
    """Compare how QGIS draws the layers that a search finds, from the file of the search and added by hand, in a
    project in Web Mercator; return of how many there is a picture."""
    found = client.get("/layers", params={**query, "f": "json"}).json()["features"]
    file = folder / "found.qlr"
    file.write_bytes(client.get("/layers", params={**query, "f": "qlr"}).content)
    extents = [[min(lons), min(lats), max(lons), max(lats)] for lons, lats in map(_corners, found)]
    by_hand = [{**hand_added(each["properties"]), "extent": box} for each, box in zip(found, extents, strict=True)]
    drawn = loaded([{"qlr": str(file), "extents": extents}, *by_hand], proxy=proxy)
    assert len(drawn) == 2 * len(found)
    shown = 0
    for layer, of_file, of_hand in zip(by_hand, drawn[: len(found)], drawn[len(found) :], strict=True):
        assert of_file["valid"] == of_hand["valid"], (layer, of_file, of_hand)
        if of_hand["valid"]:
            forms = [_form(each["pixels"], is_vector=each["features"] is not None) for each in (of_file, of_hand)]
            alike = sum(map(operator.eq, *forms)) / len(forms[0])
            assert alike > 0.9 and (of_file["colours"] > 1) == (of_hand["colours"] > 1), (layer, alike)
            shown += of_hand["colours"] > 1
    return shown


def _corners(feature: Mapping[str, Any]) -> tuple[Sequence[float], Sequence[float]]:
    """Return the longitudes and latitudes of a layer's extent."""
    longitudes, latitudes = zip(*feature["geometry"]["coordinates"][0], strict=True)
    return longitudes, latitudes


def hand_added(layer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source that QGIS's data source manager makes of a layer, in Web Mercator where it is offered."""
    name, address, kind = layer["name"], layer["service"]["address"], layer["service"]["type"]
    crs = "EPSG:3857" if "EPSG:3857" in (layer["crs"] or ["EPSG:3857"]) else "EPSG:4326"
    if kind == "wms":
        return {**raster(address, name), "uri": raster(address, name)["uri"].replace("EPSG:4326", crs)}
    if kind == "wfs":
        return vector(address, name)
    uri = f"crs='EPSG:4326' format='PNG32' layer='{name}' url='{address}'"
    return {"provider": "arcgismapserver", "uri": uri, "extent": None}


def _form(pixels: Sequence[int], *, is_vector: bool) -> list[int]:
    """Return a picture without its colours where QGIS draws them by lot, as of vector layers."""
    return [int(pixel != pixels[0]) for pixel in pixels] if is_vector else list(pixels)
