"""Check the content of a WMS, and show its layers: request maps until one is drawn (WMS 1.3.0, 7.3; 1.1.1, 7.2).

A third of the services that answer GetCapabilities deliver no map. The check requests layers that are no groups, in a
reference system and an extent that the service advertises, as small images. A request that is refused is changed as GIS
clients change it (`remedies`), a few times. An answer is judged by its pixels:

- A blank image may be right, because some places have no features: a second place, the middle, is tried.
- A server may read the axes of EPSG:4326 in the wrong order without an error (1.3.0 has latitude first). If the image
  is blank, the other order may have content. If the map is of another place, it differs from the map of version 1.1.1,
  whose order is unambiguous: the two are compared.
- An error may be drawn into the image: images of two places that are equal to the pixel and nearly all background are
  no maps.

A server that takes long (`SLOW_MS`) is not asked for a second place or order: its host's other services wait.

The first layer with content ends the check, because the question is whether the service delivers any map.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace

from geocrawl.model import ContentOutcome, DecodedImage, Endpoint, Failure, Page, Purpose, Service, Url
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.answer import is_slow
from geocrawl.probe.content import REFUSALS, Attempts, Exchange, Look, judge_image, negotiate, picture_of, refusal
from geocrawl.probe.extents import image_size
from geocrawl.probe.images import may_be_text, similarity
from geocrawl.probe.interview import named_for
from geocrawl.probe.kinds.wms.maps import MapManner, Maps, Remedy, Target, choose, remedies
from geocrawl.probe.previews import DEGREES, MERCATOR, LayerContext, Picture, View
from geocrawl.urls import request_url, with_parameters

_ALIKE = 0.98
_REMEDIES_FIRST = 5
_REMEDIES_LATER = 1
"""Most changed requests of the first layer, and of each later one, which is asked in the manner that was answered."""

_Looking = Generator[Ask, Page | Failure, tuple[Look, Page | None]]


def check_content(endpoint: Endpoint, service: Service, most: int) -> ContentInterview:
    """Request maps until one has content, as the module's docstring describes."""
    attempts = Attempts()
    maps = Maps(endpoint.url, service)
    manner, system = maps.first_manner(), ""
    for known in choose(service, most):
        targets = tuple(sorted(known, key=lambda target: target.crs != system))
        most_remedies = _REMEDIES_LATER if attempts.made else _REMEDIES_FIRST
        tried = yield from negotiate(_Layer(maps, targets), (targets[0], manner), most_remedies)
        if tried is None:
            continue
        look, image = yield from _look_closer(maps, tried)
        target, used = tried.variant
        attempts.add(target.layer, target.crs, tried.url, tried.answer, look, image=image)
        if attempts.is_enough:
            break
        manner, system = (manner, "") if look[0] in REFUSALS else (used, target.crs)
    return attempts.report(endpoint)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The GetMap requests of one layer (`content.Variants`)."""

    maps: Maps
    targets: tuple[Target, ...]

    def url(self, variant: Remedy) -> Url | None:
        """Return the request for a map; None when the layer's name makes it longer than servers accept."""
        return None if self.maps.is_too_long(*variant) else self.maps.url(*variant)

    def judge(self, variant: Remedy, answer: Page | Failure) -> Look:
        """Return the judgement on an answer."""
        return judge_image(answer, image_size(variant[0].sides))

    def others(self, refused: Exchange[Remedy]) -> Iterator[Remedy]:
        """Yield the changed requests that can help."""
        return remedies(self.maps, self.targets, refused.variant, refused.answer)


def _look_closer(maps: Maps, tried: Exchange[Remedy]) -> _Looking:
    """Return the judgement on a map after a closer look, and the image with content if that came later."""
    if is_slow(tried.answer):
        return tried.look, None
    target, manner = tried.variant
    picture = _picture(tried.answer) if tried.look[0] is ContentOutcome.OK else None
    if picture is not None:
        return (yield from _doubt(maps, target, manner, picture)) or tried.look, None
    if tried.look[0] is ContentOutcome.BLANK:
        return (yield from _look_elsewhere(maps, target, manner)) or (tried.look, None)
    return tried.look, None


def _look_elsewhere(
    maps: Maps, target: Target, manner: MapManner
) -> Generator[Ask, Page | Failure, tuple[Look, Page | None] | None]:
    """Request other places of a layer that was blank as a whole, then the whole with swapped axes; None: all blank."""
    for place in target.elsewhere():
        answer = yield Ask(maps.url(place, manner), Purpose.MAP)
        outcome, detail = judge_image(answer, image_size(place.sides))
        if outcome is ContentOutcome.OK and isinstance(answer, Page):
            return (outcome, f"{detail}, at a second place"), answer
    if target.latitude_first and not manner.swapped:
        answer = yield Ask(maps.url(target, manner, swapped=True), Purpose.MAP)
        outcome, detail = judge_image(answer, image_size(target.sides))
        if outcome is ContentOutcome.OK:
            return (ContentOutcome.AXIS_ORDER, f"content only with longitude first: {detail}"), None
    return None


