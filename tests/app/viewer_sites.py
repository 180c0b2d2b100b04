"""Map viewers as their programs ship them, rebuilt: an index page, and the files that its program loads.

Each viewer shows three services of its host. Two of them are services, a WMS whose address says nothing and a WFS; the
third looks like a WMS and answers with a page. Nothing but the files names them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
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
    services: dict[str, str] = field(default_factory=lambda: {ROADS: "wms", PARCELS: "wfs"})
    """Path, with the query where there is one → kind."""

    def answer(self, target: str) -> File | None:
        """Return what answers at a path with its query; None for 404."""
        path, _, query = target.partition("?")
        for service, kind in self.services.items():
            place, _, parameters = service.partition("?")
            if path == place and parameters in query:
                if "getcapabilities" not in query.lower():
                    return "text/html", "<title>Roads</title>"
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


def oskari(origin: str) -> Site:
    """The set-up of the application has the layers of the start, another route has all layers."""
    start: Any = [{"id": "1", "type": "wmslayer", "url": ROADS, "layerName": "roads", "name": "Roads", "opacity": 100}]
    setup: Any = {
        "startupSequence": [],
        "configuration": {"mapfull": {"conf": {"layers": start}, "state": {"zoom": 3}}},
    }
    layers: Any = [
        {"id": 2, "type": "wfslayer", "url": origin + PARCELS, "name": "Parcels", "layerName": "parcels"},
        {"id": 3, "type": "wmslayer", "url": origin + RIVERS, "name": "Rivers", "layerName": "rivers"},
    ]
    groups = "/action?action_route=GetHierarchicalMapLayerGroups&srs=EPSG%3A3857&lang=en"
    scripts = "<script>var ajaxUrl = '/action?';</script><script src='/Oskari/dist/2.14.0/oskari.min.js'></script>"
    return Site(
        "/",
        {
            "/": _html(_HEAD, f'<div id="oskari"></div>{scripts}'),
            "/action?action_route=GetAppSetup": _json(setup),
            groups: _json({"groups": [{"id": 1, "layers": [{"id": 2}]}], "layers": layers}),
        },
    )


def mapbender(origin: str) -> Site:
    """An application has its configuration beneath its own address; sources state their type above the address."""
    sources: Any = [
        {"id": "1", "type": "wms", "title": "Roads", "options": {"url": ROADS, "version": "1.3.0"}},
        {"id": "2", "type": "wms", "title": "Rivers", "options": {"url": origin + RIVERS, "version": "1.3.0"}},
        {"id": "3", "type": "wfs", "title": "Parcels", "options": {"url": origin + PARCELS}},
    ]
    code = "<script>Mapbender.configuration = {'application': {'slug': 'town'}};</script>"
    return Site(
        "/",
        {
            "/": _html(_HEAD, '<a href="/application/town">Town</a>'),
            "/application/town": _html(_HEAD, f'<div class="mb-element mb-element-map" id="7"></div>{code}'),
            "/application/town/config": _json({"elements": {}, "layersets": [{"id": "1", "instances": sources}]}),
        },
    )


def lizmap(origin: str) -> Site:
    """The address of the page names repository and project, which select the WMS; its layers may have other sources."""
    project = "repository=town&project=roads"
    layers: Any = {
        "Parcels": {"id": "p", "name": "Parcels", "externalAccess": {"layers": "a", "url": f"{origin}{PARCELS}?"}},
        "Rivers": {"id": "r", "name": "Rivers", "externalAccess": {"layers": "b", "url": f"{origin}{RIVERS}?"}},
    }
    service = "/index.php/lizmap/service"
    page = _html(_HEAD, "<div id='map'></div><script src='/assets/js/lizmap.js'></script>")
    return Site(
        "/",
        {
            "/": _html(_HEAD, f'<a href="/index.php/view/map?{project}">Roads</a>'),
            "/index.php/view/map": page,
            f"{service}/getProjectConfig?{project}": _json({"metadata": {}, "options": {}, "layers": layers}),
        },
        {f"{service}?{project}": "wms", PARCELS: "wfs"},
    )


def nextgisweb(origin: str) -> Site:
    """A search of resources by their classes lists the services, by numbers."""
    found = {"wms": [(15, "Roads"), (17, "Rivers")], "wfs": [(16, "Parcels")]}
    search = "/api/resource/search/?cls="
    page = "<script>var ngwConfig = {'applicationUrl': ''};</script><script src='/static/a1/ngwEntry.js'></script>"
    return Site(
        "/resource/0",
        {
            "/resource/0": _html(_HEAD, page),
            **{
                f"{search}{kind}server_service": _json(
                    [
                        {"resource": {"id": number, "cls": f"{kind}server_service", "display_name": name}}
                        for number, name in rows
                    ]
                )
                for kind, rows in found.items()
            },
            "/api/resource/17/wms": ("text/html", "<title>Rivers</title>"),
        },
        {"/api/resource/15/wms": "wms", "/api/resource/16/wfs": "wfs"},
    )


def mapstore(origin: str) -> Site:
    """localConfig.json has the services of the catalogue, new.json the layers of a new map."""
    services: Any = {"land": {"url": origin + PARCELS, "type": "wfs", "title": "Land", "autoload": True}}
    local: Any = {"geoStoreUrl": "rest/geostore/"}
    local["initialState"] = {"defaultState": {"catalog": {"default": {"services": services}}}}
    layers: Any = [
        {"type": "wms", "url": [origin + ROADS], "name": "roads", "title": "Roads", "visibility": True},
        {"type": "wms", "url": origin + RIVERS, "name": "rivers", "title": "Rivers"},
        {"type": "osm", "title": "Open Street Map", "name": "mapnik", "source": "osm", "group": "background"},
    ]
    return Site(
        "/maps/",
        {
            "/maps/": _html(_HEAD, "<div id='container'></div><script src='dist/mapstore2.js?1'></script>"),
            "/maps/configs/localConfig.json": _json(local),
            "/maps/configs/new.json": _json({"version": 2, "map": {"projection": "EPSG:900913", "layers": layers}}),
        },
    )


def geonode(origin: str) -> Site:
    """The list of maps has the layers of each, also those of other servers."""
    layers: Any = [
        {"type": "wms", "url": origin + ROADS, "name": "geonode:roads", "title": "Roads"},
        {"type": "wms", "url": origin + RIVERS, "name": "rivers"},
        {"type": "wfs", "url": origin + PARCELS, "name": "parcels"},
    ]
    maps: Any = [{"pk": "1", "title": "Town", "data": {"map": {"layers": layers}, "version": 2}}]
    return Site(
        "/maps/1",
        {
            "/maps/1": _html(_HEAD, "<div id='ms-container'></div><script src='/static/mapstore/dist/gn.js'></script>"),
            "/api/v2/maps/": _json({"links": {"next": None}, "total": 1, "page": 1, "maps": maps}),
        },
    )


_WEB_MAP = "0ba5e1d23c4b4a59867798a9bacbdced"


def _web_map(origin: str) -> File:
    layers: Any = [
        {"id": "a", "title": "Roads", "layerType": "WMS", "url": origin + ROADS, "visibility": True, "opacity": 1},
        {"id": "b", "title": "Parcels", "layerType": "WFS", "url": origin + PARCELS},
        {"id": "c", "title": "Rivers", "layerType": "WMS", "url": origin + RIVERS},
    ]
    return _json({"operationalLayers": layers, "baseMap": {"baseMapLayers": []}, "version": "2.30"})


_WEB_MAP_DATA = f"/portal/sharing/rest/content/items/{_WEB_MAP}/data"


def webappbuilder(origin: str) -> Site:
    """config.json names a web map of a portal by its number; the data of this item have the layers."""
    config: Any = {
        "title": "Town",
        "map": {"3D": False, "itemId": _WEB_MAP, "portalUrl": f"{origin}/portal/"},
        "theme": {},
    }
    scripts = "".join(f"<script src='{name}.js'></script>" for name in ("env", "simpleLoader", "init"))
    return Site(
        "/app/",
        {
            "/app/": _html(_HEAD, f"<div id='main-page'></div>{scripts}"),
            "/app/config.json": _json(config),
            _WEB_MAP_DATA: _web_map(origin),
        },
    )


def arcgis_application(origin: str) -> Site:
    """The address of an application names its item, whose data name a web map of the same portal."""
    item = "1ca5e1d23c4b4a59867798a9bacbdcef"
    return Site(
        f"/portal/apps/instant/basic/index.html?appid={item}",
        {
            "/portal/apps/instant/basic/index.html": _html(_HEAD, "<div></div><script src='index.js'></script>"),
            f"/portal/sharing/rest/content/items/{item}/data": _json({"source": item, "values": {"webmap": _WEB_MAP}}),
            _WEB_MAP_DATA: _web_map(origin),
        },
    )


def origo(origin: str) -> Site:
    """Sources have addresses, and layers name a source and its type."""
    sources: Any = {"local": {"url": ROADS}, "land": {"url": origin + PARCELS}, "water": {"url": origin + RIVERS}}
    layers: Any = [
        {"name": "roads", "title": "Roads", "group": "none", "source": "local", "type": "WMS", "visible": True},
        {"name": "parcels", "title": "Parcels", "source": "land", "type": "WFS"},
        {"name": "rivers", "title": "Rivers", "source": "water", "type": "WMS"},
    ]
    code = "<script src='js/origo.min.js'></script><script>const origo = Origo('town.json');</script>"
    return Site(
        "/",
        {
            "/": _html(_HEAD, f'<div id="app-wrapper"></div>{code}'),
            "/town.json": _json({"controls": [], "projectionCode": "EPSG:3006", "source": sources, "layers": layers}),
        },
    )


def geomapfish(origin: str) -> Site:
    """The themes name servers of OGC services, each with the address of its WFS."""
    servers: Any = {
        "Main": {"url": ROADS, "urlWfs": origin + PARCELS, "type": "mapserver", "wfsSupport": True}
        | {"isSingleTile": False, "imageType": "image/png", "namespace": "ms"},
        "Water": {"url": origin + RIVERS, "type": "other", "wfsSupport": False, "isSingleTile": True},
    }
    return Site(
        "/",
        {
            "/": _html(_HEAD, "<div id='map'></div><script src='dynamic.js?interface=desktop'></script>"),
            "/themes": _json({"themes": [], "ogcServers": servers, "errors": []}),
        },
    )


def vcmap(origin: str) -> Site:
    """app.config.json lists modules, whose layers state their classes."""
    layers: Any = [
        {"type": "WMSLayer", "name": "roads", "url": ROADS, "layers": "roads", "parameters": {"transparent": "true"}},
        {"type": "WFSLayer", "name": "parcels", "url": origin + PARCELS, "featureType": "parcels"},
        {"type": "WMSLayer", "name": "rivers", "url": origin + RIVERS, "layers": "rivers"},
        {"type": "CesiumTilesetLayer", "name": "buildings", "url": "https://tiles.example/buildings"},
    ]
    return Site(
        "/",
        {
            "/": _html(_HEAD, "<div id='app'></div><script type='module' src='assets/vcmap-ui.8f2a.js'></script>"),
            "/app.config.json": _json({"modules": ["./config/town.config.json"]}),
            "/config/town.config.json": _json({"layers": layers, "maps": [{"type": "OpenlayersMap", "name": "ol"}]}),
        },
    )


def geomoose(origin: str) -> Site:
    """The page loads a map book in XML, whose sources have their addresses as elements."""
    book = f"""<mapbook version="3.0"><map-source name="roads" type="wms"><url>{ROADS}</url><layer name="a"/>
