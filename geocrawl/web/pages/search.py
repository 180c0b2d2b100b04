"""Show the search: words, filters with counts, results, their extents on a map."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from geocrawl.search.places import country_name
from geocrawl.search.results import FacetValue, Results
from geocrawl.web.answers import Problem, wanted_language
from geocrawl.web.downloads import FILES
from geocrawl.web.parameters import FACETS, Asked, as_typed, read_known
from geocrawl.web.reader import Found
from geocrawl.web.site import ITEMS, Links, base_url, page, site_of
from geocrawl.web.texts import Words

_MOST_VALUES = 30
_SINGLE = ("level",)
"""Facets of which one value holds at a time."""


@dataclass(frozen=True, slots=True)
class FacetLink:
    """A value of a facet, which a visitor chooses or removes by a click."""

    label: str
    count: int
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
    try:
        asked = read_known(request, time.time())
        if asked.ids is not None or asked.address:
            return await _to_service(request, asked, Links(request))
        found = await site_of(request).finder.find(asked, facets=True)
    except Problem as problem:
        if problem.status != 400:
            raise
        typed = as_typed(request)
        chosen = _chips(typed, Words(wanted_language(request)), Links(request))
        return _shown(request, {"asked": typed, "chosen": chosen, "problem": problem.detail}, status=400)
    return _shown(request, _values(request, asked, found))


def _shown(request: Request, values: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return the whole page, or its part with the results for a page that is shown already."""
    is_part = request.headers.get("hx-request") == "true"
    linked_data = _linked_data(base_url(request))
    values = {"problem": "", "linked_data": linked_data, **values}
    return page(request, "results.html" if is_part else "search.html", values, status=status)


def _values(request: Request, asked: Asked, found: Found) -> dict[str, Any]:
    """Return what the page of a search shows of its results."""
    words, links = Words(wanted_language(request)), Links(request)
    results = found.results
    kept = {**asked.all, "offset": "", "limit": "", "f": ""}
    return {
        "asked": asked,
        "results": results,
        "pictures": found.pictures,
        "facets": _facets(asked, results, words, links),
        "chosen": _chips(asked, words, links),
        **_neighbours(asked, results, links),
        "taken": [(name, links(ITEMS, **kept | {"f": name})) for name in FILES],
        "feed": links("/feed.atom", **kept),
        "permanent": f"{base_url(request).removesuffix(links.root)}{links(ITEMS, **kept)}",
        "extents": [{"id": hit.id, "box": hit.extent, "title": hit.title} for hit in results.hits if hit.extent],
    }


async def _to_service(request: Request, asked: Asked, links: Links) -> Response:
    """Lead people to the service that a request names by its number or address."""
    numbers = await site_of(request).reader.read(asked.numbers_at)
    if not numbers:
        raise Problem(404, "no service of this number or address is in the catalogue")
    return RedirectResponse(links.service(numbers[0]), 303)


def _neighbours(asked: Asked, results: Results, links: Links) -> Mapping[str, str]:
    """Return the links to the page before and the next one, '' where there is none."""
    before, after = max(asked.offset - asked.limit, 0), asked.offset + asked.limit
    return {
        "previous": links(ITEMS, **{**asked.all, "offset": before or ""}) if asked.offset else "",
        "next": links(ITEMS, **{**asked.all, "offset": after}) if after < results.total else "",
    }


# --------------------------------------------------------------------------- facets


def _facets(asked: Asked, results: Results, words: Words, links: Links) -> list[tuple[str, Sequence[FacetLink]]]:
    found: list[tuple[str, Sequence[FacetLink]]] = []
    for name in FACETS:
        values = results.facets.get(name, ())[:_MOST_VALUES]
        if values:
            found.append((name, [_facet_link(name, each, asked, words, links) for each in values]))
    return found


def _facet_link(name: str, value: FacetValue, asked: Asked, words: Words, links: Links) -> FacetLink:
    chosen = list(asked.all.get(name, ()))
    is_chosen = value.value in chosen
    if is_chosen:
        wanted = [each for each in chosen if each != value.value]
    else:
        wanted = [value.value] if name in _SINGLE else [*chosen, value.value]
    return FacetLink(_label(name, value.value, words), value.count, _with(asked, links, name, wanted), is_chosen)


def _with(asked: Asked, links: Links, name: str, values: Sequence[str]) -> str:
    """Return the link to the search with these values of a facet; names of providers have commas themselves."""
    written = values if name == "provider" else ",".join(values)
    return links(ITEMS, **{**asked.all, name: written or "", "offset": ""})


def _label(name: str, value: str, words: Words) -> str:
    """Return what a value is called in the visitor's language."""
    if name in ("kind", "type"):
        return value.upper()
    if name == "country":
        return country_name(value)
    translated = f"{name}-{value}"
    return words(translated) if words.knows(translated) else value


def _chips(asked: Asked, words: Words, links: Links) -> list[Chip]:
    chips = []
    for name, value in asked.chosen:
        rest = [each for each in asked.all[name] if each != value]
        label = f"{words(f'facet-{name}')}: " if words.knows(f"facet-{name}") else f"{name}: "
        chips.append(Chip(label + _label(name, value, words), _with(asked, links, name, rest)))
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
