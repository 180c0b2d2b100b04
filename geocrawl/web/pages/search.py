"""Show the search: words, filters with counts, results, their extents on a map."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from geocrawl.model.kinds import short_name
from geocrawl.model.search import FACETS, LayerResults, Results
from geocrawl.query.language import quoted
from geocrawl.query.places import country_name
from geocrawl.web.answers import Problem, wanted_language
from geocrawl.web.downloads import FILES
from geocrawl.web.pages.found_layers import LAYER_FILES
from geocrawl.web.pages.qgis_layer import source_of
from geocrawl.web.parameters import SearchRequest, as_typed, read_search
from geocrawl.web.preview_requests import may_be_shown
from geocrawl.web.site import ITEMS, LAYERS, Links, base_url, page, site_of
from geocrawl.web.texts import Words

_MOST_VALUES = 30
_TIMES = {"new": ("7d", "30d", "365d"), "alive": ("1d", "7d", "30d")}
"""Conditions on times → spans to choose from."""
_OF_LAYERS = tuple(name for name in FACETS if name not in ("crs", "format"))
"""Facets of a search for layers: reference systems and formats of the service need not be those of the layer."""
_SINGLE = ("level",)
"""Facets that have one value at a time."""


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


class _Page:
    """The page of one search: its links, which change a part of the search, and what services and layers show alike."""

    def __init__(self, request: Request, criteria: SearchRequest, path: str) -> None:
        self.criteria, self.path = criteria, path
        self.words, self.links = Words(wanted_language(request)), Links(request)
        self.origin = base_url(request).removesuffix(self.links.root)

    def link(self, path: str = "", /, **changes: object) -> str:
        """Return the link to this search with other parameters, at another path if one is given."""
        return self.links(path or self.path, **{**self.criteria.all, **changes})

    def whole(self, path: str = "", /, **changes: object) -> str:
        """Return such a link to all pages and formats of this search."""
        return self.link(path, **{"offset": "", "limit": "", "f": "", **changes})

    def values(self, results: Results | LayerResults, formats: Iterable[str]) -> dict[str, Any]:
        """Return what the page shows of its results."""
        before, after = self.criteria.offsets(results.total)
        return {
            **self.typed(),
            "results": results,
            "previous": "" if before is None else self.link(offset=before or ""),
            "next": "" if after is None else self.link(offset=after),
            "taken": [(name, self.whole(f=name)) for name in formats],
            "permanent": f"{self.origin}{self.whole()}",
        }

    def typed(self) -> dict[str, Any]:
        """Return what the page shows of a search that may have no results: its words and conditions."""
        paths = {"tab-services": ITEMS, "tab-layers": LAYERS}
        return {
            "asked": self.criteria,
            "chosen": list(self._chips()),
            "tabs": [(name, self.whole(path), path == self.path) for name, path in paths.items()],
            "form_path": self.path,
        }

    def _chips(self) -> Iterator[Chip]:
        """Yield the chosen conditions."""
        box = [("bbox", self.criteria.bbox)] if self.criteria.bbox else []
        for name, value in [*box, *self.criteria.chosen]:
            rest = [other for other in self.criteria.all[name] if other != value]
            label = self.words(f"facet-{name}") if self.words.knows(f"facet-{name}") else name
            yield Chip(f"{label}: {self._label(name, value)}", self._with(name, rest))

    def facets(
        self, results: Results | LayerResults, names: Sequence[str]
    ) -> Iterator[tuple[str, Sequence[FacetLink]]]:
        """Yield the values of facets to choose from, then those of times."""
        for name in names:
            if values := results.facets.get(name, ())[:_MOST_VALUES]:
                yield name, [self._facet_link(name, value.value, value.count) for value in values]
        for name, spans in _TIMES.items():
            yield name, [self._facet_link(name, span, None) for span in spans]

    def _facet_link(self, name: str, value: str, count: int | None) -> FacetLink:
        chosen = list(self.criteria.all.get(name, ()))
        is_chosen = value in (chosen[:1] if name in _TIMES else chosen)
        if name in _TIMES or (name in _SINGLE and not is_chosen):
            wanted = [] if is_chosen else [value]
        else:
            wanted = [other for other in chosen if other != value] if is_chosen else [*chosen, value]
        return FacetLink(self._label(name, value), count, self._with(name, wanted), is_chosen)

    def _with(self, name: str, values: Sequence[str]) -> str:
        """Return the link to the search with these values of a facet; names of providers have commas themselves."""
        written = values if name == "provider" else ",".join(values)
        return self.link(**{name: written or "", "offset": ""})

    def _label(self, name: str, value: str) -> str:
        """Return what a value is called in the visitor's language."""
        if name in ("kind", "type"):
            return short_name(value)
        if name == "country":
            return country_name(value, self.words.language)
        if name in _TIMES and value.removesuffix("d").isdecimal():
            return self.words("days-n", n=int(value.removesuffix("d")))
        return self.words.value(name, value)


