"""Read the layers in the capabilities of a WMTS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import child, children, text_of, texts
from geocrawl.model import Kind, Layer, Service
from geocrawl.probe.extents.crs import crs_code
from geocrawl.probe.ows.answer import Form, Part, union
from geocrawl.probe.ows.extents import read_extent
from geocrawl.probe.ows.reader import first_line, first_text, read_keywords
from geocrawl.probe.stream import ItemSpec


def wmts_form() -> Form:
    """Return the form of a WMTS's capabilities."""
    return Form(
        kind=Kind.WMTS,
        sections=frozenset({"ServiceIdentification", "ServiceProvider", "OperationsMetadata", "Contents", "Themes"}),
        contents=frozenset({"Contents"}),
        items=ItemSpec(
            elements=frozenset({"Layer"}),
            within=frozenset({"Contents"}),
            read=_read_layer,
            drop=frozenset({"TileMatrixSetLimits"}),
        ),
        finish=_finish,
        usual_version="1.0.0",
    )


def _read_layer(element: etree._Element, parent: int | None) -> Part:
    box, codes = read_extent(element)
    layer = Layer(
        name=text_of(child(element, "Identifier")),
        title=first_line(element, "Title"),
        abstract=first_text(element, "Abstract"),
        parent=parent,
        box=box,
        styles=texts(name for style in children(element, "Style") for name in children(style, "Identifier")),
        queryable=child(element, "InfoFormat") is not None,
        keywords=read_keywords(element),
        formats=texts(children(element, "Format")),
    )
    links = children(element, "TileMatrixSetLink")
    return Part(layer, codes, texts(name for link in links for name in children(link, "TileMatrixSet")))


def _finish(root: etree._Element, service: Service, parts: Sequence[Part]) -> Service:
    """Add layers and formats. A layer's reference systems are those of its tile matrix sets."""
    sets = _matrix_sets(root)
    layers = [replace(part.layer, crs=union([sets.get(name, ()) for name in part.refers])) for part in parts]
    return replace(service, layers=tuple(layers), formats=union([layer.formats for layer in layers]))


def _matrix_sets(root: etree._Element) -> Mapping[str, tuple[str, ...]]:
    """Return the reference system of each tile matrix set by its identifier."""
    found = {}
    for each in children(child(root, "Contents"), "TileMatrixSet"):
        code = crs_code(text_of(child(each, "SupportedCRS")))
        found[text_of(child(each, "Identifier"))] = (code,) if code else ()
    return found
