"""Show the search: words, filters with counts, results, their extents on a map."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from geocrawl.model.kinds import short_name
from geocrawl.model.search import FacetValue, LayerResults, Results
from geocrawl.query.places import country_name
from geocrawl.web.answers import Problem, wanted_language
from geocrawl.web.downloads import FILES
from geocrawl.web.pages.found_layers import LAYER_FILES
from geocrawl.web.pages.qgis_layer import source_of
from geocrawl.web.parameters import FACETS, SearchRequest, as_typed, read_search
from geocrawl.web.preview_requests import may_be_shown
from geocrawl.web.site import ITEMS, LAYERS, Links, base_url, page, site_of
from geocrawl.web.texts import Words

_MOST_VALUES = 30
_TIMES = {"new": ("7d", "30d", "365d"), "alive": ("1d", "7d", "30d")}
"""Conditions on times → spans to choose from."""
_SINGLE = ("level",)
"""Facets of which one value holds at a time."""


@dataclass(frozen=True, slots=True)
class FacetLink:
    """A value of a facet, which a visitor chooses or removes by a click."""

    label: str
    count: int | None
    """None for a time, which is not counted."""
    href: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """A chosen condition, which a click removes."""

    label: str
    href: str


async def search(request: Request) -> Response:
    """Return the page of a search; its part with the results alone for a page that is shown already. A search that
    cannot be read keeps its words, with what is wrong with them beside."""
    return await shown_search(request, _found, "results.html", ITEMS)


async def layers(request: Request) -> Response:
    """Return the page of a search for layers, or its part, likewise."""
    return await shown_search(request, _found_layers, "found_layers.html", LAYERS)


async def _found(request: Request, criteria: SearchRequest) -> Mapping[str, Any]:
    return _values(request, criteria, await site_of(request).finder.find(criteria, facets=True))


async def _found_layers(request: Request, criteria: SearchRequest) -> Mapping[str, Any]:
    return _values_of_layers(request, criteria, await site_of(request).finder.layers(criteria))


async def shown_search(
    request: Request, find: Callable[[Request, SearchRequest], Awaitable[Mapping[str, Any]]], template: str, path: str
) -> Response:
    """Return the page at `path` with what `find` returns for its `template`."""
    values: Mapping[str, Any]
    status = 200
    try:
        criteria = read_search(request, ignores_unknown=True)
        if criteria.ids is not None or criteria.address:
            return await _to_service(request, criteria, Links(request))
        values = await find(request, criteria)
    except Problem as problem:
        if problem.status != 400:
            raise
        typed, status = as_typed(request), 400
        chosen = _chips(typed, Words(wanted_language(request)), Links(request), path)
        values = {"asked": typed, "chosen": chosen, "problem": problem.detail}
    links = Links(request)
    kept = {**values["asked"].all, "offset": "", "limit": "", "f": ""}
    tabs = [
        ("tab-services", links(ITEMS, **kept), path == ITEMS),
        ("tab-layers", links(LAYERS, **kept), path == LAYERS),
    ]
    return _shown(request, {"template": template, "form_path": path, "tabs": tabs, **values}, status=status)


def _shown(request: Request, values: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return the whole page, or its part with the results for a page that is shown already."""
    is_part = request.headers.get("hx-request") == "true"
    linked_data = _linked_data(base_url(request))
    values = {"problem": "", "linked_data": linked_data, **values}
    return page(request, str(values["template"]) if is_part else "search.html", values, status=status)


def _values(request: Request, criteria: SearchRequest, results: Results) -> dict[str, Any]:
    """Return what the page of a search shows of its results."""
    words, links = Words(wanted_language(request)), Links(request)
    kept = {**criteria.all, "offset": "", "limit": "", "f": ""}
    return {
        "asked": criteria,
        "results": results,
        "facets": _facets(criteria, results, words, links),
        "chosen": _chips(criteria, words, links, ITEMS),
        **_neighbours(criteria, results.total, links, ITEMS),
        "taken": [(name, links(ITEMS, **kept | {"f": name})) for name in FILES],
        "feed": links("/feed.atom", **kept),
        "permanent": f"{base_url(request).removesuffix(links.root)}{links(ITEMS, **kept)}",
        "watch": f"geocrawl watch add {shlex.quote(_as_query(criteria))} --to mail:you@example.org",
        "extents": [{"id": hit.id, "box": hit.box, "title": hit.title} for hit in results.hits if hit.box],
    }


