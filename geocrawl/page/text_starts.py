"""Find the positions of a text where addresses, or the queries of addresses written before them, may begin.

Plain string searches find them, because most texts are long and contain no address. An address without a scheme is
recognised by a request to a service in its query, or by the name of a service or server in its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

MAX_LOOKS = 10_000
"""Most positions of one text that are tried as the beginning of an address."""
_MAX_SIGNS = 2_000
"""Most occurrences of one sign without a scheme that are tried."""
_BEFORE_CHARS = 300
"""Most characters before a sign that may belong to its address."""

_SCHEME_ENDS = ("://", "：//", "：／／")
_SCHEME = re.compile(r"h(?:tt|xx)ps?\Z", re.I)
_SPACED_SCHEME_ENDS = ("tp: //", "tps: //", "tp:// ", "tps:// ")
"""Ends of schemes that a typist or a text processor broke."""
_REQUESTS = ("service=", "SERVICE=", "Service=", "request=", "REQUEST=", "Request=")
_PATHS = ("/wms", "/WMS", "/ows", "/wfs", "/wmts", "/wcs", "/csw", "/arcgis/", "/stac")
_SERVERS = ("mapserv", "geoserver/")
_SLASHED_SIGNS = ("://", "：/", ": //", "geoserver/")
_WWW = re.compile(r"www\.[A-Za-z0-9-]{1,63}\.")
_INSIDE_ADDRESS = ("/", "@", ".", ":", "-", "_")
_TAIL = re.compile(r"[^\s\x1e\x7f-\U0010ffff(\[<>\"',]*")
_VALUE_TAIL = re.compile(r"[^\s\x1e\x7f-\U0010ffff(\[<>\"',=]*")
"""The characters before a sign that may belong to its address, backwards."""
_BULLETS = re.compile(r"[*_~#|:;!-]*(?://)?")
_HOST_AND_PATH = re.compile(r"(?:[a-z0-9][a-z0-9-]{0,62}\.){1,6}([a-z]{2,24})(?::\d{2,5})?/", re.I)
_QUERY = re.compile(r"[?&]?(?:[A-Za-z_]{1,30}=[^\s&=<>\"]{0,80}&){0,6}\Z")
"""What precedes the first request in a query that was written apart from its address."""
_FILE_ENDS = (
    "js json xml html htm php py java jsp asp aspx css md txt cfg conf ini yaml yml sh exe dll jar war zip gz tar "
    "png jpg jpeg gif svg pdf doc docx xls xlsx csv sql qgs qgz map ts cpp hpp class properties log bat"
)
_FILES = frozenset(_FILE_ENDS.split())
"""Ends of file names, which are no top-level domains behind a single name."""
_PACKAGES = frozenset({"com", "org", "net", "edu", "gov", "java", "javax", "de", "io"})
"""First names of Java packages (`org.geotools/wms`), which no host has."""


class Start(NamedTuple):
    """A position where an address may begin."""

    at: int
    is_query: bool = False
    """Whether a query without its address begins there: `SERVICE=WMS&REQUEST=GetCapabilities`."""


def may_contain_addresses(text: str) -> bool:
    """Return whether a text can contain an address: a quick check, quickest for a text without `/` and `=`."""
    if "www." in text or "mapserv" in text or ("=" in text and ("ervice=" in text or "ERVICE=" in text)):
        return True
    if "/" not in text:
        return False
    return any(sign in text for sign in _SLASHED_SIGNS) or next(_path_places(text), None) is not None


def starts(text: str) -> list[Start]:
    """Return where addresses may begin, in order and at most `MAX_LOOKS`."""
    found: dict[int, bool] = {}
    for at in _schemes(text):
        found[at] = False
    for at in _places(text, "www."):
        if _WWW.match(text, at) and not text.endswith(_INSIDE_ADDRESS, 0, at):
            found[at] = False
    requests = [islice(_places(text, sign), _MAX_SIGNS) for sign in _REQUESTS if "=" in text]
    paths = [islice(_places(text, sign), _MAX_SIGNS) for sign in _SERVERS] + [_path_places(text)]
    for places, is_request in ((requests, True), (paths, False)):
        for at in chain.from_iterable(places):
            start = _without_scheme(text, at, is_request=is_request)
            if start is not None:
                found.setdefault(start.at, start.is_query)
    return [Start(at, found[at]) for at in sorted(found)[:MAX_LOOKS]]


def _schemes(text: str) -> Iterator[int]:
    for sign in _SCHEME_ENDS:
        for at in _places(text, sign):
            scheme = _SCHEME.search(text, max(0, at - 5), at)
            if scheme is not None:
                yield scheme.start()
    if "// " in text or ": //" in text:
        for sign in _SPACED_SCHEME_ENDS:
            for at in _places(text, sign):
                scheme = _SCHEME.search(text, max(0, at - 3), at + len(sign.partition(":")[0]))
                if scheme is not None:
                    yield scheme.start()


def _without_scheme(text: str, at: int, *, is_request: bool) -> Start | None:
    """Return where the address around a sign begins that has no scheme, or the query around a request; else None."""
    before = text[max(0, at - _BEFORE_CHARS) : at]
    # An address with no request may be the value of a parameter: `url=maps.example.org/wms`.
    tail = (_TAIL if is_request else _VALUE_TAIL).match(before[::-1])
    begun = len(before) - (tail.end() if tail else 0)
    bullets = _BULLETS.match(before, begun)
    begun = bullets.end() if bullets else begun
    if "://" in before[begun:]:
        return None
    start = at - len(before) + begun
    host = _HOST_AND_PATH.match(text, start, at + 1)
    if host is not None:
        return Start(start) if _is_host(host) else None
    return Start(start, is_query=True) if is_request and _QUERY.match(before, begun) else None


def _is_host(found: re.Match[str]) -> bool:
    """Return whether a name with dots is a host rather than a file or a package."""
    names = found[0].lower().rstrip("/").partition(":")[0].split(".")
    return names[0] not in _PACKAGES and (len(names) > 2 or names[-1] not in _FILES)


def _path_places(text: str) -> Iterator[int]:
    """Yield where a path's part names a service or a server: the slash before it."""
    return islice((at for at in _places(text, "/") if text.startswith(_PATHS, at)), _MAX_SIGNS)


def _places(text: str, sign: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + len(sign))
