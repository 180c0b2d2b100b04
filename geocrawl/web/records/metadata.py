"""Answer services as records of other standards, for catalogues that harvest this one: one, or what a search finds."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TextIO

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.dcat import HydraPage, write_jsonld, write_turtle
from geocrawl.export.iso import RECORDS, file_of, record_bytes
from geocrawl.model.catalogue import Service
from geocrawl.model.search import Selection
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.web.answers import LazyResponse, preferences
from geocrawl.web.downloads import numbers_found, within_chars
from geocrawl.web.parameters import read_search
from geocrawl.web.publishing import published
from geocrawl.web.site import ITEMS, base_url, number_of, site_of, unknown

_TEXTS = ("title", "abstract", "provider", "keywords", "fees", "access_constraints", "contact", "online_resource")
_XML = "application/xml"


class MetadataFormat(NamedTuple):
    """A standard in which services are described."""

    media_type: str
    write: Callable[[list[Service], str, HydraPage | None], bytes]
    """Returns services, for pages at this address; all of a search are one page of it."""
    media_type_of_many: str = ""
    """'' for the same."""


def _dcat(write: Callable[[Iterable[Service], TextIO, str, HydraPage | None], int]) -> Any:
    def written(services: list[Service], base: str, page: HydraPage | None) -> bytes:
        stream = io.StringIO()
        write(services, stream, base, page)
        return stream.getvalue().encode("utf-8", "replace")

    return written


def _iso(form: str) -> Any:
    def written(services: list[Service], base: str, page: HydraPage | None) -> bytes:
        """Return one record, or an archive of those that a search finds."""
        if page is None:
            return record_bytes(form, services[0], base)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for service in services:
                archive.writestr(file_of(service), record_bytes(form, service, base))
        return stream.getvalue()

    return written


FORMS: Mapping[str, MetadataFormat] = {
    "dcat": MetadataFormat("text/turtle", _dcat(write_turtle)),
    "jsonld": MetadataFormat("application/ld+json", _dcat(write_jsonld)),
    **{form: MetadataFormat(_XML, _iso(form), "application/zip") for form in RECORDS},
}
"""Value of `f` → the standard."""
_BY_TYPE = {form.media_type: name for name, form in FORMS.items() if form.media_type != _XML}


async def found(request: Request) -> Response:
    """Return what a search finds, page by page; a page names the next one (Hydra)."""
    criteria, form = read_search(request), _form(request)
    numbers = await numbers_found(request, criteria)
    services = await services_of(request, numbers)
    place = f"{base_url(request)}{ITEMS}"
    after = criteria.offset + (numbers.index(services[-1].id) + 1 if services else len(numbers))
    following = f"{place}?{request.url.include_query_params(offset=after).query}"
    has_more = after < criteria.offset + len(numbers) or len(numbers) == criteria.limit
    page = HydraPage(f"{place}?{request.url.query}", following if has_more else "")
    return _written(request, form, services, page)


async def one(request: Request) -> Response:
    """Return one service."""
    services = await services_of(request, [number_of(request)])
    if not services:
        raise unknown(str(request.path_params["number"]))
    return _written(request, _form(request), services, None)


def wanted(request: Request) -> str:
    """Return the format that `f` names, else the first that Accept does, as `f` would name it; '' for none of them."""
    if "f" in request.query_params:
        return request.query_params["f"].lower()
    (accepted, _), *_ = preferences(request.headers.get("accept", "")) or [("", 0.0)]
    return _BY_TYPE.get(accepted, "")


def _form(request: Request) -> MetadataFormat:
    return FORMS[wanted(request)]


async def services_of(request: Request, numbers: Collection[int]) -> list[Service]:
    """Return services by their numbers, in the order of these, with texts fit for the public; the first ones, as many
    as an answer has room for."""

    def question(catalogue: Catalogue) -> list[Service]:
        services = {service.id: service for service in catalogue.read_services(Selection(ids=numbers))}
        return list(map(fit, within_chars(services[number] for number in numbers if number in services)))

    return await site_of(request).reader.read(question)


def fit(service: Service) -> Service:
    """Return a service without secrets in its texts."""
    texts: dict[str, Any] = {name: published(getattr(service, name)) for name in _TEXTS}
    return replace(service, **texts | {"keywords": tuple(texts["keywords"])})


def _written(request: Request, form: MetadataFormat, services: list[Service], page: HydraPage | None) -> Response:
    base = base_url(request)
    media_type = form.media_type_of_many if page and form.media_type_of_many else form.media_type
    return LazyResponse(lambda: form.write(services, base, page), 200, {}, media_type)
