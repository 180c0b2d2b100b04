"""Prepare an XML document for the parser: read its prolog, and mend text that a strict parser refuses.

The prolog is the part before the root: byte order marks, white space, HTTP header lines, messages of PHP, a DOCTYPE. It
is read as bytes, before anything is known of their encoding.

Each pass that mends the decoded text names its deviation. Their order keeps them apart: control characters, entities,
stray `&`. Other faults are left to libxml2's recovering parser.
"""

from __future__ import annotations

import codecs
import re
from html.entities import html5

from geocrawl.formats.text import byte_order_mark, well_formed
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


def prolog_deviations(body: bytes) -> list[Deviation]:
    """Return `no-declaration` and `doctype` as they apply to a body that begins with XML."""
    deviations = []
    if _DECLARATION.match(body) is None:
        deviations.append(Deviation("no-declaration", "no XML declaration"))
    doctype = _DOCTYPE.search(body, 0, MAX_PROLOG_BYTES)
    if doctype is not None:
        named = _SYSTEM_ID.search(doctype[0].rstrip())
        detail = f"names {named[1].decode('latin-1')}, not fetched" if named else "names no DTD"
        deviations.append(Deviation("doctype", detail))
    return deviations


def wide_encoding(body: bytes) -> str:
    """Return Python's codec for XML in UTF-16 or UTF-32, recognised by its first bytes; '' for any other."""
    return next((encoding for beginning, encoding in _WIDE.items() if body.startswith(beginning)), "")


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


_HIGH = r"(?:0*(?:5529[6-9]|55[3-9][0-9]{2}|56[0-2][0-9]{2}|563[01][0-9])|x0*[dD][89abAB][0-9a-fA-F]{2})"
_LOW = r"(?:0*(?:563[2-9][0-9]|56[4-9][0-9]{2}|57[0-2][0-9]{2}|573[0-3][0-9]|5734[0-3])|x0*[dD][c-fC-F][0-9a-fA-F]{2})"
_CONTROL = r"(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01]|6553[45])|x0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]|[fF]{3}[eEfF]))"
_NO_CHARACTER = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]" + f"|&#(?:{_CONTROL}|{_HIGH}|{_LOW});"
)
_SURROGATE_PAIR = re.compile(f"&#({_HIGH});&#({_LOW});")
"""One character beyond U+FFFF, written as the two references that UTF-16 has for it."""
_XML_ENTITIES = frozenset({"amp", "lt", "gt", "quot", "apos"})
_ENTITY = re.compile(r"&([A-Za-z_][\w.-]{0,60});")
_STRAY_AMPERSAND = re.compile(r"&(?!#[0-9]{1,7};|#x[0-9A-Fa-f]{1,6};|(?:amp|lt|gt|quot|apos);)")
_KEEP_WHOLE = re.compile(r"(<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z))", re.DOTALL)
_WHOLE_DOCTYPE = re.compile(r"<!DOCTYPE\s[^\[>]{0,2000}(?:\[(?:[^\]\"']|\"[^\"]*\"|'[^']*')*\]\s*)?>", re.IGNORECASE)
_DECLARED_ENTITY = re.compile(r"""<!ENTITY\s+([A-Za-z_][\w.-]{0,60})\s+(?:"([^"]*)"|'([^']*)')\s*>""")
_PROLOG_CHARS = 200_000
_EXTERNAL_ENTITY = re.compile(r"<!ENTITY\s+([A-Za-z_][\w.-]{0,60})\s+(?:SYSTEM|PUBLIC)\s")
_MAX_ENTITY_CHARS = 200
_MAX_ENTITY_REFERENCES = 10_000


def without_controls(text: str) -> tuple[str, int]:
    """Return `text` with spaces for what is no character of XML 1.0 (2.2), also for references to it, and the count.

    References to the two surrogates of one character become that character.
    """
    text, joined = _SURROGATE_PAIR.subn(_character_of_pair, text) if "&#" in text else (text, 0)
    text, blanked = _NO_CHARACTER.subn(" ", text)
    return text, joined + blanked


def _character_of_pair(match: re.Match[str]) -> str:
    return well_formed("".join(chr(int(code[1:], 16) if code[0] == "x" else int(code[-5:])) for code in match.groups()))


