"""SOS 1.0 (OGC 06-009r6) and 2.0 (12-006), and the observation offerings in its capabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, text_of, texts
from geocrawl.model import Candidate, Item, Kind, Layer, Service
from geocrawl.ports import Interview
from geocrawl.probe import interview
from geocrawl.probe.extents.crs import crs_code
from geocrawl.probe.ows.answer import Form, Part, examine, union
from geocrawl.probe.ows.extents import read_envelope
from geocrawl.probe.ows.reader import first_line, first_text, parameter_values
from geocrawl.probe.stream import Take

_VERSIONS = (None, "2.0.0", "1.0.0")
_ID = "{http://www.opengis.net/gml}id"


class SosProbe:
    """Proves SOS endpoints (`ports.Probe`)."""

    @property
    def kind(self) -> Kind:
        return Kind.SOS

    def recognise(self, candidate: Candidate) -> float:
        """1 for a candidate of this kind, half of it for a weak one, 0 for any other."""
        return interview.fits(Kind.SOS, candidate)

    def interview(self, candidate: Candidate) -> Interview:
        """Ask until the answers tell; at most three requests."""
        form = sos_form()
        questions = interview.by_version(candidate.endpoint.url, "SOS", _VERSIONS)
        return interview.hold(candidate, questions, lambda page: examine(page, form))


def sos_form() -> Form:
    """What the capabilities of a SOS look like; sections have small letters in 2.0 (11.2)."""
    return Form(
        kind=Kind.SOS,
        sections=frozenset(
            {"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Contents", "contents"}
            | {"Filter_Capabilities", "filterCapabilities"}
        ),
        contents=frozenset({"Contents", "contents"}),
        take=Take(
            items=frozenset({"ObservationOffering"}),
            within=frozenset({"ObservationOfferingList", "offering"}),
            read=_read_offering,
            drop=frozenset({"featureOfInterest", "procedure", "relatedFeature"}),
        ),
        finish=_finish,
        usual_version="1.0.0",
    )


def _read_offering(element: etree._Element, parent: int | None) -> Part:
    """What is asked for is the gml:id in 1.0 (table 5) and the identifier in 2.0 (table 14)."""
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
