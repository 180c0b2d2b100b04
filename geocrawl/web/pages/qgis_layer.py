"""Describe a layer for QGIS: its source, and the file (`.qlr`) that is dropped onto a map."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.qgis import NO_XML, safe_name
from geocrawl.sanitize import masked, plain
from geocrawl.store.read.show import LayerRow, ServiceDetail
from geocrawl.web.answers import Problem
from geocrawl.web.reader import detail_of, number_of

_TYPES = {"wms": "raster", "wcs": "raster", "WFS": "vector", "OAPIF": "vector"}
"""Provider of QGIS → type of its layers."""


def chosen_layer(request: Request, service: ServiceDetail) -> LayerRow | None:
    """Return the layer that a request names by its number (`layer`) or title (`layers`); else the first with a name."""
    number, title = (request.query_params.get(name, "") for name in ("layer", "layers"))
    named = [row for row in service.layers if row.name]
    chosen = [row for row in named if number == str(row.position)]
    return next(iter([*chosen, *(row for row in named if title and title in (row.title, row.name)), *named]), None)


def qgis_source(kind: str, address: str, name: str, systems: Sequence[str]) -> tuple[str, str] | None:
    """Return provider and source of a layer in QGIS; None for kinds of which QGIS wants to read the service first."""
    address, name = plain(masked(address)), plain(name)
    if kind == "wfs":
        return "WFS", f"typename='{name}' url='{address}' version='auto'"
    if kind == "ogcapi":
        return "OAPIF", f"typename='{name}' url='{address}'"
    crs = plain(next((code for code in systems if code.upper().startswith("EPSG:")), "EPSG:4326"))
    url = quote(address, safe=":/?=,")
    if kind == "wcs":
        return "wcs", f"crs={crs}&identifier={quote(name)}&url={url}"
    return ("wms", f"crs={crs}&format=image/png&layers={quote(name)}&styles=&url={url}") if kind == "wms" else None


def source_of(service: ServiceDetail, layer: LayerRow | None) -> tuple[str, str] | None:
    """Return provider and source of a layer of a service; None where there is none."""
    return qgis_source(service.kind, service.best, layer.name, layer.crs) if layer else None


def pyqgis(service: ServiceDetail, layer: LayerRow | None) -> str:
    """Return lines for the Python console of QGIS; '' where there is no source."""
    found = source_of(service, layer)
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
    found = source_of(service, layer)
    if found is None or layer is None:
        raise Problem(404, "QGIS opens no layer of this service by itself; add the service as a connection")
    each = Definition(f"geocrawl_{service.id}_{layer.position}", layer.title or layer.name, *found)
    return definitions([each], f"layer-{service.id}-{layer.position}")


class Definition(NamedTuple):
    """A layer as QGIS keeps it."""

    identity: str
    title: str
    provider: str
    source: str


def definitions(layers: Sequence[Definition], file: str) -> Response:
    """Return layers as a layer definition of QGIS (`FILE.qlr`), which is dropped onto a map."""
    titles = [safe_name(each.title) for each in layers]
    tree = "".join(
        f'  <layer-tree-layer id="{each.identity}" name={quoteattr(title)} checked="Qt::Checked" expanded="1"/>\n'
        for each, title in zip(layers, titles, strict=True)
    )
    maps = "".join(
        f'  <maplayer type="{_TYPES[each.provider]}">\n   <id>{each.identity}</id>\n'
        f"   <layername>{escape(title)}</layername>\n"
        f"   <datasource>{escape(NO_XML.sub('', each.source))}</datasource>\n   <provider>{each.provider}</provider>\n"
        "  </maplayer>\n"
        for each, title in zip(layers, titles, strict=True)
    )
    body = (
        "<!DOCTYPE qgis-layer-definition>\n<qlr>\n"
        f' <layer-tree-group name="" checked="Qt::Checked" expanded="1">\n{tree} </layer-tree-group>\n'
        f" <maplayers>\n{maps} </maplayers>\n</qlr>\n"
    )
    named = f'attachment; filename="{file}.qlr"'
    return Response(body, headers={"Content-Disposition": named}, media_type="application/x-qgis-layer-definition")
