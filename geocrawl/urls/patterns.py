"""Compute URL patterns: the common form of addresses that a program generates in any number.

Numbers, dates, hashes and identifiers are replaced by `#`, and values of parameters are left out:
`/cal/2031/05?view=month` and `/cal/1999/12?view=day` have one pattern. An address without anything to replace has no
pattern. Words stay, percent-encoded ones too, because sites name different things by words.
"""

from __future__ import annotations

import re

from geocrawl.model import Url
from geocrawl.urls.records import records_page

BLANK = "#"
"""Replaces what varies. No address contains this character before its fragment."""
_MAX_CHARS = 2048
_DIGIT = re.compile(r"[0-9]")
_DIGITS = re.compile(r"[0-9]+")
# In this order: identifiers (UUID, RFC 9562, 4), percent-encoded bytes, words with or without digits.
_PARTS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|%[0-9a-f]{2}|[0-9a-z]+")
_HEXADECIMAL = frozenset("0123456789abcdef")
_HASH_CHARS, _TOKEN_CHARS = 6, 16


def pattern_of(url: Url) -> str:
    """Return the pattern `host/path?names` of an address; '' when it has none.

    A catalogue's page of records has none either: the number of such pages is limited by itself (`records_page`).
    """
    place, _, query = url.identity.partition("://")[2].lower()[:_MAX_CHARS].partition("?")
    if not query and _DIGIT.search(place) is None:
        return ""
    if query and records_page(url) is not None:
        return ""
    blank = _blanked(place) + _names(query)
    return "" if blank == place else blank


def service_pattern(url: Url, site: str, kind: str) -> str:
    """Return the pattern of a service's address, the same on every host of the site."""
    place, _, query = url.identity.partition("://")[2].lower()[:_MAX_CHARS].partition("?")
    _, slash, path = place.partition("/")
    return f"{kind} {site}{slash}{_blanked(path)}{_names(query)}"


def _names(query: str) -> str:
    """Return the parameters' names, sorted, each once."""
    if not query:
        return ""
    return "?" + "&".join(sorted({_blanked(part.partition("=")[0]) for part in query.split("&")}))


def _blanked(text: str) -> str:
    return text if _DIGIT.search(text) is None else _PARTS.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    part = found[0]
    if part[0] == "%" or _DIGIT.search(part) is None:
        return part
    if "-" in part or len(part) >= _TOKEN_CHARS or (len(part) >= _HASH_CHARS and _HEXADECIMAL.issuperset(part)):
        return BLANK
    return _DIGITS.sub(BLANK, part)
