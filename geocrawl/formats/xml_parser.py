"""Parse XML safely with libxml2: nothing is fetched, no entity is expanded, and libxml2's own bounds stay in force.

The bounds are a depth of 256 elements and text nodes of 10 MB. No bytes make these functions raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from lxml import etree

from geocrawl.formats.prolog import without_declaration
from geocrawl.formats.repair import without_controls
from geocrawl.model import Deviation

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
