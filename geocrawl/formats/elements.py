"""Reading elements by their local names, whatever namespace or prefix they have or lack."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

_MAX_TEXT_CHARS = 20_000
_MAX_LINE_CHARS = 1_000
_HREF = ("{http://www.w3.org/1999/xlink}href", "xlink:href", "href")


def local_name(element: etree._Element) -> str:
    """`Layer` of `{http://www.opengis.net/wms}Layer` and of an undeclared `wms:Layer`; '' for comments and such."""
    tag: object = element.tag  # a function for comments, instructions and entities
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def children(element: etree._Element | None, name: str) -> Iterator[etree._Element]:
    """The children of this local name, in order."""
    if element is not None:
        for child in element:
            if local_name(child) == name:
                yield child


def child(element: etree._Element | None, *names: str) -> etree._Element | None:
    """The first child of this name, or a descendant by the names of the way to it; None when there is none."""
    for name in names:
        element = next(children(element, name), None)
    return element


def text_of(element: etree._Element | None) -> str:
    """All text in an element, stripped and bounded; '' for none."""
    if element is None:
        return ""
    text = element.text if len(element) == 0 else "".join(map(str, element.itertext()))
    return text.strip()[:_MAX_TEXT_CHARS] if text else ""


def line_of(element: etree._Element | None) -> str:
    """All text in an element as one line: white space folded."""
    return " ".join(text_of(element).split())[:_MAX_LINE_CHARS]


def texts(elements: Iterator[etree._Element]) -> tuple[str, ...]:
    """The elements' texts as lines, without empty ones, each once, in order."""
    return tuple(dict.fromkeys(line for line in map(line_of, elements) if line))


def href_of(element: etree._Element | None) -> str:
    """The address of an OnlineResource: its xlink:href, with or without prefix, or its text (WMS 1.0.0)."""
    if element is None:
        return ""
    for name in _HREF:
        if address := element.get(name):
            return address.strip()
    return line_of(element)


def attribute(element: etree._Element, name: str) -> str:
    """An attribute's text in any case of its name; '' for none."""
    value = element.get(name)
    if value is not None:
        return value
    return next((str(v) for k, v in element.attrib.items() if str(k).lower() == name.lower()), "")
