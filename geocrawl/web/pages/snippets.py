"""Write how a service is used: lines to paste into QGIS, Python, OpenLayers, Leaflet, a terminal."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from geocrawl.probe.registry import declared
from geocrawl.sanitize import masked, plain
from geocrawl.store.read.show import LayerRow, ServiceDetail
from geocrawl.web.pages.qgis_layer import pyqgis
from geocrawl.web.publishing import client_address


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text to copy."""

    name: str
    """qgis, capabilities, pyqgis, owslib, openlayers, leaflet, curl."""
    code: str


def snippets(service: ServiceDetail, layer: LayerRow | None) -> list[Snippet]:
    """Return what fits the kind of a service, for a layer with a name; keys are masked."""
    address = plain(masked(service.best))
    described = plain(masked(client_address(service.kind, service.best)))
    name = plain(layer.name) if layer else ""
    found = [
        Snippet("qgis", _connection(service.kind, address, described)),
        Snippet("capabilities", described),
        Snippet("pyqgis", pyqgis(service, layer)),
        Snippet("owslib", _owslib(service, address)),
        Snippet("openlayers", _openlayers(service, address, described, name)),
        Snippet("leaflet", _leaflet(service, address, name)),
        Snippet("curl", f"curl -sS {shlex.quote(described)}"),
    ]
    return [each for each in found if each.code]


def _connection(kind: str, address: str, described: str) -> str:
    """Return the address that a new connection of QGIS takes; '' for kinds of which it has none."""
    if kind == "wmts":
        return described
    return address if declared(kind).connections else ""


def _owslib(service: ServiceDetail, address: str) -> str:
    known = declared(service.kind)
    if not known.client:
        return ""
    module, _, name = known.client.partition(":")
    version = f", version={service.version!r}" if service.version in known.client_versions else ""
    lines = [f"from {module} import {name}", "", f"service = {name}({address!r}{version})"]
    lines.append(
        "print(service.feature_collections())" if service.kind == "ogcapi" else "print(list(service.contents))"
    )
    if service.kind in ("csw", "wps"):
        lines[-1] = "print(service.identification.title)"
    return "\n".join(lines)


def _openlayers(service: ServiceDetail, address: str, described: str, name: str) -> str:
    url, layer = json.dumps(address, ensure_ascii=False), json.dumps(name, ensure_ascii=False)
    if service.kind == "wms" and name:
        return (
            "import ImageLayer from 'ol/layer/Image.js';\nimport ImageWMS from 'ol/source/ImageWMS.js';\n\n"
            f"const source = new ImageWMS({{url: {url}, params: {{LAYERS: {layer}}}}});\n"
            "const layer = new ImageLayer({source});"
        )
    if service.kind == "wmts" and name:
        capabilities = json.dumps(described, ensure_ascii=False)
        return (
            "import WMTSCapabilities from 'ol/format/WMTSCapabilities.js';\nimport TileLayer from 'ol/layer/Tile.js';\n"
            "import WMTS, {optionsFromCapabilities} from 'ol/source/WMTS.js';\n\n"
            f"const text = await (await fetch({capabilities})).text();\n"
            f"const options = optionsFromCapabilities(new WMTSCapabilities().read(text), {{layer: {layer}}});\n"
            "const layer = new TileLayer({source: new WMTS(options)});"
        )
    if service.kind == "wfs" and name:
        return (
            "import GeoJSON from 'ol/format/GeoJSON.js';\nimport VectorLayer from 'ol/layer/Vector.js';\n"
            "import VectorSource from 'ol/source/Vector.js';\n\n"
            f"const url = new URL({url});\nurl.search = new URLSearchParams({{\n  service: 'WFS', version: '2.0.0', "
            f"request: 'GetFeature', typeNames: {layer}, outputFormat: 'application/json', count: '100',\n}});\n"
            "const layer = new VectorLayer({source: new VectorSource({url: url.href, format: new GeoJSON()})});"
        )
    return ""


def _leaflet(service: ServiceDetail, address: str, name: str) -> str:
    if service.kind != "wms" or not name:
        return ""
    url, layer = json.dumps(address, ensure_ascii=False), json.dumps(name, ensure_ascii=False)
    return f"L.tileLayer.wms({url}, {{layers: {layer}, format: 'image/png', transparent: true}}).addTo(map);"