def _values_of_layers(request: Request, criteria: SearchRequest, results: LayerResults) -> dict[str, Any]:
    """Return what the page of a search for layers shows of its results."""
    words, links = Words(wanted_language(request)), Links(request)
    kept = {**criteria.all, "offset": "", "limit": "", "f": ""}
    shows = site_of(request).previews is not None
    boxes = ((f"{hit.service.id}-{hit.layer.position}", hit.layer) for hit in results.hits)
    return {
        "asked": criteria,
        "results": results,
        "chosen": _chips(criteria, words, links, LAYERS),
        **_neighbours(criteria, results.total, links, LAYERS),
        "taken": [(name, links(LAYERS, **kept | {"f": name})) for name in LAYER_FILES],
        "permanent": f"{base_url(request).removesuffix(links.root)}{links(LAYERS, **kept)}",
        "can_open": lambda hit: source_of(hit.service, hit.layer) is not None,
        "can_preview": lambda hit: shows and may_be_shown(hit.service.kind),
        "extents": [{"id": identity, "box": row.box, "title": row.title} for identity, row in boxes if row.box],
    }


def _as_query(criteria: SearchRequest) -> str:
    """Return a search in the query language, so that it can be watched; times that `datetime` names are left out."""
    parts = [criteria.q]
    for name in ("type", *FACETS, "bbox", "within", "alive", "new"):
        if values := [value for value in criteria.all.get(name, ()) if value]:
            key = "kind" if name == "type" else name
            parts += [f'{key}:"{each}"' if " " in each else f"{key}:{each}" for each in [",".join(values)]]
    return " ".join(part for part in parts if part)


async def _to_service(request: Request, criteria: SearchRequest, links: Links) -> Response:
    """Lead people to the service that a request names by its number or address."""
    numbers = await site_of(request).reader.read(criteria.numbers_at)
    if not numbers:
        raise Problem(404, "no service of this number or address is in the catalogue")
    return RedirectResponse(links.service(numbers[0]), 303)


def _neighbours(criteria: SearchRequest, total: int, links: Links, path: str) -> Mapping[str, str]:
    """Return the links to the page before and the next one, '' where there is none."""
    before, after = criteria.offsets(total)
    return {
        "previous": "" if before is None else links(path, **{**criteria.all, "offset": before or ""}),
        "next": "" if after is None else links(path, **{**criteria.all, "offset": after}),
    }


# --------------------------------------------------------------------------- facets


def _facets(
    criteria: SearchRequest, results: Results, words: Words, links: Links
) -> list[tuple[str, Sequence[FacetLink]]]:
    found: list[tuple[str, Sequence[FacetLink]]] = []
    for name in FACETS:
        values = results.facets.get(name, ())[:_MOST_VALUES]
        if values:
            found.append((name, [_facet_link(name, each, criteria, words, links) for each in values]))
    for name, spans in _TIMES.items():
        chosen = "".join(criteria.all.get(name, ())[:1])
        found.append((name, [_time_link(name, span, chosen == span, criteria, words, links) for span in spans]))
    return found


def _time_link(name: str, span: str, is_chosen: bool, criteria: SearchRequest, words: Words, links: Links) -> FacetLink:
    wanted = [] if is_chosen else [span]
    return FacetLink(_label(name, span, words), None, _with(criteria, links, name, wanted, ITEMS), is_chosen)


def _facet_link(name: str, value: FacetValue, criteria: SearchRequest, words: Words, links: Links) -> FacetLink:
    chosen = list(criteria.all.get(name, ()))
    is_chosen = value.value in chosen
    if is_chosen:
        wanted = [each for each in chosen if each != value.value]
    else:
        wanted = [value.value] if name in _SINGLE else [*chosen, value.value]
    return FacetLink(
        _label(name, value.value, words), value.count, _with(criteria, links, name, wanted, ITEMS), is_chosen
    )


def _with(criteria: SearchRequest, links: Links, name: str, values: Sequence[str], path: str) -> str:
    """Return the link to the search with these values of a facet; names of providers have commas themselves."""
    written = values if name == "provider" else ",".join(values)
    return links(path, **{**criteria.all, name: written or "", "offset": ""})


def _label(name: str, value: str, words: Words) -> str:
    """Return what a value is called in the visitor's language."""
    if name in ("kind", "type"):
        return short_name(value)
    if name == "country":
        return country_name(value, words.language)
    if name in _TIMES and value.removesuffix("d").isdecimal():
        days = value.removesuffix("d")
        return words("one-day") if days == "1" else words("days-n", n=days)
    translated = f"{name}-{value}"
    return words(translated) if words.knows(translated) else value


def _chips(criteria: SearchRequest, words: Words, links: Links, path: str) -> list[Chip]:
    chips = []
    for name, value in criteria.chosen:
        rest = [each for each in criteria.all[name] if each != value]
        label = f"{words(f'facet-{name}')}: " if words.knows(f"facet-{name}") else f"{name}: "
        chips.append(Chip(label + _label(name, value, words), _with(criteria, links, name, rest, path)))
    return chips


def _linked_data(base: str) -> Mapping[str, Any]:
    """Return the catalogue as schema.org's DataCatalog."""
    return {
        "@context": "https://schema.org/",
        "@type": "DataCatalog",
        "@id": f"{base}/",
        "name": "geocrawl",
        "url": f"{base}{ITEMS}",
        "potentialAction": {
            "@type": "SearchAction",
            "target": f"{base}{ITEMS}?q={{words}}",
            "query-input": "required name=words",
        },
    }
