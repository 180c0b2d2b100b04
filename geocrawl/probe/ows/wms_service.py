"""Read the description of the service as a whole from WMS capabilities of any version since 1.0.0.

Elements are found by local names, so neither namespaces nor prefixes matter, and every part is optional.
"""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, href_of, line_of, local_name, text_of, texts
from geocrawl.model import Kind, Service
from geocrawl.probe.ows.operations import get_addresses

_CONTACT = {
    "person": ("ContactPersonPrimary", "ContactPerson"),
    "organization": ("ContactPersonPrimary", "ContactOrganization"),
    "position": ("ContactPosition",),
    "email": ("ContactElectronicMailAddress",),
    "phone": ("ContactVoiceTelephone",),
    "address": ("ContactAddress", "Address"),
    "city": ("ContactAddress", "City"),
    "country": ("ContactAddress", "Country"),
}


def read_version(root: etree._Element) -> str:
    """Return the root's `version`; '' without one."""
    return attribute(root, "version").strip()


def read_service(root: etree._Element) -> Service:
    """Return the service without layers and fingerprint."""
    service, capability = child(root, "Service"), child(root, "Capability")
    contact = read_contact(service)
    return Service(
        kind=Kind.WMS,
        version=read_version(root),
        title=line_of(child(service, "Title")),
        abstract=text_of(child(service, "Abstract")),
        keywords=read_keywords(service),
        provider=contact.get("organization", ""),
        contact=contact,
        fees=line_of(child(service, "Fees")),
        access_constraints=line_of(child(service, "AccessConstraints")),
        formats=_formats(child(capability, "Request")),
        online_resource=href_of(child(service, "OnlineResource")),
        content_address=next(get_addresses(root, "GetMap", "Map"), ""),
    )


def read_contact(service: etree._Element | None) -> Mapping[str, str]:
    """Return the parts of ContactInformation that are present."""
    information = child(service, "ContactInformation")
    found = {key: line_of(child(information, *path)) for key, path in _CONTACT.items()}
    return {key: value for key, value in found.items() if value}


def read_keywords(element: etree._Element | None) -> tuple[str, ...]:
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
