"""Probe SPS 2.0 (OGC 09-000): request capabilities."""

from __future__ import annotations

from lxml import etree

from geocrawl.formats.xml import child, text_of
from geocrawl.model import Item, Kind, Layer
from geocrawl.model.kinds import KindDeclaration, PathForm
from geocrawl.probe.ows.capabilities import CapabilitiesForm, OwsProbe, Part
from geocrawl.probe.stream import ItemSpec

KIND = KindDeclaration(
    kind=Kind.SPS,
    name="OGC Sensor Planning Service",
    proof="capabilities 2.0 with sensor offerings",
    items=("offering", "offerings"),
    services=frozenset({"sps", "ogc:sps"}),
    requests=frozenset({"describetasking", "submit"}),
    paths=(
        PathForm(
            name="a path that ends in sps",
            hint="/sps",
            path="/sps/?$",
            example="https://sensors.example.org/52n-sps/sps",
        ),
    ),
    namespaces=frozenset({"sps"}),
    operation="DescribeTasking",
)


def _read_offering(element: etree._Element, parent: int | None) -> Part:
    name = text_of(child(element, "identifier"))
    return Part(Layer(name, title=name, parent=parent, item=Item.OFFERING))


FORM = CapabilitiesForm(
    kind=Kind.SPS,
    sections=frozenset({"ServiceIdentification", "OperationsMetadata", "contents"}),
    contents=frozenset({"contents"}),
    items=ItemSpec(
        elements=frozenset({"SensorOffering"}),
        within=frozenset({"offering"}),
        read=_read_offering,
    ),
    usual_version="2.0.0",
)
interview = OwsProbe(FORM, (None, "2.0.0")).interview
