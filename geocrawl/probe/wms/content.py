"""Check the content of a WMS: request maps until one is drawn (WMS 1.3.0, 7.3; 1.1.1, 7.2; 1.0.0, 6.2.8).

A third of the services that answer GetCapabilities deliver no map. The check requests layers that are no groups, in a
reference system and an extent that the service advertises, as small images. An answer is judged by its pixels:

- A blank image may be right, because some places have no features: a second place, the middle, is tried.
- A server may read the axes of EPSG:4326 in the wrong order without an error (1.3.0 has latitude first). If the image
  is blank, the other order may have content. If the map is of another place, it differs from the map of version 1.1.1,
  whose order is unambiguous: the two are compared.
- An error may be drawn into the image: images of two places that are equal to the pixel and nearly all background are
  no maps.

The first layer with content ends the check, because the question is whether the service delivers maps, not of which
layers.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace

from geocrawl.model import ContentOutcome, Endpoint, Failure, Kind, Layer, Page, Purpose, Service, Url
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content.answer import picture_of, refusal
from geocrawl.probe.content.attempts import Attempts, content_url, spread
from geocrawl.probe.content.images import Picture
from geocrawl.urls import request_url

PIXELS = 256
"""The longer side of the image."""
_LEAST_PIXELS = 32
_MIDDLE = 1 / 8
"""Side of the middle part, which is requested second, as a share of the extent's side."""
_ALIKE = 0.98
_EARTH_M = 6378137.0
_MERCATOR_LATITUDE = 85.0511287798
_GEOGRAPHIC = ("EPSG:4326", "CRS:84")
_MERCATOR = ("EPSG:3857", "EPSG:900913", "EPSG:3785", "EPSG:102100", "EPSG:102113")
_FORMATS = ("image/png", "image/png; mode=24bit", "image/png8", "image/png24", "png", "image/jpeg", "jpeg", "image/gif")

_Try = Generator[Ask, Page | Failure, None]
_Look = Generator[Ask, Page | Failure, tuple[ContentOutcome, str, bytes]]
_Doubt = Generator[Ask, Page | Failure, tuple[ContentOutcome, str]]

Sides = tuple[float, float, float, float]
"""Least x and y, greatest x and y."""


@dataclass(frozen=True, slots=True)
class Target:
    """A layer with an extent that can be requested."""

    layer: str
    crs: str
    sides: Sides
    latitude_first: bool = False
    """Whether the standard requires latitude first: EPSG:4326 in 1.3.0."""

    def middle(self) -> Target:
        """Return the middle of the extent, which is requested where the whole is in doubt."""
        west, south, east, north = self.sides
        x, y = (west + east) / 2, (south + north) / 2
        half_x, half_y = (east - west) * _MIDDLE / 2, (north - south) * _MIDDLE / 2
        return replace(self, sides=(x - half_x, y - half_y, x + half_x, y + half_y))


class WmsContentCheck:
    """Checks WMS for content by maps (`ports.ContentCheck`)."""

    def __init__(self, *, layers: int = 3) -> None:
        """Try at most `layers` layers of a service."""
        self._layers = layers

    @property
    def kind(self) -> Kind:
        return Kind.WMS

    def run(self, endpoint: Endpoint, service: Service) -> ContentInterview:
        """Request maps until one has content, as the module's docstring describes."""
        attempts = Attempts()
        maps = _Maps(endpoint.url, service)
        for target in choose(service, self._layers):
            if maps.is_too_long(target):
                continue
            yield from _try(maps, target, attempts)
            if attempts.is_enough:
                break
        return attempts.report(endpoint)


def _try(maps: _Maps, target: Target, attempts: Attempts) -> _Try:
    """Request a map of one layer and record the result."""
    ask = maps.ask(target)
    answer = yield ask
    outcome, detail, picture = _look(answer, maps.size(target))
    image = b""
    if picture is not None and outcome is ContentOutcome.OK:
        outcome, detail = yield from _doubt(maps, target, picture, detail)
    elif outcome is ContentOutcome.BLANK:
        outcome, detail, image = yield from _look_elsewhere(maps, target, detail)
    attempts.add(target.layer, target.crs, ask.url, answer, (outcome, detail), image=image)


