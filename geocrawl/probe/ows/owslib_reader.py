"""Read what capabilities say about their service and its operations, by OWSLib.

OWSLib gets copies of these sections that are mended to what it expects (`mended`), so it reads every version of WMS,
WFS, WMTS, WCS, CSW, WPS and SOS. Layers and other content items are read by `stream`, because OWSLib copies what a
layer inherits into each, ignores groups without names and all but one layer of a name, and loses the service if one
logo lacks its width.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any

from lxml import etree

from geocrawl.formats.xml import (
    MAX_TEXTS,
    XLINK_HREF,
    attribute,
    child,
    children,
    href_of,
    line_of,
    local_name,
    texts,
)
from geocrawl.model import Kind, Service
from geocrawl.probe.ows.items import read_wms_keywords

_WFS, _WCS = "http://www.opengis.net/wfs", "http://www.opengis.net/wcs"
_CONTACT = {
    "person": "name",
    "organization": "organization",
    "position": "position",
    "email": "email",
    "phone": "phone",
    "address": "address",
    "city": "city",
    "country": "country",
}
"""Our names of a contact's parts → OWSLib's."""
_OLD_OPERATIONS = {
    Kind.WMS: ("map.wms111", ""),
    Kind.WFS: ("feature.wfs100", _WFS),
    Kind.WCS: ("coverage.wcs100", _WCS),
}
"""Module that reads the operations of documents before OWS Common, and the namespace in which it looks."""
_LONGEST_CHARS = 1_000
_MAX_OPERATIONS = 200


@cache
def _owslib(name: str) -> Any:
    """Return a module of OWSLib, which is not to write into our log what it lacks."""
    logging.getLogger("owslib").addHandler(logging.NullHandler())
    return import_module(f"owslib.{name}")


# --------------------------------------------------------------------------- the service


def read_service(root: etree._Element, kind: Kind, version: str) -> Service:
    """Return the service without formats and content items."""
    service = Service(kind, version, "")
    if kind in (Kind.WMS, Kind.WMSC):
        return read_wms_section(child(root, "Service"), service)
    old = child(root, "Service")
    if old is None or child(root, "ServiceIdentification") is not None:
        return _ows(root, service)
    return _wcs_1_0(old, service) if child(old, "label") is not None else _wfs_1_0(old, service)


def read_wms_section(section: etree._Element | None, service: Service) -> Service:
    """Return `service` with what the Service section of a WMS says (OGC 01-047r2, 7.1; 06-042, 7.2.4.3)."""
    wms111, copy = _owslib("map.wms111"), mended(section)
    identification, provider = wms111.ServiceIdentification(copy, service.version), wms111.ServiceProvider(copy)
    found = _identified(
        service, identification, identification.keywords or read_wms_keywords(section), identification.accessconstraints
    )
    phone = child(section, "ContactInformation", "ContactVoiceTelephone")
    return replace(
        found,
        provider=_line(provider.name),
        contact=_with(_contact(provider.contact), {"phone": phone}),
        online_resource=provider.url or "",
    )


def _ows(root: etree._Element, service: Service) -> Service:
    """Read OWS Common (OGC 06-121r9, 7.4)."""
    ows = _owslib("ows")
    identification = ows.ServiceIdentification(mended(child(root, "ServiceIdentification")), "")
    provider = ows.ServiceProvider(mended(child(root, "ServiceProvider")), "")
    name = _line(provider.name)
    constraints = children(child(root, "ServiceIdentification"), "AccessConstraints")  # OWSLib reads the first
    return replace(
        _identified(service, identification, identification.keywords, "; ".join(texts(constraints))),
        provider=name,
        contact={**({"organization": name} if name else {}), **_contact(provider.contact)},
        online_resource=provider.url or provider.contact.url or "",
    )


def _wfs_1_0(section: etree._Element, service: Service) -> Service:
    """Read the Service section of WFS 1.0.0 (OGC 02-058, 12.3.2)."""
    wfs100, copy = _owslib("feature.wfs100"), mended(section, _WFS)
    identification, provider = wfs100.ServiceIdentification(copy, service.version), wfs100.ServiceProvider(copy)
    keywords = [
        word for text in identification.keywords for word in (text or "").split(",")
    ]  # one text, which OWSLib leaves whole
    return replace(
        _identified(service, identification, keywords, identification.accessconstraints),
        online_resource=provider.url or "",
    )


def _wcs_1_0(section: etree._Element, service: Service) -> Service:
    """Read the Service section of WCS 1.0.0 (OGC 03-065r6, 8.3.1)."""
    wcs100, copy = _owslib("coverage.wcs100"), mended(section, _WCS)
    for needed in ("fees", "accessConstraints"):  # both are optional, and OWSLib raises without
        etree.SubElement(copy, f"{{{_WCS}}}{needed}")
    identification = wcs100.ServiceIdentification(copy)
    provider = wcs100.ServiceProvider(copy.find(f"{{{_WCS}}}responsibleParty"))
    party = child(section, "responsibleParty")
    rest = {"position": child(party, "positionName"), "phone": child(party, "contactInfo", "phone", "voice")}
    return replace(
        _identified(service, identification, identification.keywords, identification.accessConstraints),
        provider=_line(provider.name),
        contact=_with(_contact(provider.contact), rest),
        online_resource=href_of(child(party, "contactInfo", "onlineResource")),
    )


def _identified(
    service: Service, identification: Any, keywords: Iterable[str | None], access_constraints: str | None
) -> Service:
    return replace(
        service,
        read_by="owslib",
        title=_line(identification.title),
        abstract=(identification.abstract or "").strip(),
        keywords=_lines(keywords),
        fees=_line(identification.fees),
        access_constraints=_line(access_constraints),
    )


def _contact(found: Any | None) -> Mapping[str, str]:
    parts = {key: _line(getattr(found, name, None)) for key, name in _CONTACT.items()}
    return {key: value for key, value in parts.items() if value}


def _with(contact: Mapping[str, str], rest: Mapping[str, etree._Element | None]) -> Mapping[str, str]:
    """Return a contact with the parts that OWSLib does not read."""
    found = {key: line_of(element) for key, element in rest.items()}
    return {**contact, **{key: value for key, value in found.items() if value}}


# --------------------------------------------------------------------------- its operations


@dataclass(frozen=True, slots=True)
class OperationAddress:
    """An address of an operation, as written; '' where the document has none."""

    url: str
    method: str
    """Get, Post."""
    encodings: frozenset[str] = frozenset()
    """Values of the constraint GetEncoding (OGC 07-057r7, table 29), in lower case."""


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a service."""

    name: str
    """In lower case."""
    addresses: tuple[OperationAddress, ...]
    values: Mapping[str, tuple[str, ...]]
    """Allowed values of parameters and constraints by their names in lower case. Formats of WMS are values of `format`,
    those of WFS 1.0.0 of `outputformat`, as in later versions."""


