"""XML as a tree, safely, and the few questions that all readers of documents ask of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree

from geocrawl.page.content import fold

_DECLARATION = re.compile(r"\s*<\?xml[^>]*?\?>", re.S)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters outside XML 1.0's Char production (2.2): the parser would stop there."""
_NEAR = 20
_MAX_TEXT = 20_000
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_NO_SCHEME = re.compile(r"(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?::\d{1,5})?(?:[/?]|\Z)")


def parse_xml(text: str) -> etree._Element | None:
    """The root, None when nothing can be parsed. Errors are passed over (libxml2), entities are not expanded,
    nothing is fetched. The declaration goes, since the characters are read already, whatever encoding it names."""
    parser = etree.XMLParser(
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    data = _NOT_XML.sub(" ", _DECLARATION.sub("", text.lstrip("\ufeff"), count=1)).strip()
    try:
        return etree.fromstring(data.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def local(element: etree._Element) -> str:
    """The element's name without its namespace."""
    return str(element.tag).rpartition("}")[2]


def namespace(element: etree._Element) -> str:
    """The element's namespace, '' when it has none."""
    return str(element.tag).partition("}")[0].removeprefix("{") if str(element.tag).startswith("{") else ""


def said(element: etree._Element | None, limit: int = 300) -> str:
    """What an element says, folded: its first text (gco:CharacterString …; of several languages the first one), looked
    for among its first descendants only; '' for None."""
    if element is None:
        return ""
    near = islice(element.iter("*"), _NEAR)
    return next((words for each in near if each.text and (words := fold(each.text[:_MAX_TEXT], limit))), "")


def first(element: etree._Element, *names: str) -> etree._Element | None:
    """The first descendant of this local name, beneath the first one of the name before, and so on down."""
    found: etree._Element | None = element
    for name in names:
        found = next(found.iter(f"{{*}}{name}"), None) if found is not None else None
    return found


def child(element: etree._Element, name: str) -> etree._Element | None:
    """The first child of this local name."""
    return next((each for each in children(element) if local(each) == name), None)


def children(element: etree._Element) -> Iterator[etree._Element]:
    """The elements right beneath."""
    return element.iterchildren("*")


def address_in(text: str) -> str:
    """The web address that a metadata field holds, '' for none: white space removed, a missing scheme added."""
    address = "".join(text.split())
    if address[:7].lower() == "http://" or address[:8].lower() == "https://":
        return address
    return f"http://{address}" if _NO_SCHEME.match(address) else ""
