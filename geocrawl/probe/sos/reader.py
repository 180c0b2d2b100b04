"""Read the observation offerings in the capabilities of an SOS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, text_of, texts
from geocrawl.model import Item, Kind, Layer, Service
from geocrawl.probe.extents.crs import crs_code
from geocrawl.probe.ows.answer import Form, Part, union
from geocrawl.probe.ows.extents import read_envelope
from geocrawl.probe.ows.reader import first_line, first_text, parameter_values
from geocrawl.probe.stream import ItemSpec

_ID = "{http://www.opengis.net/gml}id"


def sos_form() -> Form:
    """Return the form of an SOS's capabilities; names of sections are in lower case in 2.0 (11.2)."""
    return Form(
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
    )
    return Part(layer, codes)


def _finish(root: etree._Element, service: Service, parts: Sequence[Part]) -> Service:
    layers = tuple(part.layer for part in parts)
    formats = parameter_values(root, "GetObservation", "responseFormat")
    return replace(service, layers=layers, formats=formats or union([layer.formats for layer in layers]))
