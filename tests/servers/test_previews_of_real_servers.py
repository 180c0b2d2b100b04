"""Previews of each kind: what real servers send is relayed by the web page's own server."""

from __future__ import annotations

import io
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient

from geocrawl.probe.extents import to_mercator
from geocrawl.probe.registry import kinds_with_content
from geocrawl.settings import Settings
from geocrawl.web.application import make_application
from geocrawl.web.options import Options
from tests.servers.conftest import Geocrawl
from tests.web.test_preview import relayed_pictures

pytestmark = [pytest.mark.servers, pytest.mark.shared]

ITEMS = "/collections/services/items"
#: Server, kind, entry of its addresses.
SHOWN = [
    ("mapserver", "wms", "wms"),
    ("qgis", "wms", "wms"),
    ("mapserver", "wfs", "wfs"),
    ("qgis", "wfs", "wfs"),
    ("mapserver", "ogcapi", "ogcapi"),
    ("pygeoapi", "ogcapi", "ogcapi"),
    ("mapcache", "tms", "tms"),
    ("mapproxy", "tms", "tms"),
    ("mapcache", "wmts", "wmts"),
    ("mapproxy", "wmts", "wmts"),
    ("mapcache", "wmsc", "wms"),
    ("mapproxy", "wmsc", "wms"),
    ("mapserver", "wcs", "wcs"),
]
HAVE_PROOFS = kinds_with_content()


UNSHOWN = [("qgis", "wcs", "wcs")]


@pytest.fixture(scope="module")
def catalogue(servers: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of the servers' services."""
    command = Geocrawl(tmp_path_factory.mktemp("previews"))
    for server, kind, entry in [*SHOWN, *UNSHOWN]:
        address = servers[server][entry]
        done = command.run(
            "probe",
            address,
            "--kind",
            kind,
            "--maps",
            "--allow-private",
            "--delay",
            "0",
            "--save",
            "--db",
            str(command.db),
        )
        assert done.returncode == 0, (server, kind, done.stderr)
    return command.db


@pytest.fixture(scope="module")
def client(catalogue: Path) -> Iterator[TestClient]:
    """A client of the pages of that catalogue."""
    with client_of(catalogue) as client:
        yield client


def client_of(catalogue: Path) -> TestClient:
    settings = replace(Settings(), allow_private=True, delay_s=0.0)
    return TestClient(
        make_application(Options(catalogue, requests_per_minute=0), settings), base_url="http://localhost"
    )


_PROVED = """
SELECT service.id, layer.position FROM service
JOIN endpoint ON endpoint.service_id = service.id
JOIN proof ON proof.endpoint_id = endpoint.id AND proof.outcome = 'ok'
JOIN layer ON layer.service_id = service.id AND layer.name = proof.layer
WHERE service.kind = ? AND endpoint.url LIKE ? LIMIT 1"""
_NAMED = """
SELECT service.id, layer.position FROM service JOIN endpoint ON endpoint.service_id = service.id
JOIN layer ON layer.service_id = service.id AND layer.name <> ''
WHERE service.kind = ? AND endpoint.url LIKE ? LIMIT 1"""
_QUERYABLE = f"{_PROVED.replace('LIMIT 1', 'AND layer.queryable')} LIMIT 1".replace("kind = ?", "kind = 'wms'")
_BOX = re.compile(r'data-projection="([^"]*)" data-box="([^"]*)"')


@pytest.mark.parametrize(("server", "kind", "entry"), SHOWN)
def test_a_layer_is_drawn(
    servers: dict[str, dict[str, Any]], client: TestClient, catalogue: Path, server: str, kind: str, entry: str
) -> None:
    with closing(sqlite3.connect(catalogue)) as reader:
        place = (kind, servers[server][entry].rstrip("/") + "%")
        number, layer = reader.execute(_PROVED if kind in HAVE_PROOFS else _NAMED, place).fetchone()
    page = client.get(f"{ITEMS}/{number}", headers={"Accept": "text/html"}).text
    assert f'data-preview="{ITEMS}/{number}/preview?layer={layer}"' in page
    found = _BOX.search(page)
    assert found, "there is a map"
    west, south, east, north = map(float, found[2].split(",")) if found[2] else (-180.0, -85.0, 180.0, 85.0)
    box = (west, south, east, north) if found[1] == "EPSG:4326" else to_mercator((west, south, east, north))
    asked = {"layer": layer, "bbox": ",".join(map(str, box)), "width": 256, "height": 256}
    answer = client.get(f"{ITEMS}/{number}/preview", params=asked)
    assert answer.status_code == 200, answer.text
    if kind in ("wfs", "ogcapi") and answer.headers["content-type"] == "application/geo+json":
        assert answer.json()["geometry"]["geometries"]
    else:
        pictures = relayed_pictures(client, answer)
        assert any(len(each.getcolors(100_000) or ()) > 1 for each in pictures), "something is on them"


def test_a_collection_that_has_maps_is_drawn_by_the_server(client: TestClient, catalogue: Path) -> None:
    """pygeoapi draws its collection `regions` by MapServer, which fills it; features of it would be outlines."""
    with closing(sqlite3.connect(catalogue)) as reader:
        (found,) = reader.execute(
            "SELECT service_id, position FROM layer WHERE name = 'regions' AND formats LIKE '%image/png%'"
        )
    asked = {"layer": found[1], "bbox": "6,46,10,47.5", "width": 256, "height": 96}
    answer = client.get(f"{ITEMS}/{found[0]}/preview", params=asked)
    assert answer.status_code == 200, answer.text
    drawn = Image.open(io.BytesIO(answer.content)).convert("RGBA")
    assert (drawn.size, max(drawn.getcolors(100_000) or ())[1]) == ((256, 96), (180, 210, 160, 255)), "its style"


@pytest.mark.parametrize("server", ["mapserver", "qgis"])
def test_a_coverage_that_comes_as_geotiff_alone_is_not_shown(
    servers: dict[str, dict[str, Any]], catalogue: Path, tmp_path: Path, server: str
) -> None:
    """Both describe GeoTIFF in WCS 1.0.0."""
    older = Path(shutil.copy(catalogue, tmp_path))
    with closing(sqlite3.connect(older, isolation_level=None)) as writer:
        place = ("wcs", servers[server]["wcs"] + "%")
        number, layer = writer.execute(_NAMED, place).fetchone()
        writer.execute("UPDATE service SET version = '1.0.0', formats = '[]' WHERE id = ?", (number,))
        writer.execute("UPDATE layer SET west = 6, south = 46, east = 10, north = 48 WHERE service_id = ?", (number,))
    with client_of(older) as client:
        asked = {"layer": layer, "bbox": "5,45,9,47", "width": 200, "height": 100}
        answer = client.get(f"{ITEMS}/{number}/preview", params=asked)
    assert answer.status_code == 502 and "in no format that can be shown" in answer.json()["detail"], answer.text


@pytest.mark.parametrize("server", ["mapserver", "qgis"])
def test_a_wms_says_what_is_at_a_point(
    servers: dict[str, dict[str, Any]], client: TestClient, catalogue: Path, server: str
) -> None:
    with closing(sqlite3.connect(catalogue)) as reader:
        number, layer = reader.execute(_QUERYABLE, (servers[server]["wms"] + "%",)).fetchone()
    asked = {"layer": layer, "bbox": "6,46,10,47.5", "width": 256, "height": 96, "x": 64, "y": 48}
    answer = client.get(f"{ITEMS}/{number}/info", params=asked)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    assert "Layer '" in answer.text, answer.text
