"""Answer an assistant: each tool is a function of a catalogue that returns a bounded and masked answer as JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from geocrawl.errors import NothingFound, UsageError
from geocrawl.export.properties import service_properties
from geocrawl.export.tables import flat_value
from geocrawl.model.catalogue import Layer
from geocrawl.model.details import EndpointHistory, ServiceDetail
from geocrawl.model.search import SearchHit, Selection
from geocrawl.probe.extents import to_mercator
from geocrawl.probe.previews import MERCATOR, View
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.web.layers import layers_with, systems_of
from geocrawl.web.preview_requests import LEAST_PIXELS, MOST_PIXELS, ServicePreviews
from geocrawl.web.publishing import client_address, is_masked, published
from geocrawl.wording import iso

Answer = dict[str, Any]
Box = Sequence[float]
MOST_HITS, MOST_LAYERS = 50, 100
MOST_QUERY_CHARS = 500
_MOST_CHARS, _MOST_ABSTRACT, _MOST_LISTED, _MOST_EVENTS = 2_000, 300, 50, 20


def search(catalogue: Catalogue, query: str, limit: int, offset: int, check: Callable[[], None]) -> Answer:
    """Return the services that a query finds, the best first. `check` raises when it has taken too long.

    Raises UsageError for a query that is too long, QueryError for one that cannot be read."""
    if len(query) > MOST_QUERY_CHARS:
        raise UsageError(f"the query has more than {MOST_QUERY_CHARS} characters; shorten it")
    limit, offset = min(max(limit, 1), MOST_HITS), max(offset, 0)
    found = catalogue.find(query, limit=limit, offset=offset, check=check)
    return bounded(
        {
            "total": found.total,
            "services": [_hit(hit) for hit in found.hits],
            "next_offset": offset + limit if offset + limit < found.total else None,
            "notes": list(found.differences),
            "did_you_mean": found.suggestion,
        }
    )


def _hit(hit: SearchHit) -> Answer:
    return {
        "service": hit.id,
        "kind": hit.kind,
        "title": hit.title or hit.url,
        "provider": hit.provider,
        "country": hit.country,
        "address": hit.url,
        "health": hit.health,
        "proof": hit.level,
        "quality": hit.quality,
        "layers": hit.layers,
        "matching_layers": [layer.title or layer.name for layer in hit.matching_layers[:5]],
        "extent": hit.box,
        "abstract": hit.abstract[:_MOST_ABSTRACT],
    }


def show(catalogue: Catalogue, number: int) -> Answer:
    """Return what is known of a service. Raises NothingFound for a number that the catalogue has not."""
    service = next(catalogue.read_services(Selection(ids=(catalogue.number(number),))), None)
    if service is None:
        raise _unknown(number)
    return bounded({"service": service.id, **service_properties(service), "extent": service.box})


def layers(catalogue: Catalogue, number: int, words: str, limit: int) -> Answer:
    """Return the layers of a service that have all the words in name, title or abstract."""
    detail = _detail(catalogue, number)
    by_position = {row.position: row for row in detail.layers}
    matching = [row for row in layers_with(detail.layers, words) if row.name]
    listed = [_layer(row, by_position) for row in matching[: min(max(limit, 1), MOST_LAYERS)]]
    return bounded({"service": detail.service.id, "total": len(matching), "layers": listed}, MOST_LAYERS)


def _layer(row: Layer, by_position: Mapping[int, Layer]) -> Answer:
    return {
        "name": row.name,
        "title": row.title,
        "abstract": row.abstract[:_MOST_ABSTRACT],
        "kind": row.item,
        "queryable": row.queryable,
        "reference_systems": systems_of(row, by_position)[:12],
        "extent": row.box,
        **({"fields": [flat_value([each]) for each in row.fields[:_MOST_LISTED]]} if row.fields else {}),
    }


def health(catalogue: Catalogue, number: int) -> Answer:
    """Return how the addresses of a service have answered."""
    number = _detail(catalogue, number).service.id
    histories = catalogue.history(number, time.time())
    return bounded({"service": number, "addresses": [_history(history) for history in histories]})


def _history(history: EndpointHistory) -> Answer:
    events = [{**event, "at": iso(float(str(event["at"])))} for event in history.events[:_MOST_EVENTS]]
    return {
        "address": history.url,
        "health": history.health,
        "since": iso(history.since),
        "observed_since": iso(history.first_seen),
        "probes": history.probes,
        "availability_by_days": {str(days): share for days, share in history.availability.items()},
        "response_ms_by_percentile": {str(part): ms for part, ms in history.response_ms.items()},
        "events": events,
    }


def request_addresses(catalogue: Catalogue, number: int, layer: str, box: Box | None, width: int) -> Answer:
    """Return the address that describes a service, and for a layer of a WMS or an ArcGIS map one of a picture of it.

    `box`: west, south, east, north in degrees; that of the layer by default. Raises UsageError for an invalid box,
    NothingFound for a layer that the service has not."""
    detail = _detail(catalogue, number)
    service = detail.service
    answer: Answer = {"service": service.id, "capabilities": client_address(service.kind, service.url)}
    if is_masked(service.url):
        answer["note"] = "the address has a key that is not shown; ask its provider for one"
    if layer:
        row = next((each for each in detail.layers if each.name == layer), None)
        if row is None:
            raise NothingFound(f"service {service.id} has no layer {layer[:100]!r}; the tool layers lists their names")
        answer["picture"] = _picture(detail, row, box or row.box or service.box, width)
    return bounded(answer)


def _picture(detail: ServiceDetail, row: Layer, box: Box | None, width: int) -> str:
    """Return the address of a picture. Raises Problem for a service whose pictures cannot be requested."""
    previews, sides = ServicePreviews(detail), _checked(box or (-180.0, -90.0, 180.0, 90.0))
    if previews.projection == MERCATOR:
        sides = to_mercator(sides)
    west, south, east, north = sides
    width = min(max(width, LEAST_PIXELS), MOST_PIXELS)
    height = min(max(round(width * (north - south) / (east - west)), LEAST_PIXELS), MOST_PIXELS)
    return previews.picture_url(row, View(sides, previews.projection, (width, height))).address


def _checked(box: Box) -> tuple[float, float, float, float]:
    if len(box) != 4 or not all(math.isfinite(side) and abs(side) <= 540 for side in box):
        raise UsageError("the box: expected west, south, east, north in degrees")
    west, south, east, north = (float(side) for side in box)
    south, north, east = max(south, -90.0), min(north, 90.0), east + 360 if east < west else east
    if south > north or west > east:
        raise UsageError("the box: expected west, south, east, north in degrees, with south below north")
    grown = 0.005  # of a point
    return (west, south, max(east, west + grown), max(north, south + grown))


def _detail(catalogue: Catalogue, number: int) -> ServiceDetail:
    detail = catalogue.service(number)
    if detail is None:
        raise _unknown(number)
    return detail


def _unknown(number: int) -> NothingFound:
    return NothingFound(f"the catalogue has no service {number}; the tool search tells numbers")


def bounded(answer: Answer, most: int = _MOST_LISTED) -> Answer:
    """Return an answer masked and plain, with texts cut to 2,000 characters and lists to `most`."""
    return {name: _bounded(value, most) for name, value in answer.items()}


def _bounded(value: Any, most: int) -> Any:
    if isinstance(value, str):
        text: str = published(value)
        return text if len(text) <= _MOST_CHARS else f"{text[: _MOST_CHARS - 1]}…"
    if isinstance(value, Mapping):
        return {key: _bounded(each, most) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_bounded(each, most) for each in value[:most]]
    return value