async def search(request: Request) -> Response:
    """Return the page of a search; its part with the results alone for a page that is shown already. A search that
    cannot be read keeps its words, with what is wrong with them next to it."""
    return await _answer(request, _services, "results.html", ITEMS)


async def layers(request: Request) -> Response:
    """Return the page of a search for layers, or its part, likewise."""
    return await _answer(request, _layers, "found_layers.html", LAYERS)


async def _answer(
    request: Request, find: Callable[[Request, _Page], Awaitable[Mapping[str, Any]]], template: str, path: str
) -> Response:
    """Return the page at `path`, or its part, with what `find` returns for its `template`."""
    values: Mapping[str, Any]
    status = 200
    try:
        criteria = read_search(request, ignores_unknown=True)
        if criteria.ids is not None or criteria.address:
            return await _to_service(request, criteria, Links(request))
        values = await find(request, _Page(request, criteria, path))
    except Problem as problem:
        if problem.status != 400:
            raise
        values, status = {**_Page(request, as_typed(request), path).typed(), "problem": problem.detail}, 400
    is_part = request.headers.get("hx-request") == "true"
    values = {"template": template, "problem": "", "linked_data": _linked_data(base_url(request)), **values}
    return page(request, template if is_part else "search.html", values, status=status)


async def _services(request: Request, shown: _Page) -> Mapping[str, Any]:
    results = await site_of(request).finder.find(shown.criteria, facets=True)
    return {
        **shown.values(results, FILES),
        "facets": list(shown.facets(results, FACETS)),
        "feed": shown.whole("/feed.atom"),
        "watch": f"geocrawl watch add {shlex.quote(_as_query(shown.criteria))} --to mail:you@example.org",
        "extents": [{"id": hit.id, "box": hit.box, "title": hit.title} for hit in results.hits if hit.box],
    }


async def _layers(request: Request, shown: _Page) -> Mapping[str, Any]:
    site = site_of(request)
    results = await site.finder.layers(shown.criteria, facets=True)
    boxes = ((f"{hit.service.id}-{hit.layer.position}", hit.layer) for hit in results.hits)
    return {
        **shown.values(results, LAYER_FILES),
        "facets": list(shown.facets(results, _OF_LAYERS)),
        "can_open": lambda hit: source_of(hit.service, hit.layer) is not None,
        "can_preview": lambda hit: site.previews is not None and may_be_shown(hit.service.kind),
        "has_picture": lambda hit: (
            site.previews is not None and hit.service.has_thumbnail and hit.layer.box is not None
        ),
        "extents": [{"id": identity, "box": row.box, "title": row.title} for identity, row in boxes if row.box],
    }


def _as_query(criteria: SearchRequest) -> str:
    """Return a search in the query language, so that it can be watched; times that `datetime` names are left out."""
    parts = [criteria.q]
    parts += (f"provider:{quoted(name)}" for name in criteria.all.get("provider", ()) if name)  # names have commas
    for name in ("type", *(each for each in FACETS if each != "provider"), "bbox", "within", "field", "alive", "new"):
        if text := ",".join(value for value in criteria.all.get(name, ()) if value):
            key = "kind" if name == "type" else name
            parts.append(f'{key}:"{text}"' if " " in text else f"{key}:{text}")
    return " ".join(part for part in parts if part)


async def _to_service(request: Request, criteria: SearchRequest, links: Links) -> Response:
    """Lead people to the service that a request names by its number or address."""
    numbers = await site_of(request).reader.read(criteria.numbers_at)
    if not numbers:
        raise Problem(404, "no service of this number or address is in the catalogue")
    return RedirectResponse(links.service(numbers[0]), 303)


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
