"""From bytes to characters, for servers and pages that name no charset or a wrong one.

Labels are read as browsers do (WHATWG Encoding Standard, 4.2: GB2312 means GB18030, ISO-8859-1 means windows-1252),
but where a browser believes the server we look at the bytes, because servers with a default charset in their
configuration lie about every page they did not make:

1. a byte order mark decides;
2. text that is UTF-8 by its bytes is UTF-8, whatever the label: other encodings hardly ever look like it;
3. of the labels (server's, then the page's) the first that fits every byte. A single-byte encoding fits anything, so it
   stands behind a multi-byte one that fits, and windows-1252, the default of so many servers, behind all;
4. else the label that is damaged in few places only: pages are cut or have one bad byte;
5. else charset-normalizer on a bounded sample, and at last windows-1252.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import NamedTuple


class Encoding(NamedTuple):
    name: str
    """As the Encoding Standard spells it, lower case."""
    codec: str
    """Python's codec for it."""


class Decoded(NamedTuple):
    text: str
    encoding: Encoding


UTF_8 = Encoding("utf-8", "utf-8")
WINDOWS_1252 = Encoding("windows-1252", "cp1252")

# Python's name of a codec → what the Encoding Standard reads a label of it as. A list of what is allowed, too:
# Python knows codecs (utf-7, unicode_escape, base64) that no page may ask for.
_READ_AS = {
    "utf-8": UTF_8,
    "utf-8-sig": UTF_8,
    "utf-16": Encoding("utf-16le", "utf-16-le"),
    "utf-16-le": Encoding("utf-16le", "utf-16-le"),
    "utf-16-be": Encoding("utf-16be", "utf-16-be"),
    "gb2312": Encoding("gb18030", "gb18030"),
    "gbk": Encoding("gb18030", "gb18030"),
    "gb18030": Encoding("gb18030", "gb18030"),
    "big5": Encoding("big5", "big5hkscs"),
    "cp950": Encoding("big5", "big5hkscs"),
    "big5hkscs": Encoding("big5", "big5hkscs"),
    "shift_jis": Encoding("shift_jis", "cp932"),
    "cp932": Encoding("shift_jis", "cp932"),
    "euc_jp": Encoding("euc-jp", "euc_jp"),
    "iso2022_jp": Encoding("iso-2022-jp", "iso2022_jp_ext"),
    "euc_kr": Encoding("euc-kr", "cp949"),
    "cp949": Encoding("euc-kr", "cp949"),
    "ascii": WINDOWS_1252,
    "iso8859-1": WINDOWS_1252,
    "iso8859-9": Encoding("windows-1254", "cp1254"),
    "iso8859-11": Encoding("windows-874", "cp874"),
    "tis-620": Encoding("windows-874", "cp874"),
    "cp874": Encoding("windows-874", "cp874"),
    "koi8-r": Encoding("koi8-r", "koi8-r"),
    "koi8-u": Encoding("koi8-u", "koi8-u"),
    "mac-roman": Encoding("macintosh", "mac-roman"),
    "mac-cyrillic": Encoding("x-mac-cyrillic", "mac-cyrillic"),
    "cp866": Encoding("ibm866", "cp866"),
}
_SAME_FAMILY = re.compile(r"cp(125[0-8])$|iso8859-(2|3|4|5|6|7|8|10|13|14|15|16)$")
_ALIASES = {
    "windows-31j": "cp932",
    "gb_2312-80": "gb2312",
    "csgb2312": "gb2312",
    "cn-big5": "big5",
    "windows-949": "cp949",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "unicode-1-1-utf-8": "utf-8",
    "utf8mb4": "utf-8",
    "unicode": "utf-16",
    "koi": "koi8-r",
    "win-1251": "cp1251",
}
_MULTI_BYTE = frozenset({"utf-8", "gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})

_BOMS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF16_LE, _READ_AS["utf-16-le"]),
    (codecs.BOM_UTF16_BE, _READ_AS["utf-16-be"]),
    (b"<\0", _READ_AS["utf-16-le"]),  # no mark, but a tag's first character in UTF-16 (XML 1.0, appendix F)
    (b"\0<", _READ_AS["utf-16-be"]),
)
_HEADER_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:+-]{1,40})""", re.I | re.A)
_META_CHARSET = re.compile(rb"""<meta\s[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:+-]{1,40})""", re.I)
_XML_ENCODING = re.compile(rb"""\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']\s*([\w.:+-]{1,40})""")
_HEAD_BYTES = 8_192
"""How far a charset is looked for; browsers stop at 1,024, old pages have long comments on top."""

_DOUBTLESS_CONTINUATIONS = 4
"""UTF-8 continuation bytes from which a fit is no chance: GBK text looks like one of them in 1 of 12 pairs."""
_MAX_DAMAGE = 0.02
"""Share of characters beyond ASCII that may be broken before a label counts as wrong (ours)."""
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_LONELY_LETTER = re.compile(rb"(?<![\x80-\xff])[\xa0-\xff](?![\x80-\xff])")
"""Between ASCII on both sides: how Latin letters with accents stand, and those of no other script."""
_MOSTLY = 0.9
_SAMPLE_BYTES = 20_000
_CANDIDATES = [
    *("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"),
    # Of the Latin ones windows-1252 alone: short texts fit windows-1250 as well, and that is far rarer unlabelled.
    *("cp1252", "cp1251", "koi8_r", "cp1253", "cp1255", "cp1256"),
]


