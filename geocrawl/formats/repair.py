"""Mending the text of a document that a strict parser refuses; each mending is a pass that names its deviation.

Passes come in an order that keeps them apart: encoding, control characters, entities, stray `&`. What is
left is for the recovering parser (`xml_reader`).
"""

from __future__ import annotations

import codecs
import re
from html.entities import html5

from geocrawl.model import Deviation

_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]|&#(?:0*(?:[0-8]|1[124-9]|2[0-9]|3[01])|x0*(?:[0-8bcef]|1[0-9a-f]));"
)
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
_HIGH_RUNS = re.compile(rb"[\x80-\xff]+")
_SAMPLE_RUNS = 2_000


def decode(body: bytes, declared: str, by_header: str) -> tuple[str, Deviation | None]:
    """The body as text: in the declared encoding, or if it is not in that, in the one it seems to be in.

    The deviation `wrong-charset` names both. Never raises: what no encoding reads becomes U+FFFD.
    """
    claimed = declared or "utf-8"
    for encoding in dict.fromkeys((claimed, "utf-8", by_header, _guess(body))):
        if encoding and (text := _strict(body, encoding)) is not None:
            honest = same_encoding(encoding, claimed)
            return text, None if honest else Deviation("wrong-charset", f"says {claimed}, is {encoding}")
    return body.decode("utf-8", "replace"), Deviation("wrong-charset", f"says {claimed}, is none that is known")


def _strict(body: bytes, encoding: str) -> str | None:
    # A document whose bytes have been seen to be single ones cannot be in these, whatever it says.
    if encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32", "ucs", "iso-10646")):
        return None
    if encoding.lower() in ("gb2312", "gbk", "gb-2312-80", "x-gbk"):
        encoding = "gb18030"
    try:
        return body.decode(encoding)
    except (UnicodeError, LookupError, ValueError):
        return None


def same_encoding(one: str, other: str) -> bool:
    """Whether two names mean one encoding."""
    try:
        return codecs.lookup(one).name == codecs.lookup(other).name
    except LookupError:
        return False


def _guess(body: bytes) -> str:
    """gb18030 when most bytes past ASCII come in runs of two and more, as in Chinese text; else windows-1252 (and
    latin-1, which reads everything, where that has gaps): letters with accents stand alone."""
    runs = [len(run[0]) for run, _ in zip(_HIGH_RUNS.finditer(body), range(_SAMPLE_RUNS), strict=False)]
    paired = sum(1 for length in runs if length >= 2 and length % 2 == 0)
    if runs and paired > 0.8 * len(runs) and _strict(body, "gb18030") is not None:
        return "gb18030"
    return "windows-1252" if _strict(body, "windows-1252") is not None else "latin-1"


def mend(text: str) -> tuple[str, list[Deviation]]:
    """A text with control characters, entities unknown to XML, and stray ampersands mended."""
    found: list[Deviation] = []
    text, count = _CONTROL.subn(" ", text)
    if count:
        found.append(Deviation("control-characters", f"{count} replaced by spaces"))
    text, of_entities = _mend_entities(text)
    found += of_entities
    text, count = _escape_ampersands(text)
    if count:
        found.append(Deviation("bare-ampersand", f"{count} & written as such"))
    return text, found


def _mend_entities(text: str) -> tuple[str, list[Deviation]]:
    """Entities of HTML become their characters, short ones that the DOCTYPE declares their texts, outside ones nothing.

    The DOCTYPE goes, so that no parser expands an entity: texts that hold entities themselves (the way bombs
    are built) and long ones are left out, and the number of references is bounded.
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
    """Name and text of the harmless ones."""
    pairs = ((name, double or single) for name, double, single in _DECLARED_ENTITY.findall(subset))
    return {name: text for name, text in pairs if len(text) <= _MAX_ENTITY_CHARS and not set("&%<") & set(text)}


def _meaning(name: str, declared: dict[str, str], external: frozenset[str]) -> tuple[str, str]:
    """(deviation code, replacement) of an entity; ('', '') for one to leave alone."""
    if name in _XML_ENTITIES:
        return "", ""
    if name in external:
        return "external-entity", ""
    if name in declared:
        return "entities", declared[name]
    character = html5.get(name + ";", "")
    return ("html-entities", character) if character and not set("<&") & set(character) else ("", "")


def _escape_ampersands(text: str) -> tuple[str, int]:
    """`&` that begins no reference as `&amp;`, outside of CDATA and comments."""
    if _STRAY_AMPERSAND.search(text) is None:
        return text, 0
    parts = _KEEP_WHOLE.split(text)
    count = 0
    for index in range(0, len(parts), 2):
        parts[index], here = _STRAY_AMPERSAND.subn("&amp;", parts[index])
        count += here
    return "".join(parts), count
