"""Find service addresses within the addresses of links: in fragments, in scripts, in the paths of STAC Browser.

A fragment is not sent to a server, so that `urls` drops it; viewers that run in the page keep the address of the
service there (`viewer.html#url=…`, `stac-browser/#/external/…`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from geocrawl.page.content import MAX_HREF_CHARS, RawLink
from geocrawl.page.naming import may_be_service
from geocrawl.page.scripts import addresses_in_code
from geocrawl.page.texts import addresses_in_text

SIGNAL = "href"
_MAX_LINKS = 500
"""Most links of a page whose addresses contain addresses."""
_HOST = r"(?:[A-Za-z0-9-]{1,63}\.){1,6}[A-Za-z]{2,24}(?::\d{2,5})?"
_EXTERNAL = re.compile(rf"/external/(?:(https?):/{{1,2}})?({_HOST}(?:/[^?#]*)?)")
"""The address of a catalogue in that of a STAC Browser (`toBrowserPath` in its source); https unless it is named."""
_HOST_FIRST = re.compile(rf"/?(?:(https?):/{{1,2}})?({_HOST}/[^?#]*)")
_BROKEN_SCHEME = re.compile(r"https?:/{0,2}\s{0,4}(?=https?:/|[a-z0-9-]{1,63}\.)", re.I)
_NO_HOST = ("http", "HTTP", "/", " ", "\t", "\n", "\u00a0")
"""Beginnings of what follows a broken scheme."""
_WITHOUT_SCHEME = re.compile(r"(?:www\.|[a-z0-9-]{1,63}\.[a-z0-9-]{1,63}\.)[a-z0-9.-]{1,200}(?::\d{2,5})?/", re.I)


def addresses_in_hrefs(links: Iterable[RawLink]) -> Iterator[RawLink]:
    """Yield the addresses of services within those of `links`, at most of the first `_MAX_LINKS` that may have any."""
    looks = 0
    for link in links:
        href = link.href
        if _is_plain(href):
            continue
        for each in _within(href):
            yield each._replace(anchor=link.anchor)
            looks += 1
        if looks >= _MAX_LINKS:
            return


def _is_plain(href: str) -> bool:
    """Return whether an address certainly contains no other: a quick check, since nearly all links are so."""
    if "#" in href or "/external/" in href:
        return False
    if href.startswith(("http://", "https://")):
        return not href.startswith(_NO_HOST, 8 if href[4] == "s" else 7)
    return ":" not in href[:11] and "." not in href.partition("/")[0]


def _within(href: str) -> Iterator[RawLink]:
    href = href.strip()[:MAX_HREF_CHARS]
    place, _, fragment = href.partition("#")
    if fragment and ("/" in fragment or "%2" in fragment):
        yield from _in_fragment(place, unquote(fragment))
    elif "/external/" in place and "stac" in place.lower():
        yield from _of_browser(_EXTERNAL.search(place))
    elif href[:11].lower() == "javascript:":
        if "://" in href:
            yield from addresses_in_code(unquote(href[11:]), SIGNAL, relative=False)
    elif href[:4].lower() == "http":
        broken = _BROKEN_SCHEME.match(href)
        rest = href[broken.end() :] if broken else ""
        if rest[:4].lower() == "http" or (broken and broken[0][-1].isspace()):
            yield from _if_service(rest)
    elif _WITHOUT_SCHEME.match(href):
        yield from _if_service(href)


def _in_fragment(place: str, fragment: str) -> Iterator[RawLink]:
    if fragment.startswith("/external/"):
        yield from _of_browser(_EXTERNAL.match(fragment))
    elif "stac" in place.lower() and fragment.startswith("/"):
        yield from _of_browser(_HOST_FIRST.match(fragment))
    elif may_be_service(fragment):
        yield from addresses_in_text(fragment, where=SIGNAL)


def _of_browser(found: re.Match[str] | None) -> Iterator[RawLink]:
    if found is not None:
        yield RawLink(f"{found[1] or 'https'}://{found[2]}", SIGNAL, kind="stac")


def _if_service(rest: str) -> Iterator[RawLink]:
    """Yield the address behind a broken scheme, or of a link that lacks one, when it looks like a service."""
    if may_be_service(rest):
        yield RawLink(rest if rest[:4].lower() == "http" else f"http://{rest}", SIGNAL)
