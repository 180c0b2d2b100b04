"""Decode bytes by labels and byte order marks, and make strangers' text well-formed.

Labels are read as browsers read them (WHATWG Encoding Standard, 4.2, by `webencodings`): GB2312 means GB18030,
ISO-8859-1 means windows-1252. `page.encoding` decodes pages of HTML, whose labels are often wrong.
"""

from __future__ import annotations

import codecs
import contextlib
import html
import re
import zlib
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import webencodings

from geocrawl.model import Deviation


class Encoding(NamedTuple):
    """A character encoding."""

    name: str
    """The Encoding Standard's name, lower case."""
    codec: str
    """Name of Python's codec."""


UTF_8 = Encoding("utf-8", "utf-8")
UTF_16_LE = Encoding("utf-16le", "utf-16-le")
UTF_16_BE = Encoding("utf-16be", "utf-16-be")
WINDOWS_1252 = Encoding("windows-1252", "cp1252")
_GB18030 = Encoding("gb18030", "gb18030")

# Encodings that Python's codec of the same name reads less of than browsers do. Browsers show what is labelled with a
# `replacement` encoding as one U+FFFD; here it has no label.
_OF_BROWSERS = {
    "gbk": _GB18030,
    "iso-2022-jp": Encoding("iso-2022-jp", "iso2022_jp_ext"),
    "x-user-defined": WINDOWS_1252,
    "replacement": None,
}
# Names that documents write and the standard lacks, most of them Python's own → a label of the standard.
_ALSO_WRITTEN = {
    "utf-8-sig": "utf-8",
    "utf8mb4": "utf-8",
    "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be",
    "gb-2312-80": "gbk",
    "big5hkscs": "big5",
    "cp950": "big5",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "cp949": "euc-kr",
    "euc_kr": "euc-kr",
    "iso2022_jp": "iso-2022-jp",
    "cp874": "windows-874",
    "mac-roman": "macintosh",
    "mac-cyrillic": "x-mac-cyrillic",
    "iso8859-16": "iso-8859-16",
    "win-1251": "windows-1251",
}

BYTE_ORDER_MARKS = {codecs.BOM_UTF8: UTF_8, codecs.BOM_UTF16_LE: UTF_16_LE, codecs.BOM_UTF16_BE: UTF_16_BE}
"""The marks that a text may begin with (Unicode 15.0, 23.8)."""
UNMARKED_UTF_16 = {b"<\0": UTF_16_LE, b"\0<": UTF_16_BE}
"""First bytes of markup in UTF-16 without a byte order mark (XML 1.0, appendix F)."""
_HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:+-]{1,40})""", re.I | re.A)
_WIDE = ("utf-16", "utf-32", "ucs", "iso-10646")
_HIGH_RUNS = re.compile(rb"[\x80-\xff]+")
_SAMPLE_RUNS = 2_000
_MOSTLY = 0.8


@lru_cache(maxsize=512)
def find_encoding(label: str) -> Encoding | None:
    """Return the encoding of `label` in the Encoding Standard; None for a label unknown to browsers."""
    label = label.strip().lower()
    for spelling in (label, label.removeprefix("x-")):
        found = webencodings.lookup(spelling) or webencodings.lookup(_label_of(spelling))
        if found is not None:
            return _OF_BROWSERS.get(found.name, Encoding(found.name, found.codec_info.name))
    return None


def _label_of(written: str) -> str:
    """Return a label of the standard for a name that Python knows, or that `_ALSO_WRITTEN` lists."""
    with contextlib.suppress(LookupError, ValueError):
        written = codecs.lookup(written).name
    return _ALSO_WRITTEN.get(written, written)


def header_charset(content_type: str) -> str:
    """Return the charset parameter of a Content-Type field as it is written, '' for none (RFC 9110, 8.3.2)."""
    match = _HEADER_CHARSET.search(content_type)
    return match[1] if match else ""


def byte_order_mark(body: bytes) -> bytes:
    """Return the byte order mark that `body` begins with, b"" for none."""
    return next((mark for mark in BYTE_ORDER_MARKS if body.startswith(mark)), b"")


def same_encoding(one: str, other: str) -> bool:
    """Return whether two names mean one of Python's codecs."""
    return _codec_of(one) == _codec_of(other)


