"""What stands before a document: byte order marks true and false, white space, HTTP header lines, messages of PHP.

Works on bytes, before anything is known of their encoding.
"""

from __future__ import annotations

import re

from geocrawl.model import Deviation

_FRONT_BYTES = 65_536
"""A document that has not begun by then does not begin: nobody writes longer messages before it."""
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_WIDE = {  # the beginning of XML in two and four bytes a character, and what decodes it
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe<\x00": "utf-16",
    b"\xfe\xff\x00<": "utf-16",
    b"<\x00?\x00": "utf-16-le",
    b"\x00<\x00?": "utf-16-be",
}
_BEGINNING = re.compile(
    rb"<\?xml\b|<(?:[A-Za-z_][\w.-]{0,40}:)?(?:(?:WMS_|WMT_MS_|WFS_|WCS_)?Capabilities|(?:Service)?ExceptionReport|TileMap(?:Service)?)\b",
    re.I,
)
"""A declaration, or the root of something that a service says."""
_HTML = re.compile(rb"<!doctype\s+html|<(?:html|head|body|script|[\w.-]*:?envelope)\b", re.IGNORECASE)
_HEADER_LINE = re.compile(rb"\s*(?:HTTP/[\d.]+ \d{3}[^\r\n]*|[A-Za-z][A-Za-z-]{1,40}: ?[^\r\n]*)\r?\n")
_DECLARED = re.compile(rb"""\A<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""", re.IGNORECASE)
_DECLARATION = re.compile(rb"\A<\?xml\b[^>]{0,400}\?>", re.IGNORECASE)


def cut_front(body: bytes) -> tuple[bytes, tuple[Deviation, ...]]:
    """The body from its first character of XML on, and what had to be cut off or turned.

    UTF-16 and UTF-32 come back as UTF-8 without a declaration. What does not hold XML comes back as it is.
    """
    found: list[Deviation] = []
    body = _narrow(body)
    for bom in _BOMS:
        if body.startswith(bom):
            true = bom == _BOMS[0]
            detail = "UTF-8 byte order mark" if true else f"{bom.hex(' ').upper()} before single-byte text"
            found.append(Deviation("bom" if true else "false-bom", detail))
            body = body.lstrip(bom)
            break
    begin = _BEGINNING.search(body, 0, _FRONT_BYTES)
    if begin is None or begin.start() == 0:
        return body, tuple(found)
    before = body[: begin.start()]
    if _HTML.search(before) or (begin[0][:2] != b"<?" and _is_markup(before)):
        return body, tuple(found)
    return body[begin.start() :], (*found, _junk(before))


def wide_encoding(body: bytes) -> str:
    """UTF-16 or UTF-32, told by its first bytes, as Python names it; '' for any other."""
    return next((encoding for beginning, encoding in _WIDE.items() if body.startswith(beginning)), "")


def _narrow(body: bytes) -> bytes:
    encoding = wide_encoding(body)
    if not encoding:
        return body
    text = body.decode(encoding, "replace").lstrip("\ufeff").encode()
    return _DECLARATION.sub(b'<?xml version="1.0"?>', text)


def _is_markup(before: bytes) -> bool:
    """Whether nothing but comments, instructions and a DOCTYPE stands before a root: that is well-formed XML."""
    return before.lstrip()[:2] in (b"<!", b"<?")


def _junk(before: bytes) -> Deviation:
    if not before.strip():
        return Deviation("space-before", f"{len(before)} bytes of white space before the declaration")
    if _HEADER_LINE.match(before):
        return Deviation("http-headers", _printable(before))
    return Deviation("junk-before", _printable(before))


def _printable(text: bytes) -> str:
    return " ".join(text.decode("latin-1").split())[:100]


def declared_encoding(body: bytes) -> str:
    """The encoding that the XML declaration names, lower case; '' for none."""
    found = _DECLARED.match(body)
    return found[1].decode("ascii").lower() if found else ""


def has_declaration(body: bytes) -> bool:
    """Whether the body begins with an XML declaration."""
    return _DECLARATION.match(body) is not None


def without_declaration(text: str) -> str:
    """A text without its XML declaration: once decoded, what it says of the encoding is no longer true."""
    return re.sub(r"\A<\?xml\b[^>]{0,400}\?>", "", text, count=1, flags=re.IGNORECASE)
