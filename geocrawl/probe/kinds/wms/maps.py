"""Make GetMap requests of one service (WMS 1.3.0, 7.3; 1.1.1, 7.2; 1.0.0, 6.2.8) in a manner that can be changed.

The first manner is the standard's, with what the document gives: the address of GetMap, a format that can be decoded,
the dimensions' defaults. `remedies` changes it after a refusal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice

from geocrawl.model import Dimension, Failure, Layer, Page, Service, Url
from geocrawl.probe.content import MAX_ADDRESS_CHARS, RefusedPart, Value, exception_of, spread, value_of
from geocrawl.probe.extents import (
    MERCATOR_CODES,
    PIXEL_M,
    PIXELS,
    Bounds,
    Sides,
    box_text,
    crs_code,
    image_size,
    in_system,
    is_geographic,
    is_northing_first,
    metres_a_unit,
    middle_of,
    to_mercator,
)
from geocrawl.probe.images import decodable
from geocrawl.probe.ows.addresses import by_origin, request_at

_STANDARD_DIMENSIONS = frozenset({"time", "elevation"})


class Style(StrEnum):
    """What is sent as style."""

    EMPTY = "empty"
    """STYLES without a value: the layer's default style."""
    NAMED = "named"
    NONE = "none"
    """No STYLES at all."""


@dataclass(frozen=True, slots=True)
class MapManner:
    """How a service is asked for maps."""

    url: Url
    format: str
    dimension: Value = Value.DEFAULT
    style: Style = Style.EMPTY
    transparent: bool = True
    swapped: bool = False
    """Whether the axes are swapped against the standard."""


@dataclass(frozen=True, slots=True)
class Maps:
    """Makes GetMap requests of one service."""

    endpoint: Url
    service: Service

    @property
    def addresses(self) -> tuple[Url, ...]:
        """Return the addresses of GetMap, the first choice first."""
        return by_origin(self.endpoint, self.service.content_address)

    @property
    def formats(self) -> tuple[str, ...]:
        """Return the formats to ask for, the first choice first; PNG where none is offered that can be decoded."""
        return decodable(self.service.formats) or ("image/png",)

    def first_manner(self) -> MapManner:
        """Return the manner in which the first map is requested."""
        return MapManner(self.addresses[0], self.formats[0])

    def url(self, target: Target, manner: MapManner, *, version: str = "", swapped: bool | None = None) -> Url:
        """Return the request for a target; `version`: another than the service's; `swapped`: other than `manner`'s."""
        is_swapped = manner.swapped if swapped is None else swapped
        parameters = _parameters(target, manner, version or self.service.version, swapped=is_swapped)
        return request_at(manner.url, self.endpoint, self.service, parameters)

    def is_too_long(self, target: Target, manner: MapManner) -> bool:
        """Return whether the layer's name makes an address longer than servers accept."""
        return len(self.url(target, manner).address) > MAX_ADDRESS_CHARS


def _parameters(target: Target, manner: MapManner, version: str, *, swapped: bool) -> Mapping[str, str]:
    width, height = image_size(target.sides)
    is_new, is_oldest = version.startswith("1.3"), version.startswith("1.0")
    west, south, east, north = target.sides
    turned = target.latitude_first and is_new and not swapped
    sides = (south, west, north, east) if turned else target.sides
    style = target.styles[0] if manner.style is Style.NAMED and target.styles else ""
    return {
        **({"WMTVER": version, "REQUEST": "map"} if is_oldest else {"SERVICE": "WMS", "VERSION": version}),
        **({} if is_oldest else {"REQUEST": "GetMap"}),
        "LAYERS": target.layer,
        **({"STYLES": style} if manner.style is not Style.NONE else {}),
        "CRS" if is_new else "SRS": target.crs,
        "BBOX": box_text(sides),
        "WIDTH": str(width),
        "HEIGHT": str(height),
        "FORMAT": manner.format,
        **({"TRANSPARENT": "TRUE"} if manner.transparent and not _is_opaque(manner.format) else {}),
        **_dimension_values(target.dimensions, manner.dimension),
    }


