"""Mend the decoded text of an XML document that a strict parser refuses; each pass names its deviation.

The order of the passes keeps them apart: control characters, entities, stray `&`. Other faults are left to libxml2's
recovering parser (`xml_parser`).
"""

from __future__ import annotations

import re
from html.entities import html5

from geocrawl.formats.text import well_formed
from geocrawl.model import Deviation

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
_DOCTYPE = re.compile(r"<!DOCTYPE\s[^\[>]{0,2000}(?:\[(?:[^\]\"']|\"[^\"]*\"|'[^']*')*\]\s*)?>", re.IGNORECASE)
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


def _character_of_pair(found: re.Match[str]) -> str:
    return well_formed("".join(chr(int(code[1:], 16) if code[0] == "x" else int(code[-5:])) for code in found.groups()))


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
    doctype = _DOCTYPE.match(text, begin, _PROLOG_CHARS) if begin >= 0 else None
    subset = doctype[0] if doctype else ""
    declared = _declared_entities(subset)
    external = frozenset(_EXTERNAL_ENTITY.findall(subset))
    if doctype is not None:
        text = text[: doctype.start()] + text[doctype.end() :]
    used: dict[str, int] = {}

    def replacement(found: re.Match[str]) -> str:
        name = found[1]
        code, value = _meaning(name, declared, external)
        if not code or (code == "entities" and used.get(code, 0) >= _MAX_ENTITY_REFERENCES):
            return found[0]
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