</map-source><map-source name="rivers" type="wms"><url>{origin}{RIVERS}</url></map-source>
<map-source name="parcels" type="wfs"><url>{origin}{PARCELS}</url></map-source><catalog><layer src="roads/a"/></catalog>
</mapbook>"""
    code = "<script src='../dist/gm3.min.js'></script><script>app.loadMapbook({url: 'town.xml'});</script>"
    return Site("/", {"/": _html(_HEAD, f"<div id='map'></div>{code}"), "/town.xml": ("text/xml", book)})


def ramp(origin: str) -> Site:
    """An attribute of the page's own element names the configuration."""
    layers: Any = [
        {"id": "a", "name": "Roads", "layerType": "ogcWms", "url": ROADS, "layerEntries": [{"id": "roads"}]},
        {"id": "b", "name": "Parcels", "layerType": "ogcWfs", "url": origin + PARCELS},
        {"id": "c", "name": "Rivers", "layerType": "ogcWms", "url": origin + RIVERS},
    ]
    element = "<div is='rv-map' id='town' rv-config='config/town.json' rv-langs='[\"en\"]'></div>"
    return Site(
        "/",
        {
            "/": _html(_HEAD, f"{element}<script src='rv-main.js'></script>"),
            "/config/town.json": _json({"version": "2.0", "map": {"layers": layers}}),
        },
    )


