"""Read the documents of a STAC: catalogues, collections, landing pages and lists of collections (STAC 0.6 to 1.1).

pystac is not used: it builds whole objects, refuses documents without a required member, and fetches links.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from geocrawl.formats.json import (
    MAX_ITEMS,
    JsonObject,
    first_line,
    line_of,
    lines,
    member,
    object_of,
    objects,
    text_of,
)
from geocrawl.model import Deviation, Item, Kind, Layer, Link, Page, Service, Url
from geocrawl.probe.answer import Finding
from geocrawl.probe.fingerprint import fingerprint
from geocrawl.probe.json.extents import spatial_extent
from geocrawl.probe.json.kind import kind_of_json
from geocrawl.probe.json.links import WebLink, links_of
from geocrawl.urls import RECORDS

MAX_PAGES = 50
"""Most children of one catalogue that are read as pages."""
_PAGES = ("child", "data")
"""Relations whose targets are further parts of the catalogue."""


def read_stac(page: Page, value: JsonObject) -> Finding | None:
    """Return the service that a document of a STAC describes; None for any other document, such as an item."""
    if kind_of_json(value) is not Kind.STAC:
        return None
    layers, codes = _contents(value, page.final)
    service = Service(
        kind=Kind.STAC,
        version=line_of(value.get("stac_version")),
        title=first_line(value, "title", "id"),
        abstract=text_of(value.get("description")),
        keywords=lines(value.get("keywords")),
        provider=_provider(value),
        access_constraints=line_of(value.get("license")),
        formats=_formats(value),
        layers=layers,
    )
    deviations = tuple(Deviation(code, f"{codes.count(code)} collections") for code in dict.fromkeys(codes))
    form = "api" if "conformsTo" in value else line_of(value.get("type")).lower() or "catalogue"
    return Finding("ok", form, replace(service, fingerprint=fingerprint(service)), deviations)


def with_collections(service: Service, value: JsonObject, url: Url) -> Service:
    """Return a landing page's service with the list of collections instead of the links to children."""
    layers, _ = _contents(value, url)
    if not layers:
        return service
    formats = tuple(dict.fromkeys((*service.formats, *(name for layer in layers for name in layer.formats))))
    service = replace(service, layers=layers, formats=formats)
    return replace(service, fingerprint=fingerprint(service))


def _contents(value: JsonObject, url: Url) -> tuple[tuple[Layer, ...], list[str]]:
    """Return the collections of a document, itself first when it is one; else the catalogues that it links to."""
    listed = objects(value.get("collections"))[:MAX_ITEMS] or ([value] if "extent" in value else [])
    read = [_collection(each) for each in listed]
    children = [_child(link) for link in islice(links_of(value, url), MAX_ITEMS) if link.rel == "child"]
    layers = [*(layer for layer, _ in read), *(children if "collections" not in value else [])]
    return tuple(layers[:MAX_ITEMS]), [code for _, codes in read for code in codes]


def _collection(value: JsonObject) -> tuple[Layer, tuple[str, ...]]:
    box, codes = spatial_extent(value)
    layer = Layer(
        name=line_of(value.get("id")),
        title=first_line(value, "title", "id"),
        abstract=text_of(value.get("description")),
        box=box,
        keywords=lines(value.get("keywords")),
        item=Item.COLLECTION,
        formats=_formats(value),
    )
    return layer, codes


def _child(link: WebLink) -> Layer:
    """Return a child by its title in the catalogue and its name in the address."""
    place = link.url.address.partition("?")[0].rstrip("/").rpartition("/")
    name = place[0].rpartition("/")[2] if place[2].endswith(".json") else place[2]
    return Layer(name=name[:200], title=link.title or name[:200], item=Item.FOLDER)


def _provider(value: JsonObject) -> str:
    """Return the first provider that has a name (STAC 1.0, Collection: `providers`)."""
    return next((name for each in objects(value.get("providers")) if (name := line_of(each.get("name")))), "")


def _formats(value: JsonObject) -> tuple[str, ...]:
    """Return media types of the assets of a collection's items (`item_assets`)."""
    assets = object_of(value.get("item_assets")) or member(value, "summaries", "item_assets")
    found = (line_of(object_of(each).get("type")) for each in list(assets.values())[:1000])
    return tuple(dict.fromkeys(name for name in found if name))


# --------------------------------------------------------------------------- further pages


def pages_of(value: JsonObject, url: Url) -> tuple[Link, ...]:
    """Return links to further parts of the catalogue, at most `MAX_PAGES`: children, and an API's list of collections.

    Items are data, not services, and are ignored.
    """
    provider = _provider(value)
    found = {
        link.url.identity: Link(link.url, link.title, provider, link.rel, RECORDS)
        for link in links_of(value, url)
        if link.rel in _PAGES and link.url.identity != url.identity and link.media_type != "text/html"
    }
    return tuple(found.values())[:MAX_PAGES]
