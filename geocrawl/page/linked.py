"""Read JSON documents with lists of links: STAC and OGC API, including catalogues of records (OGC 20-004r1).

A record's links are the resources that it describes. A catalogue's own relations lead to more of the catalogue: `next`,
collections of records and, in STAC, child catalogues. Items of a collection are data, not services, and are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.formats.json import JsonObject, member, object_of, one_or_more, string_of
from geocrawl.model import Url
from geocrawl.model.kinds import service_parameter
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.naming import kind_among
from geocrawl.urls import RECORDS, read_url

SIGNAL = "records"
STAC_SIGNAL = "stac"
API_SIGNAL = "ogcapi"
_MAX_CHILDREN = 100
"""Most child catalogues linked from one page; some STAC catalogues have thousands."""
_SELF = frozenset(
    {"self", "root", "parent", "collection", "alternate", "canonical", "license", "item", "prev", "previous"}
)
_RECORD_TYPES = frozenset({"record", "dataset", "service", "catalog", "datacollection"})


def read_linked(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links of a landing page, list of collections, catalogue or page of records; None for other documents."""
    if not isinstance(data.get("links"), list) and "collections" not in data and "features" not in data:
        return None
    own = one_or_more(data.get("links"))
    records = one_or_more(data.get("features"))
    if not any("href" in each for each in own) and not records and not one_or_more(data.get("collections")):
        return None
    stac = _is_stac(data)
    found = [each for record in records if not stac for each in _record(record)]
    found += _record(data) if data.get("type") == "Feature" and not stac else []
    more = _more_of_stac(data, own) if stac else _more_of_records(data, own)
    if stac:
        found += _root_of_stac(own, url)
    named = _services(data, STAC_SIGNAL if stac else API_SIGNAL)
    rest = [_plain(each, STAC_SIGNAL if stac else API_SIGNAL) for each in own if _leads_on(each)]
    return [*found, *more, *named, *rest]


def _is_stac(data: JsonObject) -> bool:
    conforms = data.get("conformsTo")
    if "stac_version" in data or (isinstance(conforms, list) and any("stacspec.org" in str(each) for each in conforms)):
        return True
    listed = (one_or_more(data.get(name))[:1] for name in ("features", "collections"))
    return any("stac_version" in each for first in listed for each in first)


def _record(record: JsonObject) -> Iterator[RawLink]:
    """Yield the links of a record to the resources that it describes (OGC 20-004r1, 7.2.6), by `type` or protocol."""
    properties = object_of(record.get("properties"))
    title, organisation = string_of(properties.get("title")), _organisation(properties)
    lists = (record.get("links"), properties.get("associations"), record.get("linkTemplates"))
    for each in (each for listed in lists for each in one_or_more(listed)):
        if string_of(each.get("rel")) in _SELF - {"item"}:
            continue
        href = string_of(each.get("href")) or string_of(each.get("uriTemplate"))
        if href and "{" not in href:
            stated = [string_of(each.get(name)) for name in ("protocol", "type", "rel", "conformsTo", "name")]
            yield link(
                href,
                SIGNAL,
                names=[title, string_of(each.get("title")), stated[0]],
                descriptions=[organisation, string_of(properties.get("description"))],
                kind=kind_among(*stated),
            )


def _organisation(properties: JsonObject) -> str:
    for name in ("contacts", "providers", "publisher"):
        if found := string_of(properties.get(name), "organization", "name"):
            return found
    return ""


def _more_of_stac(data: JsonObject, own: list[JsonObject]) -> Iterator[RawLink]:
    """Yield child catalogues and, of an API, its list of collections with the following pages."""
    is_items = data.get("type") == "FeatureCollection"
    is_api = any(string_of(each.get("rel")) == "data" for each in own)  # its list of collections contains them all
    children = [each for each in own if string_of(each.get("rel")) == ("data" if is_api else "child")]
    following = [each for each in own if string_of(each.get("rel")) == "next" and not is_items]
    for each in (each for each in [*children[:_MAX_CHILDREN], *following] if "html" not in string_of(each.get("type"))):
        yield RawLink(
            string_of(each.get("href")), RECORDS, string_of(each.get("title"))[:300], rel=string_of(each.get("rel"))
        )


def _root_of_stac(own: list[JsonObject], url: Url) -> Iterator[RawLink]:
    """Yield the root catalogue of a child, a collection, an item or a page of items: the service to be asked.

    A document without a root names its parent or collection, which names the root.
    """
    named = {string_of(each.get("rel")): each for each in reversed(own) if string_of(each.get("href"))}
    above = next((named[rel] for rel in ("root", "parent", "collection") if rel in named), None)
    if above is not None:
        href = string_of(above.get("href"))
        target = read_url(href, url)
        if target is not None and target.identity != url.identity:
            yield RawLink(href, STAC_SIGNAL, string_of(above.get("title"))[:300], rel="root", kind="stac")


def _services(data: JsonObject, where: str) -> Iterator[RawLink]:
    """Yield services that collections name besides their items (STAC's web map links: rel `wms`, `wmts`)."""
    for collection in [data, *one_or_more(data.get("collections"))]:
        for each in one_or_more(collection.get("links")):
            kind = kind_among(string_of(each.get("rel")), string_of(each.get("type")))
            # Relations that name a kind requested by path are the API's own.
            if kind and service_parameter(kind) and (href := string_of(each.get("href"))):
                names = [string_of(collection.get("title")), string_of(each.get("title"))]
                yield link(href, where, names=names, descriptions=[string_of(collection.get("description"))], kind=kind)


def _more_of_records(data: JsonObject, own: list[JsonObject]) -> Iterator[RawLink]:
    """Yield collections of records, and the next page of one."""
    for collection in one_or_more(data.get("collections")):
        yield from _items(collection)
    yield from _items(data)
    if any(_is_record(each) for each in one_or_more(data.get("features"))):
        for each in own:
            if string_of(each.get("rel")) == "next":
                yield RawLink(string_of(each.get("href")), RECORDS)


def _items(collection: JsonObject) -> Iterator[RawLink]:
    """Yield the first page of a collection whose items are records (OGC 20-004r1, 8.2)."""
    if string_of(collection.get("itemType")).lower() not in ("record", "records"):
        return
    for each in one_or_more(collection.get("links")):
        if string_of(each.get("rel")) == "items" and "html" not in string_of(each.get("type")):
            yield RawLink(string_of(each.get("href")), RECORDS, anchor=string_of(collection.get("title")))


def _is_record(feature: JsonObject) -> bool:
    return string_of(member(feature, "properties").get("type")).lower() in _RECORD_TYPES


def _leads_on(each: JsonObject) -> bool:
    return string_of(each.get("rel")) not in _SELF | {"next", "child"} and bool(string_of(each.get("href")))


def _plain(each: JsonObject, where: str) -> RawLink:
    """Return any other link of the document, such as a description, a service, or terms of use."""
    return RawLink(
        string_of(each.get("href")), where, string_of(each.get("title"))[:300], rel=string_of(each.get("rel"))[:100]
    )