def _doubt(
    maps: Maps, target: Target, manner: MapManner, picture: DecodedImage
) -> Generator[Ask, Page | Failure, Look | None]:
    """Return why an image that is not blank is not the requested map; None when it is."""
    detail = picture.line
    if may_be_text(picture):
        other = _picture((yield Ask(maps.url(target.elsewhere()[0], manner), Purpose.MAP)))
        if other is not None and similarity(picture, other) == 1.0:
            return ContentOutcome.IMAGE_ERROR_TEXT, f"two places look the same, {detail}"
    if manner.swapped:
        return ContentOutcome.AXIS_ORDER, f"a map only with longitude first: {detail}"
    if target.latitude_first:
        former = _picture((yield Ask(maps.url(target, manner, version="1.1.1"), Purpose.MAP)))
        if former is not None and not former.is_blank and similarity(picture, former) < _ALIKE:
            swapped = _picture((yield Ask(maps.url(target, manner, swapped=True), Purpose.MAP)))
            if swapped is not None and similarity(swapped, former) >= _ALIKE:
                return ContentOutcome.AXIS_ORDER, "the map of 1.1.1 comes only with longitude first"
    return None


def _picture(answer: Page | Failure) -> DecodedImage | None:
    if refusal(answer) is not None or isinstance(answer, Failure):
        return None
    picture = picture_of(answer)
    return picture if isinstance(picture, DecodedImage) else None


# --------------------------------------------------------------------------- previews
# GetMap, GetLegendGraphic (SLD profile, OGC 05-078r4, 12), GetFeatureInfo (WMS 1.3.0, 7.4).


_CODES = {DEGREES: ("EPSG:4326", "CRS:84"), MERCATOR: ("EPSG:3857", "EPSG:900913", "EPSG:102100")}
"""The names that servers give a map's reference system."""


def preview(context: LayerContext) -> Picture | None:
    """Show a layer as the content check asks for it, of the size that is wanted."""
    # Most servers transform into degrees, also where they state no reference system.
    stated = context.layer.crs or ("EPSG:4326",)
    codes = {system: code for system, same in _CODES.items() if (code := next(filter(stated.__contains__, same), ""))}
    if not codes:
        return None
    version = context.service.version or "1.1.1"
    map_ = _Map(replace(context, service=replace(context.service, version=version)), codes)
    return Picture(tuple(codes), map_.url, map_.legend, map_.info if context.layer.queryable else None)


@dataclass(frozen=True, slots=True)
class _Map:
    """Requests about one layer."""

    context: LayerContext
    codes: dict[str, str]
    """Reference system of a map → the layer's name for it."""

    @property
    def is_new(self) -> bool:
        """Return whether the service has the names of 1.3.0."""
        return self.context.service.version.startswith("1.3")

    def url(self, view: View) -> Url:
        """Return the request for the picture of a view."""
        context, code = self.context, self.codes[view.system]
        if code == "CRS:84" and not self.is_new:
            code = "EPSG:4326"
        maps = Maps(context.url, context.service)
        target = Target(context.layer.name, code, view.box, latitude_first=code == "EPSG:4326")
        manner = MapManner(context.url, maps.formats[0], swapped=ContentOutcome.AXIS_ORDER in context.checks)
        width, height = map(str, view.size)
        return with_parameters(maps.url(target, manner), {"WIDTH": width, "HEIGHT": height})

    def legend(self) -> Url:
        """Return the request for the legend."""
        query = {
            "SERVICE": "WMS",
            "VERSION": self.context.service.version,
            "REQUEST": "GetLegendGraphic",
            "LAYER": self.context.layer.name,
            "FORMAT": "image/png",
            **({"SLD_VERSION": "1.1.0"} if self.is_new else {}),
        }
        return request_url(self.context.url, query)

    def info(self, view: View, x: int, y: int) -> Url:
        """Return the request for what is at a pixel of a view."""
        query = {
            "REQUEST": "GetFeatureInfo",
            "QUERY_LAYERS": self.context.layer.name,
            "INFO_FORMAT": "text/plain",
            "FEATURE_COUNT": "5",
            "I" if self.is_new else "X": str(x),
            "J" if self.is_new else "Y": str(y),
        }
        return with_parameters(self.url(view), named_for(self.context.service, query))
