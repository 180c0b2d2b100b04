"""The layers of a WMS (1.3.0, 7.2.4.5 to 7.2.4.8; 1.1.1, 7.1.4.5) as they state themselves, groups first.

What is inherited stays where it was stated, so a thousand layers do not hold a thousand copies of one list of reference
systems. Every part is optional here: a layer with a fault costs what is faulty, never the layer, never the service.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lxml import etree

from geocrawl.model import Deviation, Layer
from geocrawl.probe.boxes import read_box
from geocrawl.probe.elements import attribute, child, children, line_of, local_name, text_of, texts
from geocrawl.probe.wms_reader import read_keywords

if TYPE_CHECKING:
    from shapely.geometry import Polygon

_Parts = dict[str, list[etree._Element]]
_SIDES = ("westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude")
_EDGES = ("minx", "miny", "maxx", "maxy")


def read_layers(root: etree._Element) -> tuple[tuple[Layer, ...], tuple[Deviation, ...]]:
    """Layers and groups in document order, and what in them had to be mended: one deviation a code, with a count."""
    layers: list[Layer] = []
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    stack: list[tuple[etree._Element, int | None]] = []
    stack += [(element, None) for element in _layers_of(child(root, "Capability"))]
    while stack:
        element, parent = stack.pop()
        layer, codes = _read_layer(element, parent)
        for code in codes:
            counts[code] += 1
            first.setdefault(code, layer.name or layer.title)
        stack += [(each, len(layers)) for each in _layers_of(element)]
        layers.append(layer)
    found = (Deviation(code, f"{count} layers, first: {first[code]}"[:200]) for code, count in counts.items())
    return tuple(layers), tuple(found)


def _layers_of(element: etree._Element | None) -> list[etree._Element]:
    """The child layers, last first: the order in which a stack gives them back in document order."""
    return list(children(element, "Layer"))[::-1]


def _read_layer(element: etree._Element, parent: int | None) -> tuple[Layer, tuple[str, ...]]:
    parts: _Parts = {}
    for part in element:
        parts.setdefault(local_name(part), []).append(part)
    box, codes = _read_own_box(parts)
    style_names = (child(style, "Name") for style in parts.get("Style", ()))
    layer = Layer(
        name=text_of(_first(parts, "Name")),
        title=line_of(_first(parts, "Title")),
        abstract=text_of(_first(parts, "Abstract")),
        parent=parent,
        crs=_crs([*parts.get("CRS", ()), *parts.get("SRS", ())]),
        box=box,
        bounds=next(filter(None, map(_bounds, parts.get("BoundingBox", ()))), None),
        styles=texts(name for name in style_names if name is not None),
        queryable=attribute(element, "queryable").strip().lower() in ("1", "true"),
        keywords=read_keywords(element) if "KeywordList" in parts or "Keywords" in parts else (),
    )
    return layer, codes


def _first(parts: _Parts, name: str) -> etree._Element | None:
    found = parts.get(name)
    return found[0] if found else None


def _crs(elements: Iterable[etree._Element]) -> tuple[str, ...]:
    """Codes of all CRS or SRS elements, each once; one element may list several, parted by spaces (WMS 1.1.0)."""
    return tuple(dict.fromkeys(code for element in elements for code in text_of(element).split()))


def _bounds(element: etree._Element) -> tuple[str, float, float, float, float] | None:
    """CRS and sides of a BoundingBox (WMS 1.3.0, 7.2.4.6.8); None when a side is no number or there is no area."""
    code = (attribute(element, "CRS") or attribute(element, "SRS")).strip()
    try:
        west, south, east, north = (float(attribute(element, edge)) for edge in _EDGES)
    except ValueError:
        return None
    finite = all(map(math.isfinite, (west, south, east, north)))
    return (code, west, south, east, north) if code and finite and west < east and south < north else None


def _read_own_box(parts: _Parts) -> tuple[Polygon | None, tuple[str, ...]]:
    geographic = _first(parts, "EX_GeographicBoundingBox")
    if geographic is not None:
        return read_box(*(text_of(child(geographic, side)) for side in _SIDES))
    lat_lon = _first(parts, "LatLonBoundingBox")
    if lat_lon is not None:
        return read_box(*(attribute(lat_lon, edge) for edge in _EDGES))
    return None, ()