def openlayers(origin: str) -> Site:
    """An example after those of the library: its script makes the sources."""
    code = f"""const roads = new ol.source.TileWMS({{url: '{ROADS}', params: {{'LAYERS': 'roads', 'TILED': true}}}});
const rivers = new ol.source.ImageWMS({{url: '{origin}{RIVERS}', params: {{'LAYERS': 'rivers'}}}});
const parcels = new ol.source.Vector({{format: new ol.format.GeoJSON(),
    url: '{origin}{PARCELS}?service=WFS&version=1.1.0&request=GetFeature&typename=a'}});"""
    page = _html(_HEAD, "<div id='map'></div><script src='js/ol.js'></script><script src='js/main.js'></script>")
    return Site("/", {"/": page, "/js/main.js": ("text/javascript", code)})


def leaflet(origin: str) -> Site:
    """A page that fetches the list of its layers."""
    layers: Any = [
        {"title": "Roads", "type": "wms", "url": ROADS, "options": {"layers": "roads", "format": "image/png"}},
        {"title": "Rivers", "type": "wms", "url": origin + RIVERS, "options": {"layers": "rivers"}},
        {"title": "Parcels", "type": "wfs", "url": origin + PARCELS, "typeName": "parcels"},
    ]
    code = "const map = L.map('map'); fetch('data/layers.json').then(r => r.json()).then(show);"
    page = _html(_HEAD, f"<div id='map'></div><script src='leaflet.js'></script><script>{code}</script>")
    return Site("/", {"/": page, "/data/layers.json": _json(layers)})


