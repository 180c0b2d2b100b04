"""Make the base map of `geocrawl serve` from Natural Earth's countries (npm package world-atlas, public domain).

`python -m scripts.base_map countries-110m.json world.json` reads TopoJSON and writes GeoJSON whose shapes are cut at
the antimeridian, for maps that end there, and beside it the same land as a picture, `land.svg`. `make web-assets` calls
it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from shapely.affinity import translate

from geocrawl.web.charts import world_map

_STYLE = (
    "<style>.sea{fill:none}.land{fill:#dfe5dd;stroke:#b9c4bb;stroke-width:.5}"
    "@media(prefers-color-scheme:dark){.land{fill:#2b3a3a;stroke:#46585a}}</style>"
)
Ring = list[tuple[float, float]]
_WORLD = shapely.box(-180, -90, 180, 90)
_GRID_DEG = 0.01
"""Coordinates are rounded to this: a pixel of a map of the world is larger."""


def main(source: Path, target: Path) -> None:
    """Write the countries of a TopoJSON file as GeoJSON, and their land as SVG."""
    topology = json.loads(source.read_text("utf-8"))
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": _geometry(polygons)}
        for name, polygons in countries(topology)
    ]
    base_map = {"type": "FeatureCollection", "features": features}
    target.write_text(json.dumps(base_map, separators=(",", ":"), ensure_ascii=False) + "\n", "utf-8")
    target.with_name("land.svg").write_text(land(base_map), "utf-8")


def land(base_map: Mapping[str, Any]) -> str:
    """Return the land of a base map as SVG in a plate carrée, with colours for light and for dark pages."""
    drawn = str(world_map(np.zeros((180, 360), np.int32), base_map, "Natural Earth"))
    head, _, rest = drawn.removeprefix("<svg").partition(">")
    return f'<svg xmlns="http://www.w3.org/2000/svg"{head}>{_STYLE}{rest}\n'


def countries(topology: Mapping[str, Any]) -> Iterator[tuple[str, list[list[Ring]]]]:
    """Yield the name and the polygons of each country (TopoJSON 1.0, 2.1.3 and 2.1.4)."""
    arcs = [_absolute(arc, topology["transform"]) for arc in topology["arcs"]]
    for each in topology["objects"]["countries"]["geometries"]:
        polygons = [each["arcs"]] if each["type"] == "Polygon" else each["arcs"]
        yield each["properties"]["name"], [[_ring(numbers, arcs) for numbers in polygon] for polygon in polygons]


def _absolute(arc: Sequence[Sequence[int]], transform: Mapping[str, Sequence[float]]) -> Ring:
    """Return an arc's positions in degrees: stored are the differences of integers."""
    (scale_x, scale_y), (from_x, from_y) = transform["scale"], transform["translate"]
    columns, rows = accumulate(x for x, _ in arc), accumulate(y for _, y in arc)
    return [(column * scale_x + from_x, row * scale_y + from_y) for column, row in zip(columns, rows, strict=True)]


def _ring(numbers: Sequence[int], arcs: Sequence[Ring]) -> Ring:
    """Return the arcs joined; a negative number means the arc `~number` backwards."""
    ring: Ring = []
    for number in numbers:
        arc = arcs[number] if number >= 0 else arcs[~number][::-1]
        ring += arc[1:] if ring else arc
    return ring


def _geometry(polygons: Sequence[Sequence[Ring]]) -> Mapping[str, Any]:
    whole = shapely.make_valid(shapely.unary_union([_cut(polygon) for polygon in polygons]))
    mapping: Mapping[str, Any] = shapely.geometry.mapping(shapely.set_precision(whole, _GRID_DEG))
    return mapping


def _cut(polygon: Sequence[Ring]) -> Any:
    """Return a polygon with its parts beyond ±180° moved to the other side of the world."""
    rings = [_unwrapped(ring) for ring in polygon if len(ring) >= 4]
    if not rings:
        return shapely.Polygon()
    whole = shapely.make_valid(shapely.Polygon(rings[0], rings[1:]))
    return shapely.unary_union([translate(whole, turn).intersection(_WORLD) for turn in (-360, 0, 360)])


def _unwrapped(ring: Ring) -> Ring:
    """Return a ring without a step of more than 180°; one that goes around a pole is closed over the pole."""
    found = ring[:1]
    for x, y in ring[1:]:
        last = found[-1][0]
        found.append((x - 360 * round((x - last) / 360), y))
    if abs(found[-1][0] - found[0][0]) > 180:
        pole = -90.0 if sum(y for _, y in found) < 0 else 90.0
        found += [(found[-1][0], pole), (found[0][0], pole), found[0]]
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
