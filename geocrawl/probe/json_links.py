"""Read links of OGC API and STAC documents (RFC 8288 in JSON): `{"rel": …, "href": …, "type": …, "title": …}`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from geocrawl.formats.json import MAX_ITEMS, JsonObject, line_of, list_of, member, object_of, objects, text_of
from geocrawl.model import Url
from geocrawl.probe.extents import NO_BOX, Box, crs_code, in_system
from geocrawl.urls import read_url, with_parameters


@dataclass(frozen=True, slots=True)
class WebLink:
    """One link of a document."""

    rel: str
    url: Url
    media_type: str
    """Lower case, without parameters; '' when it names none."""
    title: str


def links_of(value: JsonObject, base: Url) -> Iterator[WebLink]:
    """Yield the links of a document at `base` that lead to an address, in order."""
    for link in objects(value.get("links")):
        href, rel = link.get("href"), link.get("rel")
        url = read_url(href.strip(), base) if isinstance(href, str) and href.strip() else None
        if url is not None and isinstance(rel, str):
            media_type = text_of(link.get("type")).partition(";")[0].strip().lower()
            yield WebLink(rel.strip(), url, media_type, line_of(link.get("title")))


def relations(value: JsonObject) -> frozenset[str]:
    """Return the relations of a document's links, including links without an address."""
    return frozenset(rel for link in objects(value.get("links")) if isinstance(rel := link.get("rel"), str))


def linked(value: JsonObject, base: Url, rels: Collection[str]) -> Url | None:
    """Return the address of the first link of these relations to JSON, on the host of `base`; None for none.

    If the only link is to a page for people, that page is requested as JSON.
    """
    found = [link for link in links_of(value, base) if link.rel in rels]
    if not found:
        return None
    best = min(found, key=lambda link: _unlikeness(link.media_type))
    url = on_host_of(best.url, base, _own(value, base))
    return with_parameters(url, {"f": "json"}) if best.media_type == "text/html" else url


def _unlikeness(media_type: str) -> int:
    """Return 0 for plain JSON, 1 for another form of it, 2 for an unnamed type, 3 for all others."""
    if media_type in ("application/json", "application/geo+json"):
        return 0
    return 1 if media_type.endswith("json") else 2 if not media_type else 3


def _own(value: JsonObject, base: Url) -> Url | None:
    return next((link.url for link in links_of(value, base) if link.rel == "self"), None)


def on_host_of(url: Url, base: Url, own: Url | None) -> Url:
    """Return the address on the host that answered, if a document names an internal host (`localhost` …).

    `own`: the document's address by its own link; a prefix of its path is then replaced, too.
    """
    if url.host == base.host:
        return url
    path = url.address[len(url.origin) :]
    if own is not None and own.host == url.host:
        before, after = _place(own), _place(base)
        if path.startswith(before):
            path = after + path[len(before) :]
    return read_url(base.origin + path) or url


def _place(url: Url) -> str:
    """Return the path without a slash at its end."""
    return url.address[len(url.origin) :].partition("?")[0].rstrip("/")


# --------------------------------------------------------------------------- extents of collections


def spatial_extent(value: JsonObject) -> Box:
    """Return the box of a collection: `extent.spatial.bbox` is a list of boxes, the first one for the whole.

    Older collections (OGC 17-069 drafts, STAC 0.6 to 0.8) have a single box in `extent.spatial` or `extent.bbox`.
    """
    extent = member(value, "extent")
    spatial = extent.get("spatial", extent)
    box = _first_box(object_of(spatial).get("bbox", spatial))
    if len(box) not in (4, 6):
        return NO_BOX
    half = len(box) // 2
    return in_system(_code(object_of(spatial).get("crs")) or "CRS:84", box[0], box[1], box[half], box[half + 1])


def _first_box(value: Any) -> Sequence[object]:
    boxes = list_of(value)
    return list_of(boxes[0]) if boxes and isinstance(boxes[0], list) else boxes


def systems(value: JsonObject) -> tuple[str, ...]:
    """Return the codes that a collection's `crs` and `storageCrs` name: `EPSG:3857` for …/def/crs/EPSG/0/3857."""
    named = value.get("crs")
    found = [*(named[:MAX_ITEMS] if isinstance(named, list) else [named]), value.get("storageCrs")]
    return tuple(dict.fromkeys(code for each in found if (code := _code(each))))


def _code(name: object) -> str:
    """Return a short code for the name of a reference system; '' for none, and for a reference within the document."""
    text = text_of(name).strip("[]")
    return "" if text.startswith("#") else crs_code(text)
