"""Copy sections of capabilities into the form that OWSLib's classes expect.

OWSLib looks each element up in one namespace by one path, and raises where a part is missing that the standard makes
optional. A copy has all elements in the one namespace that is asked for, no comments, and of the attributes names and
addresses alone. Addresses, allowed values and formats stand where OWSLib looks, whatever the version of the document.
"""

from __future__ import annotations

import re

from lxml import etree

from geocrawl.formats.elements import XLINK_HREF, attribute, child, href_of, local_name

_MAX_ELEMENTS = 50_000
"""Most elements of a section that are copied; later ones are left out."""
_MAX_TEXT_CHARS = 20_000
_IN_LANGUAGES = frozenset({"Title", "Abstract"})
"""Elements that may stand several times, in several languages. OWSLib takes the first: empty ones are left out."""
_NAMED = frozenset({"Operation", "Parameter", "Constraint"})
_PLACES = frozenset({"OnlineResource", "ProviderSite"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that libxml2 reads from references in recovery, and lxml refuses to write (XML 1.0, 2.2)."""


def mended(section: etree._Element | None, namespace: str = "") -> etree._Element:
    """Return a copy of a section with all its elements in one namespace ('': none); an empty element for None."""
    copier = _Copier(f"{{{namespace}}}" if namespace else "")
    return copier.made("Section") if section is None else copier.copy(section)


class _Copier:
    """Copies one section."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._left = _MAX_ELEMENTS

    def made(self, name: str, text: str | None = None, address: str | None = None) -> etree._Element:
        """Return a new element; `address`: what it links to, in the attributes where OWSLib looks for it."""
        element = etree.Element(self._prefix + name)
        element.text = _plain(text)
        if address is not None:
            element.set(XLINK_HREF, _plain(address))
            element.set("onlineResource", _plain(address))
        return element

    def copy(self, element: etree._Element) -> etree._Element:
        """Return a mended copy of an element with all that is in it."""
        name = local_name(element)
        address = href_of(element) if name in _PLACES else None
        copy = self.made(name if _NAME.match(name) else "Section", address or element.text, address)
        if name in _NAMED:
            copy.set("name", _plain(attribute(element, "name")))
        for part in element:
            self._add(copy, part, is_verb=name == "HTTP")
        return copy

    def _add(self, copy: etree._Element, part: etree._Element, *, is_verb: bool) -> None:
        """Add a copy of `part`, or of what is in it."""
        name = local_name(part)
        self._left -= 1
        if self._left < 0 or not _NAME.match(name) or (name in _IN_LANGUAGES and not (part.text or "").strip()):
            return
        if is_verb:
            copy.append(self._verb(part))
        elif name == "AllowedValues":  # around the values since OWS Common 1.1
            for value in part:
                self._add(copy, value, is_verb=False)
        elif name == "Format" and len(part):  # WMS 1.0.0: <Format><PNG/><GIF/></Format>
            copy.extend(self.made(name, local_name(each)) for each in part)
        else:
            copy.append(self.copy(part))

    def _verb(self, verb: etree._Element) -> etree._Element:
        """Return `Get` or `Post` with its address in an element, as WMS and WCS 1.0.0 have it, and in attributes."""
        inner = child(verb, "OnlineResource")
        attributes = attribute(verb, "onlineResource").strip() or href_of(verb)  # WFS 1.0.0, OWS Common
        address = attributes if inner is None else href_of(inner)
        copy = self.made(local_name(verb), address=address)
        copy.append(self.made("OnlineResource", address=address))
        copy.extend(self.copy(each) for each in verb if local_name(each) == "Constraint")
        return copy


def _plain(text: str | None) -> str:
    return _NOT_XML.sub("", text[:_MAX_TEXT_CHARS]) if text else ""
