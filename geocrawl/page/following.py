"""Read whether the links of a page may be followed, and whether it leads anywhere before its scripts have run."""

from __future__ import annotations

import re

from geocrawl.model import ADDRESS_ONLY, SCRIPT_SRC, Document, Link, Page

_OUR_NAMES = frozenset({"*", "robots", "geocrawl"})
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def forbids_following(meta: str, header: str) -> bool:
    """Return whether meta robots (`meta`) or X-Robots-Tag (`header`) contains `nofollow` or `none` for us or everybody.

    In X-Robots-Tag, a robot's name and a colon may precede directives. All directives up to the next name are for that
    robot, because repeated fields arrive joined by commas.
    """
    ours = {directive.strip().lower() for directive in meta.split(",")}
    for_us = True
    for part in header.lower().split(","):
        name, colon, directive = part.strip().partition(":")
        if colon and name.strip() not in _WITH_VALUE:
            for_us = name.strip() in _OUR_NAMES
        else:
            directive = name
        if for_us:
            ours.add(directive.strip())
    return not ours.isdisjoint({"none", "nofollow"})


_FEW_CHARS = 500
"""Longest text of a page that is empty but for "Loading …" and a request to enable JavaScript."""
_SCRIPT = re.compile(rb"<script\b", re.I)
_NOFOLLOW = re.compile(rb"<meta\s[^<>]{0,200}\b(?:nofollow|none)\b", re.I)
_HEAD_BYTES = 100_000
_LEADS_NOWHERE = ADDRESS_ONLY | {SCRIPT_SRC, "link"}
"""Places of addresses that readers of a page cannot follow."""


def is_empty_without_script(page: Page, document: Document) -> bool:
    """Return whether an HTML page has scripts, hardly any text, and no link but to itself.

    `document`: the page as it was read without running them.
    """
    if page.status != 200 or page.content_type not in ("text/html", "application/xhtml+xml"):
        return False
    if len(document.text) > _FEW_CHARS or any(_leads_on(link, page) for link in document.links):
        return False
    return _SCRIPT.search(page.body) is not None and may_be_followed(page)


def may_be_followed(page: Page) -> bool:
    """Return whether an HTML page permits to follow what it leads to: no nofollow in its head or header fields."""
    in_header = forbids_following("", page.headers.get("x-robots-tag", ""))
    return not in_header and _NOFOLLOW.search(page.body, 0, _HEAD_BYTES) is None


def _leads_on(link: Link, page: Page) -> bool:
    return link.where not in _LEADS_NOWHERE and link.url.identity not in (page.url.identity, page.final.identity)
