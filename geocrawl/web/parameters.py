"""Read the parameters of a search: `/collections/services/items?…`, for people and for programs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request

from geocrawl.filters import Cql2, Filters, QueryError, Sort, read_times
from geocrawl.model import Kind
from geocrawl.model.catalogue import Service, columns
from geocrawl.model.search import FACETS, OF_COLUMNS
from geocrawl.query.language import CONDITIONS, alternatives
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.urls import read_url
from geocrawl.web.answers import Problem, bad_parameter

DEFAULT_LIMIT, MAX_LIMIT = 20, 1_000
MAX_OFFSET = 1_000_000
SORTS = {
    **{"title": Sort.NAME, "health": Sort.HEALTH, "created": Sort.NEWEST, "quality": Sort.QUALITY},
    "relevance": Sort.RELEVANCE,
}
_FALLING = (Sort.NEWEST, Sort.QUALITY)
"""Orders whose greatest values come first, unlike those of `sortby=NAME`."""
FILTER_LANGUAGES = ("cql2-text", "cql2-json")
_CRS84 = ("http://www.opengis.net/def/crs/OGC/1.3/CRS84", "http://www.opengis.net/def/crs/OGC/0/CRS84")
FACET_FIELDS = {
    **{"kind": "kinds", "health": "health", "country": "countries", "provider": "providers"},
    **{"crs": "systems", "format": "formats"},
    **dict.fromkeys(OF_COLUMNS, "columns"),
}
"""Facet that may have several values → its field of `Filters`."""
PARAMETERS: Mapping[str, str] = {
    "q": "Words and conditions in the query language of docs/search.md, such as: kind:wms alive:30d land cover; in "
    "JSON a comma between words means or",
    "bbox": "West, south, east, north in degrees, with or without heights; west above east crosses the antimeridian",
    "within": "A box in which the extent lies completely, as bbox",
    "datetime": "A time, a date or an interval (RFC 3339, open ends as ..) that the data is of",
    "type": "Kind of service, such as wms (type of the record); several with commas",
    "ids": "Numbers of services, with commas",
    "externalIds": "An address of the service; several with commas",
    "kind": "Kind of service; as type",
    "health": "State of the best address: new, alive, degraded, unconfirmed, down, gone",
    "level": "Least level of proof: advertised, answers, delivers",
    "country": "ISO 3166-1 code of two letters",
    "provider": "Whole name of a provider, or words of names",
    "crs": "Reference system, such as EPSG:25832, of the service or any layer",
    "format": "Media type or a part of one",
    "field": "Name or alias of a field of a layer, in any case",
    **{name: columns(Service)[name].meaning for name in OF_COLUMNS},
    "alive": "true: valid at the last probe; a time such as 30d: the last valid answer is not older",
    "new": "A time such as 7d: found not earlier",
    "sortby": "title, health (best first), quality (lowest first) or created (oldest first), several with commas, the "
    "other way round with - before them (-created: newest first); without it the best match comes first",
    "filter": "A condition in CQL2 on the properties of /collections/services/queryables, such as: "
    "title LIKE '%water%' AND quality > 50",
    "filter-lang": "cql2-text, the default, or cql2-json",
    "filter-crs": "Reference system of geometries in the filter: CRS84, the default, alone",
    "limit": f"Most records of the answer, {DEFAULT_LIMIT} by default, {MAX_LIMIT} at most",
    "offset": "Records to leave out, for paging; follow the links next and prev",
    "facets": "true: count the values of all facets; or names of facets with commas (an extension)",
    "f": "html or json, instead of the Accept header; csv, geojson, gpkg (GeoPackage) or qgis (connections for QGIS): "
    f"what is found as a file, {MAX_LIMIT:,} services at most; dcat or jsonld: DCAT-AP in Turtle or JSON-LD; "
    "iso19139 or iso19115-3: a record of ISO, or an archive of records",
    "lang": "en or zh, the language of the page",
}
"""Parameter → what it means."""
_NUMBER = re.compile(r"[0-9]{1,9}")
_MOST_IDS = 200


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What a request searches for."""

    q: str
    text: str
    """`q` with what only the query language says."""
    filters: Filters
    sorts: tuple[Sort, ...]
    turned: frozenset[Sort]
    """Orders that go the other way round."""
    limit: int
    offset: int
    facets: tuple[str, ...]
    ids: tuple[int, ...] | None
    address: str
    all: Mapping[str, Sequence[str]]
    """All parameters, as given."""

    @property
    def texts(self) -> list[str]:
        """Return the alternative queries, which a program separates by commas."""
        return alternatives(self.text)

    @property
    def order(self) -> dict[str, Any]:
        """Return the order and the page as options of a search."""
        return {"sort": self.sorts, "turned": self.turned, "limit": self.limit, "offset": self.offset}

    def numbers_at(self, catalogue: Catalogue) -> list[int]:
        """Return the numbers that are asked for: those given, else those of the services at the address."""
        if self.ids is not None:
            return list(dict.fromkeys(self.ids))
        # Several, with commas, or one that has a comma.
        urls = (
            read_url(address.strip()) for address in dict.fromkeys((self.address, *self.address.split(",")[:_MOST_IDS]))
        )
        addresses = (address for url in urls if url is not None for address in catalogue.addresses_at(url))
        return list(dict.fromkeys(address.service_id for address in addresses))

    def up_to(self, most: int) -> SearchRequest:
        """Return the request with its own limit, `most` where it gives none, and no more than `most`."""
        return replace(self, limit=min(self.limit, most) if "limit" in self.all else most)

    def offsets(self, total: int) -> tuple[int | None, int | None]:
        """Return the offsets of the page before and of the next one of `total` hits; None for none."""
        after = self.offset + self.limit
        return max(self.offset - self.limit, 0) if self.offset else None, after if after < total else None

    @property
    def bbox(self) -> str:
        """Return the box as given."""
        return "".join(self.all.get("bbox", [""])[:1])

    @property
    def sortby(self) -> str:
        """Return the order as given."""
        return "".join(self.all.get("sortby", [""])[:1])

    @property
    def chosen(self) -> list[tuple[str, str]]:
        """Return the values of facets that are chosen, in the order of `FACETS`."""
        names = ("type", *FACETS, "field", "alive", "new", "datetime", "within")
        return [(name, value) for name in names for value in self.all.get(name, ()) if value]


