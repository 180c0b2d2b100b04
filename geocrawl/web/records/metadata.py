"""Answer services as records of other standards, for catalogues that harvest this one: one, or what a search finds."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.dcat import Page, write_jsonld, write_turtle
from geocrawl.model.published import PublishedService
from geocrawl.store import Connection
from geocrawl.store.read.published import Selection, published_services
from geocrawl.web.answers import Later, preferences
from geocrawl.web.downloads import numbers_found
from geocrawl.web.parameters import read_asked
from geocrawl.web.publishing import published
from geocrawl.web.reader import number_of, unknown
from geocrawl.web.site import ITEMS, base_url, site_of

_TEXTS = ("title", "abstract", "provider", "keywords", "fees", "access_constraints", "contact", "online_resource")
Write = Callable[[Iterable[PublishedService], io.StringIO, str, Page | None], int]


class Form(NamedTuple):
    """A standard in which services are described."""

    media_type: str
    write: Write


FORMS: Mapping[str, Form] = {
    "dcat": Form("text/turtle", write_turtle),
    "jsonld": Form("application/ld+json", write_jsonld),
}
"""Value of `f` → the standard."""
_BY_TYPE = {form.media_type: name for name, form in FORMS.items()}


async def found(request: Request) -> Response:
    """Return what a search finds, page by page; a page names the next one (Hydra)."""
    asked, form = read_asked(request, time.time()), _form(request)
    numbers = await numbers_found(request, asked)
    services = await _read(request, numbers)
    place = f"{base_url(request)}{ITEMS}"
    following = f"{place}?{request.url.include_query_params(offset=asked.offset + asked.limit).query}"
    page = Page(f"{place}?{request.url.query}", following if len(numbers) == asked.limit else "")
    return _written(request, form, services, page)


async def one(request: Request) -> Response:
    """Return one service."""
    services = await _read(request, [number_of(request)])
    if not services:
        raise unknown(str(request.path_params["number"]))
    return _written(request, _form(request), services, None)


def wanted(request: Request) -> str:
    """Return the format that `f` names, else the first that Accept does, as `f` would name it; '' for none of them."""
    if "f" in request.query_params:
        return request.query_params["f"].lower()
    (accepted, _), *_ = preferences(request.headers.get("accept", "")) or [("", 0.0)]
    return _BY_TYPE.get(accepted, "")


def _form(request: Request) -> Form:
    return FORMS[wanted(request)]


async def _read(request: Request, numbers: Collection[int]) -> list[PublishedService]:
    """Return services by their numbers, in the order of these, with texts fit for the public."""

    def question(connection: Connection) -> dict[int, PublishedService]:
        return {each.id: fit(each) for each in published_services(connection, Selection(ids=numbers))}

    services = await site_of(request).reader.read(question)
    return [services[number] for number in numbers if number in services]


def fit(service: PublishedService) -> PublishedService:
    """Return a service without secrets in its texts."""
    texts: dict[str, Any] = {name: published(getattr(service, name)) for name in _TEXTS}
    return replace(service, **texts | {"keywords": tuple(texts["keywords"])})


def _written(request: Request, form: Form, services: list[PublishedService], page: Page | None) -> Response:
    base = base_url(request)

    def make() -> bytes:
        stream = io.StringIO()
        form.write(services, stream, base, page)
        return stream.getvalue().encode("utf-8", "replace")

    return Later(make, 200, {}, form.media_type)
