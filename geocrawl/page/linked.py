"""Documents that lead on by a list of links: STAC and OGC API, among them catalogues of records (OGC 20-004r1).

A record's links are what it names. A catalogue's own relations lead to more of it: `next`, collections of records and,
in STAC, child catalogues; items of a collection are data, not services, and are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geocrawl.model import Url
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.protocols import kind_among
from geocrawl.page.values import objects, text_of
from geocrawl.urls import RECORDS

SIGNAL = "records"
STAC_SIGNAL = "stac"
API_SIGNAL = "ogcapi"
_MAX_CHILDREN = 100
"""Child catalogues of one page that are read as a catalogue's; there are STAC catalogues with thousands."""
_SELF = frozenset(
    {"self", "root", "parent", "collection", "alternate", "canonical", "license", "item", "prev", "previous"}
)
_NAMED_BY_RELATION = frozenset({"wms", "wmts", "wfs", "wcs"})
_RECORD_TYPES = frozenset({"record", "dataset", "service", "catalog", "datacollection"})


def read_linked(data: dict[str, Any], url: Url) -> list[RawLink] | None:
    """Links of a landing page, a list of collections, a catalogue or a page of records; None for any other document."""
    if not isinstance(data.get("links"), list) and "collections" not in data and "features" not in data:
        return None
    own = objects(data.get("links"))
    records = objects(data.get("features"))
    if not any("href" in each for each in own) and not records and not objects(data.get("collections")):
        return None
    stac = _is_stac(data)
    found = [each for record in records if not stac for each in _record(record)]
    found += _record(data) if data.get("type") == "Feature" and not stac else []
    more = _more_of_stac(data, own) if stac else _more_of_records(data, own)
    named = _services(data, STAC_SIGNAL if stac else API_SIGNAL)
    rest = [_plain(each, STAC_SIGNAL if stac else API_SIGNAL) for each in own if _leads_on(each)]
    return [*found, *more, *named, *rest]


def _is_stac(data: dict[str, Any]) -> bool:
    conforms = data.get("conformsTo")
    if "stac_version" in data or (isinstance(conforms, list) and any("stacspec.org" in str(each) for each in conforms)):
        return True
    return any("stac_version" in each for name in ("features", "collections") for each in objects(data.get(name))[:1])


def _record(record: dict[str, Any]) -> Iterator[RawLink]:
    """The links of a record that say what it describes (OGC 20-004r1, 7.2.6), by `type` or protocol."""
    properties = record.get("properties")
    said = properties if isinstance(properties, dict) else {}
    title, organisation = text_of(said.get("title")), _organisation(said)
    links = [*objects(record.get("links")), *objects(said.get("associations")), *objects(record.get("linkTemplates"))]
    for each in links:
        if text_of(each.get("rel")) in _SELF - {"item"}:
            continue
        href = text_of(each.get("href")) or text_of(each.get("uriTemplate"))
        if href and "{" not in href:
            stated = [text_of(each.get(name)) for name in ("protocol", "type", "rel", "conformsTo", "name")]
            yield link(
                href,
                SIGNAL,
                names=[title, text_of(each.get("title")), stated[0]],
                said_of_it=[organisation, text_of(said.get("description"))],
                kind=kind_among(*stated),
            )


def _organisation(properties: dict[str, Any]) -> str:
    for name in ("contacts", "providers", "publisher"):
        if found := text_of(properties.get(name), "organization", "name"):
            return found
    return ""


def _more_of_stac(data: dict[str, Any], own: list[dict[str, Any]]) -> Iterator[RawLink]:
    """Child catalogues and, of an API, its list of collections with the pages behind."""
    is_items = data.get("type") == "FeatureCollection"
    is_api = any(text_of(each.get("rel")) == "data" for each in own)  # its list of collections says all of them
    children = [each for each in own if text_of(each.get("rel")) == ("data" if is_api else "child")]
    following = [each for each in own if text_of(each.get("rel")) == "next" and not is_items]
    for each in (each for each in [*children[:_MAX_CHILDREN], *following] if "html" not in text_of(each.get("type"))):
        yield RawLink(
            text_of(each.get("href")), RECORDS, text_of(each.get("title"))[:300], rel=text_of(each.get("rel"))
        )


def _services(data: dict[str, Any], where: str) -> Iterator[RawLink]:
    """Services that collections name beside their items (STAC's web map links: rel `wms`, `wmts`)."""
    for collection in [data, *objects(data.get("collections"))]:
        for each in objects(collection.get("links")):
            kind = kind_among(text_of(each.get("rel")), text_of(each.get("type")))
            if kind in _NAMED_BY_RELATION and (href := text_of(each.get("href"))):
                names = [text_of(collection.get("title")), text_of(each.get("title"))]
                yield link(href, where, names=names, said_of_it=[text_of(collection.get("description"))], kind=kind)


def _more_of_records(data: dict[str, Any], own: list[dict[str, Any]]) -> Iterator[RawLink]:
    """Collections of records, and the page behind one of records."""
    for collection in objects(data.get("collections")):
        yield from _items(collection)
    yield from _items(data)
    if any(_is_record(each) for each in objects(data.get("features"))):
        for each in own:
            if text_of(each.get("rel")) == "next":
                yield RawLink(text_of(each.get("href")), RECORDS)


def _items(collection: dict[str, Any]) -> Iterator[RawLink]:
    """The first page of a collection whose items are records (OGC 20-004r1, 8.2)."""
    if text_of(collection.get("itemType")).lower() not in ("record", "records"):
        return
    for each in objects(collection.get("links")):
        if text_of(each.get("rel")) == "items" and "html" not in text_of(each.get("type")):
            yield RawLink(text_of(each.get("href")), RECORDS, anchor=text_of(collection.get("title")))


def _is_record(feature: dict[str, Any]) -> bool:
    properties = feature.get("properties")
    return isinstance(properties, dict) and text_of(properties.get("type")).lower() in _RECORD_TYPES


def _leads_on(each: dict[str, Any]) -> bool:
    return text_of(each.get("rel")) not in _SELF | {"next", "child"} and bool(text_of(each.get("href")))


def _plain(each: dict[str, Any], where: str) -> RawLink:
    """Any other link of the document: a description, a service, its terms."""
    return RawLink(
        text_of(each.get("href")), where, text_of(each.get("title"))[:300], rel=text_of(each.get("rel"))[:100]
    )
