"""Map viewers as their programs ship them, rebuilt: an index page, and the files that its program loads.

Each viewer shows three services of its host. Two of them are services, a WMS whose address says nothing and a WFS; the
third looks like a WMS and answers with a page. Nothing but the files names them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.browser.portal_web import _CAPABILITIES as CAPABILITIES

File = tuple[str, str]
"""Media type and text."""
ROADS, PARCELS, RIVERS = "/data/roads", "/parcels/wfs", "/rivers/wms"
_HEAD = '<title>Maps</title><link rel="stylesheet" href="css/style.css">'


@dataclass(frozen=True)
class Site:
    """A host with one viewer."""

    home: str
    """Path and query of the page at which a crawl begins."""
    files: dict[str, File]
    """Path, with the query where there is one → file."""

    def answer(self, target: str) -> File | None:
        """Return what answers at a path with its query; None for 404."""
        path, _, query = target.partition("?")
        if path in (ROADS, PARCELS):
            if "getcapabilities" not in query.lower():
                return "text/html", "<title>Roads</title>"
            kind = "wfs" if path == PARCELS else "wms"
            return "text/xml", CAPABILITIES[kind].format(title=path)
        if path == RIVERS:
            return "text/html", "<title>Rivers</title><p>The service has moved."
        return self.files.get(target) or self.files.get(path)


def _html(head: str, body: str) -> File:
    return (
        "text/html",
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{head}</head><body>{body}</body></html>',
    )


def _json(value: Any) -> File:
    return "application/json", json.dumps(value)


def masterportal(origin: str) -> Site:
    """config.js beside the page names services.json and rest-services.json in a folder."""
    config = (
        "const Config = {\n  wfsImgPath: './resources/img/',\n  namedProjections: [['EPSG:25832', '+proj=utm']],\n"
        "  layerConf: './resources/services-internet.json',\n  restConf: './resources/rest-services-internet.json',\n"
        "  styleConf: './resources/style_v3.json',\n  scaleLine: true\n};"
    )
    layers = [
        {"id": str(number), "name": f"Roads {number}", "url": origin + ROADS, "typ": "WMS", "layers": f"roads{number}"}
        | {
            "format": "image/png",
            "version": "1.3.0",
            "singleTile": False,
            "transparent": True,
            "gfiAttributes": "showAll",
        }
        for number in range(300)
    ]
    layers.append({"id": "900", "name": "Rivers", "url": origin + RIVERS, "typ": "WMS", "layers": "rivers"})
    rest = [{"id": "1", "name": "Parcels", "url": f"{origin}{PARCELS}?", "typ": "WFS"}, {"id": "2", "url": "/print/"}]
    map_config = {
        "portalConfig": {"map": {"mapView": {"epsg": "EPSG:25832"}}},
        "layerConfig": {"baselayer": {"elements": []}},
    }
    return Site(
        "/portal/",
        {
            "/portal/": _html(
                '<title>Masterportal</title><link rel="stylesheet" href="../mastercode/3_5_0/css/masterportal.css">',
                '<div id="masterportal-root"></div><script src="config.js"></script>'
                '<script src="../mastercode/3_5_0/js/masterportal.js"></script>',
            ),
            "/portal/config.js": ("application/javascript", config),
            "/portal/config.json": _json(map_config),
            "/portal/resources/services-internet.json": _json(layers),
            "/portal/resources/rest-services-internet.json": _json(rest),
        },
    )


def qwc2(origin: str) -> Site:
    """themes.json lists a WMS of QGIS Server for each theme, and other layers by their types."""
    theme: dict[str, Any] = {
        "id": "roads",
        "name": "roads",
        "title": "Roads",
        "url": ROADS,
        "mapCrs": "EPSG:3857",
        "format": "image/png",
    }
    theme["legendUrl"] = theme["featureInfoUrl"] = f"{ROADS}?"
    theme["sublayers"] = [{"name": "a", "visibility": True}]
    rivers = {
        "name": "rivers",
        "title": "Rivers",
        "type": "wms",
        "url": origin + RIVERS,
        "params": {"LAYERS": "rivers"},
    }
    parcels = {"name": "parcels", "type": "wfs", "url": origin + PARCELS, "typeName": "parcels"}
    themes = {
        "title": "root",
        "subdirs": [],
        "items": [theme],
        "backgroundLayers": [rivers],
        "externalLayers": [parcels],
    }
    return Site(
        "/",
        {
            "/": _html(_HEAD, '<div id="container"></div><script src="dist/QWC2App.js"></script>'),
            "/themes.json": _json({"themes": {**themes, "defaultTheme": "roads", "defaultScales": [1000, 500]}}),
        },
    )


def terria(origin: str) -> Site:
    """config.json names init files, whose catalogue consists of groups and members."""
    members = [
        {"type": "wms-group", "name": "Roads", "url": ROADS},
        {"type": "group", "name": "Land", "members": [{"type": "wfs", "name": "Parcels", "url": origin + PARCELS}]},
        {"type": "wms", "name": "Rivers", "url": origin + RIVERS, "layers": "rivers", "opacity": 0.8},
        {"type": "geojson", "name": "Towns", "url": "data/towns"},
    ]
    config = {"initializationUrls": ["town"], "parameters": {"appName": "Maps", "supportEmail": "a@example.org"}}
    return Site(
        "/",
        {
            "/": _html(_HEAD, '<div id="ui"></div><script src="build/TerriaMap.js?1a2b"></script>'),
            "/config.json": _json(config),
            "/init/town.json": _json({"homeCamera": {"north": 1}, "catalog": [{"type": "group", "members": members}]}),
        },
    )


def mviewer(origin: str) -> Site:
    """The address of the page names an application in XML."""
    config = f"""<?xml version="1.0" encoding="UTF-8"?><config mviewerversion="3.9"><application title="Town"/>
<mapoptions maxzoom="20" projection="EPSG:3857" center="0,0" zoom="8"/><baselayers style="gallery">
<baselayer visible="true" id="osm" type="OSM" url="https://tiles.example/{{z}}/{{x}}/{{y}}.png"/></baselayers>
<themes mini="false"><theme name="Roads" collapsed="false" id="roads">
<layer id="a" name="Roads" visible="true" queryable="true" type="wms" url="{ROADS}" legendurl="img/legend.png"/>
<layer id="b" name="Rivers" type="wms" url="{origin}{RIVERS}"/>
<layer id="c" name="Parcels" type="wfs" url="{origin}{PARCELS}"><template url="apps/t.mst"></template></layer>
</theme></themes></config>"""
    page = _html(_HEAD, '<div id="map"></div><script src="js/mviewer.js"></script>')
    return Site(
        "/",
        {
            "/": _html("<title>Maps of the town</title>", '<a href="mviewer/?config=apps/town.xml">Roads</a>'),
            "/mviewer/": page,
            "/mviewer/apps/town.xml": ("application/xml", config),
        },
    )


SITES: dict[str, Callable[[str], Site]] = {
    "masterportal": masterportal,
    "qwc2": qwc2,
    "terria": terria,
    "mviewer": mviewer,
}
