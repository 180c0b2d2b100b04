"""Pages with OpenLayers and Leaflet show services of each kind in a real browser, from a server on this machine."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from PIL import Image

from geocrawl.export.webmaps import write_webmap
from geocrawl.model.catalogue import Service
from tests.support.parts import CHROMIUM, MAP_LIBRARIES, lack
from tests.support.published import LAYER, ROADS, WEB_MAP_KINDS

LIBRARIES = Path(os.environ.get("NODE_MODULES", "/nonexistent"))
"""A folder `node_modules` with `ol` and `leaflet`, of the versions that the pages name."""
RED, BLUE = (230, 20, 20), (51, 153, 204)
"""Colour of all tiles, and of OpenLayers' lines around features."""
WEB = 20037508.342789244
SQUARE = {
    "type": "Feature",
    "properties": {},
    "geometry": {"type": "Polygon", "coordinates": [[[6, 46], [9, 46], [9, 49], [6, 49], [6, 46]]]},
}

CORNERS = [[667917, 5780349], [1001875, 5780349], [1001875, 6274861], [667917, 6274861], [667917, 5780349]]
IN_METRES = SQUARE | {"geometry": {"type": "Polygon", "coordinates": [CORNERS]}}
"""The square in EPSG:3857, in which the page asks a WFS to answer."""
CRS = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}
"""How GeoServer and MapServer say that a GeoJSON answer is not in degrees."""


def _png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (256, 256), RED).save(out, "PNG")
    return out.getvalue()


def _capabilities(base: str) -> str:
    matrices = "".join(
        f"<TileMatrix><ows:Identifier>{zoom}</ows:Identifier><ScaleDenominator>{559082264.0287178 / 2**zoom}"
        f"</ScaleDenominator><TopLeftCorner>{-WEB} {WEB}</TopLeftCorner><TileWidth>256</TileWidth>"
        f"<TileHeight>256</TileHeight><MatrixWidth>{2**zoom}</MatrixWidth><MatrixHeight>{2**zoom}</MatrixHeight>"
        "</TileMatrix>"
        for zoom in range(15)
    )
    return (
        '<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" '
        'version="1.0.0"><Contents><Layer><ows:Title>Roads</ows:Title><ows:Identifier>roads</ows:Identifier>'
        '<Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style><Format>image/png</Format>'
        "<TileMatrixSetLink><TileMatrixSet>web</TileMatrixSet></TileMatrixSetLink>"
        f'<ResourceURL format="image/png" resourceType="tile" '
        f'template="{base}/wmts/{{TileMatrix}}/{{TileRow}}/{{TileCol}}.png"/></Layer>'
        "<TileMatrixSet><ows:Identifier>web</ows:Identifier><ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857"
        f"</ows:SupportedCRS>{matrices}</TileMatrixSet></Contents></Capabilities>"
    )


class Services(BaseHTTPRequestHandler):
    """Answers as a service of each kind, and with the files of the libraries."""

    asked: list[str] = []  # noqa: RUF012 of one server

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path.startswith("/npm/"):
            name, _, rest = path.removeprefix("/npm/").partition("/")
            self._send((LIBRARIES / name.partition("@")[0] / rest).read_bytes(), "text/css" if "css" in rest else "")
            return
        self.asked.append(self.path)
        if path.startswith("/ogcapi"):
            self._send(json.dumps({"type": "FeatureCollection", "features": [SQUARE]}).encode(), "application/json")
        elif path.startswith("/wfs"):
            features = {"type": "FeatureCollection", "features": [IN_METRES], "crs": CRS}
            self._send(json.dumps(features).encode(), "application/json")
        elif "getcapabilities" in query.lower():
            self._send(_capabilities(f"http://{self.headers['Host']}").encode(), "text/xml")
        else:
            self._send(_png(), "image/png")

    def _send(self, body: bytes, media_type: str) -> None:
        with suppress(ConnectionError):  # the browser needs some tiles no more
            self.send_response(200)
            self.send_header("Content-Type", media_type or "text/javascript")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def base() -> Iterator[str]:
    Services.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Services)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


ASKED = {
    "wms": "layers=roads",
    "wmsc": "layers=roads",
    "wmts": "/wmts/",
    "tms": "/tms/1.0.0/a/",
    "tilejson": "/xyz/",
    "arcgis": "/mapserver/export?",
    "wfs": "typename=roads",
    "ogcapi": "/collections/roads/items?",
}
"""Kind → what the requests for the map hold, in lower case."""


def service(kind: str, base: str) -> Service:
    """Return a service of a kind on the server."""
    path = {"arcgis": "/arcgis/rest/services/Roads/MapServer"}.get(kind, f"/{kind}")
    tile, zoom = {"tms": (f"{base}/tms/1.0.0/a/5/16/20.png", 5), "tilejson": (f"{base}/xyz/5/16/11.png", 5)}.get(
        kind, ("", None)
    )
    return replace(ROADS, kind=kind, url=base + path, tile=tile, tile_zoom=zoom)


@pytest.mark.parametrize(
    ("library", "kind"), [(library, kind) for library in WEB_MAP_KINDS for kind in sorted(WEB_MAP_KINDS[library])]
)
def test_a_service_of_each_kind_is_seen(library: str, kind: str, base: str, tmp_path: Path) -> None:
    chromium = shutil.which("chromium")
    if not LIBRARIES.is_dir():
        lack(MAP_LIBRARIES)
    if chromium is None:
        lack(CHROMIUM)
    from playwright.sync_api import sync_playwright

    out = io.StringIO()
    assert write_webmap(library, [service(kind, base)], [LAYER], out, library_url=f"{base}/npm/") == 1
    (tmp_path / "page.html").write_text(out.getvalue(), "utf-8")
    errors: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shown = browser.new_page(viewport={"width": 800, "height": 600})
        shown.on("pageerror", lambda error: errors.append(str(error)))
        # Leaflet gives up the tiles of the world when it goes to the service's box.
        shown.on(
            "requestfailed", lambda each: errors.append(each.url) if "ABORTED" not in (each.failure or "") else None
        )
        shown.goto((tmp_path / "page.html").as_uri(), timeout=300_000)
        wanted, least = (BLUE, 150) if kind in ("wfs", "ogcapi") else (RED, 100_000)
        found = 0
        for _ in range(1_200):
            shown.wait_for_timeout(250)
            pixels = np.asarray(Image.open(io.BytesIO(shown.screenshot())).convert("RGB"), np.int32)
            found = int(np.count_nonzero((np.abs(pixels - wanted) < 24).all(axis=2)))
            if found >= least:
                break
        said = shown.locator("#said").text_content()
        browser.close()
    assert (errors, said) == ([], "")
    assert found >= least
    assert [path for path in Services.asked if ASKED[kind] in path.lower()]


def test_a_library_of_ones_own_is_loaded_from_there() -> None:
    for library in WEB_MAP_KINDS:
        out = io.StringIO()
        write_webmap(library, [], [], out, library_url='libraries/"><script>')
        page = out.getvalue()
        assert "jsdelivr" not in page and "integrity" not in page and '"><script>' not in page
        assert f'src="libraries/&quot;&gt;&lt;script&gt;/{"ol@" if library == "openlayers" else "leaflet@"}' in page
