"""Classify one answer to a request for a JSON document, for all kinds, and read the links in it.

As with capabilities (`answer`), the status and the Content-Type are noted, not believed. A body that begins with `<` is
read as XML, so pages, exceptions and capabilities of another kind are classified by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from geocrawl.formats.json import (
    MAX_ITEMS,
    JsonObject,
    first_line,
    line_of,
    lines,
    list_of,
    member,
    number_of,
    object_of,
    objects,
    read_json,
    text_of,
)
from geocrawl.formats.text import unescape_html
from geocrawl.model import Deviation, Failure, Item, Layer, Page, Url
from geocrawl.model.times import Times, read_interval
from geocrawl.probe.answer import Classification, answer_deviations, by_status, rejection, without_body
from geocrawl.probe.extents import NO_BOX, Box, crs_code, in_system
from geocrawl.probe.interview import ClassifiedAnswer, Question
from geocrawl.probe.levels import stated_scales
from geocrawl.probe.ows.addresses import is_inner
from geocrawl.probe.registry import kind_of_json
from geocrawl.probe.stream import read_whole
from geocrawl.urls import read_url, with_parameters

_FRONT_BYTES = 65_536
_WARNING_BEFORE = re.compile(rb'(?:<br ?/?>|</?b>|[^<>{}])*+\{\s{0,100}"')
"""Lines that PHP writes before an object."""
_DENIED = frozenset({"401", "403", "498", "499"})
"""HTTP's codes, and ArcGIS's `Invalid Token` and `Token Required`."""

ReadJson = Callable[[Page, JsonObject], Classification | None]
"""Function that reads a document of the requested kind; returns None for another document."""


def examine_json(page: Page, read: ReadJson) -> Classification:
    """Classify an answer. Never raises, whatever the body."""
    if (refused := _without_json(page)) is not None:
        return refused
    if page.cut:
        return Classification("over-limit", f"more than {len(page.body)} bytes of JSON")
    reading = read_json(page.body, page.headers.get("content-type", ""))
    if reading.value is None:
        return by_status(page) or Classification(reading.fault, reading.detail, deviations=reading.deviations)
    classification = read(page, reading.value)
    if classification is None:
        return _other_object(page, reading.value)
    deviations = (*answer_deviations(page, is_json=True), *reading.deviations, *classification.deviations)
    return replace(classification, deviations=deviations, value=reading.value)


def _without_json(page: Page) -> Classification | None:
    """Classify an answer with no body or with markup; return None for any other answer."""
    if (absent := without_body(page)) is not None:
        return absent
    body = page.body[:_FRONT_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if body.startswith(b"<") and not _WARNING_BEFORE.match(body):
        return rejection(page, read_whole(page))
    return None


def json_of(page: Page | Failure) -> JsonObject | None:
    """Return the object in a success, for the further questions of an interview; None for anything else."""
    if isinstance(page, Failure) or page.location is not None or not 200 <= page.status < 300:
        return None
    return read_json(page.body, page.headers.get("content-type", "")).value


def error_of(value: JsonObject) -> tuple[str, str] | None:
    """Return (code, message) of an error in JSON; None for any other object.

    ArcGIS sends `{"error": {"code": …, "message": …}}` with 200, OGC APIs `{"code": …, "description": …}` or a problem
    (RFC 9457).
    """
    error = value.get("error")
    if isinstance(error, str):
        return "", line_of(error)
    inner = object_of(error) or value
    message = first_line(inner, "message", "description", "detail", "title")
    if not error and not (message and "links" not in value and _names_an_error(value)):
        return None
    details = " ".join(lines(inner.get("details")))
    return first_line(inner, "code", "status"), f"{message} {details}".strip()


def _names_an_error(value: JsonObject) -> bool:
    """Return whether an object contains a proprietary error code, or an HTTP status that is an error."""
    status = number_of(value.get("status"))
    return isinstance(value.get("code"), (str, int)) or (status is not None and status >= 400)


def _other_object(page: Page, value: JsonObject) -> Classification:
    """Classify an answer in JSON that is not the kind's document."""
    if (error := error_of(value)) is not None:
        code, message = error
        if code in _DENIED or page.status in (401, 403):
            return Classification("protected", f"{code or page.status} {message}")
        return by_status(page) or Classification("exception", f"{code} {message}".strip())
    if (refused := by_status(page)) is not None:
        return refused
    if (kind := kind_of_json(value)) is not None:
        return Classification("other-kind", f"a document of {kind}", other_kind=kind)
    return Classification("not-capabilities", f"JSON with {', '.join(list(value)[:12])}")


# --------------------------------------------------------------------------- requests in several forms


