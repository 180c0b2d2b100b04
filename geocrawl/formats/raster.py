"""Read the header of a picture (PNG, JPEG, GIF, WebP, TIFF): its type, the sizes of its frames and where it ends.

Nothing is decoded. The header bounds what a browser or a content check will decode of a stranger's picture: the pixels
of each frame, tile or strip, and of all together. The bytes of a picture say nothing about them; 49 KB can hold 400
million pixels.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from itertools import repeat
from struct import unpack_from

from geocrawl.wording import Sentence

MAX_PIXELS = 2_048 * 2_048
"""Pixels of the largest frame."""
MAX_FRAMES = 100
"""Most frames of an animation, or scans of a progressive JPEG."""
MAX_PIXELS_OF_FRAMES = 4 * MAX_PIXELS
"""Most pixels of all frames together; browsers compose each on the whole canvas."""
MAX_PARTS = 4_096
"""Most tiles or strips of a TIFF, because each one starts a decoder; one row each is usual for strips."""
BROKEN = "the service sent a broken image"

Size = tuple[int, int]
Frames = Generator[Size, None, int]
"""The sizes (width, height) of frames as they come; in the end, where the picture ends. Raises struct.error, IndexError
or ValueError for a picture that is broken or cut off."""


@dataclass(frozen=True, slots=True)
class Raster:
    """What the header of a picture states."""

    media_type: str
    size: Size
    """Width and height of its first frame."""
    frames: int
    length: int
    """Bytes of the picture; what follows belongs to something else."""


def is_picture(body: bytes) -> bool:
    """Return whether a body begins like a picture of a format that is known here."""
    return any(magic.match(body) for magic, _, _ in _FORMATS)


def read_raster(body: bytes) -> Raster | str:
    """Return the header of a picture within the bounds, or why it is refused; '' for another format."""
    format_ = next((known for known in _FORMATS if known[0].match(body)), None)
    if format_ is None:
        return ""
    _, media_type, frames_of = format_
    frames, sizes, pixels = frames_of(body), list[Size](), 0
    try:
        while True:
            width, height = size = next(frames)
            sizes.append(size)
            pixels += width * height
            if not width or not height:
                return BROKEN
            if width * height > MAX_PIXELS:
                return Sentence("the service sent an image of {width} × {height} pixels", width=width, height=height)
            if len(sizes) > MAX_FRAMES or pixels > MAX_PIXELS_OF_FRAMES:
                return "the service sent an image of too many frames"
    except StopIteration as end:
        if not sizes or end.value > len(body):
            return BROKEN
        return Raster(media_type, sizes[0], len(sizes), end.value)
    except (struct.error, IndexError, ValueError):
        return BROKEN


# --------------------------------------------------------------------------- PNG


def _png(body: bytes) -> Frames:
    """Read the chunks of a PNG (W3C PNG, third edition, 5 and 11), of an animated one, too."""
    size: int
    size, name, width, height = unpack_from(">I4sII", body, 8)
    if (size, name) != (13, b"IHDR"):
        raise ValueError("a PNG begins with IHDR")
    yield width, height
    at, has_data = 8, False
    while True:
        size, name = unpack_from(">I4s", body, at)
        if name == b"acTL":
            yield from repeat((width, height), unpack_from(">I", body, at + 8)[0] - 1)
        has_data |= name == b"IDAT"
        at += 12 + size
        if name == b"IEND":
            if not has_data:
                raise ValueError("a PNG without data")
            return at


# --------------------------------------------------------------------------- JPEG

_NEXT_MARKER = re.compile(rb"\xff(?=[^\x00\xd0-\xd7\xff])")
"""Ends the data of a scan: neither a stuffed byte nor a restart."""
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN, _END = 0xDA, 0xD9


def _jpeg(body: bytes) -> Frames:
    """Read the segments of a JPEG (ITU-T T.81, B.1 and B.2); each further scan counts as a frame without pixels."""
    at, scans = 2, 0
    while True:
        while body[at] == 0xFF and body[at + 1] == 0xFF:  # fill bytes
            at += 1
        mark, marker = body[at : at + 2]
        if mark != 0xFF:
            raise ValueError("no marker where one is due")
        if marker == _END:
            if not scans:
                raise ValueError("a JPEG without data")
            return at + 2
        (length,) = unpack_from(">H", body, at + 2)
        if marker in _FRAME_MARKERS:
            height, width = unpack_from(">HH", body, at + 5)
            yield width, height
        at += 2 + length
        if marker == _SCAN:
            scans += 1
            if scans > MAX_FRAMES:
                yield from repeat((1, 1), scans)
            following = _NEXT_MARKER.search(body, at)
            if following is None:
                raise ValueError("cut off")
            at = following.start()


# --------------------------------------------------------------------------- GIF


def _gif(body: bytes) -> Frames:
    """Read the blocks of a GIF (GIF89a, 18 to 27); a frame beyond the canvas enlarges it."""
    width, height, flags = unpack_from("<HHB", body, 6)
    at = 13 + _colour_table(flags)
    while True:
        block = body[at]
        if block == 0x3B:
            return at + 1
        if block == 0x21:
            at = _after_blocks(body, at + 2)
        elif block == 0x2C:
            left, top, across, down, flags = unpack_from("<HHHHB", body, at + 1)
            yield max(width, left + across), max(height, top + down)
            at = _after_blocks(body, at + 11 + _colour_table(flags))
        else:
            raise ValueError("an unknown block")


def _colour_table(flags: int) -> int:
    """Return the bytes of a table of colours."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _after_blocks(body: bytes, at: int) -> int:
    """Return where the sub-blocks end that begin at an offset."""
    while body[at]:
        at += 1 + body[at]
    return at + 1


