"""Read metadata records in ISO 19139, ISO 19115-3 and catalogues' Dublin Core. Each address becomes a link.

The anchor is the record's title with the resource's own name and protocol; the context is the organisation and the
resource's description. If the protocol names a kind of service, the link has that kind, because the address often
reveals nothing (`http://maps.example.org/ows` beside `OGC:WMS`).

The readers process CI_OnlineResource (ISO 19115:2003, B.3.2.5; ISO 19115-1:2014, B.4.2.6), also as connectPoint of
SV_OperationMetadata (ISO 19119, 7.4.2), and the Dublin Core elements `references`, `source`, `relation` and `URI` of
csw:Record (OGC 07-006r1, 10.2.5), with the scheme or protocol in an attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from lxml import etree

from geocrawl.formats.text import fold
from geocrawl.formats.xml import child, children, first, first_text, gml_times, local_name
from geocrawl.model.times import Times, read_interval, union
from geocrawl.page.content import MAX_ANCHOR_CHARS, MAX_CONTEXT_CHARS, MAX_HREF_CHARS, RawLink
from geocrawl.page.naming import kind_among, kind_of_protocol

_ISO = frozenset({"MD_Metadata", "MI_Metadata"})
_DUBLIN_CORE = frozenset({"Record", "SummaryRecord", "BriefRecord", "dc", "simpledc"})
RECORD_NAMES = _ISO | _DUBLIN_CORE
_MAX_RECORDS = 2_000
"""Most records read of one document; a catalogue's page has ten to a hundred."""
_MAX_EXTENTS = 20
_MAX_RESOURCES = 500
"""Most addresses read of one record."""


def records_in(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the records that a document is or contains, outermost ones only."""
    if local_name(root) in RECORD_NAMES:
        yield root
        return
    for count, element in enumerate(root.iter(*(f"{{*}}{name}" for name in sorted(RECORD_NAMES)))):
        if count >= _MAX_RECORDS:
            return
        if not any(local_name(above) in RECORD_NAMES for above in element.iterancestors()):
            yield element


def read_record(record: etree._Element, where: str) -> list[RawLink]:
    """Return the links of a record, in order; [] for any other element. `where`: value for `RawLink.where`."""
    if local_name(record) in _ISO:
        return list(_iso(record, where))
    return list(_dublin_core(record, where))


def link(
    href: str, where: str, *, names: list[str], descriptions: list[str], kind: str, times: Times | None = None
) -> RawLink:
    """Return a link of a record: `names` joined as its anchor, `descriptions` as its context, each text once."""
    anchor = fold(" ".join(dict.fromkeys(filter(None, names))), MAX_ANCHOR_CHARS)
    context = fold(" ".join(dict.fromkeys(filter(None, descriptions))), MAX_CONTEXT_CHARS)
    return RawLink(href, where, anchor, context, kind=kind, times=times)


# --------------------------------------------------------------------------- ISO 19139, ISO 19115-3


def _iso(record: etree._Element, where: str) -> Iterator[RawLink]:
    title, organisation = _iso_title(record), _iso_organisation(record)
    service, times = _service_type(record), _iso_times(record)
    for count, resource in enumerate(record.iter("{*}CI_OnlineResource")):
        if count >= _MAX_RESOURCES:
            return
        href = address_in(first_text(child(resource, "linkage"), MAX_HREF_CHARS))
        if not href:
            continue
        protocol, name = first_text(child(resource, "protocol")), first_text(child(resource, "name"))
        parent = resource.getparent()
        operation = parent is not None and local_name(parent) == "connectPoint"
        kind = kind_of_protocol(protocol) or (service if operation else "")
        yield link(
            href,
            where,
            names=[title, name, protocol],
            descriptions=[organisation, first_text(child(resource, "description"))],
            kind=kind,
            times=times,
        )


def _iso_title(record: etree._Element) -> str:
    about = first(record, "identificationInfo", "citation", "title")
    return first_text(about if about is not None else first(record, "title"))


def _iso_organisation(record: etree._Element) -> str:
    """Return the organisation's name in ISO 19139, or the name of the first CI_Organisation in ISO 19115-3."""
    named = first(record, "organisationName")
    return first_text(named if named is not None else first(record, "CI_Organisation", "name"))


def _iso_times(record: etree._Element) -> Times | None:
    """Return the time that the data is of, from the first temporal extent to the last one (EX_TemporalExtent)."""
    extents = filter(None, map(gml_times, islice(record.iter("{*}EX_TemporalExtent"), _MAX_EXTENTS)))
    return union(read_interval(*each) for each in extents)


def _service_type(record: etree._Element) -> str:
    """Return the kind that a service's type and its versions name: none for `view`, `wms` for `OGC:WMS 1.3.0`."""
    service = first(record, "SV_ServiceIdentification")
    if service is None:
        return ""
    named = (element for element in children(service) if local_name(element) in ("serviceType", "serviceTypeVersion"))
    return kind_among(*map(first_text, named))


# --------------------------------------------------------------------------- Dublin Core


def _dublin_core(record: etree._Element, where: str) -> Iterator[RawLink]:
    values = list(record.iter("*"))[1 : _MAX_RESOURCES + 1]
    texts = {local_name(value).lower(): first_text(value) for value in reversed(values)}
    title = texts.get("title", "")
    organisation = texts.get("publisher") or texts.get("creator") or texts.get("contributor") or ""
    for value in values:
        href = _address_of(value)
        if not href:
            continue
        protocol = value.get("protocol") or value.get("scheme") or ""
        yield link(
            href,
            where,
            names=[title, value.get("name") or "", protocol],
            descriptions=[organisation, value.get("description") or "", texts.get("abstract", "")],
            kind=kind_of_protocol(protocol),
        )


def _address_of(value: etree._Element) -> str:
    """Return the address that is an element's whole text; '' for none.

    The address may lack a scheme in elements that are meant for addresses.
    """
    text = (value.text or "").strip()
    if not text or len(text) > MAX_HREF_CHARS:
        return ""
    if local_name(value) in ("references", "URI"):
        return address_in(text)
    return text if text.lower().startswith(("http://", "https://")) and not any(map(str.isspace, text)) else ""


_LINE_BREAK, _SPACE = re.compile(r"[^\S\r\n]*[\r\n]\s*"), re.compile(r"\s")
_NO_SCHEME = re.compile(r"(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?::\d{1,5})?(?:[/?]|\Z)")


def address_in(text: str) -> str:
    """Return the web address in a metadata field with a scheme; '' for a field without one.

    Spaces within are escaped, as browsers do; line breaks and the indentation after them are layout.
    """
    address = _SPACE.sub("%20", _LINE_BREAK.sub("", text.strip()))
    if address[:7].lower() == "http://" or address[:8].lower() == "https://":
        return address
    return f"http://{address}" if _NO_SCHEME.match(address) else ""
