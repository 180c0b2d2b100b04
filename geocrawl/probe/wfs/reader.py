"""Read the feature types in the capabilities of a WFS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import child, children, local_name, text_of, texts
from geocrawl.model import Item, Kind, Layer, Service
from geocrawl.probe.extents.crs import crs_code
from geocrawl.probe.ows.answer import Form, Part
from geocrawl.probe.ows.extents import read_extent
from geocrawl.probe.ows.operations import get_addresses
from geocrawl.probe.ows.reader import first_line, first_text, parameter_values, read_keywords
from geocrawl.probe.stream import ItemSpec

_CRS = ("DefaultCRS", "DefaultSRS", "SRS", "OtherCRS", "OtherSRS")
_NAMESPACE_CHARS = 300
"""Longer namespaces are left out, because they are sent in addresses."""


def wfs_form() -> Form:
    """Return the form of a WFS's capabilities."""
    return Form(
        kind=Kind.WFS,
        sections=frozenset(
            {"Service", "Capability", "ServiceIdentification", "ServiceProvider", "OperationsMetadata"}
            | {"FeatureTypeList", "Filter_Capabilities"}
        ),
        contents=frozenset({"FeatureTypeList"}),
        items=ItemSpec(elements=frozenset({"FeatureType"}), within=frozenset({"FeatureTypeList"}), read=_read_type),
        finish=_finish,
        usual_version="1.1.0",
    )


def _read_type(element: etree._Element, parent: int | None) -> Part:
    box, codes = read_extent(element)
    layer = Layer(
        name=text_of(child(element, "Name")),
        title=first_line(element, "Title"),
        abstract=first_text(element, "Abstract"),
        parent=parent,
        crs=_crs(element),
        box=box,
        keywords=read_keywords(element),
        item=Item.FEATURE_TYPE,
        formats=texts(children(child(element, "OutputFormats"), "Format")),
        namespace=_namespace(child(element, "Name")),
    )
    return Part(layer, codes)


def _namespace(name: etree._Element | None) -> str:
    """Return the namespace of the prefix in a type's name; '' without a prefix or without its declaration."""
    prefix, colon, _ = text_of(name).partition(":")
    namespace = name.nsmap.get(prefix, "") if name is not None and colon else ""
    return namespace if len(namespace) <= _NAMESPACE_CHARS else ""


def _crs(element: etree._Element) -> tuple[str, ...]:
    """Return the codes of reference systems, the default one first."""
    stated = (crs_code(text_of(part)) for name in _CRS for part in children(element, name))
    return tuple(dict.fromkeys(filter(None, stated)))


def _finish(root: etree._Element, service: Service, parts: Sequence[Part]) -> Service:
    formats = parameter_values(root, "GetFeature", "outputFormat") or _old_formats(root)
    address = next(get_addresses(root, "GetFeature"), "")
    return replace(service, layers=tuple(part.layer for part in parts), formats=formats, content_address=address)


def _old_formats(root: etree._Element) -> tuple[str, ...]:
    """Return formats of WFS 1.0.0 (12.3.3), elements without text: `<ResultFormat><GML2/></ResultFormat>`."""
    listed = child(root, "Capability", "Request", "GetFeature", "ResultFormat")
    return tuple(dict.fromkeys(filter(None, map(local_name, listed)))) if listed is not None else ()
