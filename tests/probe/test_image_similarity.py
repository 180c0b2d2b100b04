"""How alike two pictures are: by what is drawn, not by the ground it is drawn on."""

from __future__ import annotations

import io

from PIL import Image

from geocrawl.model import DecodedImage
from geocrawl.probe.decoding import read_picture
from geocrawl.probe.images import similarity

BLUE, RED, CLEAR = (0, 0, 255, 255), (255, 0, 0, 255), (0, 0, 0, 0)


def picture(*dots: tuple[int, int], ground: tuple[int, int, int, int] = CLEAR, size: int = 100) -> DecodedImage:
    """Red dots on a ground."""
    image = Image.new("RGBA", (size, size), ground)
    for dot in dots:
        image.putpixel(dot, RED)
    written = io.BytesIO()
    image.save(written, "PNG")
    found = read_picture(written.getvalue())
    assert isinstance(found, DecodedImage)
    return found


def test_equal_pictures_are_alike() -> None:
    assert similarity(picture((1, 1), (5, 5)), picture((1, 1), (5, 5))) == 1.0
    assert similarity(picture(), picture()) == 1.0


def test_a_few_things_in_other_places_are_unlike_however_much_ground_there_is() -> None:
    assert similarity(picture((1, 2)), picture((2, 1))) == 0.0
    assert similarity(picture((1, 1), (1, 2)), picture((1, 1), (2, 1))) == 1 / 3


def test_another_ground_or_size_is_unlike() -> None:
    assert similarity(picture(), picture(ground=BLUE)) == 0.0
    assert similarity(picture((1, 1)), picture((1, 1), ground=BLUE)) < 0.001
    assert similarity(picture((1, 1)), picture((1, 1), size=50)) == 0.0
