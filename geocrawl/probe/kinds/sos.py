"""Probe SOS 1.0 (OGC 06-009r6) and 2.0 (12-006): request capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.xml import attribute, child, children, text_of, texts
from geocrawl.model import Item, Kind, Layer, Service
from geocrawl.model.kinds import KindDeclaration, PathForm
from geocrawl.probe.extents import crs_code
from geocrawl.probe.ows.capabilities import CapabilitiesForm, OwsProbe, Part, ServiceMetadata, union, with_layers
from geocrawl.probe.ows.items import first_line, first_text, read_envelope, read_times
from geocrawl.probe.stream import ItemSpec

KIND = KindDeclaration(
    kind=Kind.SOS,
    name="OGC Sensor Observation Service",
    proof="capabilities 1.0.0 or 2.0.0",
    items=("offering", "offerings"),
    services=frozenset({"sos", "ogc:sos"}),
    requests=frozenset(
        {"getobservation", "describesensor", "getfeatureofinterest", "getobservationbyid", "getdataavailability"}
    ),
    paths=(
        PathForm(
            name="a path that ends in sos beneath a word of services (52°North, istSOS, MapServer)",
            hint="/sos",
            path=r"/(?:[^/]*(?:sos|52n|swe|ogc|geo|service|cgi-bin)[^/]*|ws)/sos(?:/kvp)?/?$|/sos/(?:kvp|server\.php)$",
            example="https://sensors.example.org/52n-sos-webapp/sos/kvp",
        ),
        PathForm(
            name="THREDDS and ERDDAP, a data set's observations",
            hint="/sos/",
            path="/thredds/sos/.+[^/]$|/erddap/sos/[^/]+/server$",
            example="https://data.example.org/erddap/sos/buoys/server",
        ),
    ),
    namespaces=frozenset({"sos"}),
    operation="GetObservation",
    sections=(("Contents", "ObservationOfferingList"),),
    client="owslib.sos:SensorObservationService",
    client_versions=("1.0.0", "2.0.0"),
)


_ID = "{http://www.opengis.net/gml}id"


def _read_offering(element: etree._Element, parent: int | None) -> Part:
    """Read an offering, which is requested by its gml:id in 1.0 (table 5) and by its identifier in 2.0 (table 14)."""
    area = child(element, "observedArea", "Envelope")
    envelope = area if area is not None else child(element, "boundedBy", "Envelope")
    box, codes = read_envelope(envelope)
    named = first_line(element, "name")
    name = text_of(child(element, "identifier")) or (element.get(_ID) or "").strip() or named
    stated = [attribute(envelope, "srsName") if envelope is not None else ""]
    stated += map(text_of, children(element, "srsName"))
    layer = Layer(
        name=name,
        title=named or name,
        abstract=first_text(element, "description"),
        parent=parent,
        crs=tuple(dict.fromkeys(filter(None, map(crs_code, stated)))),
        box=box,
        item=Item.OFFERING,
        formats=texts(children(element, "responseFormat")),
        times=read_times(element),
    )
    return Part(layer, codes)


def _finish(metadata: ServiceMetadata, parts: Sequence[Part]) -> Service:
    formats = metadata.operations.values("GetObservation", "responseFormat")
    return replace(with_layers(metadata, parts), formats=formats or union([part.layer.formats for part in parts]))


FORM = CapabilitiesForm(
    kind=Kind.SOS,
    sections=frozenset(
        {"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Contents", "contents"}
        | {"Filter_Capabilities", "filterCapabilities"}
    ),
    contents=frozenset({"Contents", "contents"}),
    items=ItemSpec(
        elements=frozenset({"ObservationOffering"}),
        within=frozenset({"ObservationOfferingList", "offering"}),
        read=_read_offering,
        drop=frozenset({"featureOfInterest", "procedure", "relatedFeature"}),
    ),
    finish=_finish,
    usual_version="1.0.0",
)
"""Names of sections are in lower case in 2.0 (11.2)."""
interview = OwsProbe(FORM, (None, "2.0.0", "1.0.0")).interview
