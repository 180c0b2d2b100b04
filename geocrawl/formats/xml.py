"""Read XML tolerantly, and its elements by their local names, whatever namespace or prefix they have or lack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any

from lxml import etree

from geocrawl.formats.text import (
    charset_conflict,
    declared_encoding,
    decode_declared,
    find_encoding,
    fold,
    header_charset,
)
from geocrawl.formats.xml_repair import (
    MAX_PROLOG_BYTES,
    mend,
    prolog_deviations,
    strip_prolog,
    without_controls,
    without_declaration,
)
from geocrawl.model import Deviation
from geocrawl.sanitize import ending_of

XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
MAX_TEXTS = 20_000
"""Most elements of a list (keywords, formats, reference systems) whose texts are read."""
_MAX_TEXT_CHARS = 20_000
_MAX_LINE_CHARS = 1_000
_MAX_DESCENDANTS = 20
"""Descendants that `first_text` looks at: texts in several languages, not a whole section."""


def local_name(element: etree._Element) -> str:
    """Return `Layer` for `{http://www.opengis.net/wms}Layer` and for an undeclared `wms:Layer`; '' for a comment."""
    tag: object = element.tag  # a function for comments, processing instructions and entities
    return _plain(tag) if isinstance(tag, str) else ""


@lru_cache(maxsize=512)
def _plain(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2]


def namespace_of(element: etree._Element) -> str:
    """Return the namespace of an element, '' for none. `etree.QName` raises when the namespace contains a brace."""
    tag: object = element.tag
    return tag[1:].rpartition("}")[0] if isinstance(tag, str) and tag.startswith("{") else ""


def children(element: etree._Element | None, name: str = "") -> Iterator[etree._Element]:
    """Yield the child elements with this local name ('': all) in document order; none for None."""
    if element is not None:
        for item in element.iterchildren("*"):
            if not name or local_name(item) == name:
                yield item


def child(element: etree._Element | None, *names: str) -> etree._Element | None:
    """Return the first child with this local name, or follow several names down; None when one is missing."""
    for name in names:
        element = next(children(element, name), None)
    return element


def first(element: etree._Element, *names: str) -> etree._Element | None:
    """Return the first descendant with this local name, or search several names, each below the one before.

    None when one is missing. Elements whose prefix is undeclared are not found.
    """
    found: etree._Element | None = element
    for name in names:
        found = next(found.iter(f"{{*}}{name}"), None) if found is not None else None
    return found


def text_of(element: etree._Element | None) -> str:
    """Return all text in an element, stripped, at most 20,000 characters; '' for None."""
    if element is None:
        return ""
    text = element.text if len(element) == 0 else "".join(map(str, element.itertext()))
    return text.strip()[:_MAX_TEXT_CHARS] if text else ""


def line_of(element: etree._Element | None) -> str:
    """Return all text in an element as one line of at most 1,000 characters; '' for None."""
    return " ".join(text_of(element).split())[:_MAX_LINE_CHARS]


def first_text(element: etree._Element | None, limit: int = 300) -> str:
    """Return the first text in an element, or in its first 20 descendants, as one line of at most `limit` characters.

    Metadata wrap texts (gco:CharacterString) and repeat them in several languages; the first one counts. '' for None.
    """
    near = islice(element.iter("*"), _MAX_DESCENDANTS) if element is not None else ()
    return next((line for item in near if item.text and (line := fold(item.text[:_MAX_TEXT_CHARS], limit))), "")


def texts(elements: Iterator[etree._Element]) -> tuple[str, ...]:
    """Return the texts of the first `MAX_TEXTS` elements as lines in order, without empty ones and repetitions."""
    return tuple(dict.fromkeys(line for line in map(line_of, islice(elements, MAX_TEXTS)) if line))


_MOST_POSITIONS = 10_000
"""Most positions in time of one element that are read, of each name."""
_OPEN = ("now", "unknown")


def gml_times(element: etree._Element) -> tuple[str, str] | None:
    """Return the first and the last position of GML in an element, '' for an open one; None without any."""
    found = [
        "" if attribute(each, "indeterminatePosition") in _OPEN else text_of(each)
        for name in ("beginPosition", "endPosition", "timePosition")
        for each in islice(element.iter(f"{{*}}{name}"), _MOST_POSITIONS)
    ]
    return (found[0], found[-1]) if found else None


def href_of(element: etree._Element | None) -> str:
    """Return the address of an OnlineResource: its attribute href of any namespace, or its text (WMS 1.0.0)."""
    if element is None:
        return ""
    stated = (value for name, value in element.attrib.items() if value and _plain(str(name)) == "href")
    address = next(stated, None)
    return line_of(element) if address is None else str(address).strip()


def attribute(element: etree._Element, name: str) -> str:
    """Return the value of the attribute with this name in any letter case; '' for a missing attribute."""
    value = element.get(name)
    if value is not None:
        return value
    return next((str(v) for k, v in element.attrib.items() if str(k).lower() == name.lower()), "")


# --------------------------------------------------------------------------- tolerance
# Every tolerance is named as a `Deviation`.
#
# A well-formed document is parsed as it is. Only one that a strict parser refuses is decoded, mended (`xml_repair`) and
# parsed again, and only one that is refused even then goes to libxml2's recovering parser.
#
# Nothing is ever fetched and no entity expanded: a document that declares or uses entities goes through `xml_repair`,
# which drops the DOCTYPE. libxml2's own bounds stay in force: a depth of 256 elements, text nodes of 10 MB. No bytes
# make this raise.


# --------------------------------------------------------------------------- truncation
# The tree cannot tell: a recovering parser closes every element that was left open.


_TAG = re.compile(
    r"<!\[CDATA\[.*?\]\]>|<!--.*?-->|(<!\[CDATA\[|<!--)|"
    r"<(/?)((?:[\w.-]{1,40}:)?([\w.-]{1,100}))((?:[^<>\"'/]|/(?!>)|\"[^\"<]*\"|'[^'<]*')*)(/?)>",
    re.DOTALL,
)
_ROOTS = frozenset(
    {"capabilities", "wms_capabilities", "wmt_ms_capabilities", "wfs_capabilities", "wcs_capabilities"}
    | {"tilemapservice", "tilemap"}
)
_CONTENTS = frozenset({"FeatureTypeList", "Contents", "ContentMetadata", "ProcessOfferings", "TileMaps", "TileSets"})
"""Sections with content items: of WFS, OWS Common, WCS 1.0, WPS 1.0 and TMS."""
_CUT_TAG = re.compile(r"<(?:[\w.-]{1,40}:)?([\w.-]{1,100})[\s/]")
_CUT_LAYER = re.compile(r"<(?:[\w.-]+:)?(?:L(?:a(?:y(?:e(?:r\b[^>]*)?)?)?)?)?\Z")


class Cut(Enum):
    """The place where a document was cut off."""

    NOT = auto()
    AFTER_ITEMS = auto()
    """After all of its content items: nothing that is kept was lost."""
    INSIDE = auto()
    """Before or among its content items."""
    OVER_LIMIT = auto()
    """At one of our own limits."""


class TagCount:
    """Counts the tags of a document that no parser can read to its end, to tell where it was cut off."""

    def __init__(self) -> None:
        self._rest = ""
        """Text behind the last whole tag, from the beginning of an unfinished one on."""
        self._root = self._root_tag = ""
        self._begun, self._ended = set[str](), set[str]()
        """Local names of elements that began, and of those that ended."""
        self._layers = self._depth = 0

    def add(self, text: str) -> None:
        """Count the tags of the next piece."""
        text = self._rest + text
        end, begin = 0, -1
        for tag in _TAG.finditer(text):
            if tag[1]:  # an unfinished comment or CDATA section
                begin = tag.start()
                break
            end = tag.end()
            if tag[3]:
                self._count(tag)
        begin = text.rfind("<", end) if begin < 0 else begin
        self._rest = text[begin:] if begin >= 0 else ""

    def _count(self, tag: re.Match[str]) -> None:
        _, closing, written, name, _, empty = tag.groups()
        if not self._root:
            if not closing and name.lower() in _ROOTS:
                self._root, self._root_tag = written, tag[0]
            return
        if closing and written == self._root:
            self._ended.add(written)
        elif closing or (empty and name in _CONTENTS):
            self._ended.add(name)
        if not closing:
            self._begun.add(name)
        if name == "Layer":
            self._layers += not closing
            self._depth += 0 if empty else -1 if closing else 1

    @property
    def cut(self) -> Cut:
        """Return where the document ends, judged by the end tags that are missing.

        `AFTER_ITEMS` when the section with the content items has ended; of a WMS, whose layers come last (WMS 1.3.0,
        annex E.1), already when every layer that was begun has ended. `NOT` when the root has ended or is of no known
        kind.
        """
        if not self._root:
            begun = _CUT_TAG.match(self._rest)
            return Cut.INSIDE if begun and begun[1].lower() in _ROOTS else Cut.NOT
        if self._root in self._ended or self._rest.startswith(f"</{self._root}"):
            return Cut.NOT
        if self._root.lower().endswith(("wms_capabilities", "wmt_ms_capabilities")):
            is_whole = self._layers > 0 and self._depth <= 0 and not _CUT_LAYER.match(self._rest)
            return Cut.AFTER_ITEMS if "Capability" in self._ended or is_whole else Cut.INSIDE
        sections = _CONTENTS if self._begun & _CONTENTS or "/csw" not in self._root_tag else {"OperationsMetadata"}
        return Cut.AFTER_ITEMS if self._ended & sections else Cut.INSIDE


# --------------------------------------------------------------------------- the parser


PARSER_OPTIONS: Mapping[str, Any] = MappingProxyType(
    {
        "resolve_entities": False,
        "load_dtd": False,
        "no_network": True,
        "huge_tree": False,
        "remove_comments": True,
        "remove_pis": True,
    }
)
"""Options of every parser of strangers' XML."""
_FAULTS = {
    "ERR_DOCUMENT_END": "junk-after",
    "NS_ERR_UNDEFINED_NAMESPACE": "undefined-prefix",
    "NS_ERR_ATTRIBUTE_REDEFINED": "duplicate-attribute",
    "ERR_ATTRIBUTE_REDEFINED": "duplicate-attribute",
}
_MAX_FAULTS = 1_000


