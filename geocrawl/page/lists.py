"""Read the lists of data sets that portals have in JSON: one reader, and a declaration for each family of portals.

A declaration says by which members an answer is recognised, and where its items, their number and the next page stand.
What an item links is found in it wherever it stands: addresses with a protocol or format beside them that names a kind
of service, addresses that look like services, and those in its texts. All others (files, licences, pictures) are left
out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from geocrawl.formats.json import JsonObject, integer_of, one_or_more, string_of, text_of
from geocrawl.model import Url
from geocrawl.page.content import RawLink, of_records
from geocrawl.page.embedded import may_mention_services
from geocrawl.page.metadata import address_in, link
from geocrawl.page.naming import kind_among, may_be_service
from geocrawl.page.text import addresses_in_text
from geocrawl.urls import RECORDS, following_page, records_start, records_url, with_parameters


@dataclass(frozen=True, slots=True)
class ListForm:
    """How one family of portals answers: each member is a path of names, joined by dots."""

    signal: str
    """`Link.where` of what its items name."""
    signs: tuple[str, ...]
    """Members that an answer has, all of them."""
    items: tuple[str, ...]
    """Where the items stand: the first of these members that is a list."""
    total: str
    title: tuple[str, ...] = ("title", "name")
    organisation: tuple[str, ...] = ("organization", "publisher", "owner")
    following: str = ""
    """The address of the next page; '' when pages are named by numbers alone."""


LISTS = (
    ListForm(
        "opendatasoft", ("total_count", "results"), ("results", "datasets"), "total_count",
        ("metas.default.title", "dataset.metas.default.title"), ("metas.default.publisher",),
    ),
    ListForm("udata", ("total", "data", "page_size"), ("data",), "total", following="next_page"),
    ListForm(
        "geonode", ("total", "page_size", "links.next"), ("datasets", "resources", "layers", "services"), "total",
        following="links.next",
    ),
    ListForm("geonode", ("meta.total_count", "objects"), ("objects",), "meta.total_count", following="meta.next"),
    ListForm(
        "socrata", ("resultSetSize", "results"), ("results",), "resultSetSize",
        ("resource.name",), ("resource.attribution",),
    ),
    ListForm("piveau", ("result.count", "result.results"), ("result.results",), "result.count"),
    ListForm("esrigeoportal", ("hits.hits", "hits.total"), ("hits.hits",), "hits.total.value", ("_source.title",)),
)  # fmt: skip

_MOST_LINKS = 200
"""Most links read of one item."""
_MAX_NESTING = 10
_IDS = ("dataset_id", "id", "uuid", "pk", "resource.id", "_id", "dataset.dataset_id")
_FORMS = ("protocol", "link_type", "service_type", "format", "type", "mediaType", "media_type", "mime", "conformsTo")
_ADDRESS_NAME = re.compile(r"ur[il]s?\b|href|access|endpoint|service|link|download|reference|source", re.I)
_OTHER_NAME = re.compile(r"licen[cs]|thumb|logo|image|avatar|icon|page|schema|contact", re.I)


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of a list of records: what it states and holds."""

    form: ListForm
    items: list[JsonObject]
    total: int
    """Items that the whole list has, as the portal states it; -1 when it does not."""

    @property
    def ids(self) -> list[str]:
        """Return the identifier of each item; '' for one without."""
        return [next((text for name in _IDS if (text := text_of(_at(item, name)))), "") for item in self.items]


def page_of_list(data: JsonObject) -> ListPage | None:
    """Return a page of a portal's list; None for any other document."""
    form = next((form for form in LISTS if all(_has(data, sign) for sign in form.signs)), None)
    if form is None:
        return None
    items = one_or_more(next((found for name in form.items if isinstance(found := _at(data, name), list)), []))
    total = integer_of(_at(data, form.total))
    return ListPage(form, items, total if total >= len(items) else -1)


def read_list(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return the links of a page of a portal's list and the link to the next page; None for any other document."""
    page = page_of_list(data)
    if page is None:
        return None
    links = of_records(islice(_links(item, page.form), _MOST_LINKS) for item in page.items)
    following = _following(data, url, page)
    return [*links, *([RawLink(following, RECORDS, rel="next")] if following else [])]


def _following(data: JsonObject, url: Url, page: ListPage) -> str:
    """Return the address of the next page; '' when this one has no items, or is the last one."""
    form, returned, total = page.form, len(page.items), page.total
    stated = string_of(_at(data, form.following)) if form.following else ""
    if form.following or not returned:
        return stated if returned else ""
    if form.signal == "socrata" and "scroll_id=" in url.address:
        return with_parameters(url, {"scroll_id": page.ids[-1]}).address if page.ids[-1] else ""
    start = records_start(url)
    if start is not None:
        after = records_url(url, start + returned) if total < 0 or start + returned < total else None
    else:
        after = following_page(url, returned, total)
    return after.address if after is not None else ""


def _links(item: JsonObject, form: ListForm) -> Iterator[RawLink]:
    title = next((text for name in form.title if (text := string_of(_at(item, name)))), "")
    organisation = next(
        (text for name in form.organisation if (text := string_of(_at(item, name), "title", "name"))), ""
    )
    seen = set[str]()
    for href, own, kind in _addresses(item, 0):
        if href in seen:
            continue
        seen.add(href)
        yield link(href, form.signal, names=[title, own], descriptions=[organisation], kind=kind)


def _addresses(value: Any, depth: int) -> Iterator[tuple[str, str, str]]:
    """Yield each address in a value that may be a service, with the name and the kind that stand beside it."""
    if depth > _MAX_NESTING:
        return
    if isinstance(value, list):
        for inner in value:
            yield from _addresses(inner, depth + 1)
    elif isinstance(value, str):
        if "://" in value[:12] and len(value.split()) == 1:
            if may_be_service(value):
                yield value.strip(), "", ""
        elif may_mention_services(value.lower()):
            for found in addresses_in_text(value):
                yield found.href, found.anchor, found.kind
    elif isinstance(value, Mapping):
        kind = kind_among(*(string_of(value.get(form), "id", "label", "name") for form in _FORMS))
        own = string_of(value.get("name")) or string_of(value.get("title"))
        for key, inner in value.items():
            if kind and _ADDRESS_NAME.search(key) and not _OTHER_NAME.search(key):
                for text in inner if isinstance(inner, list) else [inner]:
                    if href := address_in(string_of(text)):
                        yield href, own, kind
            yield from _addresses(inner, depth + 1)


def _at(data: object, path: str) -> Any:
    """Return the value at the end of a path of names; None for none."""
    for name in path.split("."):
        data = data.get(name) if isinstance(data, Mapping) else None
    return data


def _has(data: JsonObject, path: str) -> bool:
    above, _, name = path.rpartition(".")
    holder = _at(data, above) if above else data
    return isinstance(holder, Mapping) and name in holder
