"""Describe a layer for QGIS: its source, and the file (`.qlr`) that is dropped onto a map."""

from __future__ import annotations

import json
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.qgis import NO_XML, safe_name
from geocrawl.sanitize import masked, plain
from geocrawl.store.read.show import LayerRow, ServiceDetail
from geocrawl.web.answers import Problem
from geocrawl.web.reader import detail_of, number_of

_TYPES = {"wms": "raster", "WFS": "vector"}
"""Provider of QGIS → type of its layers."""


def chosen_layer(request: Request, service: ServiceDetail) -> LayerRow | None:
    """Return the layer that a request names by its number (`layer`) or title (`layers`); else the first with a name."""
    number, title = (request.query_params.get(name, "") for name in ("layer", "layers"))
    named = [row for row in service.layers if row.name]
    chosen = [row for row in named if number == str(row.position)]
    return next(iter([*chosen, *(row for row in named if title and title in (row.title, row.name)), *named]), None)


def qgis_source(service: ServiceDetail, layer: LayerRow | None) -> tuple[str, str] | None:
    """Return provider and source of a layer in QGIS; None for kinds of which QGIS wants to read the service first."""
    address = plain(masked(service.best))
    if layer is None or service.kind not in ("wms", "wfs"):
        return None
    if service.kind == "wfs":
        return "WFS", f"typename='{plain(layer.name)}' url='{address}' version='auto'"
    crs = next((code for code in layer.crs if code.upper().startswith("EPSG:")), "EPSG:4326")
    url, name = quote(address, safe=":/?=,"), quote(plain(layer.name))
    return "wms", f"crs={plain(crs)}&format=image/png&layers={name}&styles=&url={url}"


def pyqgis(service: ServiceDetail, layer: LayerRow | None) -> str:
    """Return lines for the Python console of QGIS; '' where there is no source."""
    found = qgis_source(service, layer)
    if found is None or layer is None:
        return ""
    provider, source = found
    made = "QgsRasterLayer" if _TYPES[provider] == "raster" else "QgsVectorLayer"
    text, title = (json.dumps(each, ensure_ascii=False) for each in (source, plain(layer.title or layer.name)))
    return (
        f"from qgis.core import QgsProject, {made}\n\nlayer = {made}({text}, {title}, {provider!r})\n"
        "QgsProject.instance().addMapLayer(layer)"
    )


async def layer_file(request: Request) -> Response:
    """Return the layer that a request names as a layer definition of QGIS."""
    service = (await detail_of(request, number_of(request))).service
    layer = chosen_layer(request, service)
    found = qgis_source(service, layer)
    if found is None or layer is None:
        raise Problem(404, "QGIS opens no layer of this service by itself; add the service as a connection")
    provider, source = found
    title, identity = safe_name(layer.title or layer.name), f"geocrawl_{service.id}_{layer.position}"
    body = (
        "<!DOCTYPE qgis-layer-definition>\n<qlr>\n"
        ' <layer-tree-group name="" checked="Qt::Checked" expanded="1">\n'
        f'  <layer-tree-layer id="{identity}" name={quoteattr(title)} checked="Qt::Checked" expanded="1"/>\n'
        " </layer-tree-group>\n <maplayers>\n"
        f'  <maplayer type="{_TYPES[provider]}">\n   <id>{identity}</id>\n   <layername>{escape(title)}</layername>\n'
        f"   <datasource>{escape(NO_XML.sub('', source))}</datasource>\n   <provider>{provider}</provider>\n"
        "  </maplayer>\n </maplayers>\n</qlr>\n"
    )
    named = f'attachment; filename="layer-{service.id}-{layer.position}.qlr"'
    return Response(body, headers={"Content-Disposition": named}, media_type="application/x-qgis-layer-definition")
