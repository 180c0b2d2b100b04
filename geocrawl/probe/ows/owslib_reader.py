"""Read what a document of capabilities says about its service by OWSLib: identification, provider, contact.

OWSLib gets copies of these sections, mended: every element in the one namespace that it looks in, attributes without
prefixes but for xlink. It raises for what it does not expect, in many ways; `description` then reads the same sections.
Layers and other content items are read by `stream`, because OWSLib copies what a layer inherits into each, ignores
groups without names and all but one layer of a name, and loses the service if one legend lacks its width.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any

from lxml import etree

from geocrawl.formats.elements import MAX_TEXTS, child, children, href_of, line_of, local_name, texts
from geocrawl.model import Kind, Service

_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
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
_IN_LANGUAGES = ("Title", "Abstract")
"""Elements that may stand several times, in several languages."""
_LONGEST_CHARS = 1_000


def read_by_owslib(root: etree._Element, kind: Kind, version: str) -> Service:
    """Return the service without content items, as OWSLib reads it.

    Raises whatever OWSLib raises, and LookupError for a document that it does not read.
    """
    said = Service(kind, version, "", read_by="owslib")
    if kind in (Kind.WMS, Kind.WMSC):
        return _wms(root, said)
    if child(root, "ServiceIdentification") is not None or child(root, "ServiceProvider") is not None:
        return _ows(root, said)
    return _wfs_1_0(root, said) if kind is Kind.WFS else _wcs_1_0(root, said)


@cache
def _owslib(name: str) -> Any:
    """Return a module of OWSLib, which is not to write into our log what it lacks."""
    logging.getLogger("owslib").addHandler(logging.NullHandler())
    return import_module(f"owslib.{name}")


def _ows(root: etree._Element, service: Service) -> Service:
    """Read OWS Common (OGC 06-121r9, 7.4)."""
    ows = _owslib("ows")
    said = ows.ServiceIdentification(_section(root, "", "ServiceIdentification"), "")
    provider = ows.ServiceProvider(_section(root, "", "ServiceProvider"), "")
    name = _line(provider.name)
    constraints = children(child(root, "ServiceIdentification"), "AccessConstraints")  # OWSLib reads the first
    return replace(
        _identified(service, said, "; ".join(texts(constraints))),
        provider=name,
        contact={**({"organization": name} if name else {}), **_contact(provider.contact)},
        online_resource=provider.url or provider.contact.url or "",
    )


def _wms(root: etree._Element, service: Service) -> Service:
    """Read the Service section of WMS 1.1.0 to 1.3.0 (OGC 01-047r2, 7.1; 06-042, 7.2.4.3)."""
    wms111 = _owslib("map.wms111")
    if not service.version.startswith(("1.1", "1.2", "1.3")):
        raise LookupError(f"OWSLib reads no WMS {service.version or 'without a version'}")
    section = _section(root, "", "Service")
    said, provider = wms111.ServiceIdentification(section, service.version), wms111.ServiceProvider(section)
    get_map = child(root, "Capability", "Request", "GetMap")
    operation = wms111.OperationMetadata(_copied(get_map, "")) if get_map is not None else None
    phone = child(root, "Service", "ContactInformation", "ContactVoiceTelephone")
    return replace(
        _identified(service, said, said.accessconstraints),
        provider=_line(provider.name),
        contact=_with(_contact(provider.contact), {"phone": phone}),
        online_resource=provider.url or "",
        formats=_lines(operation.formatOptions if operation is not None else ()),
    )


def _wfs_1_0(root: etree._Element, service: Service) -> Service:
    """Read the Service section of WFS 1.0.0 (OGC 02-058, 12.3.2)."""
    wfs100 = _owslib("feature.wfs100")
    section = _section(root, _WFS, "Service")
    said, provider = wfs100.ServiceIdentification(section, service.version), wfs100.ServiceProvider(section)
    found = replace(_identified(service, said, said.accessconstraints), online_resource=provider.url or "")
    keywords = (
        word for text in said.keywords for word in (text or "").split(",")
    )  # one text, which OWSLib leaves whole
    return replace(found, keywords=_lines(keywords))


def _wcs_1_0(root: etree._Element, service: Service) -> Service:
    """Read the Service section of WCS 1.0.0 (OGC 03-065r6, 8.3.1)."""
    wcs100 = _owslib("coverage.wcs100")
    section = _section(root, _WCS, "Service")
    said = wcs100.ServiceIdentification(section)
    provider = wcs100.ServiceProvider(section.find(f"{{{_WCS}}}responsibleParty"))
    party = child(root, "Service", "responsibleParty")
    rest = {"position": child(party, "positionName"), "phone": child(party, "contactInfo", "phone", "voice")}
    return replace(
        _identified(service, said, said.accessConstraints),
        provider=_line(provider.name),
        contact=_with(_contact(provider.contact), rest),
        online_resource=href_of(child(party, "contactInfo", "onlineResource")),
    )


def _identified(service: Service, said: Any, access_constraints: str | None) -> Service:
    return replace(
        service,
        title=_line(said.title),
        abstract=(said.abstract or "").strip(),
        keywords=_lines(said.keywords),
        fees=_line(said.fees),
        access_constraints=_line(access_constraints),
    )


def _contact(found: Any | None) -> Mapping[str, str]:
    parts = {key: _line(getattr(found, name, None)) for key, name in _CONTACT.items()}
    return {key: value for key, value in parts.items() if value}


def _with(contact: Mapping[str, str], rest: Mapping[str, etree._Element | None]) -> Mapping[str, str]:
    """Return a contact with the parts that OWSLib does not read."""
    found = {key: line_of(element) for key, element in rest.items()}
    return {**contact, **{key: value for key, value in found.items() if value}}


def _section(root: etree._Element, namespace: str, name: str) -> etree._Element:
    """Return a copy of a section, empty when the document has none."""
    found = child(root, name)
    return _copied(found, namespace) if found is not None else etree.Element(name)


def _copied(element: etree._Element, namespace: str) -> etree._Element:
    """Return a copy with every element in one namespace, without comments and prefixes that nothing declares."""
    prefix = f"{{{namespace}}}" if namespace else ""
    copy = etree.Element(prefix + local_name(element))
    copy.text = element.text
    for key, value in element.attrib.items():
        plain = str(key).rpartition("}")[2].rpartition(":")[2]
        copy.set(_XLINK_HREF if plain == "href" else plain, value)
    for each in element:
        name = local_name(each)
        is_empty = name in _IN_LANGUAGES and not (each.text or "").strip()  # OWSLib takes the first
        if name and not is_empty:
            inner = _copied(each, namespace)
            inner.tail = each.tail
            copy.append(inner)
    return copy


def _line(text: str | None) -> str:
    return " ".join(text.split())[:_LONGEST_CHARS] if text else ""


def _lines(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(line for line in map(_line, texts) if line), MAX_TEXTS))
