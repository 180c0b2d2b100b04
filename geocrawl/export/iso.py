"""Write services as records of ISO 19139 (with ISO 19119's service part) and ISO 19115-3: what GeoNetwork, CKAN and
other portals harvest.

Both say the same in the order of elements that their schemas demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lxml import etree
from lxml.builder import ElementMaker

from geocrawl.export.properties import as_iri, description_address, extent_of, mail_of, name_of
from geocrawl.files import make_folder, whole_file, write_faults
from geocrawl.model.catalogue import Box, Service
from geocrawl.model.kinds import service_parameter
from geocrawl.model.languages import three_letters
from geocrawl.model.licences import licence_address, restricts
from geocrawl.probe.registry import declared
from geocrawl.sanitize import plain

PREFIX = "urn:geocrawl:service:"
"""Before the number in the name of a record."""
GMD = "http://www.isotc211.org/2005/gmd"
MDB = "http://standards.iso.org/iso/19115/-3/mdb/2.0"
_OLD = {
    **{"gmd": GMD, "gco": "http://www.isotc211.org/2005/gco", "srv": "http://www.isotc211.org/2005/srv"},
    "gml": "http://www.opengis.net/gml",
}
_ISO = "http://standards.iso.org/iso/19115/-3"
_NEW = {
    **{name: f"{_ISO}/{name}/1.0" for name in ("gco", "gex", "lan", "mcc", "mco", "mrd", "mri")},
    **{"mdb": MDB, "cit": f"{_ISO}/cit/2.0", "srv": f"{_ISO}/srv/2.1", "gml": "http://www.opengis.net/gml/3.2"},
}
_OLD_CODES = "http://standards.iso.org/iso/19139/resources/gmxCodelists.xml"
_NEW_CODES = "http://standards.iso.org/iso/19115/resources/Codelists/cat/codelists.xml"
_BOUNDS = ("westBoundLongitude", "eastBoundLongitude", "southBoundLatitude", "northBoundLatitude")
_ABSTRACT_CHARS = 20_000
"""Longest abstract of a record; catalogues refuse records of megabytes."""

Element = etree._Element


def _makers(namespaces: Mapping[str, str]) -> dict[str, Any]:
    return {name: ElementMaker(namespace=address, nsmap=dict(namespaces)) for name, address in namespaces.items()}


_GMD, _GCO, _SRV, _GML = _makers(_OLD).values()
_M = _makers(_NEW)


def as_xml(text: str) -> str:
    """Return a text as XML holds it."""
    return plain(text, _ABSTRACT_CHARS)


def _abstract(service: Service) -> str:
    return as_xml(service.abstract) or as_xml(name_of(service))


def _keywords(service: Service) -> list[str]:
    return list(dict.fromkeys(filter(None, map(as_xml, service.keywords))))


def _limits(service: Service) -> list[str]:
    """Return what restricts the access to a service, what it costs, and the address of its licence."""
    found = [as_xml(text) for text in (service.access_constraints, service.fees)]
    return [text for text in (*dict.fromkeys(filter(restricts, found)), licence_address(service.licence)) if text]


def _period(service: Service, gml: Any) -> Element | None:
    """Return the time that the data of a service is of, in a version of GML; None when it is not known."""
    if service.time_start is None and service.time_end is None:
        return None
    start, end = (
        gml(name, at or "") for name, at in (("beginPosition", service.time_start), ("endPosition", service.time_end))
    )
    for element in (start, end):
        if not element.text:
            element.set("indeterminatePosition", "unknown")
    period: Element = gml.TimePeriod(start, end)
    period.set(f"{{{period.nsmap['gml']}}}id", "period")
    return period


def _sides(box: Box | None) -> tuple[str, str, str, str] | None:
    """Return west, east, south, north, as both standards order them; west > east crosses the antimeridian."""
    extent = extent_of(box)
    if extent is None:
        return None
    parts = list(getattr(extent, "geoms", [extent]))
    west, south, _, north = parts[0].bounds
    sides = (west, parts[-1].bounds[2], south, north)
    first, second, third, fourth = (f"{side:.6f}".rstrip("0").rstrip(".") for side in sides)
    return first, second, third, fourth


def protocol_of(service: Service) -> str:
    """Return the name of a service's protocol, as catalogues write it."""
    return declared(service.kind).protocol or (f"OGC:{service_parameter(service.kind) or service.kind.upper()}")


