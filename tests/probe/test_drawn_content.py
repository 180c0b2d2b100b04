"""Content of services that draw without a query: messages, sparse maps and blank images are told apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw
from shapely.geometry import box

from geocrawl.model import ContentOutcome, ContentReport, Item, Kind, Layer, Level, Page, Service
from geocrawl.ports import Ask, ContentCheck
from geocrawl.probe.registry import content_check_of
from tests.probe.content_runs import API, MAP, SERVER, TILE_MAP, TILES, TMS, message, outcomes, png, run, specks
from tests.support.answers import page


def _drawing(kind: Kind) -> tuple[ContentCheck, str, Service, tuple[int, int]]:
    """A check with an address, a service and the size of its images."""
    photos = Layer("photos", "Photos", item=Item.COLLECTION, formats=("image/png",), box=box(7, 50, 9, 51))
    checks: dict[Kind, tuple[ContentCheck, str, Service, tuple[int, int]]] = {
        Kind.ARCGIS: (content_check_of(Kind.ARCGIS), f"{SERVER}/Rivers/MapServer", MAP, (256, 128)),
        Kind.OGCAPI: (
            content_check_of(Kind.OGCAPI),
            API,
            Service(Kind.OGCAPI, "1.0", "API", layers=(photos,)),
            (256, 256),
        ),
        Kind.TMS: (content_check_of(Kind.TMS), TILES, TMS, (256, 256)),
    }
    return checks[kind]


DRAWN = (Kind.ARCGIS, Kind.OGCAPI, Kind.TMS)


def _judged(kind: Kind, image: Callable[[Ask, int, int], Page]) -> tuple[ContentReport, list[str]]:
    check, address, service, size = _drawing(kind)

    def reply(ask: Ask) -> Page:
        return page(TILE_MAP.format(TILES)) if ask.url.address.endswith("/town") else image(ask, *size)

    return run(check, address, service, reply)


@pytest.mark.parametrize("kind", DRAWN)
def test_the_same_message_drawn_for_two_places_is_no_map(kind: Kind) -> None:
    proof, asked = _judged(kind, lambda ask, width, height: message(width, height))
    assert (proof.level, proof.attempts[0].outcome) == (Level.ANSWERS, ContentOutcome.IMAGE_ERROR_TEXT)
    assert len(asked) <= 4


@pytest.mark.parametrize("kind", DRAWN)
def test_a_map_with_little_on_it_that_differs_from_place_to_place_is_one(kind: Kind) -> None:
    def sparse(ask: Ask, width: int, height: int) -> Page:
        image = Image.new("RGB", (width, height), "white")
        ImageDraw.Draw(image).line((0, 0, 40 + sum(ask.url.address.encode()) % 60, 90), "black", 3)
        return png(image)

    proof, _ = _judged(kind, sparse)
    assert proof.level is Level.DELIVERS


@pytest.mark.parametrize("kind", DRAWN)
def test_an_image_in_which_single_pixels_differ_is_blank(kind: Kind) -> None:
    proof, _ = _judged(kind, lambda ask, width, height: specks(width, height))
    assert (proof.level, set(outcomes(proof))) == (Level.ANSWERS, {ContentOutcome.BLANK})