def parse_strictly(body: bytes, encoding: str | None = None) -> etree._Element | None:
    """Return the root of a well-formed document, None for any other. `encoding` overrides the declared one."""
    parser = etree.XMLParser(encoding=encoding, **PARSER_OPTIONS)
    try:
        return etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError):
        return None


def parse_recovering(body: bytes) -> tuple[etree._Element | None, list[Deviation]]:
    """Return what libxml2 recovers of a document in UTF-8, None for nothing, and one deviation a kind of fault."""
    parser = etree.XMLParser(encoding="utf-8", recover=True, **PARSER_OPTIONS)
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None, []
    return root, fault_deviations(list(parser.error_log)[:_MAX_FAULTS])


def parse_text(text: str) -> etree._Element | None:
    """Return what libxml2 recovers of a decoded document, None for nothing.

    The declaration is left out: the text is decoded already, whatever encoding it names.
    """
    text, _ = without_controls(text.lstrip("\ufeff"))
    return parse_recovering(without_declaration(text.strip()).encode("utf-8", "replace"))[0]


def fault_deviations(log: Iterable[Any]) -> list[Deviation]:
    """Return one deviation for each kind of fault in a parser's error log, with line and message of the first."""
    details: dict[str, str] = {}
    for entry in log:
        code = _FAULTS.get(entry.type_name, "not-well-formed")
        details.setdefault(code, f"line {entry.line}: {entry.message}"[:200])
    return [Deviation(code, detail) for code, detail in details.items()]


