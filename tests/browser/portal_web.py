"""Single-page portals on loopback, built with React, Vue and OpenLayers, whose services stand in JSON alone.

Each portal is a host of its own (127.0.0.2 and further), so is the back end of the Vue portal and the server of all
services. The scripts in `portals/` are built from `portals/src`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.support.loopback import Handler, running

_BUILT = Path(__file__).with_name("portals")
REACT, VUE, OPENLAYERS, BACKEND, SERVICES = (f"127.0.0.{number}" for number in range(2, 7))
NAMES = ("Roads", "Rivers", "Parcels")
_SHELL = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Portal</title></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="{root}"></div>
<script type="module" src="/assets/{script}.js"></script></body></html>"""
_WMS = """<?xml version="1.0"?><WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"
 xmlns:xlink="http://www.w3.org/1999/xlink"><Service><Name>WMS</Name><Title>{title}</Title></Service><Capability>
<Layer><Title>All</Title><Layer><Name>a</Name><Title>{title}</Title></Layer></Layer></Capability></WMS_Capabilities>"""
_WFS = """<?xml version="1.0"?><wfs:WFS_Capabilities version="2.0.0" xmlns:wfs="http://www.opengis.net/wfs/2.0"
 xmlns:ows="http://www.opengis.net/ows/1.1"><ows:ServiceIdentification><ows:Title>{title}</ows:Title>
<ows:ServiceType>WFS</ows:ServiceType><ows:ServiceTypeVersion>2.0.0</ows:ServiceTypeVersion></ows:ServiceIdentification>
<wfs:FeatureTypeList><wfs:FeatureType><wfs:Name>a</wfs:Name><wfs:Title>{title}</wfs:Title>
<wfs:DefaultCRS>urn:ogc:def:crs:EPSG::4326</wfs:DefaultCRS></wfs:FeatureType></wfs:FeatureTypeList>
</wfs:WFS_Capabilities>"""
_WMTS = """<?xml version="1.0"?><Capabilities version="1.0.0" xmlns="http://www.opengis.net/wmts/1.0"
 xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink"><ows:ServiceIdentification>
<ows:Title>{title}</ows:Title><ows:ServiceType>OGC WMTS</ows:ServiceType><ows:ServiceTypeVersion>1.0.0
</ows:ServiceTypeVersion></ows:ServiceIdentification><Contents><Layer><ows:Title>{title}</ows:Title>
<ows:Identifier>a</ows:Identifier><Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style>
<Format>image/png</Format><TileMatrixSetLink><TileMatrixSet>a</TileMatrixSet></TileMatrixSetLink>
<ResourceURL format="image/png" resourceType="tile" template="{here}/a/{{TileMatrix}}/{{TileCol}}/{{TileRow}}.png"/>
</Layer><TileMatrixSet><ows:Identifier>a</ows:Identifier><ows:SupportedCRS>EPSG:3857</ows:SupportedCRS><TileMatrix>
<ows:Identifier>0</ows:Identifier><ScaleDenominator>559082264.0287178</ScaleDenominator>
<TopLeftCorner>-20037508.3427892 20037508.3427892</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight>
<MatrixWidth>1</MatrixWidth><MatrixHeight>1</MatrixHeight></TileMatrix></TileMatrixSet></Contents></Capabilities>"""
_CAPABILITIES = {"wms": _WMS, "wfs": _WFS, "wmts": _WMTS}


@dataclass(frozen=True, slots=True)
class Request:
    """A request that a host received."""

    at: float
    """When, in seconds of the monotonic clock."""
    host: str
    target: str


@dataclass
class PortalWeb:
    """The running portals, and what they were asked."""

    origins: dict[str, str] = field(default_factory=dict)
    """By host."""
    log: list[Request] = field(default_factory=list)

    def address(self, host: str, path: str = "/") -> str:
        """Return an address of a host."""
        return self.origins[host] + path

    def truth(self, host: str) -> set[str]:
        """Return the services that a portal shows, as in the catalogue's export."""
        services = self.origins[SERVICES]
        if host == OPENLAYERS:
            return {f"{services}/{name}" for name in ("image/wms", "tiles/wmts", "features/wfs")}
        portal = "react" if host == REACT else "vue"
        return {f"{services}/{portal}/{name.lower()}/wms" for name in NAMES}

    def answer(self, host: str, target: str) -> tuple[str, str] | None:
        """Return the media type and the body of an answer; None for 404."""
        path = urlsplit(target).path
        if path.startswith("/assets/"):
            return "text/javascript", (_BUILT / path.removeprefix("/assets/")).read_text("utf-8")
        if host == SERVICES:
            return self._capabilities(target)
        if host == BACKEND:
            return self._json(path, {"/catalog/layers": {"layers": [self._layer("vue", name) for name in NAMES]}})
        if host == REACT:
            return self._json(path, self._api()) or ("text/html", _SHELL.format(root="root", script="react"))
        if host == VUE:
            shell = ("text/html", _SHELL.format(root="app", script="vue")) if path == "/" else None
            return shell or self._json(path, {"/settings": {"backend": self.origins[BACKEND]}})
        shell = ("text/html", _SHELL.format(root="map", script="openlayers")) if path == "/" else None
        project = {"image": "image/wms", "tiles": "tiles/wmts", "features": "features/wfs"}
        return shell or self._json(path, {"/project": {"root": self.origins[SERVICES], **project}})

    def _json(self, path: str, documents: dict[str, object]) -> tuple[str, str] | None:
        return ("application/json", json.dumps(documents[path])) if path in documents else None

    def _api(self) -> dict[str, object]:
        rows = [{"id": number, "title": name} for number, name in enumerate(NAMES)]
        found: dict[str, object] = {"/api/v1/datasets": {"items": rows}}
        for row, name in zip(rows, NAMES, strict=True):
            layer = self._layer("react", name)["service"]
            found[f"/api/v1/datasets/{row['id']}"] = {**row, "abstract": "Data.", "distributions": [layer]}
        return found

    def _layer(self, portal: str, name: str) -> dict[str, object]:
        service = f"{self.origins[SERVICES]}/{portal}/{name.lower()}/wms"
        return {"title": name, "service": {"type": "WMS", "protocol": "OGC:WMS", "url": service}}

    def _capabilities(self, target: str) -> tuple[str, str] | None:
        parts = urlsplit(target)
        asked = {name.lower(): value[0].lower() for name, value in parse_qs(parts.query).items()}
        document = _CAPABILITIES.get(parts.path.rpartition("/")[2])
        if document is None or asked.get("request") != "getcapabilities":
            return None
        return "text/xml", document.format(title=parts.path, here=self.origins[SERVICES] + parts.path)


class _HostServer(ThreadingHTTPServer):
    """The server of one host."""

    daemon_threads = True

    def __init__(self, host: str, web: PortalWeb) -> None:
        super().__init__((host, 0), _Handler)
        self.host, self.web = host, web
        web.origins[host] = f"http://{host}:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that have read enough hang up."""


class _Handler(Handler):
    server: _HostServer

    def respond(self) -> None:
        server = self.server
        server.web.log.append(Request(time.monotonic(), server.host, self.path))
        found = server.web.answer(server.host, self.path)
        kind, body = found or ("text/plain", "nothing here")
        data = body.encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if server.host in (BACKEND, SERVICES):
            self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.write(data)


@contextmanager
def portals() -> Iterator[PortalWeb]:
    """Serve all portals until the end of the block."""
    web = PortalWeb()
    with ExitStack() as stack:
        for host in (REACT, VUE, OPENLAYERS, BACKEND, SERVICES):
            stack.enter_context(running(_HostServer(host, web)))
        yield web
