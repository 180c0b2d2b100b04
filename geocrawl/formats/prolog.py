"""Read the prolog, the part before a document's root: byte order marks, white space, HTTP header lines, messages of
PHP, a DOCTYPE.

Works on bytes, before anything is known of their encoding.
"""

from __future__ import annotations

import codecs
import re

from geocrawl.formats.charset import byte_order_mark
from geocrawl.model import Deviation
from geocrawl.wording import counted

MAX_PROLOG_BYTES = 8_192
"""Number of first characters in which a DOCTYPE is searched."""
_MAX_JUNK_BYTES = 65_536
"""Number of characters within which a document must begin: error messages before it are shorter."""
_WIDE = {  # first bytes of XML in two and four bytes a character → Python's codec
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe<\x00": "utf-16",
    b"\xfe\xff\x00<": "utf-16",
    b"<\x00?\x00": "utf-16-le",
    b"\x00<\x00?": "utf-16-be",
}
_BEGINNING = re.compile(
    rb"<\?xml\b|<(?:[A-Za-z_][\w.-]{0,40}:)?"
    rb"(?:(?:WMS_|WMT_MS_|WFS_|WCS_)?Capabilities|(?:Service)?ExceptionReport|TileMap(?:Service)?|Services)\b",
    re.IGNORECASE,
)
"""A declaration, or the root of a service's answer."""
_HTML = re.compile(rb"<!doctype\s+html|<(?:html|head|body|script|[\w.-]*:?envelope)\b", re.IGNORECASE)
_HEADER_LINE = re.compile(rb"\s*(?:HTTP/[\d.]+ \d{3}[^\r\n]*|[A-Za-z][A-Za-z-]{1,40}: ?[^\r\n]*)\r?\n")
_DECLARED = re.compile(rb"""\A<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""", re.IGNORECASE)
_DECLARATION = re.compile(rb"\A<\?xml\b[^>]{0,400}\?>", re.IGNORECASE)
_TEXT_DECLARATION = re.compile(_DECLARATION.pattern.decode(), re.IGNORECASE)
_DOCTYPE = re.compile(rb"<!DOCTYPE\s[^\[>]{0,2000}", re.IGNORECASE)
_SYSTEM_ID = re.compile(rb"""["']([^"']{1,500})["']\s*\Z""")


def strip_prolog(body: bytes) -> tuple[bytes, tuple[Deviation, ...]]:
    """Return the body from the first character of XML on, and what was stripped or converted.

    UTF-16 and UTF-32 are returned as UTF-8 without a declared encoding. A body without XML is returned as it is.
    """
    found: list[Deviation] = []
    body = _as_utf_8(body)
    if mark := byte_order_mark(body):
        if mark == codecs.BOM_UTF8:
            found.append(Deviation("bom", "UTF-8 byte order mark"))
        else:
            found.append(Deviation("false-bom", f"{mark.hex(' ').upper()} before single-byte text"))
        body = body.lstrip(mark)
    begin = _BEGINNING.search(body, 0, _MAX_JUNK_BYTES)
    if begin is None or begin.start() == 0:
        return body, tuple(found)
    before = body[: begin.start()]
    if _HTML.search(before) or (begin[0][:2] != b"<?" and _is_markup(before)):
        return body, tuple(found)
    return body[begin.start() :], (*found, _junk(before))


def deviations(body: bytes) -> list[Deviation]:
    """Return `no-declaration` and `doctype` as they apply to a body that begins with XML."""
    found = []
    if _DECLARATION.match(body) is None:
        found.append(Deviation("no-declaration", "no XML declaration"))
    doctype = _DOCTYPE.search(body, 0, MAX_PROLOG_BYTES)
    if doctype is not None:
        named = _SYSTEM_ID.search(doctype[0].rstrip())
        detail = f"names {named[1].decode('latin-1')}, not fetched" if named else "names no DTD"
        found.append(Deviation("doctype", detail))
    return found


def wide_encoding(body: bytes) -> str:
    """Return Python's codec for XML in UTF-16 or UTF-32, recognised by its first bytes; '' for any other."""
    return next((encoding for beginning, encoding in _WIDE.items() if body.startswith(beginning)), "")


def declared_encoding(body: bytes) -> str:
    """Return the encoding that the XML declaration names, lower case; '' for none."""
    found = _DECLARED.match(body)
    return found[1].decode("ascii").lower() if found else ""


def without_declaration(text: str) -> str:
    """Return a decoded text without its XML declaration: the encoding that it names is no longer true."""
    return _TEXT_DECLARATION.sub("", text, count=1)


def _as_utf_8(body: bytes) -> bytes:
    encoding = wide_encoding(body)
    if not encoding:
        return body
    text = body.decode(encoding, "replace").lstrip("\ufeff").encode()
    return _DECLARATION.sub(b'<?xml version="1.0"?>', text)


def _is_markup(before: bytes) -> bool:
    """Return whether only comments, instructions and a DOCTYPE precede a root: that is well-formed XML."""
    return before.lstrip()[:2] in (b"<!", b"<?")


def _junk(before: bytes) -> Deviation:
    if not before.strip():
        return Deviation("space-before", f"{counted(len(before), 'byte')} of white space before the declaration")
    code = "http-headers" if _HEADER_LINE.match(before) else "junk-before"
    return Deviation(code, " ".join(before.decode("latin-1").split())[:100])