# --------------------------------------------------------------------------- WebP


def _webp(body: bytes) -> Frames:
    """Read the chunks of a WebP (RFC 9649, 2)."""
    end: int = 8 + unpack_from("<I", body, 4)[0]
    if end > len(body):
        raise ValueError("cut off")
    canvas: Size = (0, 0)
    for name, at, length in _chunks(body, 12, end):
        if name == b"VP8X":
            canvas = _number_24(body, at + 4) + 1, _number_24(body, at + 7) + 1
        elif name == b"ANMF":
            for part, start, _ in _chunks(body, at + 16, at + length):
                yield from _of_bitstream(body, part, start, canvas)
        else:
            yield from _of_bitstream(body, name, at, canvas)
    return end


def _chunks(body: bytes, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the name, the offset of the content and the length of chunks."""
    while at < end:
        name, length = unpack_from("<4sI", body, at)
        yield name, at + 8, length
        at += 8 + length + length % 2


def _of_bitstream(body: bytes, name: bytes, at: int, canvas: Size) -> Iterator[Size]:
    """Yield the size at which a frame is decoded and composed; nothing for a chunk that is no bitstream."""
    if name == b"VP8 ":
        width, height = (side & 0x3FFF for side in unpack_from("<HH", body, at + 6))
    elif name == b"VP8L":
        (bits,) = unpack_from("<I", body, at + 1)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        return
    yield max(width, canvas[0]), max(height, canvas[1])


def _number_24(body: bytes, at: int) -> int:
    return body[at] | body[at + 1] << 8 | body[at + 2] << 16


# --------------------------------------------------------------------------- TIFF

_WIDTH, _LENGTH, _STRIPS, _ROWS, _TILE_WIDTH, _TILE_LENGTH, _TILES = 256, 257, 273, 278, 322, 323, 324
_INTEGERS = {1: "B", 3: "H", 4: "I"}


def _tiff(body: bytes) -> Frames:
    """Read the first directory of a TIFF (TIFF 6.0, 2 and 15): the canvas, then the largest of its tiles or strips."""
    order = "<" if body[:1] == b"I" else ">"
    (at,) = unpack_from(f"{order}I", body, 4)
    (entries,) = unpack_from(f"{order}H", body, at)
    values, counts = dict[int, int](), dict[int, int]()
    for entry in range(at + 2, at + 2 + 12 * entries, 12):
        tag, type_, counts[tag] = unpack_from(f"{order}HHI", body, entry)
        if type_ in _INTEGERS:
            (values[tag],) = unpack_from(f"{order}{_INTEGERS[type_]}", body, entry + 8)
    if _WIDTH not in values or _LENGTH not in values:
        raise ValueError("a TIFF without a size")
    canvas = width, height = values[_WIDTH], values[_LENGTH]
    yield canvas
    is_tiled = _TILE_WIDTH in values or _TILE_LENGTH in values
    rows = min(values.get(_ROWS, height), height)
    part = (values.get(_TILE_WIDTH, 0), values.get(_TILE_LENGTH, 0)) if is_tiled else (width, rows)
    yield part
    parts = counts.get(_TILES if is_tiled else _STRIPS, 0)
    if parts > MAX_PARTS or parts * part[0] * part[1] > MAX_PIXELS_OF_FRAMES:
        yield from repeat((1, 1), MAX_FRAMES)
    return len(body)


_FORMATS: tuple[tuple[re.Pattern[bytes], str, Callable[[bytes], Frames]], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png", _png),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg", _jpeg),
    (re.compile(rb"GIF8[79]a"), "image/gif", _gif),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp", _webp),
    (re.compile(rb"II\*\0|MM\0\*"), "image/tiff", _tiff),
)