def _codec_of(label: str) -> str:
    """Return the codec of this very name, else the one that browsers take for it, else the label."""
    try:
        return codecs.lookup(label).name
    except (LookupError, ValueError):
        encoding = find_encoding(label)
        return encoding.codec if encoding else label


def decode_strictly(body: bytes, codec: str) -> str | None:
    """Return the text of `body`; None when a byte does not fit or Python has no such codec."""
    try:
        return body.decode(codec)
    except (LookupError, ValueError):  # a UnicodeError is a ValueError
        return None


def decode_declared(body: bytes, declared: str, by_header: str) -> tuple[str, Deviation | None]:
    """Return the text of `body` in the encoding that it declares ('': UTF-8), else in the first one that fits.

    Tried in order: `declared`, UTF-8, `by_header` (the charset of the Content-Type, '' for none), a guess. The
    deviation `wrong-charset` names what was declared and what was read. Bytes that fit no encoding become U+FFFD.
    """
    claimed = declared or "utf-8"
    for label in dict.fromkeys((claimed, "utf-8", by_header, _guess(body))):
        if label and (text := _by_label(body, label)) is not None:
            honest = same_encoding(label, claimed)
            return text, None if honest else Deviation("wrong-charset", f"says {claimed}, is {label}")
    return body.decode("utf-8", "replace"), Deviation("wrong-charset", f"says {claimed}, is in no known encoding")


def charset_conflict(body: bytes, declared: str, content_type: str) -> list[Deviation]:
    """Return the deviation `charset-conflict` when header and document name different encodings, else an empty list.

    By RFC 7303 (3.2) the header wins. In practice a document that is well-formed in the encoding that it declares
    ('': UTF-8) is right, so callers believe the document.
    """
    stated, declared = header_charset(content_type), declared or "utf-8"
    if not stated or body.isascii() or same_encoding(stated, declared):
        return []
    return [Deviation("charset-conflict", f"header says {stated}, document {declared}")]


def _by_label(body: bytes, label: str) -> str | None:
    if label.lower().replace("_", "-").startswith(_WIDE):
        return None  # the first bytes have shown one byte a character, whatever the label says
    encoding = find_encoding(label)
    if encoding is None:
        return None  # Python has codecs that no document may ask for
    return decode_strictly(body, _GB18030.codec if encoding == _GB18030 else _codec_of(label))


def _guess(body: bytes) -> str:
    """Guess gb18030 when most bytes beyond ASCII come in even runs, as in Chinese text; else windows-1252.

    Latin letters with accents stand alone. latin-1, which fits all bytes, when windows-1252 does not fit.
    """
    runs = [len(run[0]) for run, _ in zip(_HIGH_RUNS.finditer(body), range(_SAMPLE_RUNS), strict=False)]
    paired = sum(1 for length in runs if length >= 2 and length % 2 == 0)
    if runs and paired > _MOSTLY * len(runs) and decode_strictly(body, "gb18030") is not None:
        return "gb18030"
    return "windows-1252" if decode_strictly(body, "windows-1252") is not None else "latin-1"


# --------------------------------------------------------------------------- well-formed text
# *Well-formed* is text without surrogates and NUL: every encoder, database and parser accepts it. Decoded bytes have no
# surrogates; references (`&#xD83D;`) and escapes (`\ud83d`) make some, so whoever resolves them calls these functions.


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


def _mended_escape(match: re.Match[str]) -> str:
    is_whole = match[1] is not None or len(match[0]) == 2  # a pair, or an escape of one character
    return match[0] if is_whole else r"\ufffd"


def unescape_html(text: str) -> str:
    """Return `text` with HTML's character references resolved, whatever the number of their digits; well-formed."""
    if "&" not in text:
        return text
    return well_formed(html.unescape(_LONG_REFERENCE.sub(_short_reference, text)))


def _short_reference(match: re.Match[str]) -> str:
    """Return a reference without its leading zeros, U+FFFD for one past Unicode: `int` refuses 4,301 digits."""
    decimal, hexadecimal = match[1], match[2]
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


_DECLARED = re.compile(rb"""\A<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""", re.IGNORECASE)


def declared_encoding(body: bytes) -> str:
    """Return the encoding that the XML declaration names, lower case; '' for none."""
    match = _DECLARED.match(body)
    return match[1].decode("ascii").lower() if match else ""
