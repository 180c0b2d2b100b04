"""Read XML elements by their local names, whatever namespace or prefix they have or lack."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from lxml import etree

from geocrawl.formats.text import fold

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
        for each in element.iterchildren("*"):
            if not name or local_name(each) == name:
                yield each


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
    return next((line for each in near if each.text and (line := fold(each.text[:_MAX_TEXT_CHARS], limit))), "")


def texts(elements: Iterator[etree._Element]) -> tuple[str, ...]:
    """Return the texts of the first `MAX_TEXTS` elements as lines in order, without empty ones and repetitions."""
    return tuple(dict.fromkeys(line for line in map(line_of, islice(elements, MAX_TEXTS)) if line))


def href_of(element: etree._Element | None) -> str:
    """Return the address of an OnlineResource: its attribute href of any namespace, or its text (WMS 1.0.0)."""
    if element is None:
        return ""
    stated = (value for name, value in element.attrib.items() if value and _plain(str(name)) == "href")
    address = next(stated, None)
    return line_of(element) if address is None else str(address).strip()


def attribute(element: etree._Element, name: str) -> str:
    """Return the value of the attribute with this name in any letter case; '' when there is none."""
    value = element.get(name)
    if value is not None:
        return value
    return next((str(v) for k, v in element.attrib.items() if str(k).lower() == name.lower()), "")
