"""Headers of pictures: size, frames and end are read; what a browser would choke on is refused undecoded."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from geocrawl.formats.raster import MAX_FRAMES, MAX_PIXELS, Raster, read_raster

TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "GIF": "image/gif", "WEBP": "image/webp"}


def written(format_: str, size: tuple[int, int] = (30, 20), frames: int = 1, **options: Any) -> bytes:
    stream = io.BytesIO()
    pictures = [Image.effect_noise(size, 50 + number).convert("RGB") for number in range(frames)]
    more = {"save_all": True, "append_images": pictures[1:]} if frames > 1 else {}
    pictures[0].save(stream, format_, **more, **options)
    return stream.getvalue()


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width: int, height: int, *chunks: bytes) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def gif(canvas: tuple[int, int], *frames: tuple[int, int, int, int]) -> bytes:
    parts = (b"," + struct.pack("<HHHHB", *each, 0) + b"\x02\x01\x00\x00" for each in frames)
    return b"GIF89a" + struct.pack("<HHBBB", *canvas, 0, 0, 0) + b"".join(parts) + b";"


def webp(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(name + struct.pack("<I", len(content)) + content for name, content in chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def lossless(width: int, height: int) -> tuple[bytes, bytes]:
    return b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + b"\0"


def jpeg(width: int, height: int, scans: int = 1) -> bytes:
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\x00"
    scan = b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00" + b"\x12\xff\x00\x34"
    return b"\xff\xd8" + frame + scans * scan + b"\xff\xd9"


def tiff(width: int, height: int, tags: dict[int, int], parts: int = 1) -> bytes:
    known = {256: width, 257: height, 258: 8, 259: 1, 262: 1, **tags}
    counts: dict[int, int] = {tag: parts for tag in (273, 324) if tag in tags}
    entries = b"".join(struct.pack("<HHII", tag, 4, counts.get(tag, 1), known[tag]) for tag in sorted(known))
    return (b"II*\0" + struct.pack("<IH", 8, len(known)) + entries).ljust(300, b"\0")


@pytest.mark.parametrize("format_", TYPES)
@pytest.mark.parametrize("size", [(1, 1), (30, 20), (1024, 700)])
def test_type_size_and_end_of_a_picture_are_read(format_: str, size: tuple[int, int]) -> None:
    body = written(format_, size)
    assert read_raster(body) == Raster(TYPES[format_], size, 1, len(body))
    assert read_raster(body + b"<script>alert(1)</script>") == Raster(TYPES[format_], size, 1, len(body)), "its own end"


@pytest.mark.parametrize(
    ("format_", "options"),
    [
        ("JPEG", {"progressive": True, "quality": 95}),
        ("JPEG", {"comment": b"\xff\xd9 in a comment", "exif": b"Exif\0\0" + b"\xff\xd8\xff" * 50}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\0\0MM"}),
    ],
)
def test_variants_are_read(format_: str, options: dict[str, Any]) -> None:
    body = written(format_, (300, 200), **options)
    assert read_raster(body) == Raster(TYPES[format_], (300, 200), 1, len(body))


@pytest.mark.parametrize("format_", ["PNG", "GIF", "WEBP"])
def test_frames_of_an_animation_are_counted(format_: str) -> None:
    body = written(format_, (64, 48), frames=7)
    assert read_raster(body) == Raster(TYPES[format_], (64, 48), 7, len(body))


HOSTILE = {
    "a PNG of 400 million pixels": png(20_000, 20_000),
    "a PNG with a hundred thousand frames": png(8, 8, chunk(b"acTL", struct.pack(">II", 100_000, 0))),
    "a GIF whose canvas is small and whose frame is not": gif((8, 8), (0, 0, 60_000, 60_000)),
    "a GIF whose frame lies far from the canvas": gif((8, 8), (60_000, 60_000, 8, 8)),
    "a GIF with a hundred thousand frames": gif((8, 8), *[(0, 0, 8, 8)] * 100_000),
    "a GIF with fewer frames, each large": gif((2_000, 2_000), *[(0, 0, 1, 1)] * 50),
    "a WebP of 268 million pixels": webp(lossless(16_383, 16_383)),
    "a WebP whose canvas is small and whose frame is not": webp(
        (b"VP8X", b"\x02\0\0\0" + b"\7\0\0\7\0\0"),
        (b"ANMF", bytes(16) + lossless(16_383, 16_383)[0] + struct.pack("<I", 6) + lossless(16_383, 16_383)[1]),
    ),
    "a JPEG of four thousand million pixels": jpeg(65_500, 65_500),
    "a JPEG of a thousand scans": jpeg(2_000, 2_000, scans=1_000),
    "a JPEG whose height comes later": jpeg(100, 0),
    "a TIFF of 64 pixels whose tile has 400 million": tiff(64, 64, {322: 20_000, 323: 20_000, 324: 300}),
    "a TIFF with a hundred thousand strips": tiff(40, 100_000, {278: 1, 273: 300}, parts=100_000),
    "a TIFF with four thousand tiles, each large": tiff(64, 64, {322: 512, 323: 512, 324: 300}, parts=4_000),
    "a TIFF without a size": b"II*\0" + struct.pack("<IH", 8, 0),
    "a PNG without data": png(8, 8).replace(b"IDAT", b"IDXT"),
}
CONTROLS = [
    png(2_048, 2_048),
    png(8, 8, chunk(b"acTL", struct.pack(">II", MAX_FRAMES, 0))),
    gif((8, 8), (0, 0, 8, 8)),
    gif((8, 8), *[(0, 0, 8, 8)] * MAX_FRAMES),
    webp(lossless(2_048, 2_048)),
    jpeg(2_048, 2_048, scans=20),
    tiff(2_048, 2_048, {278: 1, 273: 300}, parts=2_048),
    tiff(2_048, 2_048, {322: 256, 323: 256, 324: 300}, parts=64),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_picture_is_refused(name: str) -> None:
    refusal = read_raster(HOSTILE[name])
    assert isinstance(refusal, str) and refusal.startswith("the service sent ")


@pytest.mark.parametrize("body", CONTROLS)
def test_the_largest_picture_is_taken(body: bytes) -> None:
    raster = read_raster(body)
    assert isinstance(raster, Raster) and raster.length == len(body)
    assert raster.size[0] * raster.size[1] <= MAX_PIXELS


@pytest.mark.parametrize("format_", TYPES)
def test_a_picture_that_is_cut_off_is_refused_wherever_it_is(format_: str) -> None:
    body = written(format_, (30, 20))
    assert {read_raster(body[:length]) for length in range(16, len(body))} == {"the service sent a broken image"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<!doctype html><script>alert(1)</script>",
        b"<?xml version='1.0'?>" + png(8, 8),
        b"BM" + bytes(100),
        b"RIFF\0\0\0\0WAVE",
        b"%PDF-1.7",
    ],
)
def test_what_is_no_such_picture_has_no_header(body: bytes) -> None:
    assert read_raster(body) == ""


@given(st.sampled_from([each[:12] for each in CONTROLS]), st.binary(max_size=60), st.integers(0, 200))
def test_no_bytes_break_the_reading(magic: bytes, noise: bytes, at: int) -> None:
    for body in (magic + noise, *(each[: at % len(each)] + noise + each[at % len(each) :] for each in CONTROLS)):
        assert isinstance(read_raster(body), str | Raster)
