"""Read the types of record in the capabilities of a CSW."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.model import Item, Kind, Layer, Service
from geocrawl.probe.ows.answer import Form, Part
from geocrawl.probe.ows.reader import parameter_values
from geocrawl.probe.stream import ItemSpec

_DUBLIN_CORE = "csw:Record"


def csw_form() -> Form:
    """Return the form of a CSW's capabilities."""
    return Form(
        kind=Kind.CSW,
        sections=frozenset(
            {"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Filter_Capabilities", "Languages"}
        ),
        contents=frozenset(),
        items=ItemSpec(elements=frozenset(), within=frozenset(), read=lambda element, parent: Part(Layer("", ""))),
        finish=_finish,
        usual_version="2.0.2",
    )


def _finish(root: etree._Element, service: Service, parts: Sequence[Part]) -> Service:
    types = parameter_values(root, "GetRecords", "typeNames", "typeName") or (_DUBLIN_CORE,)
    layers = tuple(Layer(name=name, title=name, item=Item.RECORD_TYPE) for name in types)
    return replace(service, layers=layers, formats=parameter_values(root, "GetRecords", "outputFormat"))
