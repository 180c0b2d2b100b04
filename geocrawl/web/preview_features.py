"""Read the outlines of features from GeoJSON (RFC 7946) and GML (OGC 07-036), and write them as GeoJSON for a map."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from lxml import etree

from geocrawl.formats.json import JsonObject, list_of, number_of, object_of, objects, read_json
from geocrawl.formats.xml import attribute, local_name, read_xml
from geocrawl.model import Page
from geocrawl.probe.extents import Sides, is_latitude_first
from geocrawl.sanitize import plain
from geocrawl.wording import Sentence

MOST_POINTS = 100_000
"""Most positions that a browser is sent."""
_MOST_DEGREES = 360.0
_DIGITS = 7
"""Decimal places of degrees: about a centimetre."""
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """A point, a line or the ring of an area; x and y."""

    points: tuple[Point, ...]
    is_area: bool = False
    is_hole: bool = False


def outlines(answer: Page, box: Sides) -> dict[str, Any] | str:
    """Return the outlines in an answer as a GeoJSON feature of all points, lines and areas, without properties; or why
    there are none.

    Servers differ in which axis comes first. The features were asked for in a box: the order that puts more of their
    points there is right, and the spelling of the reference system decides where both put as many.
    """
    shapes, latitude_first = _read(answer)
    if shapes is None:
        said = plain(answer.body[:600].decode("utf-8", "replace"), 200)
        return Sentence("the service sent no features that can be drawn but: {said}", said=said)
    if any(abs(number) > _MOST_DEGREES for shape in shapes for point in shape.points for number in point):
        return "the service sent the features in a reference system that is not in degrees"
    turned = [replace(shape, points=tuple((y, x) for x, y in shape.points)) for shape in shapes]
    inside, inside_turned = _inside(shapes, box), _inside(turned, box)
    is_turned = latitude_first if inside == inside_turned else inside_turned > inside
    return _geojson(turned if is_turned else shapes)


def _geojson(shapes: list[Shape]) -> dict[str, Any]:
    """Return shapes as one feature. A hole belongs to the area before it."""
    points, lines, areas = list[list[float]](), list[list[list[float]]](), list[list[list[list[float]]]]()
    for shape in shapes:
        positions = [[round(x, _DIGITS), round(y, _DIGITS)] for x, y in shape.points]
        if shape.is_area and len(positions) > 2:
            ring = positions if positions[0] == positions[-1] else [*positions, positions[0]]
            if shape.is_hole and areas:
                areas[-1].append(ring)
            else:
                areas.append([ring])
        elif len(positions) > 1:
            lines.append(positions)
        else:
            points.extend(positions)
    parts = (("MultiPolygon", areas), ("MultiLineString", lines), ("MultiPoint", points))
    geometries = [{"type": type_, "coordinates": coordinates} for type_, coordinates in parts if coordinates]
    return {"type": "Feature", "properties": {}, "geometry": {"type": "GeometryCollection", "geometries": geometries}}


def _inside(shapes: list[Shape], box: Sides) -> int:
    west, south, east, north = box
    return sum(west <= x <= east and south <= y <= north for shape in shapes for x, y in shape.points)


def _read(answer: Page) -> tuple[list[Shape] | None, bool]:
    """Return the shapes as they are written, None when there are no features, and whether latitudes come first."""
    content_type = answer.headers.get("content-type", "")
    if answer.body.lstrip()[:1] == b"{":
        value = read_json(answer.body, content_type).value
        collection = object_of(value)
        if not isinstance(collection.get("features"), list):
            return None, False
        members = objects(collection["features"])
        return _bounded(shape for feature in members for shape in _of_geojson(feature)), False
    root = read_xml(answer.body, content_type).root
    if root is None or not local_name(root).endswith("Collection"):
        return None, False
    named = next((name for element in root.iter("*") if (name := attribute(element, "srsName"))), "")
    return _bounded(_of_gml(root)), is_latitude_first(named)


def _bounded(shapes: Iterator[Shape]) -> list[Shape]:
    """Return the shapes with points, as long as there are not too many."""
    bounded, points = list[Shape](), 0
    for shape in shapes:
        points += len(shape.points)
        if points > MOST_POINTS:
            break
        if shape.points:
            bounded.append(shape)
    return bounded


# --------------------------------------------------------------------------- GeoJSON

_DEPTH = {"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}
"""Type of geometry → lists within each other around its positions."""


def _of_geojson(feature: JsonObject) -> Iterator[Shape]:
    geometry = object_of(feature.get("geometry"))
    parts = objects(geometry.get("geometries")) if geometry.get("type") == "GeometryCollection" else [geometry]
    for part in parts:
        type_, coordinates = part.get("type"), list_of(part.get("coordinates"))
        depth = _DEPTH.get(str(type_))
        if depth is not None:
            yield from _nested(coordinates, depth, is_area="Polygon" in str(type_), as_line="Line" in str(type_))


def _nested(value: list[object], depth: int, *, is_area: bool, as_line: bool, number: int = 0) -> Iterator[Shape]:
    if depth == 0:
        yield Shape(_points([value]))
    elif depth == 1 and (is_area or as_line):
        yield Shape(_points([list_of(position) for position in value]), is_area, is_hole=is_area and number > 0)
    else:
        for index, part in enumerate(value):
            yield from _nested(list_of(part), depth - 1, is_area=is_area, as_line=as_line, number=index)


def _points(positions: list[list[object]]) -> tuple[Point, ...]:
    pairs = ((number_of(part[0]), number_of(part[1])) for part in positions[:MOST_POINTS] if len(part) > 1)
    return tuple((x, y) for x, y in pairs if x is not None and y is not None)


# --------------------------------------------------------------------------- GML


def _of_gml(root: etree._Element) -> Iterator[Shape]:
    """Yield a shape for each list of positions: GML 3's posList and pos, GML 2's coordinates."""
    for element in root.iter("{*}posList", "{*}coordinates", "{*}LineString", "{*}LinearRing", "{*}Point"):
        name = local_name(element)
        if name in ("posList", "coordinates"):
            above = element.getparent()
            if above is not None and local_name(above) not in ("lowerCorner", "upperCorner", "Box", "Envelope"):
                yield _shape(above, _numbers(element, pairs_by_comma=name == "coordinates"))
        else:
            positions = [point for pos in element.findall("{*}pos") for point in _numbers(pos)]
            if positions:
                yield _shape(element, positions)


def _shape(ring: etree._Element, points: list[Point]) -> Shape:
    around = ring.getparent()
    is_hole = around is not None and local_name(around) in ("interior", "innerBoundaryIs")
    return Shape(tuple(points), is_area=local_name(ring) == "LinearRing", is_hole=is_hole)


def _numbers(element: etree._Element, *, pairs_by_comma: bool = False) -> list[Point]:
    """Return the positions of an element, without their third coordinates."""
    text = element.text or ""
    if pairs_by_comma:
        pairs = [_pair(word.split(",")[:2]) for word in text.split()[:MOST_POINTS]]
    else:
        words = text.split()[: 3 * MOST_POINTS]
        around = element.getparent()
        stated = attribute(element, "srsDimension") or (attribute(around, "srsDimension") if around is not None else "")
        step = 3 if stated == "3" or (not stated and len(words) == 3) else 2
        pairs = [_pair(words[start : start + 2]) for start in range(0, len(words) - 1, step)]
    return [pair for pair in pairs if pair is not None]


def _pair(words: list[str]) -> Point | None:
    try:
        x, y = float(words[0]), float(words[1])
    except (ValueError, IndexError):
        return None
    return (x, y) if math.isfinite(x) and math.isfinite(y) else None