def _look_elsewhere(maps: _Maps, target: Target, detail: str) -> _Look:
    """Request the middle of a layer that was blank as a whole, then the whole with swapped axes."""
    middle = target.middle()
    answer = yield maps.ask(middle)
    outcome, seen, _ = _look(answer, maps.size(middle))
    if outcome is ContentOutcome.OK and isinstance(answer, Page):
        return outcome, f"{seen}, at a second place", answer.body
    if target.latitude_first:
        answer = yield maps.ask(target, swapped=True)
        outcome, seen, _ = _look(answer, maps.size(target))
        if outcome is ContentOutcome.OK and isinstance(answer, Page):
            return ContentOutcome.AXIS_ORDER, f"content only with longitude first: {seen}", b""
    return ContentOutcome.BLANK, detail, b""


def _doubt(maps: _Maps, target: Target, picture: Picture, detail: str) -> _Doubt:
    """Check whether an image that is not blank is the requested map."""
    if picture.may_be_text:
        middle = target.middle()
        other = _picture((yield maps.ask(middle)))
        if other is not None and picture.similarity(other) == 1.0:
            return ContentOutcome.IMAGE_ERROR_TEXT, f"two places look the same, {detail}"
    if target.latitude_first:
        former = _picture((yield maps.ask(target, version="1.1.1")))
        if former is not None and not former.is_blank and picture.similarity(former) < _ALIKE:
            swapped = _picture((yield maps.ask(target, swapped=True)))
            if swapped is not None and swapped.similarity(former) >= _ALIKE:
                return ContentOutcome.AXIS_ORDER, "the map of 1.1.1 comes only with longitude first"
    return ContentOutcome.OK, detail


def _picture(answer: Page | Failure) -> Picture | None:
    if refusal(answer) is not None or isinstance(answer, Failure):
        return None
    picture = picture_of(answer)
    return picture if isinstance(picture, Picture) else None


def _look(answer: Page | Failure, size: tuple[int, int]) -> tuple[ContentOutcome, str, Picture | None]:
    refused = refusal(answer)
    if refused is not None or isinstance(answer, Failure):
        return (*(refused or (ContentOutcome.HTTP_ERROR, "")), None)
    picture = picture_of(answer)
    if isinstance(picture, str):
        return ContentOutcome.NOT_AN_IMAGE, picture, None
    detail = f"{picture.width} × {picture.height} pixels, {picture.colours} colours"
    if picture.is_blank:
        return ContentOutcome.BLANK, detail, picture
    if (picture.width, picture.height) != size:
        return ContentOutcome.WRONG_SIZE, f"{detail}, asked for {size[0]} × {size[1]}", picture
    return ContentOutcome.OK, detail, picture


# --------------------------------------------------------------------------- requests


