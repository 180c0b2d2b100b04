"""Read the WGS 84 extent of a content item, in each form that the kinds other than WMS write it.

WFS 1.0.0        <LatLongBoundingBox minx miny maxx maxy>
OWS Common       <ows:WGS84BoundingBox> with corners, longitude first (OGC 06-121r9, 10.2.2)
WCS 1.0.0        <lonLatEnvelope> with two <gml:pos>, longitude first (OGC 03-065r6, 8.3.3)
all              <ows:BoundingBox crs>, <gml:Envelope srsName>: the order depends on the reference system's spelling
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from geocrawl.formats.elements import attribute, child, children, text_of
from geocrawl.probe.extents import is_geographic, is_latitude_first, read_box

if TYPE_CHECKING:
    from shapely.geometry import Polygon

_EDGES = ("minx", "miny", "maxx", "maxy")
Extent = tuple["Polygon | None", tuple[str, ...]]
"""The box, x = longitude, y = latitude, degrees; None when unknown. Then codes of corrected deviations (`extents`)."""
NONE: Extent = (None, ())


def read_extent(item: etree._Element) -> Extent:
    """Return the extent that an item states, in any form."""
    if (stated := child(item, "WGS84BoundingBox")) is not None:
        return _box(_corners(stated))
    if (stated := child(item, "LatLongBoundingBox")) is not None:
        return read_box(*(attribute(stated, edge) for edge in _EDGES))
    if (stated := child(item, "lonLatEnvelope")) is not None:
        return _box(_positions(stated))
    for stated in children(item, "BoundingBox"):
        if is_geographic(crs := attribute(stated, "crs")):
            return _in_order(_corners(stated), crs)
    return NONE


def read_envelope(envelope: etree._Element | None) -> Extent:
    """Return the extent of a gml:Envelope; unknown in a reference system that has no degrees."""
    if envelope is None or not is_geographic(crs := attribute(envelope, "srsName")):
        return NONE
    return _in_order(_corners(envelope), crs)


def _in_order(numbers: list[str], crs: str) -> Extent:
    """Return the box by the spelling's order of axes, or by the other order if latitudes were beyond the poles."""
    if len(numbers) != 4 or not is_latitude_first(crs):
        return _box(numbers)
    south, west, north, east = numbers
    if _is_beyond_poles(south) or _is_beyond_poles(north):
        box, codes = _box(numbers)
        return box, (*codes, "box-axis-order")
    return read_box(west, south, east, north)


def _is_beyond_poles(number: str) -> bool:
    try:
        return abs(float(number)) > 90
    except ValueError:
        return False


def _box(numbers: list[str]) -> Extent:
    """Return the box of west, south, east, north."""
    if len(numbers) != 4:
        return (None, ("box-not-numbers",)) if numbers else NONE
    return read_box(*numbers)


def _corners(box: etree._Element) -> list[str]:
    """Return the first two numbers of each corner; names of elements are capitalised in OWS and not in GML."""
    for lower, upper in (("LowerCorner", "UpperCorner"), ("lowerCorner", "upperCorner")):
        if child(box, lower) is not None:
            return [*_numbers(child(box, lower)), *_numbers(child(box, upper))]
    return _positions(box)


def _positions(envelope: etree._Element) -> list[str]:
    return [number for position in list(children(envelope, "pos"))[:2] for number in _numbers(position)]


def _numbers(position: etree._Element | None) -> list[str]:
    words = text_of(position).split()
    if len(words) == 1 and words[0].count(",") == 1:
        words = words[0].split(",")
    return words[:2]