def _links(service: Service, base: str) -> list[tuple[str, str, str, str]]:
    """Return address, protocol, name and function of the places of a service."""
    described = description_address(service.kind, service.url)
    found = [(service.url, protocol_of(service), name_of(service), "download")]
    if described != service.url:
        found.append((described, protocol_of(service), "Capabilities", "information"))
    if base:
        found.append((page_of(service, base), "WWW:LINK-1.0-http--link", "Page of the catalogue", "information"))
    return [(as_iri(as_xml(address)), protocol, as_xml(name), function) for address, protocol, name, function in found]


def page_of(service: Service, base: str) -> str:
    """Return the address of a service's page."""
    return f"{base}/collections/services/items/{service.id}"


def _party(service: Service) -> dict[str, str]:
    """Return whom to ask, without what is unknown; the host where the service names nobody."""
    given = {name: as_xml(text) for name, text in service.contact.items()}
    given["email"] = mail_of(service.contact)
    given["organization"] = given.get("organization") or as_xml(service.provider)
    if not (given["organization"] or given.get("person")):
        given["organization"] = as_xml(service.host) or "unknown"
    return {name: text for name, text in given.items() if text}


# --------------------------------------------------------------------------- ISO 19139


def iso19139(service: Service, base: str = "") -> Element:
    """Return a service as gmd:MD_Metadata; `base`: address of the web pages, to which it then has a link."""
    links = [_old_link(*link) for link in _links(service, base)]
    language = three_letters(service.language)
    transfer = _GMD.MD_DigitalTransferOptions(*(_GMD.onLine(link) for link in links))
    record: Element = _GMD.MD_Metadata(
        _GMD.fileIdentifier(_old_text(identifier(service))),
        *([_GMD.language(_old_code(_GMD, "LanguageCode", language))] if language else []),
        _GMD.characterSet(_old_code(_GMD, "MD_CharacterSetCode", "utf8")),
        _GMD.hierarchyLevel(_old_code(_GMD, "MD_ScopeCode", "service")),
        _GMD.contact(_old_party(service)),
        _GMD.dateStamp(_GCO.DateTime(service.last_ok)),
        _GMD.metadataStandardName(_old_text("ISO 19119")),
        _GMD.metadataStandardVersion(_old_text("2005/PDAM 1")),
        _GMD.identificationInfo(_old_identification(service)),
        _GMD.distributionInfo(_GMD.MD_Distribution(_GMD.transferOptions(transfer))),
    )
    return record


def _old_identification(service: Service) -> Element:
    citation = _GMD.CI_Citation(
        _GMD.title(_old_text(as_xml(name_of(service)))),
        *(_old_date(at, of) for at, of in ((service.first_seen, "publication"), (service.last_ok, "revision"))),
    )
    words = [_GMD.keyword(_old_text(keyword)) for keyword in _keywords(service)]
    sides, limits = _sides(service.box), _limits(service)
    extent = _old_extent(sides, _period(service, _GML))
    operation = _SRV.SV_OperationMetadata(
        _SRV.operationName(_old_text("GetCapabilities")),
        _SRV.DCP(_old_code(_SRV, "DCPList", "WebServices")),
        _SRV.connectPoint(_old_link(*_links(service, "")[-1])),
    )
    found: Element = _SRV.SV_ServiceIdentification(
        _GMD.citation(citation),
        _GMD.abstract(_old_text(_abstract(service))),
        _GMD.pointOfContact(_old_party(service)),
        *([_GMD.descriptiveKeywords(_GMD.MD_Keywords(*words))] if words else []),
        *([_GMD.resourceConstraints(_old_limits(limits))] if limits else []),
        _SRV.serviceType(_GCO.LocalName(protocol_of(service))),
        *([_SRV.serviceTypeVersion(_old_text(as_xml(service.version)))] if as_xml(service.version) else []),
        *([_SRV.extent(extent)] if len(extent) else []),
        _SRV.couplingType(_old_code(_SRV, "SV_CouplingType", "loose")),
        _SRV.containsOperations(operation),
    )
    return found


def _old_text(text: str) -> Element:
    element: Element = _GCO.CharacterString(text)
    return element


def _old_code(maker: Any, list_: str, value: str) -> Element:
    element: Element = maker(list_, value, codeList=f"{_OLD_CODES}#{list_}", codeListValue=value)
    return element


def _old_date(at: str, of: str) -> Element:
    code = _old_code(_GMD, "CI_DateTypeCode", of)
    element: Element = _GMD.date(_GMD.CI_Date(_GMD.date(_GCO.DateTime(at)), _GMD.dateType(code)))
    return element


