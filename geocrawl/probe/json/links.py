"""Read links of OGC API and STAC documents (RFC 8288 in JSON): `{"rel": …, "href": …, "type": …, "title": …}`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from geocrawl.formats.json import JsonObject, line_of, objects, text_of
from geocrawl.model import Url
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
