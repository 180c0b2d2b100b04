"""Tolerant reading: the bytes of an answer, whatever was done to them, as an element tree, with every tolerance named.

A well-formed document is parsed as it stands. Only one that a strict parser refuses is decoded, mended (`repair`) and
parsed again, and only one that is refused even then goes to libxml2's recovering parser. A document that was cut
off is told by its text, not by the tree, since recovery closes every element that was left open.

Nothing is ever fetched and no entity expanded: no DTD is loaded, the network is closed to the parser, and a document
that declares or uses entities goes through `repair`, which drops the DOCTYPE. libxml2's own bounds (depth 256, text
nodes of 10 MB) stay on. No bytes make this raise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

from lxml import etree

from geocrawl.formats import prolog, repair
from geocrawl.formats.elements import child, local_name
from geocrawl.model import Deviation

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
"""What content items stand in: WFS, OWS Common, WCS 1.0, WPS 1.0, TMS."""
_CONTENTS = re.compile(f"<{_SECTION}")
_CONTENTS_END = re.compile(f"(?:</{_SECTION})|(?:<{_SECTION}[^<>]{{0,200}}/>)")
_OPERATIONS_END = re.compile(r"</(?:[\w.-]{1,40}:)?OperationsMetadata(?=[\s>])")
_CUT_LAYER = re.compile(r"<(?:[\w.-]+:)?(?:L(?:a(?:y(?:e(?:r\b[^>]*)?)?)?)?)?\Z")
_DOCTYPE = re.compile(rb"<!DOCTYPE\s[^\[>]{0,2000}", re.IGNORECASE)
_SYSTEM_ID = re.compile(rb"""["']([^"']{1,500})["']\s*\Z""")
_OTHER_ENTITY = re.compile(rb"&(?!amp;|lt;|gt;|quot;|apos;|#)")
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
"""Of every parser here: nothing is fetched, no entity expanded, libxml2's own bounds stay on."""
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_PROLOG_BYTES = 8_192


class Cut(Enum):
    """Where a document ends before its end."""

    NOT = auto()
    AFTER_LAYERS = auto()
    """Behind all of its content items: nothing that is kept was lost."""
    INSIDE = auto()
    OVER_LIMIT = auto()
    """Where reading it ended, by our own limits."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as far as it could be read."""

    root: etree._Element | None
    """None when there is no XML in it."""
    deviations: tuple[Deviation, ...] = ()
    cut: Cut = Cut.NOT


def read_xml(body: bytes, content_type: str = "") -> Reading:
    """The element tree of a body; `content_type` is the header's text with its parameters."""
    return unwrapped(_read(body, content_type))


def _read(body: bytes, content_type: str) -> Reading:
    body, found = prolog.cut_front(body)
    if body.lstrip()[:1] != b"<":
        return Reading(None, found)
    notes = [*found, *prolog_deviations(body)]
    root = _strict(body)
    if root is not None:
        return Reading(root, (*notes, *charset_conflict(body, content_type)))
    text, wrong = repair.decode(body, prolog.declared_encoding(body), charset_of(content_type))
    if wrong is not None:
        notes.append(wrong)
    text, mended = repair.mend(prolog.without_declaration(text))
    notes += mended
    data = text.encode("utf-8", "replace")
    root = _strict(data, encoding="utf-8")
    if root is not None:
        return Reading(root, tuple(notes))
    cut = where_cut(text)
    root, faults = _recover(data)
    if cut is Cut.AFTER_LAYERS:
        notes.append(Deviation("truncated-tail", f"ends with {text[-60:]!r}"))
    elif cut is Cut.NOT:
        notes += faults
    return Reading(root, tuple(notes), cut)