@dataclass(frozen=True, slots=True)
class _Maps:
    """Makes GetMap requests of one service."""

    url: Url
    service: Service

    def ask(self, target: Target, *, swapped: bool = False, version: str = "") -> Ask:
        """Return the request for a target; `swapped`: with swapped axes; `version`: another than the service's."""
        version = version or self.service.version
        return Ask(request_url(self.url, self._parameters(target, version, swapped=swapped)), Purpose.MAP)

    def is_too_long(self, target: Target) -> bool:
        """Return whether the layer's name makes an address longer than servers accept."""
        return content_url(self.url, self._parameters(target, self.service.version, swapped=False)) is None

    def _parameters(self, target: Target, version: str, *, swapped: bool) -> Mapping[str, str]:
        width, height = self.size(target)
        is_new, is_oldest = version.startswith("1.3"), version.startswith("1.0")
        west, south, east, north = target.sides
        turned = target.latitude_first and is_new and not swapped
        sides = (south, west, north, east) if turned else target.sides
        return {
            **({"WMTVER": version, "REQUEST": "map"} if is_oldest else {"SERVICE": "WMS", "VERSION": version}),
            **({} if is_oldest else {"REQUEST": "GetMap"}),
            "LAYERS": target.layer,
            "STYLES": "",
            "CRS" if is_new else "SRS": target.crs,
            "BBOX": ",".join(f"{side:.9g}" for side in sides),
            "WIDTH": str(width),
            "HEIGHT": str(height),
            "FORMAT": self._format(),
            "TRANSPARENT": "TRUE",
        }

    def size(self, target: Target) -> tuple[int, int]:
        """Return width and height in pixels, the longer 256, in the proportion of the extent."""
        west, south, east, north = target.sides
        across, up = east - west, north - south
        longest = max(across, up)
        return (
            max(_LEAST_PIXELS, round(PIXELS * across / longest)),
            max(_LEAST_PIXELS, round(PIXELS * up / longest)),
        )

    def _format(self) -> str:
        offered = {name.lower(): name for name in self.service.formats}
        return next((offered[name] for name in _FORMATS if name in offered), "image/png")


# --------------------------------------------------------------------------- layers


def choose(service: Service, most: int) -> tuple[Target, ...]:
    """Return at most `most` layers that can be requested: the first, the last and those between at equal steps.

    Groups are left out if there are other layers, because drawing a whole group may take a server long.
    """
    groups = {layer.parent for layer in service.layers}
    named: dict[str, tuple[int, Layer]] = {}
    for index, layer in enumerate(service.layers):
        if layer.name:
            named.setdefault(layer.name, (index, layer))
    leaves = [layer for index, layer in named.values() if index not in groups]
    candidates = leaves or [layer for _, layer in named.values()]
    found: list[Target] = []
    for layer in _in_turn(candidates, most):
        target = _target(service, layer)
        if target is not None:
            found.append(target)
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


def _target(service: Service, layer: Layer) -> Target | None:
    """Return a layer with the extent to request; None when no advertised extent can be requested."""
    line = list(_ancestry(service.layers, layer))
    codes = {code.upper(): code for each in reversed(line) for code in each.crs}
    box = next((each.box for each in line if each.box is not None and not each.box.is_empty), None)
    if box is not None:
        west, south, east, north = box.bounds
        for code in _GEOGRAPHIC:
            if code in codes or (code == "EPSG:4326" and not codes):
                turned = code == "EPSG:4326" and service.version.startswith("1.3")
                return Target(layer.name, codes.get(code, code), (west, south, east, north), turned)
        for code in _MERCATOR:
            if code in codes:
                return Target(layer.name, codes[code], _mercator((west, south, east, north)))
    bounds = next((each.bounds for each in line if each.bounds is not None), None)
    return Target(layer.name, bounds[0], bounds[1:]) if bounds is not None else None


def _ancestry(layers: tuple[Layer, ...], layer: Layer) -> Iterator[Layer]:
    """Yield the layer, then the groups above it."""
    yield layer
    parent, most = layer.parent, len(layers)
    while parent is not None and most > 0:
        layer, most = layers[parent], most - 1
        yield layer
        parent = layer.parent


def _mercator(sides: Sides) -> Sides:
    """Return WGS 84 degrees as EPSG:3857 metres (Snyder 1987, 7-1 and 7-2, on the sphere)."""
    west, south, east, north = sides
    south, north = max(south, -_MERCATOR_LATITUDE), min(north, _MERCATOR_LATITUDE)

    def up(latitude: float) -> float:
        return _EARTH_M * math.log(math.tan(math.pi / 4 + math.radians(latitude) / 2))

    return _EARTH_M * math.radians(west), up(south), _EARTH_M * math.radians(east), up(north)