FOR_PEOPLE = frozenset({"html", "empty", "not-json", "http-406"})
"""Reasons that may change when the document is requested in another form."""
_LOOK_BYTES = 65_536
_LINK = re.compile(r"<(?:link|a)\s[^<>]{1,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\b(rel|type|href)\s*=\s*(?:"([^"<>]{0,1500})"|'([^'<>]{0,1500})')""", re.IGNORECASE)


def plain_then_json(endpoint: Url) -> tuple[Question, ...]:
    """Return the address unchanged, and after a page for people the JSON that it links to, else `f=json`."""

    def as_json(first: ClassifiedAnswer) -> Url:
        stated = stated_json(first.page) if isinstance(first.page, Page) else None
        return stated or with_parameters(endpoint, {"f": "json"})

    return Question(endpoint), Question(as_json, FOR_PEOPLE)


def stated_json(page: Page) -> Url | None:
    """Return the address of the JSON form that a page names: `<link rel="alternate" type="application/json">`.

    None without such an address on the page's host.
    """
    for tag in _LINK.finditer(page.body[:_LOOK_BYTES].decode("utf-8", "replace")):
        found = {name.lower(): unescape_html(one or other).strip() for name, one, other in _ATTRIBUTE.findall(tag[0])}
        if "alternate" in found.get("rel", "").lower().split() and found.get("type", "").lower() == "application/json":
            url = read_url(found.get("href", ""), page.final)
            if url is not None and url.host == page.final.host and url != page.url:
                return url
    return None


# --------------------------------------------------------------------------- links


@dataclass(frozen=True, slots=True)
class WebLink:
    """A link that a JSON document contains (RFC 8288)."""

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


def licence_in(value: JsonObject, base: Url, parts: Sequence[JsonObject] = ()) -> str:
    """Return the licence that a document states: its text, with the address of its link `license` (RFC 4946) where the
    text is empty or names none; else the one licence that all its `parts`, collections, state."""
    text = first_line(value, "license", "licence", "attribution")
    if text.lower() in _NO_LICENCE:
        address = next((link.url.address for link in links_of(value, base) if link.rel == "license"), "")
        text = "; ".join(filter(None, (text, address)))
    stated = {licence_in(part, base) for part in parts} if parts and not text else set()
    return stated.pop() if len(stated) == 1 else text


_NO_LICENCE = ("", "other", "various", "proprietary")
"""Texts that name no licence: with them STAC refers to links (1.0 and 1.1, License)."""


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

    `own`: the document's address by its own link; a prefix of its path is then replaced, too. A document that knows the
    host that answered means another one where it names it.
    """
    if url.host == base.host or (own is not None and own.host == base.host and not is_inner(url.host)):
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


def temporal_extent(value: JsonObject) -> Times | None:
    """Return the times of a collection: `extent.temporal.interval` is a list of intervals, the first one for the whole.

    Older collections (STAC 0.6 to 0.8) have a single interval in `extent.temporal`."""
    temporal = member(value, "extent").get("temporal")
    intervals = list_of(object_of(temporal).get("interval", temporal))
    ends = list_of(intervals[0]) if intervals and isinstance(intervals[0], list) else intervals
    if len(ends) != 2:
        return None
    step = line_of(member(value, "extent", "temporal", "grid").get("resolution"))
    return read_interval(line_of(ends[0]), line_of(ends[1]), step)


def read_collection(value: JsonObject, base: Url, **more: Any) -> tuple[Layer, tuple[str, ...]]:
    """Return a collection of an OGC API or a STAC, with codes of deviations; `base`: address of the document; `more`:
    further fields of the layer."""
    box, codes = spatial_extent(value)
    layer = Layer(
        name=first_line(value, "id", "name"),
        title=first_line(value, "title", "id", "name"),
        abstract=text_of(value.get("description")),
        box=box,
        item=Item.COLLECTION,
        times=temporal_extent(value),
        scales=stated_scales(value.get("minScaleDenominator"), value.get("maxScaleDenominator")),
        terms=licence_in(value, base),
        **more,
    )
    return layer, codes


def collection_deviations(codes: Sequence[str]) -> tuple[Deviation, ...]:
    """Return the deviations that were corrected in collections: one for each code, with a count."""
    return tuple(Deviation(code, f"{codes.count(code)} collections") for code in dict.fromkeys(codes))


def _first_box(value: Any) -> Sequence[object]:
    boxes = list_of(value)
    return list_of(boxes[0]) if boxes and isinstance(boxes[0], list) else boxes


def systems(value: JsonObject) -> tuple[str, ...]:
    """Return the codes that a collection's `crs` and `storageCrs` name: `EPSG:3857` for …/def/crs/EPSG/0/3857."""
    named = value.get("crs")
    found = [*(named[:MAX_ITEMS] if isinstance(named, list) else [named]), value.get("storageCrs")]
    return tuple(dict.fromkeys(code for item in found if (code := _code(item))))


def _code(name: object) -> str:
    """Return a short code for the name of a reference system; '' for none, and for a reference within the document."""
    text = text_of(name).strip("[]")
    return "" if text.startswith("#") else crs_code(text)