def maplibre(origin: str) -> Site:
    """A style has WMS as raster sources and features of a WFS as GeoJSON."""
    tile = "service=WMS&version=1.1.1&request=GetMap&layers=roads&styles=&srs=EPSG:3857&bbox={bbox-epsg-3857}&width=256"
    sources: Any = {
        "roads": {"type": "raster", "tiles": [f"{ROADS}?{tile}"], "tileSize": 256},
        "rivers": {"type": "raster", "tiles": [f"{origin}{RIVERS}?{tile}"], "tileSize": 256},
        "parcels": {"type": "geojson", "data": f"{origin}{PARCELS}?service=WFS&request=GetFeature&typeNames=a"},
    }
    code = "<script>new maplibregl.Map({container: 'map', style: 'town.json', center: [0, 0]});</script>"
    page = _html(_HEAD, f"<div id='map'></div><script src='maplibre-gl.js'></script>{code}")
    return Site("/", {"/": page, "/town.json": _json({"version": 8, "sources": sources, "layers": []})})


_ALL = (
    *(masterportal, qwc2, terria, mviewer, oskari, mapbender, lizmap, nextgisweb, mapstore, geonode),
    *(webappbuilder, arcgis_application, origo, geomapfish, vcmap, geomoose, ramp, openlayers, leaflet, maplibre),
)
SITES: dict[str, Callable[[str], Site]] = {build.__name__: build for build in _ALL}
