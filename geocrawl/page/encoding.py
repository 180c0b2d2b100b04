"""Decode pages whose server or markup names no charset, or a wrong one.

Labels are read as browsers read them (`formats.text`). But while a browser trusts the server's label, this module
checks the bytes, because the default charset of a server is wrong for every page that was written elsewhere:

1. a byte order mark decides;
2. text that is UTF-8 by its bytes is UTF-8, whatever the label: other encodings hardly ever look like UTF-8;
3. else the first of the labels (the server's, then the page's) that fits every byte decides. A single-byte encoding
   fits any bytes, so it comes after a multi-byte one that fits, and windows-1252, the default of many servers, is last;
4. else a label with which few characters are damaged decides: pages are cut off or have one bad byte;
5. else charset-normalizer's answer for a bounded sample decides, and without one windows-1252.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from geocrawl.formats.text import (
    BYTE_ORDER_MARKS,
    UNMARKED_UTF_16,
    UTF_8,
    WINDOWS_1252,
    Encoding,
    declared_encoding,
    decode_strictly,
    find_encoding,
)


class DecodedText(NamedTuple):
    """A page's text with the encoding that was used."""

    text: str
    encoding: Encoding
    """The encoding by which the text was decoded."""


_MULTI_BYTE = frozenset({"utf-8", "gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})
_BEGINNINGS = BYTE_ORDER_MARKS | UNMARKED_UTF_16
# Atomic, and closed by the end of the bytes, too: what is not closed is passed over once and never tried again.
_VALUE = rb"""(?:"[^"]*+"?|'[^']*+'?|[^\s>"'][^\s>]*+)?"""
_ATTRIBUTE = re.compile(rb"([^\s/>][^\s/>=]*+)(?>\s*=\s*(%s))?" % _VALUE)
_PIECE = re.compile(
    rb"<!(?=--).*?(?:-->|\Z)"
    rb"|<(?P<raw>script|style|title|textarea|xmp|iframe|noembed|noframes)(?=[\s/>]).*?(?:</(?P=raw)(?=[\s/>])|\Z)"
    rb"|<(?P<tag>/?[a-z][^\s/>]*+)(?P<attributes>(?>(?:[\s/]*+[^\s/>][^\s/>=]*+(?>\s*=\s*%s)?)*))"
    rb"|<[!?/][^>]*+" % _VALUE,
    re.I | re.S,
)
_CHARSET = re.compile(rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.I)
_HEAD_BYTES = 8_192
"""Number of first bytes in which a charset is searched: browsers stop at 1,024, but old pages begin with long comments.
"""

_DOUBTLESS_CONTINUATIONS = 4
"""Number of UTF-8 continuation bytes from which valid UTF-8 is no accident: 1 of 12 pairs of GBK looks like one."""
_MAX_DAMAGE = 0.02
"""Share of characters beyond ASCII that may be damaged before a label counts as wrong (our choice)."""
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_LONELY_LETTER = re.compile(rb"(?<![\x80-\xff])[\xa0-\xff](?![\x80-\xff])")
"""One byte with ASCII on both sides: accented Latin letters occur so, letters of other scripts do not."""
_MOSTLY = 0.9
_SAMPLE_BYTES = 20_000
_CANDIDATES = [
    *("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"),
    # windows-1252 is the only Latin candidate: short texts fit windows-1250 as well, which is far rarer without a
    # label.
    *("cp1252", "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256"),
]


def decode(body: bytes, charset: str = "") -> DecodedText:
    """Return the text of `body` and its encoding; bytes that do not fit become U+FFFD.

    `charset` is the label in the server's Content-Type, '' for none.
    """
    for beginning, encoding in _BEGINNINGS.items():
        if body.startswith(beginning):
            return DecodedText(body.decode(encoding.codec, "replace").lstrip("\ufeff"), encoding)
    labels = _labels(body, charset)
    for encoding in labels:
        if encoding.codec.startswith(("utf-16", "iso2022")) and _plausible_wide(body, encoding):
            return DecodedText(body.decode(encoding.codec, "replace"), encoding)
    labels = [encoding for encoding in labels if not encoding.codec.startswith(("utf-16", "iso2022"))]
    if body.isascii():
        return DecodedText(body.decode("ascii"), labels[0] if labels else UTF_8)
    return _as_utf_8(body, labels) or _as_labelled(body, labels) or _as_detected(body)


def _labels(body: bytes, charset: str) -> list[Encoding]:
    """Return the known encodings that the server and the page name, in that order."""
    head = body[:_HEAD_BYTES]
    labels = (charset, _meta_charset(head), declared_encoding(head.lstrip()))
    encodings = (find_encoding(label) for label in labels if label)
    return list(dict.fromkeys(encoding for encoding in encodings if encoding))


def _meta_charset(head: bytes) -> str:
    """Return the first known label in a `meta` element; '' for none (HTML standard, 13.2.3.2).

    Beyond the standard, scripts, styles and titles are passed over, as browsers do that read the tags.
    """
    for piece in _PIECE.finditer(head):
        if (piece["tag"] or b"").lower() != b"meta":
            continue
        attributes: dict[bytes, bytes] = {}
        for name, value in _ATTRIBUTE.findall(piece["attributes"]):
            attributes.setdefault(name.lower(), value.strip(value[:1]) if value[:1] in (b'"', b"'") else value)
        label = attributes.get(b"charset", b"")
        if not label and attributes.get(b"http-equiv", b"").lower() == b"content-type":
            found = _CHARSET.search(attributes.get(b"content", b""))
            label = b"".join(found.groups(b"")) if found else b""
        if find_encoding(written := label.decode("latin-1")):
            return written
    return ""


def _plausible_wide(body: bytes, encoding: Encoding) -> bool:
    """Return whether the bytes look like an encoding that is no superset of ASCII."""
    return (b"\x1b" in body) if encoding.codec.startswith("iso2022") else (b"\0" in body[:200])


def _as_utf_8(body: bytes, labels: list[Encoding]) -> DecodedText | None:
    """Decode as UTF-8; return None for bytes that do not fit, or that fit by accident and have another label."""
    text = decode_strictly(body, UTF_8.codec)
    if text is None:
        return None
    rival = any(label.codec in _MULTI_BYTE and label != UTF_8 for label in labels)
    if rival and UTF_8 not in labels and len(body) - len(text) < _DOUBTLESS_CONTINUATIONS:
        return None
    return DecodedText(text, UTF_8)


def _as_labelled(body: bytes, labels: list[Encoding]) -> DecodedText | None:
    """Decode by the first label that fits, or nearly fits; return None when none does."""
    multi = [label for label in labels if label.codec in _MULTI_BYTE]
    single = [label for label in labels if label.codec not in _MULTI_BYTE]
    single.sort(key=lambda label: label == WINDOWS_1252)
    for encoding in multi:
        text = decode_strictly(body, encoding.codec)
        if text is not None:
            return DecodedText(text, encoding)
    for encoding in multi:
        text = body.decode(encoding.codec, "replace")
        if _damage(text) <= _MAX_DAMAGE:
            return DecodedText(text, encoding)
    for encoding in single:
        return DecodedText(body.decode(encoding.codec, "replace"), encoding)
    return None


def _as_detected(body: bytes) -> DecodedText:
    """Decode by the encoding that is detected from the bytes."""
    text = body.decode("utf-8", "replace")
    if _damage(text) <= _MAX_DAMAGE:
        return DecodedText(text, UTF_8)
    encoding = _detect(body)
    return DecodedText(body.decode(encoding.codec, "replace"), encoding)


def _detect(body: bytes) -> Encoding:
    """Return the encoding that charset-normalizer detects in the first passage beyond ASCII; else windows-1252."""
    from charset_normalizer import from_bytes  # imported late: it is seldom needed

    beyond = len(_BEYOND_ASCII.findall(body))
    if len(_LONELY_LETTER.findall(body)) >= _MOSTLY * beyond:
        return WINDOWS_1252
    first = _BEYOND_ASCII.search(body)
    start = first.start() if first else 0
    best = from_bytes(body[start : start + _SAMPLE_BYTES], cp_isolation=_CANDIDATES, enable_fallback=False).best()
    return (best and find_encoding(best.encoding)) or WINDOWS_1252


def _damage(text: str) -> float:
    """Return the share of the characters beyond ASCII that are U+FFFD."""
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return text.count("\ufffd") / max(beyond, 1)
