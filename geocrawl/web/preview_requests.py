"""Say what of a service can be shown, and make the requests for it, each as the service's kind makes it (`preview`).

Nothing of a visitor's request goes into an address but the number of a layer and numbers of a box and a size, each
checked. The address is a stored one of the catalogue.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from itertools import islice
from urllib.parse import urlencode

from geocrawl.model import Item, Layer, Service, Url, catalogue, stored_kind
from geocrawl.model.details import EndpointRow, ServiceDetail
from geocrawl.probe.extents import Sides, to_mercator
from geocrawl.probe.previews import DEGREES, MERCATOR, Features, LayerContext, Picture, Preview, Tiles, View, is_in
from geocrawl.probe.registry import preview_of
from geocrawl.urls import read_url
from geocrawl.web.answers import Problem, bad_parameter
from geocrawl.web.layers import box_text, path_of
from geocrawl.web.preview_exchanges import MOST_TILES, Exchange, features, picture, text, tile, tiles
from geocrawl.web.publishing import is_masked

MOST_PIXELS, LEAST_PIXELS = 1_024, 64
MOST_FEATURES = 200
"""Most features of a preview."""
_MOST_LAYERS = 300
"""Layers by which it is decided how a service's map is shown."""
_BOUNDS = {DEGREES: (180.0, 90.0), MERCATOR: (20_037_508.4, 20_037_508.4)}
_NUMBER = re.compile(r"-?[0-9]{1,10}(?:\.[0-9]{1,20})?(?:e-?[0-9]{1,2})?", re.I)
_POSITION = re.compile(r"[0-9]{1,7}")


def may_be_shown(kind: str) -> bool:
    """Return whether services of a kind may have previews."""
    return preview_of(kind) is not None


class ServicePreviews:
    """The previews of a service's layers: none where its address has a key, which visitors do not see.

    Methods that make requests raise Problem: 400 for invalid parameters, 404 for what cannot be shown."""

    def __init__(self, detail: ServiceDetail) -> None:
        service = detail.service
        self._by_position = {row.position: row for row in detail.layers}
        self._of_groups: dict[int, tuple[str, ...]] = {}
        self._preview = None if is_masked(service.url) else preview_of(service.kind)
        endpoint = _endpoint(detail)
        self._url = read_url(endpoint.url) if endpoint is not None else None
        self._checks = _checks(endpoint, self._url) if endpoint is not None and self._url is not None else {}
        self._described = _described(service, endpoint)
        every = (preview for row in detail.layers if (preview := self._preview_of(row)) is not None)
        previews = tuple(islice(every, _MOST_LAYERS))
        first_choices = Counter(preview.systems[0] for preview in previews)
        self.is_possible = bool(previews)
        """Whether there is a layer that can be shown."""
        self.has_features = any(isinstance(preview, Features) for preview in previews)
        self.answers = any(isinstance(preview, Picture) and preview.info is not None for preview in previews)
        """Whether the service says what is at a point of a layer."""
        self.projection = MERCATOR if first_choices[MERCATOR] * 2 >= max(len(previews), 1) else DEGREES
        """The reference system of the service's map: the first choice of most layers."""

    def of(self, row: catalogue.Layer) -> Preview | None:
        """Return how a layer is shown on the service's map; None for one that cannot be."""
        preview = self._preview_of(row)
        return preview if preview is not None and self.projection in preview.systems else None

    def _preview_of(self, row: catalogue.Layer) -> Preview | None:
        if self._preview is None or self._url is None or not row.name:
            return None
        layer = Layer(
            row.name,
            row.title,
            parent=row.parent,
            crs=self._systems(row),
            queryable=row.queryable,
            item=Item(row.item),
            formats=row.formats,
        )
        return self._preview(LayerContext(self._url, self._described, layer, row.box, self._checks))

    def _systems(self, row: catalogue.Layer) -> tuple[str, ...]:
        """Return the reference systems of a layer and, of those that it inherits, the ones of maps."""
        groups = path_of(row, self._by_position)[1:]
        inherited = (code for group in groups for code in self._systems_of_maps(group))
        return tuple(dict.fromkeys((*map(str.upper, row.crs), *inherited)))

    def _systems_of_maps(self, group: catalogue.Layer) -> tuple[str, ...]:
        """Return those of a group's reference systems, often thousands, that maps have; the first one for none."""
        systems = self._of_groups.get(group.position)
        if systems is None:
            of_maps = tuple(code.upper() for code in group.crs if is_in(code, DEGREES) or is_in(code, MERCATOR))
            systems = self._of_groups[group.position] = of_maps or group.crs[:1]
        return systems

    def exchange(self, parameters: Mapping[str, str]) -> Exchange:
        """Return the exchange for a layer and a part of the map, or for one of its tiles (`tile`)."""
        preview = self._wanted(parameters)
        if "bbox" not in parameters:
            parameters = {**parameters, "bbox": self._extent(int(parameters["layer"]))}
        view = self._view({name: value for name, value in parameters.items() if name != "tile"})
        if isinstance(preview, Tiles):
            if "tile" in parameters:
                return tile(preview.levels(view), view, _natural("tile", parameters["tile"], MOST_TILES, "a tile"))
            return tiles(preview.levels(view), view, f"?{urlencode(parameters)}")
        if "tile" in parameters:
            raise Problem(404, "the service has no tiles of this layer")
        if isinstance(preview, Picture):
            return picture(preview.url(view))
        return features(preview.url(view.box, MOST_FEATURES), view)

    def picture_url(self, row: catalogue.Layer, view: View) -> Url:
        """Return the address at which the service itself draws a picture of a layer."""
        preview = self.of(row)
        if not isinstance(preview, Picture):
            raise Problem(404, f"a service of the kind {self._described.kind} draws no picture of this layer")
        return preview.url(view)

    def legend(self, parameters: Mapping[str, str]) -> Exchange:
        """Return the exchange for a layer's legend."""
        preview = self._wanted(parameters)
        if not isinstance(preview, Picture) or preview.legend is None:
            raise Problem(404, "the service has no such layer whose legend can be shown")
        return picture(preview.legend())

    def info(self, parameters: Mapping[str, str]) -> Exchange:
        """Return the exchange for the text that says what is at a pixel (`x`, `y`) of a picture."""
        preview = self._wanted(parameters)
        view = self._view({name: value for name, value in parameters.items() if name not in ("x", "y")})
        pixels = zip("xy", view.size, strict=True)
        x, y = (_natural(name, parameters.get(name, ""), most, "a pixel of the picture") for name, most in pixels)
        if not isinstance(preview, Picture) or preview.info is None:
            raise Problem(404, "the service answers no questions about points of this layer")
        return text(preview.info(view, x, y))

    def _extent(self, position: int) -> str:
        """Return the square of the service's map around a layer's extent; the world for a layer that states none."""
        text = box_text(self._by_position[position], self._by_position)
        west, south, east, north = map(float, text.split(",")) if text else (-180.0, -85.0, 180.0, 85.0)
        sides = (west, south, east + 360 if east < west else east, north)
        west, south, east, north = to_mercator(sides) if self.projection == MERCATOR else sides
        half = max(east - west, north - south) / 2
        x, y = (west + east) / 2, (south + north) / 2
        return f"{x - half!r},{y - half!r},{x + half!r},{y + half!r}"

    def _wanted(self, parameters: Mapping[str, str]) -> Preview:
        position = parameters.get("layer", "")
        if not _POSITION.fullmatch(position):
            raise bad_parameter("layer", position, "the position of a layer")
        row = self._by_position.get(int(position))
        preview = self.of(row) if row is not None else None
        if preview is None:
            raise Problem(404, "the service has no such layer that can be shown; its page lists those that can")
        return preview

    def _view(self, parameters: Mapping[str, str]) -> View:
        if unknown := [name for name in parameters if name not in ("layer", "bbox", "width", "height", "lang")]:
            raise Problem(400, f"there is no parameter {unknown[0][:80]!r}; expected layer, bbox, width, height")
        width, height = (_size(name, parameters.get(name, "512")) for name in ("width", "height"))
        return View(_box(parameters.get("bbox", ""), self.projection), self.projection, (width, height))


