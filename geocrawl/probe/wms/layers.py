"""Read the layers of a WMS (1.3.0, 7.2.4.5 to 7.2.4.8; 1.1.1, 7.1.4.5) as they state themselves, groups first.

Inherited properties stay at the layer that states them, so a thousand layers do not contain a thousand copies of one
list of reference systems. Every part is optional: a faulty part is left out, never the layer or the service.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lxml import etree

from geocrawl.formats.elements import attribute, child, line_of, local_name, text_of, texts
from geocrawl.model import Deviation, Layer
from geocrawl.probe.extents.boxes import axes_are_swapped, is_extent, read_box
from geocrawl.probe.ows.wms_service import read_keywords
from geocrawl.probe.stream import ItemSpec
from geocrawl.probe.wms.visibility import read_dimensions, read_scales

if TYPE_CHECKING:
    from shapely.geometry import Polygon

LayerFound = tuple[Layer, tuple[str, ...]]
"""A layer, and the codes of its corrected deviations."""
_Parts = dict[str, list[etree._Element]]
_Shared = dict[Any, Any]
"""Cache of values read from one document: equal texts are read and stored once."""
_MAX_SHARED = 2_000
_SIDES = ("westBoundLongitude", "southBoundLatitude", "eastBoundLongitude", "northBoundLatitude")
_EDGES = ("minx", "miny", "maxx", "maxy")


def layer_spec() -> ItemSpec[LayerFound]:
    """Return the specification for reading the layers of one document (`stream.read_items`)."""
    shared: _Shared = {}

    def read(element: etree._Element, parent: int | None) -> LayerFound:
        if len(shared) > _MAX_SHARED:
            shared.clear()
        return _read_layer(element, parent, shared)

    return ItemSpec(frozenset({"Layer"}), frozenset({"Capability"}), read)


def summed(found: Sequence[LayerFound]) -> tuple[tuple[Layer, ...], tuple[Deviation, ...]]:
    """Return the layers, and their corrected deviations: one for each code, with a count."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for layer, codes in found:
        for code in codes:
            counts[code] += 1
            first.setdefault(code, layer.name or layer.title)
    deviations = (Deviation(code, f"{count} layers, first: {first[code]}"[:200]) for code, count in counts.items())
    return tuple(layer for layer, _ in found), tuple(deviations)


def _read_layer(element: etree._Element, parent: int | None, shared: _Shared) -> LayerFound:
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
        keywords=read_keywords(element) if "KeywordList" in parts or "Keywords" in parts else (),
    )
    return layer, codes


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
