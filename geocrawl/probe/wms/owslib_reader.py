"""Read the description of a WMS by OWSLib.

OWSLib gets the document without its layers and with correct namespaces. OWSLib's layers are of no use to a catalogue:
it reads every layer again for each group above it, copies inherited reference systems and styles into each (twelve
times our time on 1,000 layers, hundreds of MiB on a document of 12 MB), ignores groups without a name and all but one
layer of a name, and fails on the whole service if one legend has no width. `layers` reads the layers instead; a test
compares the two on the layers that OWSLib can read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lxml import etree

from geocrawl.errors import described
from geocrawl.formats.elements import local_name
from geocrawl.model import Service

WMS_NAMESPACE = "http://www.opengis.net/wms"
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_CONTACT = {
    "person": "name",
    "organization": "organization",
    "position": "position",
    "email": "email",
    "address": "address",
    "city": "city",
    "country": "country",
}


@dataclass(frozen=True, slots=True)
class OwsReading:
    """The service as read by OWSLib, or the reason why OWSLib failed."""

    service: Service | None
    failure: str = ""


def read_service(root: etree._Element, own: Service, address: str) -> OwsReading:
    """Return `own`, the service as read by our reader, with all parts that OWSLib can read replaced by its results.

    OWSLib cannot read versions before 1.1.0; for those, and whenever it raises, `failure` is the reason.
    """
    version = _reader_version(own.version)
    if version is None:
        return OwsReading(None, f"no reader for version {own.version or 'unnamed'}")
    from owslib.wms import WebMapService

    try:
        document = _without_layers(root, WMS_NAMESPACE if version == "1.3.0" else "")
        found = WebMapService(address, version=version, xml=document)
        return OwsReading(_merged(own, found))
    except MemoryError:
        raise
    except Exception as error:  # OWSLib raises many types: KeyError, AttributeError, its own …
        return OwsReading(None, described(error)[:200])


def _reader_version(version: str) -> str | None:
    if version.startswith("1.3"):
        return "1.3.0"
    return "1.1.1" if version.startswith(("1.1", "1.2")) else None


def _without_layers(root: etree._Element, namespace: str) -> bytes:
    """Return the document's bytes without layers, every element in the namespace that the version's schema names.

    The tree is copied, because removing thousands of layers from a tree takes libxml2 quadratic time.
    """
    prefix = f"{{{namespace}}}" if namespace else ""
    copy = etree.Element(prefix + local_name(root), {"version": root.get("version") or ""})
    for part in root:
        kept = [each for each in part if local_name(each) != "Layer"]
        _copy_into(copy, part, kept, prefix)
    return etree.tostring(copy)


def _copy_into(
    parent: etree._Element, element: etree._Element, children: Iterable[etree._Element], prefix: str
) -> None:
    """Append a copy of an element with these of its children; comments and undeclared names are left out."""
    name = local_name(element)
    if not name:
        return
    copy = etree.SubElement(parent, prefix + name)
    copy.text, copy.tail = element.text, element.tail
    for key, value in element.attrib.items():
        plain = str(key).rpartition("}")[2].rpartition(":")[2]
        copy.set(_XLINK_HREF if plain == "href" else plain, value)
    for child in children:
        _copy_into(copy, child, child, prefix)


def _merged(own: Service, found: Any) -> Service:
    identification, provider = found.identification, found.provider
    get_map = next((op for op in found.operations if op.name == "GetMap"), None)
    contact = {key: _line(getattr(provider.contact, name, None)) for key, name in _CONTACT.items()}
    return Service(
        kind=own.kind,
        version=own.version,
        title=_line(identification.title) or own.title,
        abstract=(identification.abstract or "").strip() or own.abstract,
        keywords=_lines(identification.keywords) or own.keywords,
        provider=_line(provider.contact.organization if provider.contact else None) or own.provider,
        contact={**own.contact, **{key: value for key, value in contact.items() if value}},
        fees=_line(identification.fees) or own.fees,
        access_constraints=_line(identification.accessconstraints) or own.access_constraints,
        formats=_lines(get_map.formatOptions if get_map else ()) or own.formats,
        online_resource=own.online_resource,
        content_address=own.content_address,
    )


def _line(text: str | None) -> str:
    return " ".join(text.split())[:1_000] if text else ""


def _lines(texts: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for line in map(_line, texts) if line))
