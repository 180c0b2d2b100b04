"""Check the content of a WMS: request maps until one is drawn (WMS 1.3.0, 7.3; 1.1.1, 7.2; 1.0.0, 6.2.8).

A third of the services that answer GetCapabilities deliver no map. The check requests layers that are no groups, in a
reference system and an extent that the service advertises, as small images. A request that is refused is changed as GIS
clients change it (`remedies`), a few times. An answer is judged by its pixels:

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

from collections.abc import Generator
from dataclasses import dataclass

from geocrawl.model import ContentOutcome, Endpoint, Failure, FailureCode, Page, Service
from geocrawl.ports import Ask, ContentInterview
from geocrawl.probe.content import Attempts, judge_picture, picture_of, refusal
from geocrawl.probe.extents import image_size
from geocrawl.probe.images import Picture
from geocrawl.probe.kinds.wms.maps import Manner, Maps, Remedy, Target, choose, remedies

_ALIKE = 0.98
_REMEDIES_FIRST = 5
_REMEDIES_LATER = 1
"""Most changed requests of the first layer, and of each later one, which is asked in the manner that was found."""
_NO_IMAGE = frozenset(
    {ContentOutcome.EXCEPTION, ContentOutcome.HTTP_ERROR, ContentOutcome.NOT_AN_IMAGE, ContentOutcome.REFUSED}
    | {ContentOutcome.TIMEOUT}
)

_Try = Generator[Ask, Page | Failure, tuple[Manner, str]]
_Look = Generator[Ask, Page | Failure, tuple[ContentOutcome, str, bytes]]
_Doubt = Generator[Ask, Page | Failure, tuple[ContentOutcome, str]]


def check_content(endpoint: Endpoint, service: Service, most: int) -> ContentInterview:
    """Request maps until one has content, as the module's docstring describes."""
    attempts = Attempts()
    maps = Maps(endpoint.url, service)
    manner, system = maps.first_manner(), ""
    for known in choose(service, most):
        targets = tuple(sorted(known, key=lambda target: target.crs != system))
        if maps.is_too_long(targets[0], manner):
            continue
        manner, system = yield from _try(maps, targets, manner, attempts)
        if attempts.is_enough:
            break
    return attempts.report(endpoint)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request with its answer."""

    target: Target
    manner: Manner
    ask: Ask
    answer: Page | Failure
    look: tuple[ContentOutcome, str, Picture | None]


_Asking = Generator[Ask, Page | Failure, _Asked]


def _try(maps: Maps, targets: tuple[Target, ...], manner: Manner, attempts: Attempts) -> _Try:
    """Request a map of one layer and record the result.

    Return the manner and the reference system in which to request the next layer; '' for its first one.
    """
    asked = yield from _ask(maps, targets[0], manner)
    if asked.look[0] in _NO_IMAGE:
        most = _REMEDIES_LATER if attempts.made else _REMEDIES_FIRST
        asked = yield from _ask_otherwise(maps, targets, asked, most)
    outcome, detail, picture = asked.look
    image = b""
    if picture is not None and outcome is ContentOutcome.OK:
        outcome, detail = yield from _doubt(maps, asked, picture)
    elif outcome is ContentOutcome.BLANK:
        outcome, detail, image = yield from _look_elsewhere(maps, asked)
    attempts.add(asked.target.layer, asked.target.crs, asked.ask.url, asked.answer, (outcome, detail), image=image)
    return (manner, "") if outcome in _NO_IMAGE else (asked.manner, asked.target.crs)


def _ask(maps: Maps, target: Target, manner: Manner) -> _Asking:
    ask = maps.ask(target, manner)
    answer = yield ask
    return _Asked(target, manner, ask, answer, _look(answer, image_size(target.sides)))


def _ask_otherwise(maps: Maps, targets: tuple[Target, ...], refused: _Asked, most: int) -> _Asking:
    """Change a refused request until an image comes, at most `most` times; return the last request that was made."""
    tried: set[Remedy] = {(refused.target, refused.manner)}
    for _ in range(most):
        choices = remedies(maps, targets, (refused.target, refused.manner), refused.answer)
        remedy = next((each for each in choices if each not in tried), None)
        if remedy is None:
            break
        tried.add(remedy)
        asked = yield from _ask(maps, *remedy)
        if isinstance(asked.answer, Failure) and asked.answer.code is FailureCode.BUDGET:
            break
        if isinstance(asked.answer, Failure) and asked.ask.url.host != maps.endpoint.host:
            continue  # what the endpoint itself answered tells more
        refused = asked
        if asked.look[0] not in _NO_IMAGE:
            break
    return refused


def _look_elsewhere(maps: Maps, asked: _Asked) -> _Look:
    """Request other places of a layer that was blank as a whole, then the whole with swapped axes."""
    target, manner = asked.target, asked.manner
    for place in target.elsewhere():
        answer = yield maps.ask(place, manner)
        outcome, seen, _ = _look(answer, image_size(place.sides))
        if outcome is ContentOutcome.OK and isinstance(answer, Page):
            return outcome, f"{seen}, at a second place", answer.body
    if target.latitude_first and not manner.swapped:
        answer = yield maps.ask(target, manner, swapped=True)
        outcome, seen, _ = _look(answer, image_size(target.sides))
        if outcome is ContentOutcome.OK and isinstance(answer, Page):
            return ContentOutcome.AXIS_ORDER, f"content only with longitude first: {seen}", b""
    return ContentOutcome.BLANK, asked.look[1], b""


def _doubt(maps: Maps, asked: _Asked, picture: Picture) -> _Doubt:
    """Check whether an image that is not blank is the requested map."""
    target, manner, detail = asked.target, asked.manner, asked.look[1]
    if picture.may_be_text:
        other = _picture((yield maps.ask(target.elsewhere()[0], manner)))
        if other is not None and picture.similarity(other) == 1.0:
            return ContentOutcome.IMAGE_ERROR_TEXT, f"two places look the same, {detail}"
    if manner.swapped:
        return ContentOutcome.AXIS_ORDER, f"a map only with longitude first: {detail}"
    if target.latitude_first:
        former = _picture((yield maps.ask(target, manner, version="1.1.1")))
        if former is not None and not former.is_blank and picture.similarity(former) < _ALIKE:
            swapped = _picture((yield maps.ask(target, manner, swapped=True)))
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
    return judge_picture(answer, size)
