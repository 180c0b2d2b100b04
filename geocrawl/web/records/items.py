"""Answer `/collections/services/items` and its items for programs: GeoJSON."""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.search.results import Results
from geocrawl.web.details import detail_of, number_of
from geocrawl.web.records.parameters import Asked, read_asked
from geocrawl.web.records.record import GEOJSON, link, record_of_hit, record_of_service
from geocrawl.web.site import ITEMS, base_url, document, site_of
from geocrawl.wording import iso


async def items(request: Request) -> Response:
    """Return the records that a request asks for."""
    asked, base = read_asked(request, time.time()), base_url(request)
    site = site_of(request)
    if asked.ids is not None or asked.address:
        return await _named(request, asked)
    # A client that reads all pages wants every service; people want those of one server with one content as one hit.
    found = await site.finder.find(asked, facets=bool(asked.facets), apart=True)
    results = found.results
    records = [record_of_hit(hit, base, has_picture=hit.id in found.pictures) for hit in results.hits]
    answer = _collection(request, asked, records, results.total)
    if asked.facets:
        answer["facets"] = {name: _facet(name, results) for name in asked.facets}
    if results.suggestion:
        answer["geocrawl:didYouMean"] = results.suggestion
    return document(answer, GEOJSON)


async def _named(request: Request, asked: Asked) -> Response:
    """Return the records of certain numbers, or of an address."""
    site, base = site_of(request), base_url(request)
    numbers = await site.reader.read(asked.numbers_at)
    records = []
    for number in numbers[asked.offset : asked.offset + asked.limit]:
        detail = await detail_of(request, number, or_none=True)
        if detail is not None:
            records.append(record_of_service(detail.service, detail.health, base, has_picture=detail.has_picture))
    return document(_collection(request, asked, records, len(numbers)), GEOJSON)


async def item(request: Request) -> Response:
    """Return the record of one service."""
    detail = await detail_of(request, number_of(request))
    record = record_of_service(detail.service, detail.health, base_url(request), has_picture=detail.has_picture)
    return document(record, GEOJSON)


def _collection(request: Request, asked: Asked, records: list[dict[str, Any]], total: int) -> dict[str, Any]:
    return {
        "type": "FeatureCollection",
        "timeStamp": iso(time.time()),
        "numberMatched": total,
        "numberReturned": len(records),
        "features": records,
        "links": _paging(request, asked, total),
    }


def _paging(request: Request, asked: Asked, total: int) -> list[dict[str, Any]]:
    address = f"{base_url(request)}{ITEMS}"

    def at(offset: int, format_: str = "json") -> str:
        return str(request.url.include_query_params(offset=offset, f=format_).query)

    links = [
        link(f"{address}?{at(asked.offset)}", "self", GEOJSON, "this page"),
        link(f"{address}?{at(asked.offset, 'html')}", "alternate", "text/html", "this page for people"),
        link(f"{base_url(request)}/collections/services", "collection", "application/json", "the catalogue"),
    ]
    if asked.offset + asked.limit < total:
        links.append(link(f"{address}?{at(asked.offset + asked.limit)}", "next", GEOJSON, "the next page"))
    if asked.offset:
        links.append(link(f"{address}?{at(max(asked.offset - asked.limit, 0))}", "prev", GEOJSON, "the page before"))
    return links


def _facet(name: str, results: Results) -> dict[str, Any]:
    buckets = [{"value": each.value, "label": each.label, "count": each.count} for each in results.facets.get(name, ())]
    return {"type": "term", "property": name, "buckets": buckets}
