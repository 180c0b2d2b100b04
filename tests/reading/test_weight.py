"""Which answers are read beside the requests, and which in a process."""

from __future__ import annotations

import gzip

import pytest

from geocrawl.reading import is_heavy
from tests.reading.hostile import flat_image, page

IN_LOOP = 64 * 1024


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<html><p>" + b"a " * 40_000, "text/html"),
        (gzip.compress(b"<html>" * 100_000), "application/gzip"),
        (flat_image(256) + b"\0" * 1_200_000, "image/png"),
    ],
)
def test_long_and_odd_answers_are_heavy(body: bytes, content_type: str) -> None:
    assert is_heavy(page(body, content_type), IN_LOOP)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", ""),
        (b"<html><p>" + b"a " * 30_000, "text/html"),
        (b'{"type": "Catalog", "links": []}', "application/json"),
        (b"@prefix a: <b> .", "text/turtle"),
        (flat_image(1000), "image/png"),
        (b"II*\0" + b"\0" * 200_000, "image/tiff"),
        (flat_image(256) + b"\0" * 200_000, "image/png"),
        (b"\x89PNG\r\n\x1a\nno image", "image/png"),
        (b"RIFF....WEBP no image", ""),
        (b"\xff\xd8\xff", ""),
    ],
)
def test_short_answers_and_maps_are_not(body: bytes, content_type: str) -> None:
    assert not is_heavy(page(body, content_type), IN_LOOP)