def read_search(request: Request, *, ignores_unknown: bool = False) -> SearchRequest:
    """Return what a request searches for. Raises Problem 400 for values that cannot be read, and for unknown parameters
    unless they are ignored: others append some to the addresses that people follow (`utm_source`)."""
    unknown = [name for name in request.query_params if name not in PARAMETERS]
    if unknown and not ignores_unknown:
        raise Problem(400, f"there is no parameter “{unknown[0][:80]}”; expected one of {', '.join(PARAMETERS)}")
    try:
        return _search_request(_given(request))
    except QueryError as error:
        raise Problem(400, error.args[0]) from None


def as_typed(request: Request) -> SearchRequest:
    """Return what a person typed that cannot be read, to be shown again: a search for nothing."""
    given = _given(request)
    kept = {name: values for name, values in given.items() if any(values)}
    return SearchRequest(
        "".join(given.get("q", ())[:1]), "", Filters(), (), frozenset(), DEFAULT_LIMIT, 0, (), None, "", kept
    )


def _given(request: Request) -> dict[str, list[str]]:
    """Return the known parameters, each value of `kind=wms,wfs` by itself; names of providers have commas."""
    given = {name: request.query_params.getlist(name) for name in PARAMETERS if name in request.query_params}
    for name in given.keys() & (FACET_FIELDS.keys() - {"provider"}):
        given[name] = [part.strip() for value in given[name] for part in value.split(",")]
    return given


