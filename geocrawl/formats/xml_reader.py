"""Read XML tolerantly: an answer's bytes as an element tree, with every tolerance named as a `Deviation`.

A well-formed document is parsed as it is. Only one that a strict parser refuses is decoded, mended (`xml_repair`) and
parsed again, and only one that is refused even then goes to libxml2's recovering parser.

Nothing is ever fetched and no entity expanded: a document that declares or uses entities goes through `xml_repair`,
which drops the DOCTYPE. libxml2's own bounds stay in force: a depth of 256 elements, text nodes of 10 MB. No bytes make
this raise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

from lxml import etree

from geocrawl.formats.charset import charset_conflict, decode_declared, find_encoding, header_charset
from geocrawl.formats.elements import child, local_name
from geocrawl.formats.xml_repair import (
    MAX_PROLOG_BYTES,
    declared_encoding,
    mend,
    prolog_deviations,
    strip_prolog,
    without_controls,
    without_declaration,
)
from geocrawl.model import Deviation
from geocrawl.sanitize import ending_of

# --------------------------------------------------------------------------- truncation
# The tree cannot tell: a recovering parser closes every element that was left open.


_MARKUP = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<(/?)(?:[\w.-]+:)?(Layer|Capability)\b(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*?(/?)>",
    re.DOTALL,
)
_ROOT = re.compile(
    r"<((?:[\w.-]{1,40}:)?(?:(?:WMS_|WMT_MS_|WFS_|WCS_)?Capabilities|TileMapService|TileMap))(?=[\s/>])", re.IGNORECASE
)
_SECTION = (
    r"(?:[\w.-]{1,40}:)?(?:FeatureTypeList|Contents|ContentMetadata|ProcessOfferings|TileMaps|TileSets)(?=[\s/>])"
)
"""Sections with content items: of WFS, OWS Common, WCS 1.0, WPS 1.0 and TMS."""
_CONTENTS = re.compile(f"<{_SECTION}")
_CONTENTS_END = re.compile(f"(?:</{_SECTION})|(?:<{_SECTION}[^<>]{{0,200}}/>)")
_OPERATIONS_END = re.compile(r"</(?:[\w.-]{1,40}:)?OperationsMetadata(?=[\s>])")
_CUT_LAYER = re.compile(r"<(?:[\w.-]+:)?(?:L(?:a(?:y(?:e(?:r\b[^>]*)?)?)?)?)?\Z")
_TAIL_CHARS = 2_000


class Cut(Enum):
    """The place where a document was cut off."""

    NOT = auto()
    AFTER_ITEMS = auto()
    """After all of its content items: nothing that is kept was lost."""
    INSIDE = auto()
    """Before or among its content items."""
    OVER_LIMIT = auto()
    """At one of our own limits."""


def where_cut(text: str) -> Cut:
    """Return where a document ends that no parser can read to its end, judged by the end tags that are missing.

    `AFTER_ITEMS` when the section with the content items has ended; of a WMS, whose layers come last (WMS 1.3.0, annex
    E.1), already when every layer that was begun has ended. `NOT` when the root has ended or is of no known kind.
    """
    root = _ROOT.search(text)
    if root is None or text.find(f"</{root[1]}", root.end()) >= 0:
        return Cut.NOT
    if root[1].lower().endswith(("wms_capabilities", "wmt_ms_capabilities")):
        return _where_layers_cut(text)
    if _CONTENTS.search(text, root.end()):
        return Cut.AFTER_ITEMS if _CONTENTS_END.search(text, root.end()) else Cut.INSIDE
    is_csw = "/csw" in text[root.end() : text.find(">", root.end()) + 1]
    return Cut.AFTER_ITEMS if is_csw and _OPERATIONS_END.search(text, root.end()) else Cut.INSIDE


def _where_layers_cut(text: str) -> Cut:
    depth, layers, end = 0, 0, 0
    for tag in _MARKUP.finditer(text):
        closing, name, empty = tag.groups()
        if name == "Capability" and closing:
            return Cut.AFTER_ITEMS
        if name == "Layer":
            layers += not closing
            depth += 0 if empty else -1 if closing else 1
            end = tag.end()
    if depth > 0 or layers == 0 or _CUT_LAYER.search(text[max(end, len(text) - _TAIL_CHARS) :]):
        return Cut.INSIDE
    return Cut.AFTER_ITEMS


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
    report = next((each for each in fault.iter() if local_name(each).endswith("ExceptionReport")), fault)
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
                return next((each.system_url for each in entities if each.system_url), "")
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
    cut = where_cut(text)
    root, faults = parse_recovering(data)
    if cut is Cut.AFTER_ITEMS:
        notes.append(Deviation("truncated-tail", ending_of(text)))
    elif cut is Cut.NOT:
        notes += faults
    return Reading(root, tuple(notes), cut)
