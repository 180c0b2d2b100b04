"""Read titles, abstracts, keywords and extents of content items, by local names: of layers, feature types, coverages.

They may stand several times, in several languages; the first that is not empty counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from geocrawl.formats.json import number_of
from geocrawl.formats.xml import attribute, child, children, gml_times, line_of, text_of, texts
from geocrawl.model.times import Times, read_interval
from geocrawl.probe.extents import is_geographic, is_latitude_first, read_box

if TYPE_CHECKING:
    from shapely.geometry import Polygon


def first_line(element: etree._Element | None, name: str) -> str:
    """Return the first non-empty child of this name, as one line: there may be titles in several languages."""
    return next(iter(texts(children(element, name))), "")


def first_text(element: etree._Element | None, name: str) -> str:
    """Return the first non-empty child of this name, as a text with lines."""
    return next(filter(None, map(text_of, children(element, name))), "")


def read_keywords(element: etree._Element | None) -> tuple[str, ...]:
    """Return the keywords of every list: `Keywords/Keyword`, `keywords/keyword`, or a text with commas (WFS 1.0.0)."""
    keywords: list[str] = []
    for name, entry in (("Keywords", "Keyword"), ("keywords", "keyword")):
        for listed in children(element, name):
            entries = texts(children(listed, entry))
            keywords += entries or [part for part in map(str.strip, line_of(listed).split(",")) if part]
    return tuple(dict.fromkeys(keywords))


def read_wms_keywords(element: etree._Element | None) -> tuple[str, ...]:
    """Return the keywords of KeywordList (1.1.0 on) or Keywords (1.0.0: one text, parted by commas or spaces)."""
    listed = texts(children(child(element, "KeywordList"), "Keyword"))
    if listed or (old := child(element, "Keywords")) is None:
        return listed
    words = line_of(old)
    parts = words.split(",") if "," in words else words.split()
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


# --------------------------------------------------------------------------- extents
# WFS 1.0.0        <LatLongBoundingBox minx miny maxx maxy>
# OWS Common       <ows:WGS84BoundingBox> with corners, longitude first (OGC 06-121r9, 10.2.2)
# WCS 1.0.0        <lonLatEnvelope> with two <gml:pos>, longitude first (OGC 03-065r6, 8.3.3)
# all              <ows:BoundingBox crs>, <gml:Envelope srsName>: the order depends on the reference system's spelling


_EDGES = ("minx", "miny", "maxx", "maxy")
Extent = tuple["Polygon | None", tuple[str, ...]]
"""The box, x = longitude, y = latitude, degrees; None when unknown. Then codes of corrected deviations (`extents`)."""
NONE: Extent = (None, ())


def edges_of(box: etree._Element | None) -> list[str]:
    """Return minx, miny, maxx and maxy of an element as written; an empty list for None."""
    return [attribute(box, edge) for edge in _EDGES] if box is not None else []


def read_extent(item: etree._Element) -> Extent:
    """Return the extent that an item states, in any form."""
    if (stated := child(item, "WGS84BoundingBox")) is not None:
        return _box(_corners(stated))
    if (stated := child(item, "LatLongBoundingBox")) is not None:
        return read_box(*edges_of(stated))
    if (stated := child(item, "lonLatEnvelope")) is not None:
        return _box(_positions(stated))
    for stated in children(item, "BoundingBox"):
        if is_geographic(crs := attribute(stated, "crs")):
            return _in_order(_corners(stated), crs)
    return NONE


def read_times(item: etree._Element) -> Times | None:
    """Return the time from the first position of GML to the last one that an item states, in any element of it."""
    found = gml_times(item)
    return read_interval(*found) if found else None


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
    return abs(number_of(number) or 0.0) > 90


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