def _is_opaque(format_: str) -> bool:
    """Return whether images of a format have no transparency: some servers refuse TRANSPARENT=TRUE with it."""
    return format_.partition(";")[0].strip().lower() in ("image/jpeg", "image/jpg")


def _dimension_values(dimensions: tuple[Dimension, ...], which: Value) -> dict[str, str]:
    """Return the parameters of dimensions (1.3.0, C.3.2): TIME, ELEVATION, DIM_name."""
    values = {}
    for dimension in dimensions:
        name = dimension.name.upper()
        if value := value_of(dimension, which):
            values[name if name.lower() in _STANDARD_DIMENSIONS else f"DIM_{name.removeprefix('DIM_')}"] = value
    return values


# --------------------------------------------------------------------------- places to request
# A layer inherits reference systems, extents, dimensions and limits on the scale from the groups above it (WMS 1.3.0,
# 7.2.4.8). A layer without an extent is requested for the whole earth; an extent beyond the limits on the scale is
# requested in part, in the middle.


_MARGIN = 1.2
"""Distance to keep from a limit on the scale, because servers measure degrees differently."""
_GEOGRAPHIC = ("EPSG:4326", "CRS:84")
_KNOWN = frozenset({*_GEOGRAPHIC, *MERCATOR_CODES})
_MOST_OTHERS = 2
"""Most of a layer's other reference systems in degrees that are requested: some list hundreds."""
_WORLD: Sides = (-180.0, -90.0, 180.0, 90.0)


@dataclass(frozen=True, slots=True)
class Target:
    """A layer with an extent that can be requested."""

    layer: str
    crs: str
    sides: Sides
    latitude_first: bool = False
    """Whether the standard requires latitude first, and the sides have it second: EPSG:4326 and its like in 1.3.0."""
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
    line = list(service.ancestry(layer))
    codes = {crs_code(code).upper(): code for owner in reversed(line) for code in owner.crs}
    is_new = service.version.startswith("1.3")
    bounds = next((owner.bounds for owner in line if owner.bounds is not None), None)
    dimensions = {one.name.lower(): one for owner in reversed(line) for one in owner.dimensions}
    scales = next((owner.scales for owner in line if owner.scales is not None), None)
    box = _box(line, bounds, is_new=is_new)
    if box is None and bounds is None and (not codes or not codes.keys().isdisjoint(_KNOWN)):
        box = _WORLD
    places: dict[str, tuple[Sides, bool]] = {}
    for code, sides, as_stated in _places(codes, box, bounds):
        places.setdefault(code, (sides, as_stated))
    targets = (
        Target(
            layer.name,
            code,
            sides,
            latitude_first=is_new and not as_stated and is_northing_first(crs_code(code)),
            styles=next((owner.styles for owner in line if owner.styles), ()),
            dimensions=tuple(dimensions.values()),
        )
        for code, (sides, as_stated) in places.items()
    )
    return tuple(_within_scales(target, scales) if scales is not None else target for target in targets)


def _places(codes: Mapping[str, str], box: Sides | None, bounds: Bounds | None) -> Iterator[tuple[str, Sides, bool]]:
    """Yield (reference system, extent, whether its axes are as stated), the first choice first; x comes first else.

    Degrees and Mercator metres come first; then an extent as stated; then degrees of other systems; then EPSG:4326
    unstated, because most servers transform into it. Without a box in degrees, an extent is taken as stated even if it
    makes no sense: servers know their own.
    """
    if box is not None:
        yield from ((codes.get(code, code), box, False) for code in _GEOGRAPHIC if code in codes)
        if not codes:
            yield "EPSG:4326", box, False
        yield from ((codes[code], to_mercator(box), False) for code in MERCATOR_CODES if code in codes)
    if bounds is not None and (box is None or crs_code(bounds[0]).upper() not in _KNOWN):
        yield bounds[0], bounds[1:], True
    if box is not None:
        others = (stated for code, stated in codes.items() if is_geographic(code) and code not in _GEOGRAPHIC)
        yield from ((stated, box, False) for stated in islice(others, _MOST_OTHERS))
        if codes.keys().isdisjoint(_GEOGRAPHIC):
            yield "EPSG:4326", box, False


