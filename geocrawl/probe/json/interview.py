"""Request a document in one form after another, until an answer is more than a page for people."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterable

from geocrawl.formats.text import unescape_html
from geocrawl.model import Failure, Page, Url
from geocrawl.ports import Ask
from geocrawl.probe.json.answer import JsonAnswer, ReadJson, examine_json
from geocrawl.urls import read_url, with_parameters

FOR_PEOPLE = frozenset({"html", "empty", "not-json", "http-406"})
"""Reasons that may change when the document is requested in another form."""
_LOOK_BYTES = 65_536
_LINK = re.compile(r"<(?:link|a)\s[^<>]{1,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\b(rel|type|href)\s*=\s*(?:"([^"<>]{0,1500})"|'([^'<>]{0,1500})')""", re.IGNORECASE)

Asking = Generator[Ask, Page | Failure, list[JsonAnswer]]


def in_turn(urls: Iterable[Url], read: ReadJson, goes_on: Collection[str] = FOR_PEOPLE) -> Asking:
    """Request these addresses until the answer's reason is not in `goes_on`; return all answers."""
    answers: list[JsonAnswer] = []
    for url in urls:
        answers.append(examine_json((yield Ask(url)), read))
        if answers[-1].finding.reason not in goes_on:
            break
    return answers


def plain_then_json(endpoint: Url, read: ReadJson) -> Asking:
    """Request the address unchanged; after a page for people, the JSON that it links to, else `f=json`."""
    first = examine_json((yield Ask(endpoint)), read)
    if first.finding.reason not in FOR_PEOPLE:
        return [first]
    stated = stated_json(first.page) if isinstance(first.page, Page) else None
    return [first, examine_json((yield Ask(stated or with_parameters(endpoint, {"f": "json"}))), read)]


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
