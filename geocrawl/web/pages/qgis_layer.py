"""Describe a layer for QGIS: its source, and the file (`.qlr`) that is dropped onto a map."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.qgis import safe_name
from geocrawl.model.catalogue import Layer, Service
from geocrawl.model.details import ServiceDetail
from geocrawl.model.kinds import QgisLayer
from geocrawl.probe.registry import declared
from geocrawl.sanitize import masked, plain
from geocrawl.web.answers import Problem
from geocrawl.web.layers import systems_of
from geocrawl.web.site import attachment, detail_of, number_of


def chosen_layer(request: Request, detail: ServiceDetail) -> Layer | None:
    """Return the layer that a request names by its number (`layer`) or title (`layers`), else the first with a name,
    each with the reference systems that it inherits."""
    number, title = (request.query_params.get(name, "") for name in ("layer", "layers"))
    named = [row for row in detail.layers if row.name]
    chosen = [row for row in named if number == str(row.position)]
    found = next(iter([*chosen, *(row for row in named if title and title in (row.title, row.name)), *named]), None)
    by_position = {row.position: row for row in detail.layers}
    return found and replace(found, crs=tuple(systems_of(found, by_position)))


def source_of(service: Service, layer: Layer | None) -> QgisLayer | None:
    """Return how QGIS opens a layer, its source and reference system filled in; None without a layer, and for services
    that QGIS must read first."""
    if layer is None:
        return None
    address, name = plain(masked(service.url)), plain(layer.name)
    path = address.partition("?")[0].rstrip("/").lower()
    forms = declared(service.kind).qgis_layers
    form = next((each for each in forms if path.endswith(each.path_ends)), None)
    if form is None:
        return None
    crs = form.crs or _system_of(layer, _COMMON_SYSTEMS if form.type == "raster" else ())
    values = {
        "address": address,
        "name": name,
        "crs": crs,
        "address_quoted": quote(address, safe=":/?=,"),
        "name_quoted": quote(name),
    }
    return replace(form, source=form.source.format_map(values), crs=crs)


_COMMON_SYSTEMS = ("EPSG:3857", "EPSG:4326", "CRS:84")
"""Reference systems that pictures are asked in first: those of maps, which every program knows. Features come in the
layer's own, which stands first: QGIS draws them in any, and not every server transforms them."""
_HIGHEST_EPSG_CODE = 32_767
"""Codes of EPSG's data set end here (IOGP guidance note 7-1); others are a server's own, which QGIS does not know."""


def _system_of(layer: Layer, preferred: Sequence[str]) -> str:
    """Return the code of a reference system that the layer offers and QGIS knows: a preferred one, else EPSG's before
    Esri's, else `EPSG:4326`."""
    offered = [plain(code).upper() for code in layer.crs]
    esri = (code for code in offered if code.startswith("ESRI:"))
    known = (code for code in offered if code.startswith("EPSG:") and code[5:].isdecimal())
    official = (code for code in known if int(code[5:]) <= _HIGHEST_EPSG_CODE)
    return next((code for code in preferred if code in offered), next(chain(official, esri), "EPSG:4326"))


def pyqgis(service: Service, layer: Layer | None) -> str:
    """Return lines for the Python console of QGIS; '' where there is no source."""
    found = source_of(service, layer)
    if found is None or layer is None:
        return ""
    made = "QgsRasterLayer" if found.type == "raster" else "QgsVectorLayer"
    text, title = (json.dumps(each, ensure_ascii=False) for each in (found.source, plain(layer.title or layer.name)))
    return (
        f"from qgis.core import QgsProject, {made}\n\nlayer = {made}({text}, {title}, {found.provider!r})\n"
        "QgsProject.instance().addMapLayer(layer)"
    )


async def layer_file(request: Request) -> Response:
    """Return the layer that a request names as a layer definition of QGIS."""
    detail = await detail_of(request, number_of(request))
    service, layer = detail.service, chosen_layer(request, detail)
    found = source_of(service, layer)
    if found is None or layer is None:
        raise Problem(404, "QGIS opens no layer of this service by itself; add the service as a connection")
    each = Definition(f"geocrawl_{service.id}_{layer.position}", layer.title or layer.name, found)
    return definitions([each], f"layer-{service.id}-{layer.position}")


_SRSID = "<srsid>1</srsid>"
"""QGIS reads the code of a reference system only beside a number of its own list; the code then wins."""


class Definition(NamedTuple):
    """A layer as QGIS keeps it."""

    identity: str
    title: str
    layer: QgisLayer


def definitions(layers: Sequence[Definition], file: str) -> Response:
    """Return layers as a layer definition of QGIS (`FILE.qlr`), which is dropped onto a map."""
    titles = [safe_name(layer.title) for layer in layers]
    tree = "".join(
        f'  <layer-tree-layer id="{each.identity}" name={quoteattr(title)} checked="Qt::Checked" expanded="1"/>\n'
        for each, title in zip(layers, titles, strict=True)
    )
    maps = "".join(
        f'  <maplayer type="{each.layer.type}">\n   <id>{each.identity}</id>\n'
        f"   <layername>{escape(title)}</layername>\n"
        f"   <srs><spatialrefsys>{_SRSID}<authid>{escape(each.layer.crs)}</authid></spatialrefsys></srs>\n"
        f"   <datasource>{escape(plain(each.layer.source))}</datasource>\n"
        f"   <provider>{each.layer.provider}</provider>\n"
        "  </maplayer>\n"
        for each, title in zip(layers, titles, strict=True)
    )
    body = (
        "<!DOCTYPE qgis-layer-definition>\n<qlr>\n"
        f' <layer-tree-group name="" checked="Qt::Checked" expanded="1">\n{tree} </layer-tree-group>\n'
        f" <maplayers>\n{maps} </maplayers>\n</qlr>\n"
    )
    return attachment(body, f"{file}.qlr", "application/x-qgis-layer-definition")