def _old_extent(sides: Iterable[str] | None, period: Element | None) -> Element:
    box = (_GMD(name, _GCO.Decimal(side)) for name, side in zip(_BOUNDS, sides or (), strict=bool(sides)))
    element: Element = _GMD.EX_Extent(
        *([_GMD.geographicElement(_GMD.EX_GeographicBoundingBox(*box))] if sides else []),
        *([_GMD.temporalElement(_GMD.EX_TemporalExtent(_GMD.extent(period)))] if period is not None else []),
    )
    return element


def _old_limits(limits: list[str]) -> Element:
    element: Element = _GMD.MD_LegalConstraints(
        _GMD.accessConstraints(_old_code(_GMD, "MD_RestrictionCode", "otherRestrictions")),
        *(_GMD.otherConstraints(_old_text(text)) for text in limits),
    )
    return element


def _old_link(address: str, protocol: str, name: str, function: str) -> Element:
    element: Element = _GMD.CI_OnlineResource(
        _GMD.linkage(_GMD.URL(address)),
        _GMD.protocol(_old_text(protocol)),
        _GMD.name(_old_text(name)),
        _GMD.function(_old_code(_GMD, "CI_OnLineFunctionCode", function)),
    )
    return element


def _old_party(service: Service) -> Element:
    party = _party(service)

    def known(maker: Any, **names: str) -> list[Element]:
        return [maker(element, _old_text(party[name])) for element, name in names.items() if name in party]

    phone = known(_GMD, voice="phone")
    names = {"deliveryPoint": "address", "city": "city", "country": "country", "electronicMailAddress": "email"}
    address = known(_GMD, **names)
    contact = [
        *([_GMD.phone(_GMD.CI_Telephone(*phone))] if phone else []),
        *([_GMD.address(_GMD.CI_Address(*address))] if address else []),
    ]
    element: Element = _GMD.CI_ResponsibleParty(
        *known(_GMD, individualName="person", organisationName="organization", positionName="position"),
        *([_GMD.contactInfo(_GMD.CI_Contact(*contact))] if contact else []),
        _GMD.role(_old_code(_GMD, "CI_RoleCode", "pointOfContact")),
    )
    return element


# --------------------------------------------------------------------------- ISO 19115-3


def iso19115_3(service: Service, base: str = "") -> Element:
    """Return a service as mdb:MD_Metadata; `base`: address of the web pages, to which it then has a link."""
    mdb, mcc, mrd = _M["mdb"], _M["mcc"], _M["mrd"]
    links = (mrd.onLine(_new_link(*link)) for link in _links(service, base))
    record: Element = mdb.MD_Metadata(
        mdb.metadataIdentifier(mcc.MD_Identifier(mcc.code(_new_text(identifier(service))))),
        *([mdb.defaultLocale(_locale(language))] if (language := three_letters(service.language)) else []),
        mdb.metadataScope(mdb.MD_MetadataScope(mdb.resourceScope(_new_code("mcc", "MD_ScopeCode", "service")))),
        mdb.contact(_new_party(service)),
        *(
            mdb.dateInfo(_new_date(at, of))
            for at, of in ((service.first_seen, "creation"), (service.last_ok, "revision"))
        ),
        mdb.metadataStandard(_M["cit"].CI_Citation(_M["cit"].title(_new_text("ISO 19115-3")))),
        mdb.identificationInfo(_new_identification(service)),
        mdb.distributionInfo(mrd.MD_Distribution(mrd.transferOptions(mrd.MD_DigitalTransferOptions(*links)))),
    )
    return record


def _new_identification(service: Service) -> Element:
    mri, srv, cit, mco = _M["mri"], _M["srv"], _M["cit"], _M["mco"]
    sides, limits = _sides(service.box), _limits(service)
    extent = _new_extent(sides, _period(service, _M["gml"]))
    words = [mri.keyword(_new_text(keyword)) for keyword in _keywords(service)]
    dates = ((service.first_seen, "publication"), (service.last_ok, "revision"))
    citation = cit.CI_Citation(
        cit.title(_new_text(as_xml(name_of(service)))), *(cit.date(_new_date(at, of)) for at, of in dates)
    )
    legal = mco.MD_LegalConstraints(
        mco.accessConstraints(_new_code("mco", "MD_RestrictionCode", "otherRestrictions")),
        *(mco.otherConstraints(_new_text(text)) for text in limits),
    )
    operation = srv.SV_OperationMetadata(
        srv.operationName(_new_text("GetCapabilities")),
        srv.distributedComputingPlatform(_new_code("srv", "DCPList", "WebServices")),
        srv.connectPoint(_new_link(*_links(service, "")[-1])),
    )
    found: Element = srv.SV_ServiceIdentification(
        mri.citation(citation),
        mri.abstract(_new_text(_abstract(service))),
        mri.pointOfContact(_new_party(service)),
        *([mri.extent(extent)] if len(extent) else []),
        *([mri.descriptiveKeywords(mri.MD_Keywords(*words))] if words else []),
        *([mri.resourceConstraints(legal)] if limits else []),
        srv.serviceType(_M["gco"].ScopedName(protocol_of(service))),
        *([srv.serviceTypeVersion(_new_text(as_xml(service.version)))] if as_xml(service.version) else []),
        srv.couplingType(_new_code("srv", "SV_CouplingType", "loose")),
        srv.containsOperations(operation),
    )
    return found


