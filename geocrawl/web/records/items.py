"""Answer programs about services: records (GeoJSON), health, history, changes, badge and thumbnail."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.model import ContentOutcome
from geocrawl.model.catalogue import Layer
from geocrawl.model.details import EndpointHistory, ServiceDetail
from geocrawl.model.kinds import short_name
from geocrawl.model.search import Results
from geocrawl.query.places import country_name
from geocrawl.sanitize import masked, plain
from geocrawl.web.answers import Problem, wanted_language
from geocrawl.web.downloads import MOST_CHARS
from geocrawl.web.parameters import SearchRequest, read_search
from geocrawl.web.records.record import GEOJSON, link, record_of_hit, record_of_service
from geocrawl.web.site import ITEMS, base_url, detail_of, document, find_detail, number_of, site_of
from geocrawl.web.texts import Words
from geocrawl.wording import iso


async def items(request: Request) -> Response:
    """Return the records that a request asks for."""
    criteria, base = read_search(request), base_url(request)
    site = site_of(request)
    if criteria.ids is not None or criteria.address:
        return await _named(request, criteria)
    # A client that reads all pages wants every service; people want those of one server with one content as one hit.
    results = await site.finder.find(criteria, facets=bool(criteria.facets), apart=True)

    def answer() -> dict[str, Any]:
        records = [record_of_hit(hit, base) for hit in results.hits]
        answer = _collection(request, criteria, records, results.total)
        if criteria.facets:
            answer["facets"] = {name: _facet(name, results) for name in criteria.facets}
        if results.suggestion:
            answer["geocrawl:didYouMean"] = results.suggestion
        return answer

    return document(answer, GEOJSON)


async def _named(request: Request, criteria: SearchRequest) -> Response:
    """Return the records of certain numbers, or of an address."""
    site, base = site_of(request), base_url(request)
    numbers = await site.reader.read(criteria.numbers_at)
    chosen = numbers[criteria.offset : criteria.offset + criteria.limit]
    records, left = list[dict[str, Any]](), MOST_CHARS  # the next page goes on with the rest
    for read, number in enumerate(chosen):
        if (detail := await find_detail(request, number)) is not None:
            record = record_of_service(detail, base)
            left -= len(str(record))
            if left < 0 and records:
                criteria = replace(criteria, limit=read)
                break
            records.append(record)
    return document(lambda: _collection(request, criteria, records, len(numbers)), GEOJSON)


async def item(request: Request) -> Response:
    """Return the record of one service."""
    detail = await detail_of(request, number_of(request))
    base = base_url(request)
    return document(lambda: record_of_service(detail, base), GEOJSON)


def _collection(request: Request, criteria: SearchRequest, records: list[dict[str, Any]], total: int) -> dict[str, Any]:
    return {
        "type": "FeatureCollection",
        "timeStamp": iso(time.time()),
        "numberMatched": total,
        "numberReturned": len(records),
        "features": records,
        "links": _paging(request, criteria, total),
    }


def _paging(request: Request, criteria: SearchRequest, total: int) -> list[dict[str, Any]]:
    address = f"{base_url(request)}{ITEMS}"

    def at(offset: int, format_: str = "json") -> str:
        return str(request.url.include_query_params(offset=offset, f=format_).query)

    links = [
        link(f"{address}?{at(criteria.offset)}", "self", GEOJSON, "this page"),
        link(f"{address}?{at(criteria.offset, 'html')}", "alternate", "text/html", "this page for people"),
        link(f"{base_url(request)}/collections/services", "collection", "application/json", "the catalogue"),
    ]
    before, after = criteria.offsets(total)
    if after is not None:
        links.append(link(f"{address}?{at(after)}", "next", GEOJSON, "the next page"))
    if before is not None:
        links.append(link(f"{address}?{at(before)}", "prev", GEOJSON, "the page before"))
    return links


def _facet(name: str, results: Results) -> dict[str, Any]:
    called = country_name if name == "country" else str
    values = results.facets.get(name, ())
    buckets = [{"value": value.value, "label": called(value.value), "count": value.count} for value in values]
    return {"type": "term", "property": name, "buckets": buckets}


# --------------------------------------------------------------------------- badge, thumbnail, health

_MOST_TITLE = 40
_CONTENT = {ContentOutcome.OK, ContentOutcome.BLANK, ContentOutcome.AXIS_ORDER}
"""Outcomes of a request for content after which a layer is not called degraded: a map may be empty."""
_COLOURS = {"alive": "#1a7a43", "degraded": "#8a5a00", "down": "#b3261e", "gone": "#6b2220"}


async def badge(request: Request) -> Response:
    """Return a small picture of the kind and health of a service, or of the title and health of a layer of it."""
    detail = await detail_of(request, number_of(request))
    layer, words = _layer_asked_for(request, detail), Words(wanted_language(request))
    now = detail.service.health if layer is None else _layer_health(detail, layer)
    state = words(f"health-{now}")
    if detail.availability_30d is not None and layer is None:
        state += f" {words.percent(detail.availability_30d)}"
    kind = short_name(detail.service.kind)
    if layer is not None:
        kind = f"{kind} {plain(masked(layer.title or layer.name), _MOST_TITLE)}"
    colour = _COLOURS.get(now, "#536870")
    left, right = _width(kind), _width(state)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{escape(kind)}: {escape(state)}"><rect width="{left}" height="20" rx="3" fill="#3a4a51"/>'
        f'<rect x="{left - 3}" width="{right + 3}" height="20" rx="3" fill="{colour}"/>'
        f'<rect x="{left - 3}" width="6" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Noto Sans CJK SC,sans-serif" font-size="11" '
        f'text-anchor="middle"><text x="{(left - 3) / 2:g}" y="14">{escape(kind)}</text>'
        f'<text x="{left + right / 2:g}" y="14">{escape(state)}</text></g></svg>'
    )
    return Response(svg, media_type="image/svg+xml")


def _width(text: str) -> int:
    """Return the pixels that a text and its margins need, about."""
    return 12 + sum(12 if ord(character) > 0x2E7F else 7 for character in text)


def _layer_asked_for(request: Request, detail: ServiceDetail) -> Layer | None:
    """Return the layer that `layer` names by its number or its name; None where a request names none. Raises Problem
    404 for a layer that the service does not have (any more)."""
    asked = request.query_params.get("layer", "")
    if not asked:
        return None
    named = [row for row in detail.layers if row.name]
    found = [row for row in named if asked == str(row.position)] or [row for row in named if asked == row.name]
    if not found:
        raise Problem(404, f"service {detail.service.id} has no layer “{plain(asked, _MOST_TITLE)}”")
    return found[0]


def _layer_health(detail: ServiceDetail, layer: Layer) -> str:
    """Return the health of a layer: that of its service, and degraded where the service is alive but the last content
    check of this layer failed."""
    outcomes = {str(each["outcome"]) for each in _proof(detail, layer)}
    fails = outcomes and not outcomes & _CONTENT
    return "degraded" if fails and detail.service.health == "alive" else str(detail.service.health)


def _proof(detail: ServiceDetail, layer: Layer) -> list[Mapping[str, object]]:
    """Return what the last content check of the best address found of a layer."""
    best = [row for row in detail.endpoints if row.url == detail.service.url]
    return [each for row in best for each in row.proof if each["layer"] == layer.name]


async def thumbnail(request: Request) -> Response:
    """Return the small picture that the last content check kept."""
    number = number_of(request)
    image = await site_of(request).reader.read(lambda catalogue: catalogue.thumbnail(number))
    if image is None:
        raise Problem(404, "no picture of this service is kept")
    return Response(image, headers={"Cache-Control": "public, max-age=3600"}, media_type="image/png")


async def health(request: Request) -> Response:
    """Return the health of a service and of each of its addresses; or that of a layer of it."""
    detail = await detail_of(request, number_of(request))
    if (layer := _layer_asked_for(request, detail)) is not None:
        checks = [{"outcome": each["outcome"], "crs": each["crs"]} for each in _proof(detail, layer)]
        about = {"number": layer.position, "name": layer.name, "title": layer.title}
        return document(
            {
                "service": detail.service.id,
                "layer": about,
                "health": _layer_health(detail, layer),
                "checks": checks,
                "lastOk": detail.service.last_ok,
            }
        )
    return document(
        {
            "service": detail.service.id,
            "health": detail.service.health,
            "availability30d": detail.availability_30d,
            "lastOk": detail.service.last_ok,
            "addresses": [_health_of(history) for history in detail.histories],
        }
    )


def _health_of(history: EndpointHistory) -> dict[str, object]:
    return {
        "address": history.url,
        "health": history.health,
        "since": iso(history.since),
        "inARow": history.in_a_row,
        "nextProbe": iso(history.due_at),
        "observedSince": iso(history.first_seen),
        "probes": history.probes,
        "availability": {f"{days}d": share for days, share in history.availability.items()},
        "responseMs": {f"p{part}": ms for part, ms in history.response_ms.items()},
    }


async def history(request: Request) -> Response:
    """Return the history of each address of a service: changes of health, and when it might not be criteria."""
    detail = await detail_of(request, number_of(request))
    addresses = [
        {
            **_health_of(history),
            "events": [{**event, "at": iso(_time(event["at"]))} for event in history.events],
            "unasked": [{**event, "at": iso(_time(event["at"]))} for event in history.unasked],
        }
        for history in detail.histories
    ]
    return document({"service": detail.service.id, "addresses": addresses})


async def changes(request: Request) -> Response:
    """Return what changed in the descriptions of a service, and its changes of health, newest first."""
    detail = await detail_of(request, number_of(request))
    rows = [{**asdict(each), "at": iso(each.at)} for each in detail.news]
    return document({"service": detail.service.id, "changes": rows})


def _time(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
