"""Answer a search for layers for programs and as files: GeoJSON, a table, a layer definition of QGIS (`/layers?…`)."""

from __future__ import annotations

import asyncio
import csv
import io
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.endpoints import formula_safe
from geocrawl.export.gpkg import write_layers
from geocrawl.export.properties import geojson_geometry
from geocrawl.store.catalogue.search.results import FoundLayer, LayerResults
from geocrawl.web.answers import Problem
from geocrawl.web.pages.qgis_layer import Definition, definitions, qgis_source
from geocrawl.web.parameters import Asked, read_asked
from geocrawl.web.publishing import published
from geocrawl.web.reader import Found
from geocrawl.web.site import ITEMS, LAYERS, base_url, document, site_of
from geocrawl.wording import iso

LAYER_FILES = ("csv", "gpkg", "qlr")
"""Values of `f` with which layers are taken along."""
_MOST_IN_QGIS = 100
"""Most layers of one layer definition: QGIS asks every server of it at once."""
_GEOJSON = "application/geo+json"
_COLUMNS = {
    **dict.fromkeys(("service_id", "layer"), "INTEGER"),
    **dict.fromkeys(("name", "title", "kind", "item", "service", "provider", "url", "crs", "health"), "TEXT"),
}
"""Name of a column → its type in SQL."""


async def layers_document(request: Request) -> Response:
    """Return the layers that a request asks for as GeoJSON."""
    asked = read_asked(request, time.time())
    found = (await _found(request, asked)).results
    base = base_url(request)
    links = [_page_link(request, asked.offset, "self")]
    if asked.offset + asked.limit < found.total:
        links.append(_page_link(request, asked.offset + asked.limit, "next"))
    if asked.offset:
        links.append(_page_link(request, max(asked.offset - asked.limit, 0), "prev"))
    return document(
        lambda: {
            "type": "FeatureCollection",
            "timeStamp": iso(time.time()),
            "numberMatched": found.total,
            "numberReturned": len(found.hits),
            "geocrawl:services": found.services,
            "geocrawl:servicesLookedThrough": found.looked_through,
            **({"geocrawl:didYouMean": found.suggestion} if found.suggestion else {}),
            "features": [_feature(each, base) for each in found.hits],
            "links": links,
        },
        _GEOJSON,
    )


async def layers_table(request: Request) -> Response:
    """Return the layers as CSV (RFC 4180), after a mark by which Excel knows UTF-8; 1,000 unless `limit` says fewer."""
    found = await _found(request, _whole(request, 1_000))
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow((*_COLUMNS, "west", "south", "east", "north"))
    for each in found.results.hits:
        own = _values(each)
        values = [formula_safe(own[name]) if name in _MAY_BE_FORMULAS else own[name] for name in _COLUMNS]
        writer.writerow((*values, *(each.row.extent or ("",) * 4)))
    named = 'attachment; filename="layers.csv"'
    body = b"\xef\xbb\xbf" + stream.getvalue().encode()
    return Response(body, headers={"Content-Disposition": named}, media_type="text/csv; charset=utf-8")


_MAY_BE_FORMULAS = _COLUMNS.keys() - {"service_id", "layer", "url", "crs", "health"}


def _values(found: FoundLayer) -> dict[str, Any]:
    """Return the values of `_COLUMNS`."""
    row = found.row
    texts = (row.name, row.title, found.kind, row.item, found.service_title, found.provider)
    values = (found.service_id, found.position, *texts, found.address, "; ".join(row.systems), found.health)
    return dict(zip(_COLUMNS, values, strict=True))


async def layers_geopackage(request: Request) -> Response:
    """Return the layers as a GeoPackage of their extents, as many as in a table."""
    hits = (await _found(request, _whole(request, 1_000))).results.hits
    body = await asyncio.to_thread(_geopackage, hits)
    named = 'attachment; filename="layers.gpkg"'
    return Response(body, headers={"Content-Disposition": named}, media_type="application/geopackage+sqlite3")


def _geopackage(hits: Sequence[FoundLayer]) -> bytes:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "layers.gpkg"
        write_layers(((each.row.extent, published(_values(each))) for each in hits), _COLUMNS, out, now=time.time())
        return out.read_bytes()


async def layers_for_qgis(request: Request) -> Response:
    """Return the first layers that QGIS opens by themselves as one layer definition."""
    found = await _found(request, _whole(request, _MOST_IN_QGIS))
    layers = [
        Definition(f"geocrawl_{each.service_id}_{each.position}", each.row.title or each.row.name, source)
        for each in found.results.hits
        if (source := qgis_source(each.kind, each.address, each.row.name, each.row.systems)) is not None
    ]
    if not layers:
        raise Problem(404, "QGIS opens none of these layers by itself; add their services as connections")
    return definitions(layers, "layers")


def _whole(request: Request, most: int) -> Asked:
    asked = read_asked(request, time.time())
    return replace(asked, limit=min(asked.limit, most) if "limit" in asked.all else most)


async def _found(request: Request, asked: Asked) -> Found[LayerResults]:
    if asked.ids is not None or asked.address:
        raise Problem(400, f"ids and externalIds name services, not layers; ask {ITEMS} for them")
    return await site_of(request).finder.layers(asked)


def _page_link(request: Request, offset: int, rel: str) -> dict[str, str]:
    query = request.url.include_query_params(offset=offset, f="json").query
    return {"href": f"{base_url(request)}{LAYERS}?{query}", "rel": rel, "type": _GEOJSON}


def _feature(found: FoundLayer, base: str) -> dict[str, Any]:
    row, service = found.row, f"{base}{ITEMS}/{found.service_id}"
    page = {"href": f"{service}?layer={found.position}", "rel": "alternate", "type": "text/html"}
    return {
        "type": "Feature",
        "id": f"{found.service_id}/{found.position}",
        "geometry": geojson_geometry(row.extent),
        "properties": {
            "type": row.item,
            "title": row.title,
            "name": row.name,
            "description": row.abstract,
            "crs": list(row.systems),
            "service": {
                "id": found.service_id,
                "type": found.kind,
                "title": found.service_title,
                "address": found.address,
                "provider": found.provider,
                "health": found.health,
            },
        },
        "links": [page, {"href": service, "rel": "collection", "type": _GEOJSON}],
    }
