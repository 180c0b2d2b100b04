"""Read the description of a service of OWS Common, also from documents of earlier standards.

OWS Common (OGC 06-121r9, 7.4.4 to 7.4.6) has `ServiceIdentification`, `ServiceProvider` and `OperationsMetadata`, in
three namespaces over time; WFS 1.0.0 has one `Service` section like WMS, WCS 1.0.0 another form. OWSLib reads them
(`owslib_reader`). Where it raises, elements are read here by local names, and every part is optional; a test holds both
to the same results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, href_of, line_of, local_name, text_of, texts
from geocrawl.model import Kind, Service
from geocrawl.probe.ows.owslib_reader import read_by_owslib

_CONTACT = {
    "person": ("IndividualName",),
    "position": ("PositionName",),
    "email": ("ContactInfo", "Address", "ElectronicMailAddress"),
    "phone": ("ContactInfo", "Phone", "Voice"),
    "address": ("ContactInfo", "Address", "DeliveryPoint"),
    "city": ("ContactInfo", "Address", "City"),
    "country": ("ContactInfo", "Address", "Country"),
}
_OLD_CONTACT = {
    "person": ("individualName",),
    "organization": ("organisationName",),
    "position": ("positionName",),
    "email": ("contactInfo", "address", "electronicMailAddress"),
    "phone": ("contactInfo", "phone", "voice"),
    "address": ("contactInfo", "address", "deliveryPoint"),
    "city": ("contactInfo", "address", "city"),
    "country": ("contactInfo", "address", "country"),
}


def read_service(root: etree._Element, kind: Kind, version: str) -> Service:
    """Return the service without content items, as OWSLib reads it; as we do where OWSLib raises."""
    try:
        return read_by_owslib(root, kind, version)
    except MemoryError:
        raise
    except Exception:  # KeyError, AttributeError, its own: OWSLib raises many for what it does not expect
        is_wms = kind in (Kind.WMS, Kind.WMSC)
        return read_wms_service(root, version) if is_wms else read_ows_service(root, kind, version)


def read_ows_service(root: etree._Element, kind: Kind, version: str) -> Service:
    """Return the service of OWS Common, WFS 1.0 or WCS 1.0 without formats and content items, as we read it."""
    old = child(root, "Service")
    if old is not None and child(root, "ServiceIdentification") is None:
        return _wcs_1_0(old, kind, version) if child(old, "label") is not None else _wfs_1_0(old, kind, version)
    said, provider = child(root, "ServiceIdentification"), child(root, "ServiceProvider")
    name = line_of(child(provider, "ProviderName"))
    contact = _parts(child(provider, "ServiceContact"), _CONTACT)
    return Service(
        kind=kind,
        version=version,
        title=first_line(said, "Title"),
        abstract=first_text(said, "Abstract"),
        keywords=read_keywords(said),
        provider=name,
        contact={**({"organization": name} if name else {}), **contact},
        fees=line_of(child(said, "Fees")),
        access_constraints="; ".join(texts(children(said, "AccessConstraints"))),
        online_resource=href_of(child(provider, "ProviderSite"))
        or href_of(child(provider, "ServiceContact", "ContactInfo", "OnlineResource")),
    )


def _wfs_1_0(said: etree._Element, kind: Kind, version: str) -> Service:
    """Read the Service section of WFS 1.0.0 (OGC 02-058, 12.3.2)."""
    return Service(
        kind=kind,
        version=version,
        title=line_of(child(said, "Title")),
        abstract=text_of(child(said, "Abstract")),
        keywords=read_keywords(said),
        fees=line_of(child(said, "Fees")),
        access_constraints=line_of(child(said, "AccessConstraints")),
        online_resource=href_of(child(said, "OnlineResource")),
    )


def _wcs_1_0(said: etree._Element, kind: Kind, version: str) -> Service:
    """Read the Service section of WCS 1.0.0 (OGC 03-065r6, 8.3.1)."""
    party = child(said, "responsibleParty")
    contact = _parts(party, _OLD_CONTACT)
    return Service(
        kind=kind,
        version=version,
        title=line_of(child(said, "label")),
        abstract=text_of(child(said, "description")),
        keywords=read_keywords(said),
        provider=contact.get("organization", ""),
        contact=contact,
        fees=line_of(child(said, "fees")),
        access_constraints="; ".join(texts(children(said, "accessConstraints"))),
        online_resource=href_of(child(party, "contactInfo", "onlineResource")),
    )


def _parts(element: etree._Element | None, paths: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    found = {key: line_of(child(element, *path)) for key, path in paths.items()}
    return {key: value for key, value in found.items() if value}


def first_line(element: etree._Element | None, name: str) -> str:
    """Return the first non-empty child of this name, as one line: there may be titles in several languages."""
    return next(iter(texts(children(element, name))), "")


def first_text(element: etree._Element | None, name: str) -> str:
    """Return the first non-empty child of this name, as a text with lines."""
    return next(filter(None, map(text_of, children(element, name))), "")


def read_keywords(element: etree._Element | None) -> tuple[str, ...]:
    """Return the keywords of every list: `Keywords/Keyword`, `keywords/keyword`, or a text with commas (WFS 1.0.0)."""
    found: list[str] = []
    for name, entry in (("Keywords", "Keyword"), ("keywords", "keyword")):
        for listed in children(element, name):
            entries = texts(children(listed, entry))
            found += entries or [part for part in map(str.strip, line_of(listed).split(",")) if part]
    return tuple(dict.fromkeys(found))


# --------------------------------------------------------------------------- operations


def parameter_values(root: etree._Element, operation: str, *names: str) -> tuple[str, ...]:
    """Return the allowed values of an operation's parameter (OGC 06-121r9, 7.4.6), by any of its names in any case.

    If the operation states none, those stated for all operations count.
    """
    wanted = {name.lower() for name in names}
    metadata = child(root, "OperationsMetadata")
    for place in (*_operations(metadata, operation), metadata):
        for parameter in (*children(place, "Parameter"), *children(place, "Constraint")):
            if attribute(parameter, "name").strip().lower() in wanted and (found := texts(_values(parameter))):
                return found
    return ()


def _operations(metadata: etree._Element | None, name: str) -> Iterator[etree._Element]:
    for operation in children(metadata, "Operation"):
        if attribute(operation, "name").strip().lower() == name.lower():
            yield operation


def _values(parameter: etree._Element) -> Iterator[etree._Element]:
    """Yield the `Value` elements, which are in the parameter (OWS 1.0) or in its `AllowedValues` (since 1.1)."""
    for part in parameter:
        if local_name(part) == "Value":
            yield part
        elif local_name(part) == "AllowedValues":
            yield from children(part, "Value")


# --------------------------------------------------------------------------- WMS


_WMS_CONTACT = {
    "person": ("ContactPersonPrimary", "ContactPerson"),
    "organization": ("ContactPersonPrimary", "ContactOrganization"),
    "position": ("ContactPosition",),
    "email": ("ContactElectronicMailAddress",),
    "phone": ("ContactVoiceTelephone",),
    "address": ("ContactAddress", "Address"),
    "city": ("ContactAddress", "City"),
    "country": ("ContactAddress", "Country"),
}


def read_wms_service(root: etree._Element, version: str) -> Service:
    """Return the WMS without layers, as we read it."""
    service, capability = child(root, "Service"), child(root, "Capability")
    contact = read_contact(service)
    return Service(
        kind=Kind.WMS,
        version=version,
        title=line_of(child(service, "Title")),
        abstract=text_of(child(service, "Abstract")),
        keywords=read_wms_keywords(service),
        provider=contact.get("organization", ""),
        contact=contact,
        fees=line_of(child(service, "Fees")),
        access_constraints=line_of(child(service, "AccessConstraints")),
        formats=_formats(child(capability, "Request")),
        online_resource=href_of(child(service, "OnlineResource")),
    )


def read_contact(service: etree._Element | None) -> Mapping[str, str]:
    """Return the parts of ContactInformation that are present."""
    information = child(service, "ContactInformation")
    found = {key: line_of(child(information, *path)) for key, path in _WMS_CONTACT.items()}
    return {key: value for key, value in found.items() if value}


def read_wms_keywords(element: etree._Element | None) -> tuple[str, ...]:
    """Return the keywords of KeywordList (1.1.0 on) or Keywords (1.0.0: one text, parted by commas or spaces)."""
    listed = texts(children(child(element, "KeywordList"), "Keyword"))
    if listed or (old := child(element, "Keywords")) is None:
        return listed
    words = line_of(old)
    parts = words.split(",") if "," in words else words.split()
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def _formats(request: etree._Element | None) -> tuple[str, ...]:
    """Return the formats of GetMap. Before 1.1.0 the operation is called Map, and formats are elements without text."""
    for name in ("GetMap", "Map"):
        for format_ in children(child(request, name), "Format"):
            if len(format_):
                return tuple(dict.fromkeys(filter(None, map(local_name, format_))))
        if found := texts(children(child(request, name), "Format")):
            return found
    return ()
