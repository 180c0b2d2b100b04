"""TileJSON of TiTiler, which draws tiles of a grid, and of GDAL; maps and tiles of MapProxy's OGC API."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from geocrawl.probe.extents import to_mercator
from geocrawl.settings import Settings
from geocrawl.web.application import make_application
from geocrawl.web.options import Options
from tests.servers import mapservers
from tests.servers.conftest import Geocrawl
from tests.support.loopback import folder_served
from tests.support.parts import Part, lack
from tests.web.test_preview import relayed_pictures

pytestmark = [pytest.mark.servers, pytest.mark.shared]

START_LIMIT_S = 300.0
TITILER = """
from fastapi import FastAPI
from titiler.core.factory import TilerFactory

app = FastAPI()
app.include_router(TilerFactory().router)
"""
MAPPROXY = """
from mapproxy.wsgiapp import make_wsgi_app

app = make_wsgi_app({config!r})
"""
MAPPROXY_CONFIG = """
services:
  ogcapi: {{enable_tiles: true, enable_maps: {maps}, md: {{identification: {{title: Maps of MapProxy}}}}}}
layers:
  - {{name: regions, title: Regions, sources: [regions]}}
caches:
  regions: {{grids: [GLOBAL_WEBMERCATOR], sources: [wms]}}
sources:
  wms: {{type: wms, req: {{url: "{wms}?", layers: "regions,places"}}, supported_srs: ["EPSG:4326", "EPSG:3857"]}}
globals:
  cache: {{base_dir: {folder}/tiles, lock_dir: {folder}/locks}}
"""
ITEMS = "/collections/services/items"


@pytest.fixture(scope="module")
def tiles(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the tiles of a grid, without what asks for them in one form."""
    python = mapservers.interpreter()
    if (
        not python.is_file()
        or subprocess.run([python, "-c", "import titiler.core, uvicorn"], capture_output=True).returncode
    ):
        lack(Part("titiler.core and uvicorn", ".ci/run installs them", in_ci=True))
    folder = tmp_path_factory.mktemp("tiles")
    grid = shared / "notes" / "servers" / "data" / "height.asc"
    # Heights are bytes, so that a tile without stretched colours is a picture.
    subprocess.run(
        ["gdal_translate", "-q", "-a_srs", "EPSG:4326", "-ot", "Byte", "-scale", grid, folder / "height.tif"],
        check=True,
    )
    with _running(
        TITILER, ("uvicorn", "app:app", "--log-level", "error", "--port={port}"), "/openapi.json", folder
    ) as base:
        yield f"{base}/{{}}/tilejson.json?url={folder / 'height.tif'}"


