"""Read one address out of running text: where it ends, how it goes on in the next line, and what people do to it.

An address ends at white space, a quotation mark or any other punctuation beyond ASCII, and at Chinese or Japanese text
that is followed by no further part of the address. Signs that end sentences, and brackets that were not opened within
the address, do not belong to it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from geocrawl.page.content import MAX_HREF_CHARS

_MAX_LINES = 5
"""Most lines that one address may extend over."""
_SPACED_SCHEME = re.compile(r"(h(?:tt|xx)ps?): ?// ?", re.I)
_RUN = re.compile(r"[^\s<>\"'`\\^{}|\x1e\u3000]{1,2000}")
_WRAP = re.compile(r"\\?[ \t\r]{0,40}\n(?:[ \t]{0,8}[>|#*]{1,3}(?=[ \t]))?\s{0,40}")
"""The end of a line, and what e-mails, comments and lists put before the next one."""
_MORE = re.compile(r"[?&]|[A-Za-z_]{2,30}=|[^\s\x1e]{0,200}[=&?]")
_PROGRAM = re.compile(r"[\w./-]{0,60}(?:wms|wfs|wmts|wcs|csw|ows|stac|Server|mapserv)[/?.,]?(?=\s|\x1e|\Z)")
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


class Written(NamedTuple):
    """An address as it is meant."""

    href: str
    """With its scheme, and never empty."""
    end: int
    """The position after its text."""


def read_address(text: str, start: int) -> Written:
    """Return the address that begins at `start`."""
    scheme = _SPACED_SCHEME.match(text, start)
    begin = scheme.end() if scheme is not None else start
    href, end = _pieces(text, begin)
    if scheme is not None:
        href = f"{scheme[1].lower().replace('x', 't')}://{href}"
    elif not href.lower().startswith(("http:", "https:")):
        href = f"http://{href}"
    return Written(href[:MAX_HREF_CHARS], max(end, start + 1))


def read_query(text: str, start: int) -> Written:
    """Return the query that begins at `start`, without a `?` before it."""
    href, end = _pieces(text, start)
    return Written(href.lstrip("?&")[:MAX_HREF_CHARS], max(end, start + 1))


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
