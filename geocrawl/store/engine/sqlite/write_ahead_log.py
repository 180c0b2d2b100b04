"""Measure how much of the write-ahead log is in use.

SQLite copies the log into the file once it has `LOG_PAGES`, and then writes it from its beginning again, unless a
reader still needs an older state: then the log grows for as long as that reader reads. The length of the log's file
tells nothing of this, because it does not shrink. Every frame of the log repeats two numbers (salts) of the log's
header, which change when it is begun again, so the frames in use are the first ones with those of the header
(https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

LOG_PAGES = 16_000
"""Pages of 4 KiB (64 MiB) after which the log is copied into the file: a page that is written often is copied once."""
LOG_BYTES = LOG_PAGES * 4096
_HEADER = struct.Struct(">IIIIII8x")
"""Magic number, version, page size, number of the checkpoint, two salts; then checksums."""
_FRAME = struct.Struct(">8xII8x")
"""The two salts, after page number and size and before checksums; a page follows."""
_MAGIC = {0x377F0682, 0x377F0683}


def used_bytes(database: Path) -> int:
    """Return the bytes of a database's write-ahead log that have been written since it was last begun; 0 without one.

    It reads the log alone: closing the database's file, or that of its index, would give up this process's locks.
    """
    try:
        with database.with_name(database.name + "-wal").open("rb") as log:
            return _used(log)
    except OSError:
        return 0


def _used(log: BinaryIO) -> int:
    header = log.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return 0
    magic, _, page_bytes, _, *salts = _HEADER.unpack(header)
    if magic not in _MAGIC:
        return 0
    frame_bytes: int = _FRAME.size + page_bytes
    first, last = 0, (os.fstat(log.fileno()).st_size - _HEADER.size) // frame_bytes
    while first < last:  # frames in use come first: look for the first one that is not
        middle = (first + last) // 2
        log.seek(_HEADER.size + middle * frame_bytes)
        if [*_FRAME.unpack(log.read(_FRAME.size))] == salts:
            first = middle + 1
        else:
            last = middle
    return first * frame_bytes
