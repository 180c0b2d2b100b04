"""Read the documents of an OGC API: landing page, conformance, collections (OGC 17-069r4, 7; OGC 19-072).

A single collection is read, too, because an address may be that of a collection.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from geocrawl.formats.json import MAX_ITEMS, JsonObject, first_line, line_of, lines, list_of, objects, text_of
from geocrawl.model import Deviation, Item, Kind, Layer, Link, Page, Service, Url
from geocrawl.probe.answer import Finding
from geocrawl.probe.fingerprint import fingerprint
from geocrawl.probe.json.extents import spatial_extent, systems
from geocrawl.probe.json.kind import kind_of_json
from geocrawl.probe.json.links import links_of
from geocrawl.probe.ogcapi.blocks import block_keywords, declared_blocks, linked_blocks, version_of
from geocrawl.probe.ogcapi.documents import is_collection
from geocrawl.urls import RECORDS, with_parameters

MAX_PAGES = 50
"""Most collections of records whose pages are read."""


def read_ogcapi(page: Page, value: JsonObject) -> Finding | None:
    """Return the service that a document of an OGC API describes; None for other documents, such as STAC's."""
    if kind_of_json(value) is not Kind.OGCAPI:
        return None
    return Finding("ok", service=Description(page.final).with_document(value).service())


@dataclass(frozen=True, slots=True)
class Description:
    """The description of one API by the documents read so far."""

    base: Url
    title: str = ""
    abstract: str = ""
    keywords: tuple[str, ...] = ()
    provider: str = ""
    licence: str = ""
    declared: dict[str, str] = field(default_factory=dict)
    linked: frozenset[str] = frozenset()
    collections: tuple[Layer, ...] = ()
    pages: tuple[Link, ...] = ()
    codes: tuple[str, ...] = ()

    def with_document(self, value: JsonObject) -> Description:
        """Return the description extended by another document; a landing page may contain everything at once."""
        listed = objects(value.get("collections"))[:MAX_ITEMS] or ([value] if is_collection(value) else [])
        known = lines(value.get("crs"))
        read = [_collection(each, self.base, known) for each in listed]
        return replace(
            self,
            title=self.title or line_of(value.get("title")),
            abstract=self.abstract or text_of(value.get("description")),
            keywords=self.keywords or _keywords(value),
            provider=self.provider or _provider(value),
            licence=self.licence or first_line(value, "license", "licence", "attribution"),
            declared={**declared_blocks(value), **self.declared},
            linked=self.linked.union(linked_blocks(value), *map(linked_blocks, listed)),
            collections=self.collections or tuple(layer for layer, _ in read),
            pages=self.pages or _pages(listed, self.base),
            codes=(*self.codes, *(code for _, codes in read for code in codes)),
        )

    def service(self) -> Service:
        """Return the API as a service."""
        blocks = {*self.declared, *self.linked}
        service = Service(
            kind=Kind.OGCAPI,
            version=version_of(self.declared),
            title=self.title,
            abstract=self.abstract,
            keywords=tuple(dict.fromkeys((*self.keywords, *block_keywords(blocks)))),
            provider=self.provider,
            access_constraints=self.licence,
            formats=tuple(dict.fromkeys(name for each in self.collections for name in each.formats)),
            layers=self.collections,
        )
        return replace(service, fingerprint=fingerprint(service))

    def deviations(self) -> list[Deviation]:
        """Return the deviations that were corrected in the collections: one for each code, with a count."""
        return [Deviation(code, f"{self.codes.count(code)} collections") for code in dict.fromkeys(self.codes)]


def _keywords(value: JsonObject) -> tuple[str, ...]:
    """Return keywords, which are plain texts, or objects with a `keyword` in each."""
    return lines([each.get("keyword") if isinstance(each, dict) else each for each in list_of(value.get("keywords"))])


def _provider(value: JsonObject) -> str:
    """Return the organisation that provides an API: `provider`, the first of `providers`, or the point of contact."""
    named = [value.get("provider"), value.get("contactPoint"), *list_of(value.get("providers"))[:1]]
    for each in named:
        if line := first_line(each, "name", "organization") if isinstance(each, dict) else line_of(each):
            return line
    return ""


def _collection(value: JsonObject, base: Url, known: Iterable[str]) -> tuple[Layer, tuple[str, ...]]:
    box, codes = spatial_extent(value)
    shared = tuple(known) if "#/crs" in list_of(value.get("crs")) else ()
    layer = Layer(
        name=first_line(value, "id", "name"),
        title=first_line(value, "title", "id", "name"),
        abstract=text_of(value.get("description")),
        crs=tuple(dict.fromkeys((*systems({"crs": list(shared)}), *systems(value)))),
        box=box,
        keywords=_keywords(value),
        item=Item.COLLECTION,
        formats=_formats(value, base),
    )
    return layer, codes


def _formats(value: JsonObject, base: Url) -> tuple[str, ...]:
    """Return media types of a collection's items, coverages and maps, without pages for people."""
    content = ("items", "coverage", "map", "tilesets-vector", "tilesets-map")
    found = (link.media_type for link in links_of(value, base) if link.rel.rpartition("/")[2] in content)
    return tuple(dict.fromkeys(name for name in found if name and name != "text/html"))


def _pages(collections: Iterable[JsonObject], base: Url) -> tuple[Link, ...]:
    """Return the first page of each collection of records, asked for as JSON whatever the browser's Accept says."""
    found = []
    for value in collections:
        if value.get("itemType") not in ("record", "records"):
            continue
        items = [link for link in links_of(value, base) if link.rel.rpartition("/")[2] == "items"]
        items.sort(key=lambda link: "json" not in link.media_type)
        if items:
            url = items[0].url if "f=" in items[0].url.address else with_parameters(items[0].url, {"f": "json"})
            title = first_line(value, "title", "id")
            found.append(Link(url, title, _provider(value), "items", RECORDS))
    return tuple(found[:MAX_PAGES])