def _search_request(given: Mapping[str, list[str]]) -> SearchRequest:
    def one(name: str) -> str:
        values = [value for value in given.get(name, ()) if value.strip()]
        if len(values) > 1:
            raise Problem(400, f"{name} is given {len(values)} times; give it once")
        return values[0].strip() if values else ""

    for name in ("bbox", "within", "level", "alive", "new"):
        one(name)
    times = read_times(one("datetime"), "datetime") if one("datetime") else None
    sorts, turned = _read_sorts(one("sortby"))
    cql2 = _read_filter(one("filter"), one("filter-lang"), one("filter-crs"))
    if cql2 and (one("ids") or one("externalIds")):
        raise Problem(400, "filter cannot stand beside ids or externalIds; write id IN ('3', '4') into the filter")
    limit = _read_number(one("limit"), "limit", least=1) if one("limit") else DEFAULT_LIMIT
    offset = _read_number(one("offset"), "offset", least=0) if one("offset") else 0
    q, types = one("q"), ",".join(given.get("type", ())).strip(", ")
    return SearchRequest(
        q=q,
        text=q,
        filters=replace(_filters(given), time=times, cql2=cql2),
        sorts=sorts,
        turned=turned,
        limit=min(limit, MAX_LIMIT),
        offset=min(offset, MAX_OFFSET),
        facets=_read_facets(one("facets")),
        ids=() if types and not _kinds_of(types) else _read_ids(one("ids")) if one("ids") else None,
        address=one("externalIds"),
        all={name: values for name, values in given.items() if any(values)},
    )


def _kinds_of(types: str) -> str:
    """Return those of some types of records that are kinds of services; no record has another type."""
    return ",".join(each.strip() for each in types.split(",") if each.strip().lower() in set(Kind))


def _filters(given: Mapping[str, list[str]]) -> Filters:
    """Return the conditions that parameters name as the query language does. Raises QueryError."""
    # A provider's name may have commas.
    filters = Filters(providers=tuple(value for value in given.get("provider", ()) if value.strip()))
    for name, value in ((name, value.strip()) for name, values in given.items() for value in values):
        condition = CONDITIONS.get("kind" if name == "type" else name)
        is_unset = not value or name == "provider" or (name, value.lower()) == ("alive", "false")
        if name == "type":
            value = _kinds_of(value)
            is_unset = is_unset or not value
        if condition is not None and not is_unset:
            filters = condition(filters, _plane(value) if name in ("bbox", "within") else value, name)
    return filters


def _plane(bbox: str) -> str:
    """Return a box of six numbers without its heights (OGC 17-069r4, 7.15.3)."""
    parts = bbox.split(",")
    return ",".join((*parts[0:2], *parts[3:5])) if len(parts) == 6 else bbox


def _read_number(text: str, name: str, *, least: int) -> int:
    if not _NUMBER.fullmatch(text) or int(text) < least:
        raise bad_parameter(name, text, f"a whole number from {least} on, of nine digits at most")
    return int(text)


def _read_filter(text: str, language: str, system: str) -> Cql2 | None:
    if (language or FILTER_LANGUAGES[0]) not in FILTER_LANGUAGES:
        raise bad_parameter("filter-lang", language, " or ".join(FILTER_LANGUAGES))
    if system and system not in _CRS84:
        raise bad_parameter("filter-crs", system, _CRS84[0])
    return Cql2(text, language == "cql2-json") if text else None


def _read_sorts(text: str) -> tuple[tuple[Sort, ...], frozenset[Sort]]:
    parts = [part.strip() for part in text.split(",") if part.strip(" +-")] or ["relevance"]
    names = [part.lstrip("+-") for part in parts]
    if not set(names) <= set(SORTS):
        raise bad_parameter("sortby", text, f"some of {', '.join(SORTS)}, with - before it for the other direction")
    falling = [part.startswith("-") for part in parts]
    sorts = [SORTS[name] for name in names]
    turned = [sort for sort, falls in zip(sorts, falling, strict=True) if falls != (sort in _FALLING)]
    return tuple(dict.fromkeys(sorts)), frozenset(turned) - {Sort.RELEVANCE}


def _read_facets(text: str) -> tuple[str, ...]:
    if text.lower() in ("", "false"):
        return ()
    if text.lower() == "true":
        return FACETS
    names = tuple(each.strip() for each in text.split(","))
    if unknown := [name for name in names if name not in FACETS]:
        raise bad_parameter("facets", unknown[0], f"true or some of {', '.join(FACETS)}")
    return names


def _read_ids(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if len(parts) > _MOST_IDS:
        raise Problem(400, f"ids names {len(parts):,} services; name {_MOST_IDS} at most")
    return tuple(int(part) for part in parts if _NUMBER.fullmatch(part.strip()) and int(part))
