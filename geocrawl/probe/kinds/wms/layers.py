"""Read the layers of a WMS (1.3.0, 7.2.4.5 to 7.2.4.8; 1.1.1, 7.1.4.5) as they state themselves, groups first.

Inherited properties stay at the layer that states them, so a thousand layers do not contain a thousand copies of one
list of reference systems. Every part is optional: a faulty part is left out, never the layer or the service.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lxml import etree

from geocrawl.formats.elements import attribute, child, line_of, local_name, text_of, texts
from geocrawl.formats.json import number_of
from geocrawl.model import Dimension, Layer
from geocrawl.probe.extents import PIXEL_M, axes_are_swapped, is_extent, read_box
from geocrawl.probe.ows.capabilities import Part
from geocrawl.probe.ows.items import read_wms_keywords
from geocrawl.probe.stream import ItemSpec

if TYPE_CHECKING:
    from shapely.geometry import Polygon

_Parts = dict[str, list[etree._Element]]
_Shared = dict[Any, Any]
"""Cache of values read from one document: equal texts are read and stored once."""
_MAX_SHARED = 2_000
_SIDES = ("westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude")
_EDGES = ("minx", "miny", "maxx", "maxy")


def layer_spec() -> ItemSpec[Part]:
    """Return the specification for reading the layers of one document (`stream.read_items`), with a cache for it."""
    shared: _Shared = {}

    def read(element: etree._Element, parent: int | None) -> Part:
        if len(shared) > _MAX_SHARED:
            shared.clear()
        return _read_layer(element, parent, shared)

    return replace(LAYERS, read=read)


def _read_layer(element: etree._Element, parent: int | None, shared: _Shared) -> Part:
    parts: _Parts = {}
    for part in element:
        parts.setdefault(local_name(part), []).append(part)
    box, codes = _read_own_box(parts, shared)
    if box is not None and _has_swapped_axes(element, parts, box):
        codes = (*codes, "axis-order")
    style_names = (child(style, "Name") for style in parts.get("Style", ()))
    layer = Layer(
        name=text_of(_first(parts, "Name")),
        title=line_of(_first(parts, "Title")),
        abstract=text_of(_first(parts, "Abstract")),
        parent=parent,
        crs=_once(shared, _crs([*parts.get("CRS", ()), *parts.get("SRS", ())])),
        box=box,
        bounds=next(filter(None, map(_bounds, parts.get("BoundingBox", ()))), None),
        dimensions=read_dimensions(parts.get("Dimension", ()), parts.get("Extent", ())),
        scales=read_scales(parts),
        styles=_once(shared, texts(name for name in style_names if name is not None)),
        queryable=attribute(element, "queryable").strip().lower() in ("1", "true"),
        keywords=read_wms_keywords(element) if "KeywordList" in parts or "Keywords" in parts else (),
    )
    return Part(layer, codes)


def _read_alone(element: etree._Element, parent: int | None) -> Part:
    return _read_layer(element, parent, {})


LAYERS: ItemSpec[Part] = ItemSpec(frozenset({"Layer"}), frozenset({"Capability"}), _read_alone)
"""How layers are read one by one; `layer_spec` adds a cache, which cannot be sent to another process."""


def _once(shared: _Shared, value: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shared copy of equal lists: servers repeat the same reference systems and styles in every layer."""
    kept: tuple[str, ...] = shared.setdefault(value, value)
    return kept


def _first(parts: _Parts, name: str) -> etree._Element | None:
    found = parts.get(name)
    return found[0] if found else None


def _crs(elements: Iterable[etree._Element]) -> tuple[str, ...]:
    """Return codes of all CRS or SRS elements, each once; one element may list several (WMS 1.1.0)."""
    return tuple(dict.fromkeys(code for element in elements for code in text_of(element).split()))


def _bounds(element: etree._Element) -> tuple[str, float, float, float, float] | None:
    """Return CRS and sides of a BoundingBox (WMS 1.3.0, 7.2.4.6.8); None for sides without numbers or area."""
    code = (attribute(element, "CRS") or attribute(element, "SRS")).strip()
    try:
        west, south, east, north = (float(attribute(element, edge)) for edge in _EDGES)
    except ValueError:
        return None
    return (code, west, south, east, north) if code and is_extent(west, south, east, north) else None