# --------------------------------------------------------------------------- reading


_WIDE_ENTITY = "<!ENTITY".encode("utf-16-le")[:-1]  # in either order of bytes
_PIECE_BYTES = 65_536
_OTHER_ENTITY = re.compile(rb"&(?!amp;|lt;|gt;|quot;|apos;|#)")


@dataclass(frozen=True, slots=True)
class Reading:
    """The part of a document that could be read."""

    root: etree._Element | None
    """None when the body contains no XML."""
    deviations: tuple[Deviation, ...] = ()
    cut: Cut = Cut.NOT


def read_xml(body: bytes, content_type: str = "") -> Reading:
    """Return the element tree of a body; `content_type` is the header field with its parameters."""
    return unwrapped(_read(body, content_type))


def unwrapped(reading: Reading) -> Reading:
    """Return the exception report in a SOAP fault (SOAP 1.1, 4.4; 1.2, 5.4), or the fault, without its envelope.

    Any other content stays in its envelope: a service that answers a plain request with SOAP speaks nothing else.
    """
    root = reading.root
    if root is None or local_name(root) != "Envelope":
        return reading
    fault = child(root, "Body", "Fault")
    if fault is None:
        return reading
    report = next((element for element in fault.iter() if local_name(element).endswith("ExceptionReport")), fault)
    notes = (*reading.deviations, Deviation("soap-envelope", "a fault in an envelope"))
    return replace(reading, root=report, deviations=notes)