@pytest.fixture
def mapproxy(servers: dict[str, dict[str, Any]], tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of the OGC API of a MapProxy in front of MapServer; the test's parameter is whether it draws maps."""
    config = tmp_path / "mapproxy.yaml"
    maps = "true" if request.param else "false"
    text = MAPPROXY_CONFIG.format(wms=servers["mapserver"]["wms"], folder=tmp_path, maps=maps)
    config.write_text(text, encoding="utf-8")
    serve = ("waitress", "--listen=127.0.0.1:{port}", "app:app")
    with _running(MAPPROXY.format(config=str(config)), serve, "/ogcapi", tmp_path) as base:
        yield f"{base}/ogcapi"


@contextmanager
def _running(app: str, command: tuple[str, ...], path: str, folder: Path) -> Iterator[str]:
    """Serve the application that a module defines by a module of Python, which is told a port; yield its address."""
    (folder / "app.py").write_text(app, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [each.format(port=port) for each in command]
    with subprocess.Popen([str(mapservers.interpreter()), "-m", *arguments], cwd=folder) as server:
        try:
            _wait(f"http://127.0.0.1:{port}{path}", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    begun = time.monotonic()
    while time.monotonic() - begun < START_LIMIT_S:
        assert server.poll() is None, "the server ended"
        try:
            urllib.request.urlopen(address, timeout=60).close()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"{address} does not answer")


def _colours_of_preview(db: Path, box: tuple[float, float, float, float]) -> int:
    """Return how many colours a browser draws in the preview of the only service's first layer."""
    application = make_application(
        Options(db, requests_per_minute=0), replace(Settings(), allow_private=True, delay_s=0.0)
    )
    with TestClient(application, base_url="http://localhost") as client:
        assert (
            f'data-preview="{ITEMS}/1/preview?layer=0"'
            in client.get(f"{ITEMS}/1", headers={"Accept": "text/html"}).text
        )
        asked: dict[str, str | int] = {"layer": 0, "bbox": ",".join(map(str, box)), "width": 256, "height": 256}
        answer = client.get(f"{ITEMS}/1/preview", params=asked)
        assert answer.status_code == 200, answer.text
        pictures = relayed_pictures(client, answer)
    assert all(picture.size in ((256, 256), (512, 512)) for picture in pictures)
    return len({colour for picture in pictures for _, colour in picture.getcolors(100_000) or ()})


@pytest.mark.parametrize("matrix_set", ["WebMercatorQuad", "WorldCRS84Quad"])
def test_the_tilejson_of_a_tile_server_is_read(tiles: str, command: Geocrawl, matrix_set: str) -> None:
    address = tiles.format(matrix_set)
    verdict = command.probe(address, "--kind", "tilejson")
    assert (verdict["kind"], verdict["status"], verdict["version"]) == ("tilejson", "valid", "3.0.0"), verdict
    assert (verdict["url"], verdict["layers"], verdict["deviations"]) == (address, 1, [])


def test_a_layer_of_a_tile_server_is_proved_and_drawn(tiles: str, command: Geocrawl) -> None:
    address = tiles.format("WebMercatorQuad")
    verdict = command.probe(address, "--kind", "tilejson", "--maps", "--save", "--db", str(command.db))
    assert (verdict["level"], [each["outcome"] for each in verdict["proof"]]) == ("delivers", ["ok"]), verdict
    assert _colours_of_preview(command.db, to_mercator((6.0, 46.0, 10.0, 48.0))) > 2


def test_vector_tiles_of_gdal_are_proved(shared: Path, command: Geocrawl, tmp_path: Path) -> None:
    regions = shared / "notes" / "servers" / "data" / "regions.geojson"
    subprocess.run(["ogr2ogr", "-f", "MVT", tmp_path / "tiles", regions, "-dsco", "MAXZOOM=6"], check=True)
    document = {"tilejson": "3.0.0", "tiles": ["tiles/{z}/{x}/{y}.pbf"], "bounds": [6, 46, 10, 47.5], "maxzoom": 6}
    (tmp_path / "tiles.json").write_text(json.dumps(document), encoding="utf-8")
    with folder_served(tmp_path) as base:
        verdict = command.probe(f"{base}/tiles.json", "--kind", "tilejson", "--maps")
    assert (verdict["level"], verdict["proof"][0]["detail"]) == ("delivers", "1 layer"), verdict


def test_an_error_of_a_tile_server_is_none(tiles: str, command: Geocrawl) -> None:
    verdict = command.probe(tiles.format("WebMercatorQuad") + ".missing", "--kind", "tilejson")
    assert verdict["status"] == "invalid", verdict


@pytest.mark.parametrize("mapproxy", [True], indirect=True)
def test_maps_of_an_ogc_api_are_proved_and_previewed(mapproxy: str, command: Geocrawl) -> None:
    verdict = command.probe(mapproxy, "--kind", "ogcapi", "--maps", "--save", "--db", str(command.db))
    assert (verdict["kind"], verdict["status"], verdict["level"]) == ("ogcapi", "valid", "delivers"), verdict
    assert [(each["outcome"], "bbox=" in each["url"]) for each in verdict["proof"]] == [("ok", True)]
    assert _colours_of_preview(command.db, (6.0, 46.0, 10.0, 47.5)) > 2


@pytest.mark.parametrize("mapproxy", [False], indirect=True)
def test_map_tiles_of_an_ogc_api_are_previewed(mapproxy: str, command: Geocrawl) -> None:
    verdict = command.probe(mapproxy, "--kind", "ogcapi", "--save", "--db", str(command.db))
    assert (verdict["status"], verdict["layers"]) == ("valid", 1), verdict
    assert _colours_of_preview(command.db, to_mercator((6.0, 46.0, 10.0, 47.5))) > 2
