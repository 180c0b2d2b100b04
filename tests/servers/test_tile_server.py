"""TileJSON of a real tile server: TiTiler draws tiles of a small grid, and says where they are."""

from __future__ import annotations

import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import mapservers
from tests.servers.conftest import Geocrawl
from tests.support.parts import Part, lack

pytestmark = [pytest.mark.servers, pytest.mark.shared]

START_LIMIT_S = 300.0
APP = """
from fastapi import FastAPI
from titiler.core.factory import TilerFactory

app = FastAPI()
app.include_router(TilerFactory().router)
"""


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
    subprocess.run(["gdal_translate", "-q", "-a_srs", "EPSG:4326", grid, folder / "height.tif"], check=True)
    (folder / "app.py").write_text(APP, encoding="utf-8")
    with _running(python, folder) as base:
        yield f"{base}/{{}}/tilejson.json?url={folder / 'height.tif'}"


@contextmanager
def _running(python: Path, folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(python),
        "-m",
        "uvicorn",
        "app:app",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--log-level",
        "error",
    ]
    with subprocess.Popen(command, cwd=folder) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/openapi.json", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    begun = time.monotonic()
    while time.monotonic() - begun < START_LIMIT_S:
        assert server.poll() is None, "the tile server ended"
        try:
            urllib.request.urlopen(address, timeout=60).close()
            return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"{address} does not answer")


@pytest.mark.parametrize("matrix_set", ["WebMercatorQuad", "WorldCRS84Quad"])
def test_the_tilejson_of_a_tile_server_is_read(tiles: str, command: Geocrawl, matrix_set: str) -> None:
    address = tiles.format(matrix_set)
    verdict = command.probe(address, "--kind", "tilejson")
    assert (verdict["kind"], verdict["status"], verdict["version"]) == ("tilejson", "valid", "3.0.0"), verdict
    assert (verdict["url"], verdict["layers"], verdict["deviations"]) == (address, 1, [])


def test_an_error_of_a_tile_server_is_none(tiles: str, command: Geocrawl) -> None:
    verdict = command.probe(tiles.format("WebMercatorQuad") + ".missing", "--kind", "tilejson")
    assert verdict["status"] == "invalid", verdict
