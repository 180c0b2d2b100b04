"""Find service addresses in running text that are not links.

Ordinary addresses in text are ignored, because they would flood the frontier. An address counts when it looks like a
service, or when the words near it name a kind ("WMS service URL: …") and the address may be a program. A query that is
written behind its address counts together with it ("… with the parameters SERVICE=WMS&REQUEST=GetCapabilities"). In the
text, blocks are separated by `BOUNDARY` and lines by newlines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import NamedTuple

from geocrawl.formats.text import fold
from geocrawl.page.content import BOUNDARY, MAX_CONTEXT_CHARS, MAX_HREF_CHARS, RawLink
from geocrawl.page.naming import (
    NO_SUBJECT,
    PROSE,
    Subject,
    kind_near,
    may_be_named,
    may_be_of_kind,
    may_be_program,
    may_be_service,
)

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


# --------------------------------------------------------------------------- where addresses begin
# Plain string searches find them, because most texts are long and contain no address. An address without a scheme is
# recognised by a request to a service in its query, or by the name of a service or server in its path.


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


class AddressStart(NamedTuple):
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


def starts(text: str) -> list[AddressStart]:
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
    return [AddressStart(at, found[at]) for at in sorted(found)[:MAX_LOOKS]]


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


def _without_scheme(text: str, at: int, *, is_request: bool) -> AddressStart | None:
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
        return AddressStart(start) if _is_host(host) else None
    return AddressStart(start, is_query=True) if is_request and _QUERY.match(before, begun) else None


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


# --------------------------------------------------------------------------- where an address ends
# An address ends at white space, a quotation mark or any other punctuation beyond ASCII, and at Chinese or Japanese
# text that is followed by no further part of the address. Signs that end sentences, and brackets that were not opened
# within the address, do not belong to it.


_MAX_LINES = 5
"""Most lines that one address may extend over."""
_SPACED_SCHEME = re.compile(r"(h(?:tt|xx)ps?): ?// ?", re.I)
_RUN = re.compile(r"[^\s<>\"'`\\^{}|\x1e\u3000]{1,2000}")
_WRAP = re.compile(r"\\?[ \t\r]{0,40}\n(?:[ \t]{0,8}[>|#*]{1,3}(?=[ \t]))?\s{0,40}")
"""The end of a line, and what e-mails, comments and lists put before the next one."""
_MORE = re.compile(r"[?&]|[A-Za-z_]{2,30}=|[^\s\x1e]{0,200}[=&?]")
_NAMES = "|".join(sorted(name for name in PROSE if " " not in name))
_PROGRAM = re.compile(rf"[\w./-]{{0,60}}(?:{_NAMES}|ows|stac|Server|mapserv)[/?.,]?(?=\s|\x1e|\Z)")
"""The end of an address, which a line can consist of: `wms`, `MapServer`."""
_TRAILING = ".,;:!?*_~·)]}>\"'"
_CLOSED_BY = {")": "(", "]": "["}
_WIDE_ENDS = re.compile(
    "[\u00a1\u00a7\u00ab\u00b6\u00b7\u00bb\u00bf\u037e\u0387\u055c-\u055e\u0589\u05be\u05c3\u05f3\u05f4\u060c\u061b"
    "\u061f\u066a-\u066d\u06d4\u0964\u0965\u104a\u104b\u1362-\u1368\u2010-\u27bf\u2e00-\u2e5d\u3001-\u3004"
    "\u3008-\u3020\u3030\ufe10-\ufe1f\ufe30-\ufe6f\uff01-\uff04\uff06-\uff0c\uff0e\uff1b\uff1c\uff1e\uff20\uff3b"
    "\uff3d\uff5b\uff5d\uff5f-\uff65]"
)
"""Punctuation and symbols beyond ASCII."""
_WIDE_SIGNS = str.maketrans("？＝＆／：．％＿－", "?=&/:.%_-")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff5e]")
_PARTS_AHEAD = re.compile(r"[/=?&]")


class WrittenAddress(NamedTuple):
    """An address as it is meant."""

    href: str
    """With its scheme, and never empty."""
    end: int
    """The position after its text."""


def read_address(text: str, start: int) -> WrittenAddress:
    """Return the address that begins at `start`."""
    scheme = _SPACED_SCHEME.match(text, start)
    begin = scheme.end() if scheme is not None else start
    href, end = _pieces(text, begin)
    if scheme is not None:
        href = f"{scheme[1].lower().replace('x', 't')}://{href}"
    elif not href.lower().startswith(("http:", "https:")):
        href = f"http://{href}"
    return WrittenAddress(href[:MAX_HREF_CHARS], max(end, start + 1))


def read_query(text: str, start: int) -> WrittenAddress:
    """Return the query that begins at `start`, without a `?` before it."""
    href, end = _pieces(text, start)
    return WrittenAddress(href.lstrip("?&")[:MAX_HREF_CHARS], max(end, start + 1))


def _pieces(text: str, start: int) -> tuple[str, int]:
    """Return the characters of an address, whose lines are joined, and the position after them."""
    pieces: list[str] = []
    position = start
    for _ in range(_MAX_LINES):
        run = _RUN.match(text, position)
        if run is None:
            break
        piece = _cut(run[0])
        pieces.append(piece)
        position = run.start() + len(piece)
        wrap = _WRAP.match(text, position) if len(piece) == len(run[0]) else None
        if wrap is None or not _goes_on(piece, text, wrap.end()):
            break
        position = wrap.end()
    href = _trimmed("".join(pieces))
    while "&amp;" in href:
        href = href.replace("&amp;", "&")
    return href, position


def _cut(run: str) -> str:
    """Return a run of characters up to following punctuation or East Asian text, with full-width signs as ASCII."""
    if run.isascii():
        return run
    signs = run.translate(_WIDE_SIGNS)
    if end := _WIDE_ENDS.search(signs):
        signs = signs[: end.start()]
    text = _EAST_ASIAN.search(signs)
    if text and not _PARTS_AHEAD.search(signs, text.end()):
        signs = signs[: text.start()]
    return signs


def _goes_on(piece: str, text: str, position: int) -> bool:
    """Return whether an address at the end of a line continues in the next one."""
    if text.startswith(("http", "www."), position):
        return False
    if text[position : position + 1] in ("?", "&"):
        return True
    if piece[-1:] not in "?&=/-_,%.":
        return False
    return _MORE.match(text, position) is not None or (
        piece[-1:] in "/-_" and _PROGRAM.match(text, position) is not None
    )


def _trimmed(text: str) -> str:
    """Return an address without trailing punctuation; a closing bracket stays when it was opened within the address."""
    end = len(text)
    open_brackets = {closing: text.count(opening) - text.count(closing) for closing, opening in _CLOSED_BY.items()}
    while end and text[end - 1] in _TRAILING:
        last = text[end - 1]
        if last in open_brackets:
            if open_brackets[last] >= 0:
                break
            open_brackets[last] += 1
        end -= 1
    return text[:end]
