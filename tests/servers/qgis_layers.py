#!/usr/bin/python3
"""Load layers into QGIS and draw them, as a person does who double-clicks one in the browser panel.

It runs with the Python that has QGIS (`/usr/bin/python3 qgis_layers.py`), which is not that of geocrawl, and imports
nothing of it. Standard input: a JSON list of {"provider": "wms", "WFS" …, "uri": the provider's data source, "extent":
west, south, east, north to draw, or null for the whole layer}; or {"qlr": path of a layer definition}, which stands for
all layers in it, with "extents" for each of them or without. Requests go through the proxy that `http_proxy` names, if
any. Prints a JSON list in the same order: `valid`, `error`, `features` (of a vector layer), and `colours` and `pixels`
of what is drawn in Web Mercator.
"""

import json
import os
import sys
import tempfile
from typing import Any
from urllib.parse import urlsplit

HOME = tempfile.mkdtemp(prefix="qgis-layers-")
os.environ.update(HOME=HOME, QGIS_CUSTOM_CONFIG_PATH=HOME, XDG_RUNTIME_DIR=HOME, QT_QPA_PLATFORM="offscreen")

from qgis.core import (  # noqa: E402
    QgsApplication,
    QgsCoordinateReferenceSystem,
    QgsCoordinateTransform,
    QgsLayerDefinition,
    QgsMapRendererSequentialJob,
    QgsMapSettings,
    QgsNetworkAccessManager,
    QgsProject,
    QgsRasterLayer,
    QgsRectangle,
    QgsSettings,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QSize  # noqa: E402

SIDE = 200
VECTOR_PROVIDERS = ("WFS", "OAPIF", "arcgisfeatureserver")
WEB_MERCATOR = QgsCoordinateReferenceSystem("EPSG:3857")


def drawing(layer: Any, extent: "list[float] | None") -> "dict[str, Any]":
    """Return how many colours the layer has in a project in Web Mercator, as QGIS makes one, and the picture's
    pixels, row by row."""
    source = QgsCoordinateReferenceSystem("EPSG:4326") if extent else layer.crs()
    to_project = QgsCoordinateTransform(source, WEB_MERCATOR, QgsProject.instance())
    drawn = QgsRectangle(*extent) if extent else layer.extent()
    if source.isGeographic():  # Web Mercator ends before the poles
        drawn = drawn.intersect(QgsRectangle(-180, -85, 180, 85))
    drawn = to_project.transformBoundingBox(drawn)
    drawn.scale(1.2)  # points at the edge, too
    drawn.grow(1)  # and an extent that is one point
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setDestinationCrs(WEB_MERCATOR)
    settings.setTransformContext(QgsProject.instance().transformContext())
    settings.setExtent(drawn)
    settings.setOutputSize(QSize(SIDE, SIDE))
    job = QgsMapRendererSequentialJob(settings)
    job.start()
    job.waitForFinished()
    image = job.renderedImage()
    pixels = [image.pixel(x, y) for x in range(SIDE) for y in range(SIDE)]
    return {"colours": len(set(pixels)), "pixels": pixels}


def loaded(source: dict[str, Any]) -> list[dict[str, Any]]:
    """Load one layer, or those of a definition, and draw each."""
    if "qlr" not in source:
        made = QgsVectorLayer if source["provider"] in VECTOR_PROVIDERS else QgsRasterLayer
        return [look_at(made(source["uri"], "layer", source["provider"]), source["extent"])]
    project = QgsProject.instance()
    done, error = QgsLayerDefinition.loadLayerDefinition(source["qlr"], project, project.layerTreeRoot())
    nodes = project.layerTreeRoot().findLayers() if done else []
    if not nodes:
        return [{"valid": False, "error": error or "no layers in it"}]
    extents = source.get("extents") or [None] * len(nodes)
    return [{"name": each.name(), **look_at(each.layer(), extent)} for each, extent in zip(nodes, extents, strict=True)]


def look_at(layer: Any, extent: "list[float] | None") -> dict[str, Any]:
    """Return what is to be said of a layer."""
    is_vector = isinstance(layer, QgsVectorLayer)
    if not layer.isValid():
        error = layer.error()  # an empty one has no summary, and asking for it ends the process
        return {"valid": False, "error": "" if error.isEmpty() else error.summary()}
    features = sum(1 for _ in layer.getFeatures()) if is_vector else None
    return {"valid": True, "error": "", "features": features, **drawing(layer, extent)}


application = QgsApplication([], True)
application.initQgis()
if proxy := urlsplit(os.environ.get("http_proxy", "")).netloc:
    host, _, port = proxy.partition(":")
    for name, value in {"Enabled": True, "Type": "HttpProxy", "Host": host, "Port": port}.items():
        QgsSettings().setValue(f"proxy/proxy{name}", value)
    QgsNetworkAccessManager.instance().setupDefaultProxyAndCache()
sys.stdout.write(json.dumps([found for source in json.load(sys.stdin) for found in loaded(source)]))
sys.stdout.flush()
os._exit(0)  # QGIS may crash while it ends
