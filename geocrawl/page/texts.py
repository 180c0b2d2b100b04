"""Find service addresses in running text that are not links.

Ordinary addresses in text are ignored, because they would flood the frontier. An address counts when it looks like a
service, or when the words before it name a kind ("WMS service URL: …") and the address may be a program. In the text,
blocks are separated by `BOUNDARY` and lines by newlines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geocrawl.formats.text import fold
from geocrawl.page.content import BOUNDARY, MAX_CONTEXT_CHARS, MAX_HREF_CHARS, RawLink
from geocrawl.page.naming import kind_in_phrase, leaves_kind_open, may_be_program, may_be_service

MAX_ADDRESSES = 500
"""Most addresses read of one text."""
_MAX_LOOKS = 10_000
"""Most positions of one text that are tried as the beginning of an address."""
_LABEL_CHARS = 60
"""Number of characters before an address in which words may name its kind."""
_MAX_LINES = 5
"""Most lines that one address may extend over."""

_INVISIBLE = re.compile("[\u00ad\u200b\u200c\u200d\u2060\ufeff]")
"""Soft hyphens and zero-width spaces, by which pages let long addresses wrap."""
_SCHEME_ENDS = ("://", "：//", "：／／")
_REQUESTS = ("service=", "SERVICE=", "Service=", "request=", "REQUEST=", "Request=")
_SIGNS = ("://", "www.", "ervice=", "ERVICE=")
_WWW = re.compile(r"www\.[A-Za-z0-9-]{1,63}\.")
_INSIDE_ADDRESS = ("/", "@", ".", ":", "-", "_")
_SEPARATORS = (" ", "\n", "\t", BOUNDARY, "(", '"', "'", ",", "：", "，", "<", ">")
_HOST_AND_PATH = re.compile(r"(?:[a-z0-9][a-z0-9-]{0,62}\.){1,6}[a-z]{2,24}(?::\d{2,5})?/", re.I)
_RUN = re.compile(r"[^\s<>\"'`\\^{}|\x1e\u3000]{1,2000}")
_WRAP = re.compile(r"[ \t\r]{0,40}\n\s{0,40}")
_MORE = re.compile(r"[?&]|[A-Za-z_]{2,30}=|[^\s\x1e]{0,200}[=&?]")
_TRAILING = ".,;:!?*_~·…)]}>\"'"
_CLOSED_BY = {")": "(", "]": "["}
_WIDE_ENDS = re.compile("[，。；！、（）【】《》「」『』〈〉〔〕“”‘’…]")
_WIDE_SIGNS = str.maketrans("？＝＆／：．％＿－", "?=&/:.%_-")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff5e]")
_PARTS_AHEAD = re.compile(r"[/=?&]")


def addresses_in_text(text: str, *, page_kind: str = "", where: str = "text") -> Iterator[RawLink]:
    """Yield the addresses in `text` that may be services, in order, each once.

    `page_kind`: the kind that the page is about, if any, used for an address alone in its block. `where`: value for
    `RawLink.where`.
    """
    text = _INVISIBLE.sub("", text)
    seen: set[str] = set()
    last = -1
    for start in _starts(text)[:_MAX_LOOKS]:
        if start < last:
            continue
        if len(seen) >= MAX_ADDRESSES:
            return
        behind_last = max(last, 0)
        href, last = _address_at(text, start)
        if href in seen:
            continue
        label, alone = _label(text, max(behind_last, start - _LABEL_CHARS), start, last)
        kind = kind_in_phrase(label)
        if alone and not kind and leaves_kind_open(href):
            kind = page_kind
        if may_be_service(href) or (kind and may_be_program(href)):
            seen.add(href)
            context = text[max(0, start - MAX_CONTEXT_CHARS) : start].rpartition(BOUNDARY)[2]
            yield RawLink(href, where, "", fold(context[-MAX_CONTEXT_CHARS // 2 :], MAX_CONTEXT_CHARS), kind=kind)


def may_contain_addresses(text: str) -> bool:
    """Return whether a text can contain an address: a quick check."""
    return any(sign in text for sign in _SIGNS)


def _starts(text: str) -> list[int]:
    """Return the positions where addresses may begin: at a scheme, at `www.`, or before a request to a service.

    Plain string searches find them, because most texts are long and contain no address.
    """
    starts = []
    for sign in _SCHEME_ENDS:
        for at in _places(text, sign):
            scheme = text[max(0, at - 5) : at].lower()
            if scheme.endswith(("http", "https")):
                starts.append(at - 5 if scheme == "https" else at - 4)
    starts += [at for at in _places(text, "www.") if _WWW.match(text, at) and not text.endswith(_INSIDE_ADDRESS, 0, at)]
    for sign in _REQUESTS:
        for at in _places(text, sign):
            before = text[max(0, at - 300) : at]
            begun = max(before.rfind(separator) for separator in _SEPARATORS) + 1
            if "://" not in before[begun:] and _HOST_AND_PATH.match(before, begun):
                starts.append(at - len(before) + begun)
    return sorted(set(starts))


def _places(text: str, sign: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + len(sign))


def _address_at(text: str, start: int) -> tuple[str, int]:
    """Return the address that begins at `start`, repaired and never empty, and the position after its text."""
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
    if not href.lower().startswith("http"):
        href = f"http://{href}"
    return href[:MAX_HREF_CHARS], max(position, start + 1)


def _cut(run: str) -> str:
    """Return a run of characters up to following Chinese or Japanese text, with full-width signs as ASCII."""
    if run.isascii():
        return run
    if end := _WIDE_ENDS.search(run):
        run = run[: end.start()]
    run = run.translate(_WIDE_SIGNS)
    text = _EAST_ASIAN.search(run)
    if text and not _PARTS_AHEAD.search(run, text.end()):
        run = run[: text.start()]
    return run


def _goes_on(piece: str, text: str, position: int) -> bool:
    """Return whether an address at the end of a line continues in the next one."""
    if text.startswith(("http", "www."), position):
        return False
    if text[position : position + 1] in ("?", "&"):
        return True
    return piece[-1:] in "?&=/-_,%." and _MORE.match(text, position) is not None


def _trimmed(text: str) -> str:
    """Return an address without trailing punctuation; a closing bracket stays when it was opened within the address."""
    while text and text[-1] in _TRAILING:
        opening = _CLOSED_BY.get(text[-1])
        if opening and text.count(opening) >= text.count(text[-1]):
            break
        text = text[:-1]
    return text


def _label(text: str, begin: int, start: int, end: int) -> tuple[str, bool]:
    """Return the words between `begin` and an address in its block, and whether the address is alone in the block."""
    before = text[begin:start].rpartition(BOUNDARY)[2]
    behind = text[end : end + 20].partition(BOUNDARY)[0]
    alone = not before.strip() and not behind.strip(" \t\r\n?&.")
    return before, alone
