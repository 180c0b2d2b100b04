"""Choose layers of a WMS, and for each the places to request: reference systems, extents, scales.

A layer inherits reference systems, extents, dimensions and limits on the scale from the groups above it (WMS 1.3.0,
7.2.4.8). A layer without an extent is requested for the whole earth; an extent beyond the limits on the scale is
requested in part, in the middle.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from geocrawl.model import Dimension, Layer, Service
from geocrawl.probe.content.attempts import spread
from geocrawl.probe.extents import (
    MERCATOR_CODES,
    PIXEL_M,
    PIXELS,
    Sides,
    crs_code,
    in_system,
    metres_a_unit,
    middle_of,
    to_mercator,
)

_MARGIN = 1.2
"""Distance to keep from a limit on the scale, because servers measure degrees differently."""
_GEOGRAPHIC = ("EPSG:4326", "CRS:84")
_KNOWN = frozenset({*_GEOGRAPHIC, *MERCATOR_CODES})

_WORLD: Sides = (-180.0, -90.0, 180.0, 90.0)


@dataclass(frozen=True, slots=True)
class Target:
    """A layer with an extent that can be requested."""

    layer: str
    crs: str
    sides: Sides
    latitude_first: bool = False
    """Whether the standard requires latitude first: EPSG:4326 in 1.3.0."""
    whole: Sides | None = None
    """The layer's extent, if limits on the scale allow only a part of it to be requested."""
    styles: tuple[str, ...] = ()
    dimensions: tuple[Dimension, ...] = ()

    def elsewhere(self) -> tuple[Target, ...]:
        """Return the places that are requested where the first one is blank: the middle of the extent.

        Where limits on the scale forbid the whole, other parts of the same size.
        """
        west, south, east, north = self.whole or self.sides
        if self.whole is None:
            return (replace(self, sides=middle_of(self.sides)),)
        half_x, half_y = (self.sides[2] - self.sides[0]) / 2, (self.sides[3] - self.sides[1]) / 2
        return tuple(
            self._around(west + (east - west) * share, south + (north - south) * share, half_x, half_y)
            for share in (1 / 3, 2 / 3)
        )

    def _around(self, x: float, y: float, half_x: float, half_y: float) -> Target:
        return replace(self, sides=(x - half_x, y - half_y, x + half_x, y + half_y))


def choose(service: Service, most: int) -> tuple[tuple[Target, ...], ...]:
    """Return at most `most` layers that can be requested: the first, the last and those between at equal steps.

    Each is a tuple of targets, one in each reference system, the one to request first at the beginning. Groups are left
    out if there are other layers, because drawing a whole group may take a server long.
    """
    groups = {layer.parent for layer in service.layers}
    named: dict[str, tuple[int, Layer]] = {}
    for index, layer in enumerate(service.layers):
        if layer.name:
            named.setdefault(layer.name, (index, layer))
    leaves = [layer for index, layer in named.values() if index not in groups]
    candidates = leaves or [layer for _, layer in named.values()]
    found: list[tuple[Target, ...]] = []
    for layer in _in_turn(candidates, most):
        if targets := _targets(service, layer):
            found.append(targets)
        if len(found) == most:
            break
    return tuple(found)


def _in_turn(layers: list[Layer], most: int) -> Iterator[Layer]:
    """Yield the first, the last, those between at equal steps; then all the rest in their order."""
    steps = spread(range(len(layers)), most)
    if not steps:
        return
    first = dict.fromkeys((steps[0], steps[-1], *steps))
    yield from (layers[i] for i in first)
    yield from (layer for i, layer in enumerate(layers[:100]) if i not in first)