def has_entities(body: bytes) -> bool:
    """Return whether libxml2 would silently lose text of a document.

    It would if the document declares entities or, having a DOCTYPE, uses some that are not declared.
    """
    head = body[:MAX_PROLOG_BYTES]
    return b"<!ENTITY" in head or (b"<!DOCTYPE" in head and _OTHER_ENTITY.search(body) is not None)


def external_entity(body: bytes) -> str:
    """Return the address of a text that a document takes from elsewhere (XML 1.0, 4.2.2), which nobody fetches; '' for
    none."""
    if b"<!ENTITY" not in body and _WIDE_ENTITY not in body:
        return ""
    parser = etree.XMLPullParser(events=("start",), recover=True, **PARSER_OPTIONS)
    body, _ = strip_prolog(body)
    with suppress(etree.XMLSyntaxError):
        for start in range(0, len(body), _PIECE_BYTES):
            parser.feed(body[start : start + _PIECE_BYTES])
            for _, root in parser.read_events():
                declared: Any = root.getroottree().docinfo.internalDTD  # type: ignore[union-attr]
                entities = declared.iterentities() if declared is not None else ()
                return next((entity.system_url for entity in entities if entity.system_url), "")
    return ""


def names_unknown_encoding(body: bytes) -> bool:
    """Return whether a document declares an encoding that no browser knows; libxml2 would read more of them."""
    declared = declared_encoding(body)
    return bool(declared) and find_encoding(declared) is None


def media_type_deviation(content_type: str) -> Deviation | None:
    """Return `content-type` unless the media type is one for XML (WMS 1.3.0, 7.2.3.1 and 1.1.1, 7.1.3.2), else None."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in ("text/xml", "application/xml", "application/vnd.ogc.wms_xml") or media_type.endswith("+xml"):
        return None
    return Deviation("content-type", media_type or "none")


def _read(body: bytes, content_type: str) -> Reading:
    body, found = strip_prolog(body)
    if body.lstrip()[:1] != b"<":
        return Reading(None, found)
    notes = [*found, *prolog_deviations(body)]
    declared = declared_encoding(body)
    root = None if has_entities(body) or names_unknown_encoding(body) else parse_strictly(body)
    if root is not None:
        return Reading(root, (*notes, *charset_conflict(body, declared, content_type)))
    text, wrong = decode_declared(body, declared, header_charset(content_type).lower())
    if wrong is not None:
        notes.append(wrong)
    return _read_mended(without_declaration(text), notes)


def _read_mended(text: str, notes: list[Deviation]) -> Reading:
    text, mended = mend(text)
    notes += mended
    data = text.encode("utf-8", "replace")
    root = parse_strictly(data, encoding="utf-8")
    if root is not None:
        return Reading(root, tuple(notes))
    tags = TagCount()
    tags.add(text)
    cut = tags.cut
    root, faults = parse_recovering(data)
    if cut is Cut.AFTER_ITEMS:
        notes.append(Deviation("truncated-tail", ending_of(text)))
    elif cut is Cut.NOT:
        notes += faults
    return Reading(root, tuple(notes), cut)
