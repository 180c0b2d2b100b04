"""Probe CSW 2.0.2 (OGC 07-006r1) and 3.0 (12-176r7): request capabilities, and name the first page of records.

Version 2.0.2 is requested first: nearly every catalogue supports it, and those with 3.0 answer both. REQUEST is spelt
exactly as in the standard, because some servers compare the value case-sensitively. A catalogue has no list of
contents: its items are the types of record that GetRecords names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.xml import attribute, child, local_name
from geocrawl.model import (
    Candidate,
    ContentOutcome,
    Endpoint,
    Failure,
    Item,
    Kind,
    Layer,
    Link,
    Page,
    Purpose,
    Service,
    Status,
    Url,
)
from geocrawl.model.kinds import KindDeclaration, PathForm, program_in_folder
from geocrawl.ports import Ask, ContentInterview, Interview
from geocrawl.probe.content import Attempts, Look, judge_xml
from geocrawl.probe.interview import is_file
from geocrawl.probe.ows.capabilities import CapabilitiesForm, OwsProbe, Part, ServiceMetadata
from geocrawl.probe.stream import ItemSpec
from geocrawl.urls import RECORDS, get_records_url, with_parameters
from geocrawl.urls.records import ISO_19139

KIND = KindDeclaration(
    kind=Kind.CSW,
    name="OGC Catalogue Service for the Web",
    proof="capabilities 2.0.2 or 3.0.0",
    items=("record type", "record types"),
    services=frozenset({"csw", "ogc:csw", "csw-iso", "csw-2.0.2"}),
    requests=frozenset({"getrecords", "getrecordbyid", "describerecord"}),
    shared_requests=frozenset({"getcapabilities", "getdomain"}),
    paths=(
        PathForm(
            name="a path that ends in csw (GeoNetwork, pycsw, GeoServer, Esri Geoportal)",
            hint="csw",
            path=r"[/_.]csw(?:-[a-z0-9_-]{1,40}|startup|\.php|\.ashx)?/?$",
            example="https://metadata.example.org/geonetwork/srv/eng/csw-inspire",
        ),
        program_in_folder("csw", "https://metadata.example.org/catalogue/csw/index.php"),
        PathForm(
            name="pycsw at its own name",
            hint="pycsw",
            path=r"/pycsw/?$",
            example="https://metadata.example.org/pycsw",
        ),
        PathForm(
            name="CSW: the servlet's name",
            hint="cswstartup",
            path="/cswstartup/?$",
            example="https://metadata.example.org/wss/service/CSW/guest/CSWStartup",
        ),
    ),
    reports_like=Kind.WFS,
    instead=Kind.WMS,
    namespaces=frozenset({"csw"}),
    operation="GetRecords",
    client="owslib.csw:CatalogueServiceWeb",
    client_versions=("2.0.2", "3.0.0"),
    client_prints="service.identification.title",
    connections={"": "csw"},
)


_DUBLIN_CORE = "csw:Record"


def _read_nothing(element: etree._Element, parent: int | None) -> Part:
    return Part(Layer("", ""))


def _finish(metadata: ServiceMetadata, _parts: Sequence[Part]) -> Service:
    types = metadata.operations.values("GetRecords", "typeNames", "typeName") or (_DUBLIN_CORE,)
    layers = tuple(Layer(name=name, title=name, item=Item.RECORD_TYPE) for name in types)
    return replace(metadata.service, layers=layers, formats=metadata.operations.values("GetRecords", "outputFormat"))


FORM = CapabilitiesForm(
    kind=Kind.CSW,
    sections=frozenset(
        {"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Filter_Capabilities", "Languages"}
    ),
    contents=frozenset(),
    items=ItemSpec(elements=frozenset(), within=frozenset(), read=_read_nothing),
    finish=_finish,
    usual_version="2.0.2",
)


_CAPABILITIES = OwsProbe(FORM, ("2.0.2", None, "3.0.0"))


def interview(candidate: Candidate) -> Interview:
    """Request capabilities until the answers decide, three times at most; `pages` of the verdict is the first page of
    records."""
    verdict = yield from _CAPABILITIES.interview(candidate)
    if verdict.status is not Status.VALID or verdict.service is None:
        return verdict
    return replace(verdict, pages=_first_records(candidate.endpoint.url, verdict.service))


def _first_records(endpoint: Url, service: Service) -> tuple[Link, ...]:
    if is_file(endpoint):
        return ()
    address = get_records_url(endpoint, version=service.version)
    return (Link(address, anchor=service.title, context=service.provider, where=RECORDS),)


# --------------------------------------------------------------------------- content
# Check the content of a CSW: request one record by GetRecords (OGC 07-006r1, 10.8; 12-176r7, 7.3).
#
# The request is for Dublin Core, which every catalogue has to support, and if that fails for ISO 19139.


_ONE = {"maxRecords": "1", "elementSetName": "brief"}
_SCHEMAS = {"csw:Record": "", "gmd:MD_Metadata": ISO_19139}


def check_content(endpoint: Endpoint, service: Service, _most: int) -> ContentInterview:
    """Request a record in Dublin Core, and from a catalogue that refuses this in the other schema."""
    attempts = Attempts()
    if is_file(endpoint.url):  # a file answers no requests
        return attempts.report(endpoint)
    for name, schema in _SCHEMAS.items():
        records = get_records_url(endpoint.url, version=service.version, schema=schema)
        url = with_parameters(records, _ONE)
        answer = yield Ask(url, Purpose.MAP)
        attempts.add(name, "", url, answer, judge_record(answer))
        if attempts.is_enough or attempts.made[-1].outcome is ContentOutcome.BLANK:
            break
    return attempts.report(endpoint)


def judge_record(answer: Page | Failure) -> Look:
    """Return (outcome, detail): OK for one record or more, BLANK for an empty catalogue."""
    return judge_xml(answer, _count, "records")


def _count(root: etree._Element) -> str | None:
    """Count records in an answer to GetRecords; None for another document."""
    if local_name(root) != "GetRecordsResponse":
        return None
    results = child(root, "SearchResults")
    count = sum(1 for record in results if local_name(record)) if results is not None else 0
    matched = attribute(results, "numberOfRecordsMatched") if results is not None else ""
    return f"{count} of {matched or '?'} records"[:200] if count else ""
