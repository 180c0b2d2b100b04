"""Recognise a filter that stands before a server and refuses us, or asks for what only a browser can do.

Such an answer says nothing of the service behind it. Signs are those of the known products (`data/filters.toml`), a
puzzle for browsers, a short page that refuses and gives a number to quote, and a Retry-After with any status (RFC 9110,
10.2.3) but those by which a gateway says that the server behind it does not answer. A status alone is no sign: 202, 403
and 405 come from services, too; and neither is a product that only passes on what the server behind it says.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TypedDict

from geocrawl.formats.text import unescape_html
from geocrawl.model import Page
from geocrawl.probe.answer import refusal_with_number

_BODY_BYTES = 65_536
_REFUSES = frozenset({202, 403, 405, 406, 412, 418, 429, 493, 501, 999})
"""Statuses by which filters refuse. (Their pages with 404, 500 or 503 are about the server behind them.)"""
_HAS_PUZZLE = _REFUSES | {200, 401, 503, 521}
"""Statuses with which filters send puzzles and pages of their own."""
_NOBODY_BEHIND = frozenset({502, 504, *range(520, 531)})
"""RFC 9110, 15.6.3 and 15.6.5; from 520 on Cloudflare's, which sends a Retry-After with some (its "1xxx errors")."""


def filter_sign(page: Page) -> str:
    """Return by what an answer that is no service shows a filter, as a line for people; '' when it shows none."""
    if page.location is not None:
        return ""
    if page.retry_after_s is not None and page.status not in _NOBODY_BEHIND:
        return f"HTTP {page.status} with Retry-After"
    if page.status not in _HAS_PUZZLE:
        return ""
    body = page.body[:_BODY_BYTES].decode("utf-8", "replace")
    if page.status in _REFUSES:  # of each page that may be a service, resolving references would cost a millisecond
        body = unescape_html(body)
    body = body.lower()
    fields = page.headers.get("set-cookie", "").lower().replace(",", ";").replace("\n", ";").split(";")
    cookies = tuple(field.partition("=")[0].strip() for field in fields)
    for product, signs in _products().items():
        if sign := next(_signs_in(page, body, cookies, signs), ""):
            return f"HTTP {page.status}, a filter ({product}: {sign})"
    return refusal_with_number(page)


def _signs_in(page: Page, body: str, cookies: tuple[str, ...], signs: _Signs) -> Iterator[str]:
    """Yield the signs of a product that an answer has."""
    for sign in signs.get("headers", ()):
        name, _, value = sign.partition(": ")
        if page.headers.get(name, "").strip().lower().startswith(value) and name in page.headers:
            yield sign
    yield from (text for text in signs.get("bodies", ()) if text in body)
    if page.status in _REFUSES:
        head = "\n".join(f"{name}: {value}".lower() for name, value in page.headers.items())
        yield from (text for text in signs.get("refusals", ()) if text in body or text in head)
    for start, statuses in signs.get("cookies", {}).items():
        if page.status in statuses and any(name.startswith(start) for name in cookies):
            yield start


class _Signs(TypedDict, total=False):
    headers: Sequence[str]
    bodies: Sequence[str]
    refusals: Sequence[str]
    cookies: Mapping[str, Sequence[int]]


@cache
def _products() -> Mapping[str, _Signs]:
    return tomllib.loads(resources.files("geocrawl").joinpath("data/filters.toml").read_text("utf-8"))