@dataclass(frozen=True, slots=True)
class Operations:
    """The operations of a service, as its capabilities state them. Names match in any case."""

    listed: tuple[Operation, ...] = ()
    for_all: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Allowed values of parameters that are stated for all operations."""

    def addresses(self, *names: str) -> Iterator[OperationAddress]:
        """Yield the addresses for GET of an operation, by any of its names."""
        for operation in self._named(names):
            yield from (address for address in operation.addresses if address.url and address.method == "Get")

    def address(self, *names: str) -> str:
        """Return the first address for GET of an operation; '' for none."""
        return next((address.url for address in self.addresses(*names)), "")

    def values(self, operation: str, *names: str) -> tuple[str, ...]:
        """Return the allowed values of an operation's parameter (OGC 06-121r9, 7.4.6), by any of its names.

        If the operation states none, those stated for all operations count.
        """
        places = [*(item.values for item in self._named((operation,))), self.for_all]
        found = (values[name.lower()] for values in places for name in names if name.lower() in values)
        return next(found, ())

    def _named(self, names: Sequence[str]) -> Iterator[Operation]:
        wanted = {name.lower() for name in names}
        return (item for item in self.listed if item.name in wanted)


def read_operations(root: etree._Element, kind: Kind) -> Operations:
    """Return the operations that a document states."""
    metadata = child(root, "OperationsMetadata")
    if metadata is not None:
        return _ows_operations(mended(metadata))
    module, namespace = _OLD_OPERATIONS.get(kind, _OLD_OPERATIONS[Kind.WMS])
    read = _owslib(module).OperationMetadata
    listed = islice(children(child(root, "Capability", "Request")), _MAX_OPERATIONS)
    return Operations(tuple(_old_operation(read(mended(item, namespace))) for item in listed))


def _old_operation(operation: Any) -> Operation:
    """Return an operation of WMS, or of WFS 1.0.0, whose formats are names of elements, or of WCS 1.0.0."""
    formats = _lines(str(name).rpartition("}")[2] for name in getattr(operation, "formatOptions", ()) if name)
    values = {"format": formats, "outputformat": formats} if formats else {}
    return Operation(operation.name.lower(), _addresses(operation), values)


def _ows_operations(metadata: etree._Element) -> Operations:
    """Read a mended OperationsMetadata of OWS Common (OGC 06-121r9, 7.4.6)."""
    ows, listed = _owslib("ows"), []
    for element in islice(metadata.iterfind("Operation"), _MAX_OPERATIONS):
        operation = ows.OperationsMetadata(element, "")
        stated = [(name, parameter["values"]) for name, parameter in operation.parameters.items()]
        values = _by_name([*stated, *((constraint.name, constraint.values) for constraint in operation.constraints)])
        listed.append(Operation(operation.name.strip().lower(), _addresses(operation), values))
    for_all = [ows.Parameter(part, "") for name in ("Parameter", "Constraint") for part in metadata.iterfind(name)]
    return Operations(tuple(listed), _by_name((item.name, item.values) for item in for_all))


def _by_name(stated: Iterable[tuple[str, Sequence[str | None]]]) -> Mapping[str, tuple[str, ...]]:
    """Return the first values that are not empty of each name."""
    found: dict[str, tuple[str, ...]] = {}
    for name, values in stated:
        if read := _lines(values):
            found.setdefault(name.strip().lower(), read)
    return found


def _addresses(operation: Any) -> tuple[OperationAddress, ...]:
    addresses = []
    for method in operation.methods:
        limits = (limit for limit in method.get("constraints", ()) if limit.name.lower() == "getencoding")
        encodings = frozenset(_line(value).lower() for limit in limits for value in limit.values)
        addresses.append(OperationAddress(method["url"], method["type"], encodings))
    return tuple(addresses)


def _line(text: str | None) -> str:
    return " ".join(text.split())[:_LONGEST_CHARS] if text else ""


def _lines(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(line for line in map(_line, texts) if line), MAX_TEXTS))


# --------------------------------------------------------------------------- mending
# OWSLib looks each element up in one namespace by one path, and raises where a part is missing that the standard makes
# optional. A copy has all elements in the one namespace that is asked for, no comments, and of the attributes names and
# addresses alone. Addresses, allowed values and formats stand where OWSLib looks, whatever the version of the document.


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
            copy.extend(self.made(name, local_name(item)) for item in part)
        else:
            copy.append(self.copy(part))

    def _verb(self, verb: etree._Element) -> etree._Element:
        """Return `Get` or `Post` with its address in an element, as WMS and WCS 1.0.0 have it, and in attributes."""
        inner = child(verb, "OnlineResource")
        attributes = attribute(verb, "onlineResource").strip() or href_of(verb)  # WFS 1.0.0, OWS Common
        address = attributes if inner is None else href_of(inner)
        copy = self.made(local_name(verb), address=address)
        copy.append(self.made("OnlineResource", address=address))
        copy.extend(self.copy(item) for item in verb if local_name(item) == "Constraint")
        return copy


def _plain(text: str | None) -> str:
    return _NOT_XML.sub("", text[:_MAX_TEXT_CHARS]) if text else ""
