"""Recognise a refusal: an answer that demands a login, a payment or a browser."""

from __future__ import annotations

import re

from geocrawl.model import Page

_STATUS = frozenset({401, 403, 407, 511})
"""RFC 9110, 15.5.2, 15.5.4 and 15.5.8; RFC 6585, 6 (a network that wants a login first)."""
_PASSWORD = re.compile(rb"<input\b[^>]{0,300}\btype\s*=\s*[\"']?password", re.IGNORECASE)
_PAGE_BYTES = 262_144


def protection(page: Page) -> str:
    """Return how the answer refuses access, as a line for people; '' when it does not."""
    if page.status in _STATUS:
        return f"HTTP {page.status}"
    if page.headers.get("cf-mitigated", "").strip().lower() == "challenge":
        return f"HTTP {page.status}, a puzzle for browsers"
    if page.status == 406 and b"mod_security" in page.body[:_PAGE_BYTES].lower():
        return "HTTP 406, a filter of requests (Mod_Security)"
    if page.hops and _PASSWORD.search(page.body, 0, _PAGE_BYTES):
        return f"redirected to a login at {page.final.address}"[:500]
    return ""