def _locale(language: str) -> Element:
    lan = _M["lan"]
    element: Element = lan.PT_Locale(
        lan.language(_new_code("lan", "LanguageCode", language)),
        lan.characterEncoding(_new_code("lan", "MD_CharacterSetCode", "utf8")),
    )
    return element


def _new_text(text: str) -> Element:
    element: Element = _M["gco"].CharacterString(text)
    return element


def _new_code(prefix: str, list_: str, value: str) -> Element:
    element: Element = _M[prefix](list_, value, codeList=f"{_NEW_CODES}#{list_}", codeListValue=value)
    return element


def _new_date(at: str, of: str) -> Element:
    cit = _M["cit"]
    code = _new_code("cit", "CI_DateTypeCode", of)
    element: Element = cit.CI_Date(cit.date(_M["gco"].DateTime(at)), cit.dateType(code))
    return element


def _new_extent(sides: Iterable[str] | None, period: Element | None) -> Element:
    gex, gco = _M["gex"], _M["gco"]
    box = (gex(name, gco.Decimal(side)) for name, side in zip(_BOUNDS, sides or (), strict=bool(sides)))
    element: Element = gex.EX_Extent(
        *([gex.geographicElement(gex.EX_GeographicBoundingBox(*box))] if sides else []),
        *([gex.temporalElement(gex.EX_TemporalExtent(gex.extent(period)))] if period is not None else []),
    )
    return element


def _new_link(address: str, protocol: str, name: str, function: str) -> Element:
    cit = _M["cit"]
    element: Element = cit.CI_OnlineResource(
        cit.linkage(_new_text(address)),
        cit.protocol(_new_text(protocol)),
        cit.name(_new_text(name)),
        cit.function(_new_code("cit", "CI_OnLineFunctionCode", function)),
    )
    return element


def _new_party(service: Service) -> Element:
    cit, party = _M["cit"], _party(service)

    def known(**names: str) -> list[Element]:
        return [cit(element, _new_text(party[name])) for element, name in names.items() if name in party]

    phone = known(number="phone")
    names = {"deliveryPoint": "address", "city": "city", "country": "country", "electronicMailAddress": "email"}
    address, person = known(**names), known(name="person", positionName="position")
    contact = [
        *([cit.phone(cit.CI_Telephone(*phone))] if phone else []),
        *([cit.address(cit.CI_Address(*address))] if address else []),
    ]
    organisation = cit.CI_Organisation(
        *known(name="organization"),
        *([cit.contactInfo(cit.CI_Contact(*contact))] if contact else []),
        *([cit.individual(cit.CI_Individual(*person))] if person else []),
    )
    element: Element = cit.CI_Responsibility(
        cit.role(_new_code("cit", "CI_RoleCode", "pointOfContact")), cit.party(organisation)
    )
    return element


# --------------------------------------------------------------------------- files

RECORDS: Mapping[str, Callable[[Service, str], Element]] = {"iso19139": iso19139, "iso19115-3": iso19115_3}
"""Format → what makes a record."""


def identifier(service: Service) -> str:
    """Return the name of a service's record, the same in each standard and in CSW."""
    return f"{PREFIX}{service.id}"


def file_of(service: Service) -> str:
    """Return the name of the file with a service's record."""
    return f"service-{service.id}.xml"


def record_bytes(form: str, service: Service, base: str = "") -> bytes:
    """Return a record as an XML document."""
    document: bytes = etree.tostring(
        RECORDS[form](service, base), xml_declaration=True, encoding="UTF-8", pretty_print=True
    )
    return document


def write_iso(form: str, services: Iterable[Service], folder: Path, base: str = "", *, new_mode: int = 0o666) -> int:
    """Write a file for each service into `folder`; return the number of services.

    Raises EnvironmentFault when a file cannot be written; former files then stay as they are, or are already new."""
    count = 0
    with write_faults(folder):
        make_folder(folder)
        for service in services:
            with whole_file(folder / file_of(service), new_mode=new_mode) as stream:
                stream.write(record_bytes(form, service, base))
            count += 1
    return count
