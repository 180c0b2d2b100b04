"""Answer a search for layers for programs and as files: GeoJSON, a table, a layer definition of QGIS (`/layers?…`)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.gpkg import write_layers
from geocrawl.export.properties import geojson_geometry
from geocrawl.export.tables import LAYER_HIT_COLUMNS, LAYER_TABLE, csv_bytes, layer_row, layer_values
from geocrawl.model.search import LayerHit, LayerResults
from geocrawl.web.answers import Make, Problem
from geocrawl.web.downloads import FILES, MOST_SYSTEMS, first_within
from geocrawl.web.pages.qgis_layer import Definition, definitions, source_of
from geocrawl.web.parameters import MAX_LIMIT, SearchRequest, read_search
from geocrawl.web.publishing import published
from geocrawl.web.site import ITEMS, LAYERS, attachment, base_url, document, site_of
from geocrawl.wording import iso

_MOST_IN_QGIS = 100
"""Most layers of one layer definition: QGIS asks every server of it at once."""
_GEOJSON = "application/geo+json"
_MOST_BYTES = 2 << 20
"""Most bytes of the texts of one answer; a thousand layers have a third of it. The next page goes on with the rest."""


async def layers_document(request: Request) -> Response:
    """Return the layers that a request asks for as GeoJSON."""
    criteria = read_search(request)
    results = await _search(request, criteria)
    base = base_url(request)
    before, after = criteria.offsets(results.total)
    if (returned := _within_bytes(results.hits)) < len(results.hits):
        results, after = replace(results, hits=results.hits[:returned]), criteria.offset + returned
    pages = {"self": criteria.offset, "next": after, "prev": before}
    links = [_page_link(request, offset, rel) for rel, offset in pages.items() if offset is not None]
    return document(
        lambda: {
            "type": "FeatureCollection",
            "timeStamp": iso(time.time()),
            "numberMatched": results.total,
            "numberReturned": len(results.hits),
            "geocrawl:services": results.services,
            "geocrawl:servicesLookedThrough": results.looked_through,
            **({"geocrawl:didYouMean": results.suggestion} if results.suggestion else {}),
            "features": [_feature(hit, base) for hit in results.hits],
            "geocrawl:inheritedCrs": _inherited(results.hits),
            "links": links,
        },
        _GEOJSON,
    )


def _within_bytes(hits: Sequence[LayerHit]) -> int:
    """Return how many of the hits, at least one, an answer has room for."""
    return sum(1 for _ in first_within(_MOST_BYTES, _text_bytes, hits))


def _text_bytes(hit: LayerHit) -> int:
    layer, of = hit.layer, hit.service
    texts = (layer.title, layer.name, layer.abstract, *layer.crs[:MOST_SYSTEMS], of.title, of.provider, of.url)
    return len("".join(texts).encode("utf-8", "replace"))


def _inherited(hits: Sequence[LayerHit]) -> dict[str, list[str]]:
    """Return the reference systems that layers inherit, once for each service."""
    systems = dict[str, dict[str, None]]()
    for hit in hits:
        of_service = systems.setdefault(str(hit.service.id), {})
        if len(of_service) < MOST_SYSTEMS:
            of_service |= dict.fromkeys(hit.inherited[:MOST_SYSTEMS])
    return {number: list(codes)[:MOST_SYSTEMS] for number, codes in systems.items() if codes}


async def layers_table(request: Request) -> Response:
    """Return the layers as CSV (RFC 4180), after a mark by which Excel knows UTF-8; 1,000 unless `limit` says fewer."""
    hits = await _rows_found(request)
    table = await asyncio.to_thread(csv_bytes, LAYER_TABLE, map(layer_row, hits))
    return attachment(table, "layers.csv", FILES["csv"].media_type)


async def layers_geopackage(request: Request) -> Response:
    """Return the layers as a GeoPackage of their extents, as many as in a table."""
    hits = await _rows_found(request)
    return attachment(await asyncio.to_thread(_geopackage, hits), "layers.gpkg", FILES["gpkg"].media_type)


async def _rows_found(request: Request) -> list[LayerHit]:
    """Return the layers of a file, with a bounded number of their own reference systems."""
    hits = (await _search(request, read_search(request).up_to(MAX_LIMIT))).hits
    some = (replace(hit, layer=replace(hit.layer, crs=hit.layer.crs[:MOST_SYSTEMS])) for hit in hits)
    return list(some)[: _within_bytes(hits)]


def _geopackage(hits: Sequence[LayerHit]) -> bytes:
    with TemporaryDirectory() as folder:
        out = Path(folder) / "layers.gpkg"
        write_layers(
            ((hit.layer.box, published(layer_values(hit))) for hit in hits), LAYER_HIT_COLUMNS, out, now=time.time()
        )
        return out.read_bytes()


async def layers_for_qgis(request: Request) -> Response:
    """Return the first layers that QGIS opens by themselves as one layer definition."""
    results = await _search(request, read_search(request).up_to(_MOST_IN_QGIS))
    layers = [
        Definition(f"geocrawl_{hit.service.id}_{hit.layer.position}", hit.layer.title or hit.layer.name, source)
        for hit in results.hits
        if (source := source_of(hit.service, replace(hit.layer, crs=hit.systems))) is not None
    ]
    if not layers:
        raise Problem(404, "QGIS opens none of these layers by itself; add their services as connections")
    return definitions(layers, "layers")


async def _search(request: Request, criteria: SearchRequest) -> LayerResults:
    if criteria.ids is not None or criteria.address:
        raise Problem(400, f"ids and externalIds name services, not layers; ask {ITEMS} for them")
    return await site_of(request).finder.layers(criteria)


LAYER_FILES: Mapping[str, Make] = {"csv": layers_table, "gpkg": layers_geopackage, "qlr": layers_for_qgis}
"""Value of `f` → what answers with the layers as a file."""


def _page_link(request: Request, offset: int, rel: str) -> dict[str, str]:
    query = request.url.include_query_params(offset=offset, f="json").query
    return {"href": f"{base_url(request)}{LAYERS}?{query}", "rel": rel, "type": _GEOJSON}


def _feature(hit: LayerHit, base: str) -> dict[str, Any]:
    layer, of = hit.layer, hit.service
    service = f"{base}{ITEMS}/{of.id}"
    page = {"href": f"{service}?layer={layer.position}", "rel": "alternate", "type": "text/html"}
    return {
        "type": "Feature",
        "id": f"{of.id}/{layer.position}",
        "geometry": geojson_geometry(layer.box),
        "properties": {
            "type": layer.item,
            "title": layer.title,
            "name": layer.name,
            "description": layer.abstract,
            "crs": list(layer.crs[:MOST_SYSTEMS]),
            "service": {
                "id": of.id,
                "type": of.kind,
                "title": of.title,
                "address": of.url,
                "provider": of.provider,
                "health": of.health,
            },
        },
        "links": [page, {"href": service, "rel": "collection", "type": _GEOJSON}],
    }
