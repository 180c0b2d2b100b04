"""Show one service: layers with previews, how to use it, its health over time, addresses, deviations, evidence."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.mending import Explanation, deviations
from geocrawl.export.properties import name_of
from geocrawl.model.availability import availability_by_part
from geocrawl.model.catalogue import Layer, Service, columns
from geocrawl.model.details import EndpointHistory, EndpointRow, ServiceDetail
from geocrawl.model.health import DAY_S
from geocrawl.probe.previews import Picture
from geocrawl.web.answers import wanted_language
from geocrawl.web.charts import curve, strip
from geocrawl.web.layers import Tree, layer_tree, path_of
from geocrawl.web.pages.qgis_layer import chosen_layer, source_of
from geocrawl.web.pages.snippets import snippets
from geocrawl.web.preview_requests import MOST_FEATURES, ServicePreviews
from geocrawl.web.publishing import is_masked
from geocrawl.web.records.record import linked_data
from geocrawl.web.site import ITEMS, Links, base_url, detail_of, number_of, page, site_of
from geocrawl.web.texts import Words
from geocrawl.wording import day_of

_MOST_DEVIATIONS, _MOST_LISTED = 40, 40


@dataclass(frozen=True, slots=True)
class ShownDeviation:
    """A departure from the standard, in words."""

    code: str
    detail: str
    explained: Explanation


@dataclass(frozen=True, slots=True)
class ShownEndpoint:
    """An address with its history."""

    row: EndpointRow
    history: EndpointHistory | None
    health: str
    deviations: Sequence[ShownDeviation]


_STRIPS = ((30, 30), (365, 73))
"""(days, cells): a day a cell, and five."""


@dataclass(frozen=True, slots=True)
class HealthOverTime:
    """Pictures of an address's health over time, drawn from its probes."""

    strips: Sequence[tuple[int, float | None, Markup]]
    """(days, availability, strip)."""
    answer_times: Markup | None
    """Curve of the times of valid answers; None for fewer than two."""


@dataclass(frozen=True, slots=True)
class Systems:
    """The reference systems of a service."""

    works: Sequence[str]
    """A content check delivered content in it."""
    others: Sequence[str]


async def service(request: Request) -> Response:
    """Return the page of a service."""
    detail = await detail_of(request, number_of(request))
    found = detail.service
    layer, previews, words = chosen_layer(request, detail), ServicePreviews(detail), Words(wanted_language(request))
    values = {
        **described(detail, layer, words),
        "endpoints": _endpoints(detail),
        "over_time": _over_time(detail.best_history, time.time(), words),
        "layer_file": Links(request)(f"{ITEMS}/{found.id}/layer.qlr", layer=layer.position)
        if layer and source_of(found, layer)
        else "",
        "news": detail.news[:20],
        "extents": (),
        "map_box": ",".join(f"{side:.6g}" for side in found.box) if found.box else "",
        "can_preview": site_of(request).previews is not None and previews.is_possible,
        "previews": previews,
        "most_features": MOST_FEATURES,
        "linked_data": linked_data(found, base_url(request)),
        "canonical": f"{base_url(request)}{ITEMS}/{found.id}",
        **_layers(request, detail, previews),
    }
    return page(request, "service.html", values)


def described(detail: ServiceDetail, layer: Layer | None, words: Words) -> dict[str, Any]:
    """Return what `service.html` shows of a service's description, where a server is and where none is; `layer`: the
    one whose use is shown."""
    found = detail.service
    return {
        "service": found,
        "detail": detail,
        "title": name_of(found),
        "systems": reference_systems(detail),
        "snippets": snippets(found, layer),
        "layer": layer,
        "is_masked": "***" in found.url or is_masked(found.url),
        "facts": facts(found, words),
    }


async def layers(request: Request) -> Response:
    """Return the part of the page with the layers that have the words asked for."""
    detail = await detail_of(request, number_of(request))
    return page(request, "layers.html", _layers(request, detail, ServicePreviews(detail)))