def header_charset(content_type: str) -> str:
    """The charset parameter of a Content-Type field, '' when it has none."""
    match = _HEADER_CHARSET.search(content_type)
    return match.group(1) if match else ""


@lru_cache(maxsize=512)
def find_encoding(label: str) -> Encoding | None:
    """What the Encoding Standard means by `label`; None when no browser knows it."""
    label = label.strip().lower()
    for spelling in (label, label.removeprefix("x-")):
        try:
            codec = codecs.lookup(_ALIASES.get(spelling, spelling)).name
        except (LookupError, ValueError):
            continue
        if codec in _READ_AS:
            return _READ_AS[codec]
        if match := _SAME_FAMILY.match(codec):
            return Encoding(f"windows-{match[1]}" if match[1] else f"iso-8859-{match[2]}", codec)
    return None


def decode(body: bytes, charset: str = "") -> Decoded:
    """The characters of `body` and the encoding they were read in. Never raises; bad bytes become U+FFFD.

    `charset` is the label the server gave, '' for none.
    """
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return Decoded(body.decode(encoding.codec, "replace").lstrip("\ufeff"), encoding)
    labels = _labels(body, charset)
    for encoding in labels:
        if encoding.codec.startswith(("utf-16", "iso2022")) and _plausible_wide(body, encoding):
            return Decoded(body.decode(encoding.codec, "replace"), encoding)
    labels = [encoding for encoding in labels if not encoding.codec.startswith(("utf-16", "iso2022"))]
    if body.isascii():
        return Decoded(body.decode("ascii"), labels[0] if labels else UTF_8)
    return _as_utf_8(body, labels) or _as_labelled(body, labels) or _as_detected(body)


def _labels(body: bytes, charset: str) -> list[Encoding]:
    """The encodings named by the server and by the page, in that order, without those nobody knows."""
    head = body[:_HEAD_BYTES]
    labels = [charset]
    for match in (_META_CHARSET.search(head), _XML_ENCODING.match(head)):
        if match:
            labels.append(match.group(1).decode("latin-1"))
    found = (find_encoding(label) for label in labels if label)
    return list(dict.fromkeys(encoding for encoding in found if encoding))


def _plausible_wide(body: bytes, encoding: Encoding) -> bool:
    """Whether a label of an encoding that is no superset of ASCII shows in the bytes."""
    return (b"\x1b" in body) if encoding.codec.startswith("iso2022") else (b"\0" in body[:200])


def _as_utf_8(body: bytes, labels: list[Encoding]) -> Decoded | None:
    text = _strictly(body, UTF_8.codec)
    if text is None:
        return None
    rival = any(label.codec in _MULTI_BYTE and label != UTF_8 for label in labels)
    if rival and UTF_8 not in labels and len(body) - len(text) < _DOUBTLESS_CONTINUATIONS:
        return None
    return Decoded(text, UTF_8)


def _as_labelled(body: bytes, labels: list[Encoding]) -> Decoded | None:
    """By the first label that fits, or that nearly does."""
    multi = [label for label in labels if label.codec in _MULTI_BYTE]
    single = [label for label in labels if label.codec not in _MULTI_BYTE]
    single.sort(key=lambda label: label == WINDOWS_1252)
    for encoding in multi:
        text = _strictly(body, encoding.codec)
        if text is not None:
            return Decoded(text, encoding)
    for encoding in multi:
        text = body.decode(encoding.codec, "replace")
        if _damage(text) <= _MAX_DAMAGE:
            return Decoded(text, encoding)
    for encoding in single:
        return Decoded(body.decode(encoding.codec, "replace"), encoding)
    return None


def _as_detected(body: bytes) -> Decoded:
    """By the look of the bytes alone."""
    text = body.decode("utf-8", "replace")
    if _damage(text) <= _MAX_DAMAGE:
        return Decoded(text, UTF_8)
    encoding = _detect(body)
    return Decoded(body.decode(encoding.codec, "replace"), encoding)


def _detect(body: bytes) -> Encoding:
    """charset-normalizer's opinion of the first passage beyond ASCII; windows-1252 when it has none."""
    from charset_normalizer import from_bytes  # seldom needed, so not loaded before

    beyond = len(_BEYOND_ASCII.findall(body))
    if len(_LONELY_LETTER.findall(body)) >= _MOSTLY * beyond:
        return WINDOWS_1252
    first = _BEYOND_ASCII.search(body)
    start = first.start() if first else 0
    best = from_bytes(body[start : start + _SAMPLE_BYTES], cp_isolation=_CANDIDATES, enable_fallback=False).best()
    return (best and find_encoding(best.encoding)) or WINDOWS_1252


def _strictly(body: bytes, codec: str) -> str | None:
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        return None


def _damage(text: str) -> float:
    """Share of the characters beyond ASCII that could not be read."""
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return text.count("\ufffd") / max(beyond, 1)