# --------------------------------------------------------------------------- what the catalogue knows


def _endpoint(detail: ServiceDetail) -> EndpointRow | None:
    valid = [row for row in detail.endpoints if row.status == "valid" and not is_masked(row.url)]
    return next((row for row in valid if row.url == detail.service.url), valid[0] if valid else None)


def _described(service: catalogue.Service, endpoint: EndpointRow | None) -> Service:
    codes = {deviation.get("code") for deviation in endpoint.deviations} if endpoint is not None else set()
    return Service(
        stored_kind(service.kind),
        service.version,
        service.title,
        formats=service.formats,
        lower_case_names="lower-case-names" in codes,
    )


def _checks(endpoint: EndpointRow, url: Url) -> Mapping[str, Url]:
    """Return the first request of the content check with each outcome, of those to the endpoint's host."""
    checks: dict[str, Url] = {}
    for attempt in endpoint.proof:
        request = read_url(str(attempt["url"]))
        if request is not None and request.host == url.host and not is_masked(request.address):
            checks.setdefault(str(attempt["outcome"]), request)
    return checks


# --------------------------------------------------------------------------- numbers of a visitor


def _size(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and LEAST_PIXELS <= int(text) <= MOST_PIXELS):
        raise bad_parameter(name, text, f"pixels from {LEAST_PIXELS} to {MOST_PIXELS}")
    return int(text)


def _natural(name: str, text: str, end: int, expected: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) < end):
        raise bad_parameter(name, text, expected)
    return int(text)


def _box(text: str, projection: str) -> Sides:
    parts = text.split(",")
    across, up = _BOUNDS[projection]
    if len(parts) != 4 or not all(_NUMBER.fullmatch(part.strip()) for part in parts):
        raise bad_parameter("bbox", text, f"four numbers in {projection}")
    west, south, east, north = (float(part) for part in parts)
    west, east = max(west, -2 * across), min(east, 2 * across)
    south, north = max(south, -up), min(north, up)
    if not (west < east and south < north and math.isfinite(west + south + east + north)):
        raise bad_parameter("bbox", text, f"a box with an area in {projection}")
    return west, south, east, north