def _read_own_box(parts: _Parts, shared: _Shared) -> tuple[Polygon | None, tuple[str, ...]]:
    sides = _stated_box(parts)
    if sides is None:
        return None, ()
    found: tuple[Polygon | None, tuple[str, ...]]
    if ("box", sides) in shared:
        found = shared["box", sides]
    else:
        found = shared["box", sides] = read_box(*sides)
    return found


def _has_swapped_axes(element: etree._Element, parts: _Parts, box: Polygon) -> bool:
    for stated in parts.get("BoundingBox", ()):
        if (attribute(stated, "CRS") or attribute(stated, "SRS")).strip().upper() == "EPSG:4326":
            version = attribute(element.getroottree().getroot(), "version").strip()
            edges = [attribute(stated, edge) for edge in _EDGES]
            return axes_are_swapped(box, edges, latitude_first=version.startswith("1.3"))
    return False


def _stated_box(parts: _Parts) -> tuple[str, str, str, str] | None:
    """Return west, south, east and north as written."""
    if (geographic := _first(parts, "EX_GeographicBoundingBox")) is not None:
        west, south, east, north = (text_of(child(geographic, side)) for side in _SIDES)
    elif (lat_lon := _first(parts, "LatLonBoundingBox")) is not None:
        west, south, east, north = (attribute(lat_lon, edge) for edge in _EDGES)
    else:
        return None
    return west, south, east, north


# --------------------------------------------------------------------------- dimensions and limits on the scale
# Dimensions: WMS 1.3.0, annex C, one element `Dimension` with values; 1.1.1, annex C, `Dimension` without values and
# `Extent` with them. Scales: 1.3.0, 7.2.4.6.9, `MinScaleDenominator` and `MaxScaleDenominator`; 1.1.1, 7.1.4.5.8,
# `ScaleHint`, the diagonal of a pixel in metres.


_MAX_VALUE_CHARS = 100
_MAX_DIMENSIONS = 20


def read_dimensions(dimensions: Sequence[etree._Element], extents: Sequence[etree._Element]) -> tuple[Dimension, ...]:
    """Return a layer's own dimensions, each with its default value and the first and the last value of its extent."""
    found: dict[str, Dimension] = {}
    for element in (*dimensions, *extents):
        name = attribute(element, "name").strip()
        if not name or len(found) >= _MAX_DIMENSIONS:
            continue
        text = (element.text or "").strip()
        first, last = text[:_MAX_VALUE_CHARS].partition(",")[0], text[-_MAX_VALUE_CHARS:].rpartition(",")[2]
        default = attribute(element, "default").strip()[:_MAX_VALUE_CHARS]
        known = found.get(name.lower(), Dimension(name))
        found[name.lower()] = Dimension(
            known.name,
            default or known.default,
            first.split("/")[0].strip() or known.first,
            _end_of_interval(last) or known.last,
        )
    return tuple(found.values())


def _end_of_interval(value: str) -> str:
    """Return the end of `start/end/step`; any other value unchanged."""
    parts = value.split("/")
    return (parts[1] if len(parts) > 1 else value).strip()


def read_scales(parts: Mapping[str, Sequence[etree._Element]]) -> tuple[float, float] | None:
    """Return least and greatest scale denominator; None when the layer states neither, or none that make sense."""
    if parts.get("MinScaleDenominator") or parts.get("MaxScaleDenominator"):
        texts = [
            text_of(next(iter(parts.get(name, ())), None)) for name in ("MinScaleDenominator", "MaxScaleDenominator")
        ]
        least, greatest = map(_positive, texts)
    elif hints := parts.get("ScaleHint"):
        least, greatest = (
            number / math.sqrt(2) / PIXEL_M if number else number
            for number in (_positive(attribute(hints[0], name)) for name in ("min", "max"))
        )
    else:
        return None
    limits = least or 0.0, greatest or math.inf
    return limits if limits[0] < limits[1] and limits != (0.0, math.inf) else None


def _positive(text: str) -> float | None:
    number = number_of(text)
    return number if number is not None and number > 0 else None
