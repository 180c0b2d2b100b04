"""Images that are dear to decode for their bytes are refused by their header or by a bounded process, and others read.

Each is made as a stranger would make it, and handed to the processes that a crawl has.
"""

from __future__ import annotations

import io
import os
import re
import struct
import zlib
from typing import Any

import pytest
from PIL import Image

import geocrawl.reading
from geocrawl.model import DecodedImage, Page
from geocrawl.probe.decoding import read_picture
from geocrawl.reading import ReadingLimits, ReadingProcesses
from tests.reading.hostile import flat_image, page

LIMITS = ReadingLimits(cpu_s=60.0, memory_bytes=1 << 30)


def written(format_: str, mode: str = "RGB", size: tuple[int, int] = (256, 200), **options: Any) -> bytes:
    image, stream = Image.effect_noise(size, 60).convert(mode), io.BytesIO()
    image.save(stream, format_, **options)
    return stream.getvalue()


def tiff(canvas: tuple[int, int], content: bytes, tags: dict[int, int], parts: int = 1) -> bytes:
    """Return a TIFF whose parts all share the same deflated content; `tags` has 273 or 324 for their offsets."""
    (where, sizes) = (273, 279) if 273 in tags else (324, 325)
    known = {256: canvas[0], 257: canvas[1], 258: 8, 259: 8, 262: 1, 277: 1, **tags, sizes: len(content)}
    arrays = 8 + 2 + 12 * len(known) + 4
    body = arrays + (8 * parts if parts > 1 else 0)
    known[where] = body if parts == 1 else arrays
    known[sizes] = len(content) if parts == 1 else arrays + 4 * parts
    counts = {where: parts, sizes: parts}
    entries = b"".join(struct.pack("<HHII", tag, 4, counts.get(tag, 1), known[tag]) for tag in sorted(known))
    shared = struct.pack("<I", body) * parts + struct.pack("<I", len(content)) * parts if parts > 1 else b""
    return b"II*\0" + struct.pack("<IH", 8, len(known)) + entries + bytes(4) + shared + content


def with_scans(body: bytes, scans: int, before: bytes = b"") -> bytes:
    """Return a progressive JPEG whose last scan is sent again and again."""
    starts = [match.start() for match in re.finditer(rb"\xff\xda", body)]
    return body[:-2] + (before + body[starts[-1] : -2]) * scans + b"\xff\xd9"


PROGRESSIVE = written("JPEG", progressive=True, size=(400, 400))


def hostile() -> dict[str, tuple[bytes, str]]:
    """Return images by what is wrong with them, with the pattern of the reason. (In a function: each process that
    collects tests would compress their 400 million pixels.)"""
    huge_tile = tiff((64, 64), zlib.compress(bytes(20_000 * 20_000), 1), {322: 20_000, 323: 20_000, 324: 0})
    shared_strips = tiff((40, 100_000), zlib.compress(bytes(1 << 20), 9), {278: 1, 273: 0}, parts=100_000)
    flat = io.BytesIO()
    Image.new("L", (500, 500), 90).save(flat, "JPEG", progressive=True)
    scans = with_scans(flat.getvalue(), 3_000)
    canvas = flat_image(300).replace(struct.pack(">II", 300, 300), struct.pack(">II", 30_000, 30_000), 1)
    end = canvas.index(b"IHDR") + 17
    canvas = canvas[:end] + struct.pack(">I", zlib.crc32(canvas[end - 17 : end])) + canvas[end + 4 :]
    return {
        "a tile of 20,000² pixels": (huge_tile, "broken|pixels"),
        "a hundred thousand strips that share their bytes": (shared_strips, "too many"),
        "three thousand scans": (scans, "too many"),
        "three thousand scans behind a broken segment": (
            with_scans(flat.getvalue(), 3_000, b"\xff\xe5\xff"),
            "too many",
        ),
        "a canvas of 900 million pixels": (canvas, "30000 × 30000 pixels"),
    }


CONTROLS = {
    "png": written("PNG"),
    "png with opacity": written("PNG", "RGBA"),
    "png in palette": written("PNG", "P"),
    "grey png": written("PNG", "L", (2_048, 300)),
    "jpeg": written("JPEG", quality=90),
    "progressive jpeg": PROGRESSIVE,
    "gif": written("GIF", "P"),
    "webp": written("WEBP"),
    "tiff in strips": written("TIFF", compression="tiff_lzw"),
    "tiff in tiles": tiff((64, 64), zlib.compress(bytes(range(256)) * 16), {322: 64, 323: 64, 324: 0}),
}


async def seen(body: bytes, decode: Any = read_picture) -> DecodedImage | str:
    pool = ReadingProcesses(processes=0, in_loop_bytes=0, limits=LIMITS, decode=decode)
    answer = await pool.with_picture(page(body, "image/png"))
    assert answer.body == body
    return answer.picture


async def test_hostile_images_are_refused_with_a_reason_and_the_next_one_is_read() -> None:
    pool = ReadingProcesses(processes=0, in_loop_bytes=0, limits=LIMITS, decode=read_picture)
    for name, (body, reason) in hostile().items():
        assert len(body) < 5_000_000, name
        answer = await pool.with_picture(page(body, "image/png"))
        assert isinstance(answer.picture, str) and re.search(reason, answer.picture), (name, answer.picture)
    assert isinstance((await pool.with_picture(page(CONTROLS["png"], ""))).picture, DecodedImage)


@pytest.mark.parametrize("name", CONTROLS)
def test_images_as_services_send_them_are_read(name: str) -> None:
    picture = read_picture(CONTROLS[name])
    with Image.open(io.BytesIO(CONTROLS[name])) as image:
        assert isinstance(picture, DecodedImage), picture
        assert (picture.width, picture.height) == image.size
        assert picture.pixels[3::4] == image.convert("RGBA").tobytes()[3::4]
        assert picture.thumbnail[:4] == b"\x89PNG"


def test_a_broken_image_has_the_same_reason_at_each_look() -> None:
    broken = CONTROLS["png"][:12] + b"JUNK" + CONTROLS["png"][16:]
    assert read_picture(broken) == "a broken image of an unknown form"


def process_id(body: bytes) -> str:
    return str(os.getpid())


def much(body: bytes) -> str:
    return str(len(bytearray(1 << 30)))


def endless(body: bytes) -> str:
    while True:
        pass


async def test_no_image_is_decoded_in_the_process_of_the_crawl() -> None:
    assert await seen(CONTROLS["gif"], process_id) != str(os.getpid())


async def test_an_image_past_the_memory_or_time_limit_is_told_as_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "needs more than 536,870,912 bytes" in str(await seen(CONTROLS["png"], much))
    monkeypatch.setattr(geocrawl.reading, "PICTURE_LIMITS", ReadingLimits(cpu_s=1.0, memory_bytes=1 << 30))
    assert "takes more than 1 s of CPU time" in str(await seen(CONTROLS["png"], endless))


async def test_another_answer_has_no_picture() -> None:
    pool = ReadingProcesses(processes=0, in_loop_bytes=0, limits=LIMITS, decode=read_picture)
    answer: Page = page(b"<html>", "image/png")
    assert await pool.with_picture(answer) is answer


@pytest.mark.parametrize("cut", [20, 200, 2_000])
@pytest.mark.parametrize("name", CONTROLS)
def test_a_broken_image_is_told_and_never_raises(name: str, cut: int) -> None:
    body = CONTROLS[name][: len(CONTROLS[name]) - min(cut, len(CONTROLS[name]) // 2)]
    assert isinstance(read_picture(body), DecodedImage | str)