_HTML_TAG = re.compile(
    r"</?(?:a|b|big|br|center|div|em|font|h[1-6]|hr|i|img|li|ol|p|small|span|strong|sub|sup|u|ul)(?:\s[^<>]{0,1000})?/?>",
    re.IGNORECASE,
)
_FIRST_TAG = re.compile(r"<[A-Za-z_]")
_PAGE = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)


def mend(text: str) -> tuple[str, list[Deviation]]:
    """Return `text` with control characters, entities unknown to XML, stray ampersands and markup of HTML mended, and
    what was done.
    """
    found: list[Deviation] = []
    text, count = without_controls(text)
    if count:
        found.append(Deviation("control-characters", f"{count} replaced by spaces"))
    text, of_entities = _mend_entities(text)
    found += of_entities
    text, count = _escape_ampersands(text)
    if count:
        found.append(Deviation("bare-ampersand", f"{count} & written as such"))
    text, count = _without_html(text)
    if count:
        found.append(Deviation("html-markup", f"{count} tags left out"))
    return text, found


def _without_html(text: str) -> tuple[str, int]:
    """Remove tags of HTML that people write into titles and abstracts, rarely closed; not from a page.

    No document of a service has elements of these names.
    """
    root = _FIRST_TAG.search(text, 0, _PROLOG_CHARS)
    if root is None or _HTML_TAG.match(text, root.start()) or _PAGE.search(text, 0, _PROLOG_CHARS):
        return text, 0
    return _HTML_TAG.subn(" ", text)


def _mend_entities(text: str) -> tuple[str, list[Deviation]]:
    """Replace references: HTML's entities by their characters, short declared ones by their text, external ones by ''.

    The DOCTYPE is removed, so that no parser expands an entity. Declared texts that contain references themselves (so
    entity bombs are built) and long ones are not used, and the number of references is bounded.
    """
    begin = text.find("<!DOCTYPE", 0, _PROLOG_CHARS)
    doctype = _WHOLE_DOCTYPE.match(text, begin, _PROLOG_CHARS) if begin >= 0 else None
    subset = doctype[0] if doctype else ""
    declared = _declared_entities(subset)
    external = frozenset(_EXTERNAL_ENTITY.findall(subset))
    if doctype is not None:
        text = text[: doctype.start()] + text[doctype.end() :]
    used: dict[str, int] = {}

    def replacement(match: re.Match[str]) -> str:
        name = match[1]
        code, value = _meaning(name, declared, external)
        if not code or (code == "entities" and used.get(code, 0) >= _MAX_ENTITY_REFERENCES):
            return match[0]
        used[code] = used.get(code, 0) + 1
        return value

    text = _ENTITY.sub(replacement, text) if "&" in text else text
    return text, [Deviation(code, f"{count} references") for code, count in used.items()]


def _declared_entities(subset: str) -> dict[str, str]:
    """Return name and text of the entities that are short and contain no markup or reference."""
    pairs = ((name, double or single) for name, double, single in _DECLARED_ENTITY.findall(subset))
    return {name: text for name, text in pairs if len(text) <= _MAX_ENTITY_CHARS and not set("&%<") & set(text)}


def _meaning(name: str, declared: dict[str, str], external: frozenset[str]) -> tuple[str, str]:
    """Return deviation code and replacement of an entity; ('', '') for one to leave as it is."""
    if name in _XML_ENTITIES:
        return "", ""
    if name in external:
        return "external-entity", ""
    if name in declared:
        return "entities", declared[name]
    character = html5.get(name + ";", "")
    return ("html-entities", character) if character and not set("<&") & set(character) else ("", "")


def _escape_ampersands(text: str) -> tuple[str, int]:
    """Write `&` that begins no reference as `&amp;`, outside of CDATA and comments; return the text and the count."""
    if _STRAY_AMPERSAND.search(text) is None:
        return text, 0
    parts = _KEEP_WHOLE.split(text)
    count = 0
    for index in range(0, len(parts), 2):
        parts[index], here = _STRAY_AMPERSAND.subn("&amp;", parts[index])
        count += here
    return "".join(parts), count