def _targets(service: Service, layer: Layer) -> tuple[Target, ...]:
    """Return a layer with its extent in each reference system that can be requested, the first choice first."""
    line = list(_ancestry(service.layers, layer))
    codes = {crs_code(code).upper(): code for each in reversed(line) for code in each.crs}
    is_new = service.version.startswith("1.3")
    bounds = next((each.bounds for each in line if each.bounds is not None), None)
    dimensions = {one.name.lower(): one for each in reversed(line) for one in each.dimensions}
    scales = next((each.scales for each in line if each.scales is not None), None)
    box = _box(line, bounds, is_new=is_new)
    if box is None and bounds is None and (not codes or not codes.keys().isdisjoint(_KNOWN)):
        box = _WORLD
    places: dict[str, Sides] = {}
    for code, sides in _places(codes, box, bounds):
        places.setdefault(code, sides)
    targets = (
        Target(
            layer.name,
            code,
            sides,
            latitude_first=is_new and box is not None and crs_code(code).upper() == "EPSG:4326",
            styles=next((each.styles for each in line if each.styles), ()),
            dimensions=tuple(dimensions.values()),
        )
        for code, sides in places.items()
    )
    return tuple(_within_scales(target, scales) if scales is not None else target for target in targets)


def _places(
    codes: Mapping[str, str], box: Sides | None, bounds: tuple[str, float, float, float, float] | None
) -> Iterator[tuple[str, Sides]]:
    """Yield (reference system, extent), the first choice first.

    Degrees and Mercator metres come first; then an extent as stated; then EPSG:4326 unstated, because most servers
    transform into it. Without a box in degrees, an extent is taken as stated even if it makes no sense: servers know
    their own.
    """
    if box is not None:
        yield from ((codes.get(code, code), box) for code in _GEOGRAPHIC if code in codes)
        if not codes:
            yield "EPSG:4326", box
        yield from ((codes[code], to_mercator(box)) for code in MERCATOR_CODES if code in codes)
    if bounds is not None and (box is None or crs_code(bounds[0]).upper() not in _KNOWN):
        yield bounds[0], bounds[1:]
    if box is not None and codes.keys().isdisjoint(_GEOGRAPHIC):
        yield "EPSG:4326", box


def _box(line: list[Layer], bounds: tuple[str, float, float, float, float] | None, *, is_new: bool) -> Sides | None:
    """Return the extent in degrees: stated, inherited, or computed from an extent in another reference system."""
    stated = next((each.box for each in line if each.box is not None and not each.box.is_empty), None)
    if stated is None and bounds is not None:
        code, (west, south, east, north) = crs_code(bounds[0]).upper(), bounds[1:]
        if code == "EPSG:4326" and is_new:
            west, south, east, north = south, west, north, east
        stated, _ = in_system(code, west, south, east, north)
    if stated is None:
        return None
    west, south, east, north = stated.bounds
    return west, south, east, north


def _ancestry(layers: tuple[Layer, ...], layer: Layer) -> Iterator[Layer]:
    """Yield the layer, then the groups above it."""
    yield layer
    parent, most = layer.parent, len(layers)
    while parent is not None and most > 0:
        layer, most = layers[parent], most - 1
        yield layer
        parent = layer.parent


def _within_scales(target: Target, scales: tuple[float, float]) -> Target:
    """Return the target at a scale at which the layer is drawn; unchanged if the whole extent has such a scale."""
    west, south, east, north = target.sides
    scale = max(east - west, north - south) * metres_a_unit(target.crs) / PIXELS / PIXEL_M
    least, greatest = scales
    if not scale or least * _MARGIN <= scale <= greatest / _MARGIN:
        return target
    share = _goal(least, greatest) / scale / 2
    x, y = (west + east) / 2, (south + north) / 2
    half_x, half_y = (east - west) * share, (north - south) * share
    sides = (x - half_x, y - half_y, x + half_x, y + half_y)
    return replace(target, sides=sides, whole=target.sides if share < 1 / 2 else None)


def _goal(least: float, greatest: float) -> float:
    """Return a scale denominator well within the limits."""
    if least and math.isfinite(greatest):
        return math.sqrt(least * greatest)
    return least * 2 if least else greatest / 2
