"""Probe WPS 1.0.0 (OGC 05-007r7) and 2.0 (14-065r2): request capabilities."""

from __future__ import annotations

from lxml import etree

from geocrawl.formats.xml import child, text_of
from geocrawl.model import Item, Kind, Layer
from geocrawl.model.kinds import KindDeclaration, PathForm
from geocrawl.probe.ows.capabilities import CapabilitiesForm, OwsProbe, Part
from geocrawl.probe.ows.items import first_line, first_text, read_keywords
from geocrawl.probe.stream import ItemSpec

KIND = KindDeclaration(
    kind=Kind.WPS,
    name="OGC Web Processing Service",
    proof="capabilities 1.0.0 or 2.0 with processes",
    items=("process", "processes"),
    services=frozenset({"wps", "ogc:wps"}),
    requests=frozenset({"describeprocess"}),
    shared_requests=frozenset({"getcapabilities", "execute", "getstatus", "getresult"}),
    paths=(
        PathForm(
            name="a path that ends in wps",
            hint="wps",
            path=r"/(?:wps|py-?wps)(?:\.cgi|\.py|\.fcgi)?/?$",
            example="https://process.example.org/geoserver/wps",
        ),
        PathForm(
            name="52°North WPS",
            hint="webprocessingservice",
            path="/webprocessingservice/?$",
            example="http://process.example.org/wps/WebProcessingService",
        ),
    ),
    namespaces=frozenset({"wps"}),
    operation="DescribeProcess",
    sections=(("ProcessOfferings",),),
    client="owslib.wps:WebProcessingService",
    client_prints="service.identification.title",
)


def _read_process(element: etree._Element, parent: int | None) -> Part:
    name = text_of(child(element, "Identifier"))
    return Part(
        Layer(
            name=name,
            title=first_line(element, "Title") or name,
            abstract=first_text(element, "Abstract"),
            parent=parent,
            keywords=read_keywords(element),
            item=Item.PROCESS,
        )
    )


FORM = CapabilitiesForm(
    kind=Kind.WPS,
    sections=frozenset(
        {"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "ProcessOfferings", "Contents"}
        | {"Languages", "WSDL"}
    ),
    contents=frozenset({"ProcessOfferings", "Contents"}),
    items=ItemSpec(
        elements=frozenset({"Process", "ProcessSummary"}),
        within=frozenset({"ProcessOfferings", "Contents"}),
        read=_read_process,
    ),
    usual_version="1.0.0",
)
"""`ProcessOfferings` in 1.0.0 (8.3.2), `Contents` in 2.0 (9.8.2)."""
interview = OwsProbe(FORM, (None, "1.0.0", "2.0.0")).interview
