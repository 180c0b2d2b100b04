"""Write how a service is used: lines to paste into QGIS, Python, OpenLayers, Leaflet, a terminal."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from urllib.parse import quote

from geocrawl.catalog import OWSLIB_CLIENTS, OWSLIB_VERSIONS
from geocrawl.sanitize import masked, plain
from geocrawl.store.read.show import LayerRow, ServiceDetail
from geocrawl.web.publishing import client_address


@dataclass(frozen=True, slots=True)
class Snippet:
    """Text to copy."""

    name: str
    """capabilities, qgis, owslib, openlayers, leaflet, curl."""
    code: str


def snippets(service: ServiceDetail) -> list[Snippet]:
    """Return what fits the kind of a service, for its first layer that can be requested; keys are masked."""
    address = plain(masked(service.best))
    described = plain(masked(client_address(service.kind, service.best)))
    layer = next((row for row in service.layers if row.name), None)
    name = plain(layer.name) if layer else ""
    found = [
        Snippet("capabilities", described),
        Snippet("qgis", _qgis(service, address, described, layer, name)),
        Snippet("owslib", _owslib(service, address)),
        Snippet("openlayers", _openlayers(service, address, described, name)),
        Snippet("leaflet", _leaflet(service, address, name)),
        Snippet("curl", f"curl -sS {shlex.quote(described)}"),
    ]
    return [each for each in found if each.code]


def _qgis(service: ServiceDetail, address: str, described: str, layer: LayerRow | None, name: str) -> str:
    """Return the source of a layer for QGIS's data source manager or `QgsRasterLayer(…)`."""
    title, url = json.dumps(plain(service.title) or address, ensure_ascii=False), quote(address, safe=":/?=,")
    if service.kind == "wms" and layer:
        crs = next((code for code in layer.crs if code.upper().startswith("EPSG:")), "EPSG:4326")
        source = f"crs={plain(crs)}&format=image/png&layers={quote(name)}&styles=&url={url}"
        return f"QgsRasterLayer({json.dumps(source, ensure_ascii=False)}, {title}, 'wms')"
    if service.kind == "wmts" and layer:
        return f"# Layer > Add Layer > Add WMS/WMTS Layer > New, with this address:\n{described}"
    if service.kind == "wfs" and layer:
        source = f"typename='{name}' url='{address}' version='auto'"
        return f"QgsVectorLayer({json.dumps(source, ensure_ascii=False)}, {title}, 'WFS')"
    if service.kind in ("tms", "wmsc", "tilejson"):
        return f"# Layer > Add Layer > Add XYZ Layer > New; the address of its tiles with {{z}}/{{x}}/{{y}}:\n{address}"
    return ""


def _owslib(service: ServiceDetail, address: str) -> str:
    if service.kind not in OWSLIB_CLIENTS:
        return ""
    module, _, name = OWSLIB_CLIENTS[service.kind].partition(":")
    version = f", version={service.version!r}" if service.version in OWSLIB_VERSIONS.get(service.kind, ()) else ""
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