def _box(line: list[Layer], bounds: Bounds | None, *, is_new: bool) -> Sides | None:
    """Return the extent in degrees: stated, inherited, or computed from an extent in another reference system."""
    stated = next((layer.box for layer in line if layer.box is not None and not layer.box.is_empty), None)
    if stated is None and bounds is not None:
        code, (west, south, east, north) = crs_code(bounds[0]).upper(), bounds[1:]
        if is_new and is_northing_first(code):
            west, south, east, north = south, west, north, east
        stated, _ = in_system(code, west, south, east, north)
    if stated is None:
        return None
    west, south, east, north = stated.bounds
    return west, south, east, north


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


# --------------------------------------------------------------------------- remedies
# A service exception names what it refuses, by its code or its words; then only that is changed. A failure that names
# nothing may have any cause: the address, an optional parameter, the order of the axes, the reference system.


Remedy = tuple[Target, MapManner]

_NOT_THERE = frozenset({401, 403, 404, 405, 410})


def remedies(maps: Maps, targets: Sequence[Target], refused: Remedy, answer: Page | Failure) -> Iterator[Remedy]:
    """Yield (target, manner) to ask with instead of `refused`; `targets`: the layer in each reference system."""
    target, manner = refused
    if isinstance(answer, Failure):
        yield from _other_address(maps, refused)
        return
    exception = exception_of(answer)
    subject = exception.subject if exception is not None else RefusedPart.UNKNOWN
    if subject is RefusedPart.CRS:
        yield from _other_systems(targets, refused)
    elif subject is RefusedPart.FORMAT or (exception is None and answer.content_type.startswith("image/")):
        yield from ((target, replace(manner, format=name)) for name in maps.formats)
    elif subject is RefusedPart.STYLE:
        yield from _other_styles(refused)
    elif subject is RefusedPart.DIMENSION:
        yield from ((target, replace(manner, dimension=value)) for value in Value)
    elif subject is RefusedPart.OPTION:
        yield target, replace(manner, transparent=False)
    elif subject is RefusedPart.BOX:
        yield from _other_axes(refused)
        yield from _other_systems(targets, refused)
    else:
        yield from _other_address(maps, refused)
        is_page = exception is None and 200 <= answer.status < 300
        if subject is RefusedPart.UNKNOWN and answer.status not in _NOT_THERE and not is_page:
            yield from _by_trial(targets, refused)


def _other_address(maps: Maps, refused: Remedy) -> Iterator[Remedy]:
    """Yield the endpoint's own address instead of the given one, and the other way round."""
    target, manner = refused
    yield from ((target, replace(manner, url=url)) for url in maps.addresses if url != manner.url)


def _other_systems(targets: Sequence[Target], refused: Remedy) -> Iterator[Remedy]:
    target, manner = refused
    later = targets[targets.index(target) + 1 :] if target in targets else ()
    yield from ((other, replace(manner, swapped=False)) for other in later)


def _other_styles(refused: Remedy) -> Iterator[Remedy]:
    target, manner = refused
    if target.styles:
        yield target, replace(manner, style=Style.NAMED)
    yield target, replace(manner, style=Style.NONE)


def _other_axes(refused: Remedy) -> Iterator[Remedy]:
    target, manner = refused
    if target.latitude_first:
        yield target, replace(manner, swapped=True)


def _by_trial(targets: Sequence[Target], refused: Remedy) -> Iterator[Remedy]:
    """Yield what often helps where nothing is known."""
    target, manner = refused
    yield target, replace(manner, transparent=False, dimension=Value.DEFAULT)
    if target.dimensions:
        yield target, replace(manner, transparent=False, dimension=Value.NONE)
    yield from _other_systems(targets, refused)
    yield from _other_axes(refused)