def _layers(request: Request, detail: ServiceDetail, previews: ServicePreviews) -> dict[str, Any]:
    words = request.query_params.get("layers", "")[:200]
    links, path = Links(request), f"{ITEMS}/{detail.service.id}"

    def pictures_of(row: Layer) -> tuple[str, str, str]:
        preview = previews.of(row) if site_of(request).previews is not None else None
        if preview is None:
            return "", "", ""
        address, legend, info = (links(f"{path}/{name}", layer=row.position) for name in ("preview", "legend", "info"))
        if not isinstance(preview, Picture):
            return address, "", ""
        return address, legend if preview.legend is not None else "", info if preview.info is not None else ""

    tree: Tree = layer_tree(detail.layers, words, pictures_of)
    return {"service": detail.service, "tree": tree, "layer_words": words}


def _endpoints(detail: ServiceDetail) -> list[ShownEndpoint]:
    histories = {history.id: history for history in detail.histories}
    rows = sorted(detail.endpoints, key=lambda row: row.url != detail.service.url)
    return [_endpoint(row, histories.get(row.id)) for row in rows]


def _endpoint(row: EndpointRow, history: EndpointHistory | None) -> ShownEndpoint:
    known, shown = deviations(), []
    for each in row.deviations[:_MOST_DEVIATIONS]:
        code = str(each.get("code", ""))
        shown.append(ShownDeviation(code, str(each.get("detail", "")), known.get(code, Explanation())))
    return ShownEndpoint(row, history, history.health if history else "new", shown)


def _over_time(history: EndpointHistory | None, now: float, words: Words) -> HealthOverTime | None:
    """Return the pictures of an address; None while its probes are too few, or too close together, to tell."""
    if history is None or history.availability[365] is None:
        return None
    strips = []
    for days, cells in _STRIPS:
        parts = availability_by_part(history.sums, now - days * DAY_S, now, cells)
        named = [(f"{day_of(begin)}: {words.percent(share)}", share) for begin, share in parts]
        title = f"{words('availability')}, {words('days-n', n=days)}: {words.percent(history.availability[days])}"
        strips.append((days, history.availability[days], strip(named, title)))
    return HealthOverTime(strips, _answer_times(history, words))


def _answer_times(history: EndpointHistory, words: Words) -> Markup | None:
    """Return the curve of the times of valid answers, of some the mean; None for fewer than two."""
    points = [(each.first_at, each.total_ms / each.timed) for each in history.sums if each.total_ms]
    if len(points) < 2:
        return None
    most = max(milliseconds for _, milliseconds in points)
    ends = (day_of(points[0][0]), day_of(points[-1][0]))
    return curve(points, words("response-time"), x_labels=ends, most=most, most_label=f"{most:,.0f} ms")


def reference_systems(detail: ServiceDetail) -> Systems:
    """Return the reference systems of a service, those first that were seen to work."""
    works = [
        str(each["crs"]).upper()
        for endpoint in detail.endpoints
        for each in endpoint.proof
        if each["outcome"] == "ok" and each["crs"]
    ]
    by_position = {row.position: row for row in detail.layers}
    # Each group once: its reference systems may be thousands.
    stating = {each.position: each for row in detail.layers[:300] for each in path_of(row, by_position)}
    advertised = (code.upper() for each in stating.values() for code in each.crs)
    found = list(dict.fromkeys(works))
    return Systems(found, [code for code in dict.fromkeys(advertised) if code not in found])


def facts(service: Service, words: Words) -> Sequence[tuple[str, str, str]]:
    """Return what a service says about itself: name, label and value of each column that has a label."""
    shown = ((column, _fact(getattr(service, column.name))) for column in columns(Service).values() if column.label)
    return [(column.name, words.label(column), words.value(column.name, value)) for column, value in shown if value]


def _fact(value: object) -> str:
    """Return a value in words; of a list its beginning."""
    if isinstance(value, Mapping):
        return ", ".join(dict.fromkeys(str(part) for part in value.values() if part))
    if isinstance(value, tuple):
        return ", ".join(f"{part:.4g}°" if isinstance(part, float) else part for part in value[:_MOST_LISTED])
    return f"{value:,}" if isinstance(value, int) else str(value or "")
