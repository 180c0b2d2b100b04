"""Read the members of a gzip file one by one, each within a bound, and go on behind what is damaged.

Archives compress each record as a member of its own (WARC 1.1, annex D), so a damaged record costs no other. A member
is decompressed at most to the bound: what is longer is skipped without being decompressed any further.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

_MAGIC = b"\x1f\x8b\x08"
_CHUNK = 16 * 1024
_SEARCHED = 1024 * 1024
_HEADER_BYTES = 512
"""Compressed bytes of a member that are decompressed to see whether it is one."""
_BEGINNING = b"WARC/"
_GZIP = 31
"""Window bits of zlib that mean gzip with its check sums."""


class Member(NamedTuple):
    """A member of a gzip file."""

    offset: int
    """Where it begins in the file, bytes."""
    length: int
    """Compressed bytes; of a damaged one as far as the next member."""
    data: bytes
    """Decompressed; b"" of a damaged or too large one."""
    fault: str = ""
    """Why there is no data: damaged, cut off, too large; '' for a whole member."""


def members(path: Path, *, most_bytes: int) -> Iterator[Member]:
    """Yield the members of a file; those that are damaged or decompress to more than `most_bytes` without their data.

    Raises OSError when the file cannot be read.
    """
    with path.open("rb") as file:
        size = path.stat().st_size
        offset = 0
        while offset < size:
            data, end, fault = _member(file, offset, most_bytes)
            if fault:
                end = _next(file, offset + 1, size)
            yield Member(offset, end - offset, data, fault)
            offset = end


def _member(file: BinaryIO, offset: int, most_bytes: int) -> tuple[bytes, int, str]:
    """Return the data of the member at an offset, where it ends, and what is wrong with it."""
    file.seek(offset)
    stream, parts, left, end = zlib.decompressobj(_GZIP), list[bytes](), most_bytes + 1, offset
    try:
        while not stream.eof:
            compressed = stream.unconsumed_tail
            if not compressed:
                compressed = file.read(_CHUNK)
                end += len(compressed)
            if not compressed:
                return b"", end, "cut off"
            part = stream.decompress(compressed, left)
            left -= len(part)
            if left <= 0:
                return b"", end, "too large"
            parts.append(part)
    except zlib.error:
        return b"", end, "damaged"
    return b"".join(parts), end - len(stream.unused_data), ""


def _next(file: BinaryIO, start: int, size: int) -> int:
    """Return where the next record begins at or behind `start`; the size of the file when there is none."""
    while start < size:
        file.seek(start)
        block = file.read(_SEARCHED)
        at = block.find(_MAGIC)
        while at >= 0:
            if _is_record(file, start + at):
                return start + at
            at = block.find(_MAGIC, at + 1)
        start += max(len(block) - len(_MAGIC) + 1, 1)
    return size


def _is_record(file: BinaryIO, offset: int) -> bool:
    """Return whether a member at an offset begins as a record does: the magic bytes also stand in compressed data."""
    file.seek(offset)
    try:
        return zlib.decompressobj(_GZIP).decompress(file.read(_HEADER_BYTES), len(_BEGINNING)) == _BEGINNING
    except zlib.error:
        return False
