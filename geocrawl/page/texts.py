"""Find service addresses in running text that are not links.

Ordinary addresses in text are ignored, because they would flood the frontier. An address counts when it looks like a
service, or when the words near it name a kind ("WMS service URL: …") and the address may be a program. A query that is
written behind its address counts together with it ("… with the parameters SERVICE=WMS&REQUEST=GetCapabilities"). In the
text, blocks are separated by `BOUNDARY` and lines by newlines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geocrawl.formats.text import fold
from geocrawl.page.content import BOUNDARY, MAX_CONTEXT_CHARS, RawLink
from geocrawl.page.naming import may_be_named, may_be_of_kind, may_be_program, may_be_service
from geocrawl.page.text_address import read_address, read_query
from geocrawl.page.text_kinds import NO_SUBJECT, Subject, kind_near
from geocrawl.page.text_starts import starts

MAX_ADDRESSES = 500
"""Most addresses read of one text."""
_QUERY_APART_CHARS = 100
"""Most characters between an address and a query that belongs to it."""
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
"""Soft hyphens and zero-width spaces, by which pages let long addresses wrap, and marks of the direction of writing."""


def addresses_in_text(text: str, *, subject: Subject = NO_SUBJECT, where: str = "text") -> Iterator[RawLink]:
    """Yield the addresses in `text` that may be services, in order, each once.

    `subject`: what the page is about, used for an address alone in its block. `where`: value for `RawLink.where`.
    """
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    seen: set[str] = set()
    base, last = "", 0
    for start, is_query in starts(text):
        if start < last:
            continue
        if len(seen) >= MAX_ADDRESSES:
            return
        if is_query:
            if not base or start - last > _QUERY_APART_CHARS:
                continue
            query, last = read_query(text, start)
            href, kind = f"{base}{query}", ""
        else:
            behind_last = last
            href, last = read_address(text, start)
            base = _base_of_queries(href)
            if not may_be_service(href) and not may_be_named(href):
                continue
            kind = kind_near(text, behind_last, start, last, href, subject)
        if href not in seen and (may_be_service(href) or (kind and may_be_of_kind(href, kind))):
            seen.add(href)
            context = text[max(0, start - MAX_CONTEXT_CHARS) : start].rpartition(BOUNDARY)[2]
            context = fold(context[-MAX_CONTEXT_CHARS // 2 :], MAX_CONTEXT_CHARS)
            yield RawLink(href, where, "", context, kind=kind, before=len(context))


def _base_of_queries(href: str) -> str:
    """Return an address as the beginning of one with a query; '' when it has a request already or is a page."""
    if "ervice=" in href.lower() or not (may_be_program(href) or href.endswith("/")):
        return ""
    return href.rstrip("?&") + ("&" if "?" in href.rstrip("?&") else "?")