def unwrapped(reading: Reading) -> Reading:
    """A SOAP fault (SOAP 1.1, 4.4; 1.2, 5.4) without its envelope: the exception report in it, or the fault itself.

    What else an envelope holds stays in it: a service that answers a plain request so speaks SOAP alone.
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


def _strict(body: bytes, encoding: str | None = None) -> etree._Element | None:
    """The root of a well-formed document without entities of its own; None for any other."""
    if encoding is None and has_entities(body):
        return None
    parser = etree.XMLParser(encoding=encoding, **PARSER_OPTIONS)
    try:
        return etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError):
        return None


def has_entities(body: bytes) -> bool:
    """Whether a document has entities of its own, or, beside a DOCTYPE, some that nobody declared: these are no error
    for libxml2, and their text would be lost silently."""
    prolog = body[:_PROLOG_BYTES]
    return b"<!ENTITY" in prolog or (b"<!DOCTYPE" in prolog and _OTHER_ENTITY.search(body) is not None)


def _recover(data: bytes) -> tuple[etree._Element | None, list[Deviation]]:
    """What libxml2 can save, and the kinds of fault that it met."""
    parser = etree.XMLParser(encoding="utf-8", recover=True, **PARSER_OPTIONS)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None, []
    codes: dict[str, str] = {}
    for entry in list(parser.error_log)[:1000]:
        codes.setdefault(fault_code(entry.type_name), f"line {entry.line}: {entry.message}"[:200])
    return root, [Deviation(code, detail) for code, detail in codes.items()]


_FAULTS = {
    "ERR_DOCUMENT_END": "junk-after",
    "NS_ERR_UNDEFINED_NAMESPACE": "undefined-prefix",
    "NS_ERR_ATTRIBUTE_REDEFINED": "duplicate-attribute",
    "ERR_ATTRIBUTE_REDEFINED": "duplicate-attribute",
}


def fault_code(type_name: str) -> str:
    """The deviation that a fault of libxml2's is."""
    return _FAULTS.get(type_name, "not-well-formed")


def where_cut(text: str) -> Cut:
    """Where a document ends that no parser can read to its end: told by the end tags that are missing.

    `AFTER_LAYERS` when the section with the content items has ended; of a WMS, whose layers come last (WMS 1.3.0, annex
    E.1), already when every layer that was begun has ended. Nothing that is kept was lost then.
    """
    root = _ROOT.search(text)
    if root is None or text.find(f"</{root[1]}", root.end()) >= 0:
        return Cut.NOT
    if root[1].lower().endswith(("wms_capabilities", "wmt_ms_capabilities")):
        return _where_layers_cut(text)
    if _CONTENTS.search(text, root.end()):
        return Cut.AFTER_LAYERS if _CONTENTS_END.search(text, root.end()) else Cut.INSIDE
    catalogue = "/csw" in text[root.end() : text.find(">", root.end()) + 1]
    return Cut.AFTER_LAYERS if catalogue and _OPERATIONS_END.search(text, root.end()) else Cut.INSIDE


def _where_layers_cut(text: str) -> Cut:
    depth, layers, end = 0, 0, 0
    for tag in _MARKUP.finditer(text):
        closing, name, empty = tag.groups()
        if name == "Capability" and closing:
            return Cut.AFTER_LAYERS
        if name == "Layer":
            layers += not closing
            depth += 0 if empty else -1 if closing else 1
            end = tag.end()
    if depth > 0 or layers == 0 or _CUT_LAYER.search(text[max(end, len(text) - 2000) :]):
        return Cut.INSIDE
    return Cut.AFTER_LAYERS


# --------------------------------------------------------------------------- what the document says of itself


def prolog_deviations(body: bytes) -> list[Deviation]:
    """What stands, or is missing, before the root."""
    found = []
    if not prolog.has_declaration(body):
        found.append(Deviation("no-declaration", "no XML declaration"))
    doctype = _DOCTYPE.search(body, 0, _PROLOG_BYTES)
    if doctype is not None:
        named = _SYSTEM_ID.search(doctype[0].rstrip())
        found.append(
            Deviation("doctype", f"names {named[1].decode('latin-1')}, not fetched" if named else "names no DTD")
        )
    return found


def charset_of(content_type: str) -> str:
    """The charset that a Content-Type names, lower case; '' for none."""
    found = _CHARSET.search(content_type)
    return found[1].lower() if found else ""


def charset_conflict(body: bytes, content_type: str) -> list[Deviation]:
    """The header's charset wins in HTTP, the declaration in practice: a document that is well-formed by its own
    declaration is believed, and the header's other opinion noted."""
    stated = _CHARSET.search(content_type)
    declared = prolog.declared_encoding(body) or "utf-8"
    if stated is None or body.isascii() or repair.same_encoding(stated[1], declared):
        return []
    return [Deviation("charset-conflict", f"header says {stated[1]}, document {declared}")]


def media_type_deviation(content_type: str) -> Deviation | None:
    """`content-type` unless the media type is one for XML (WMS 1.3.0, 7.2.3.1 and 1.1.1, 7.1.3.2)."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in ("text/xml", "application/xml", "application/vnd.ogc.wms_xml") or media_type.endswith("+xml"):
        return None
    return Deviation("content-type", media_type or "none")
