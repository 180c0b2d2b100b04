"""Make strangers' text well-formed where it is created, fold its white space, and find short texts in it.

*Well-formed* is text without surrogates and NUL: every encoder, database and parser accepts it. Decoded bytes have no
surrogates; references (`&#xD83D;`) and escapes (`\\ud83d`) make some, so whoever resolves them calls these functions.
"""

from __future__ import annotations

import codecs
import html
import re
import zlib
from collections.abc import Iterable

from geocrawl.formats.charset import UNMARKED_UTF_16

REPLACEMENT = "\ufffd"
"""Replacement for a character that is not allowed."""
_LONG_REFERENCE = re.compile(r"&#(?:([0-9]{8,})|[xX]([0-9a-fA-F]{7,}));?")
_ILL_FORMED = re.compile("[\0\ud800-\udfff]")
# Each escape is matched whole, so that the second backslash of an escaped one begins none.
_ESCAPE = re.compile(
    r"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|u(?:[dD][89a-fA-F][0-9a-fA-F]{2}|0000)|.)",
    re.DOTALL,
)
_SUSPECT = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")


def fold(text: str, limit: int) -> str:
    """Return `text` with every run of white space made one space, stripped, and cut to `limit` characters."""
    return " ".join(text.split())[:limit].rstrip()


def any_of(texts: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that finds whether any of these texts occurs; those that contain another one are left out."""
    found = set(texts)
    shortest = sorted(text for text in found if not any(other in text for other in found - {text}))
    return re.compile("|".join(map(re.escape, shortest)), flags)


def well_formed(text: str) -> str:
    """Return `text` with surrogate pairs joined, and U+FFFD for single surrogates and NUL."""
    if _ILL_FORMED.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", REPLACEMENT)


def well_formed_escapes(code: str) -> str:
    """Return JSON with `\\ufffd` for every escape that would become a single surrogate or NUL (RFC 8259, 8.2)."""
    if _SUSPECT.search(code) is None:
        return code
    return _ESCAPE.sub(_mended_escape, code)


def _mended_escape(found: re.Match[str]) -> str:
    is_whole = found[1] is not None or len(found[0]) == 2  # a pair, or an escape of one character
    return found[0] if is_whole else r"\ufffd"


def unescape_html(text: str) -> str:
    """Return `text` with HTML's character references resolved, whatever the number of their digits; well-formed."""
    if "&" not in text:
        return text
    return well_formed(html.unescape(_LONG_REFERENCE.sub(_short_reference, text)))


def _short_reference(found: re.Match[str]) -> str:
    """Return a reference without its leading zeros, U+FFFD for one past Unicode: `int` refuses 4,301 digits."""
    decimal, hexadecimal = found[1], found[2]
    digits = (decimal or hexadecimal).lstrip("0")
    if len(digits) > 7:
        return REPLACEMENT
    return f"&#{'' if decimal else 'x'}{digits or '0'};"


# --------------------------------------------------------------------------- first bytes


GZIP_START = b"\x1f\x8b"
"""RFC 1952, 2.3.1."""
ZLIB_STARTS = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
"""RFC 1950, 2.2: deflate with a window of 32 KiB, by its four levels."""
BINARY_STARTS = (b"%PDF", b"PK\x03\x04", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"7z\xbc\xaf", b"\xfd7zXZ", b"Rar!")
"""First bytes of formats that may have no NUL for long after their beginning; all others have one at once."""
UTF_16_STARTS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, *UNMARKED_UTF_16)
"""First bytes of text that contains NULs."""


def gunzipped(body: bytes, most: int) -> bytes:
    """Return the first `most` bytes in a gzip file, up to any damage; any other body unchanged."""
    if not body.startswith(GZIP_START):
        return body
    try:
        return zlib.decompressobj(wbits=31).decompress(body, most)
    except zlib.error:
        return body
