"""Pack frontier ids into blobs: the links of a visited page, and of the feedback of a visit.

A blob begins with the letter `i` or `q` (32 or 64 bits an id, the narrower that holds all of them), little-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

_COUNT = struct.Struct("<I")


class OutLinks(NamedTuple):
    """Ids of the URLs that a page leads to, which are stored while there is a limit on depth (`depth.py`)."""

    same_depth: Sequence[int]
    """Targets of redirects and next pages of records: as deep as the page itself."""
    deeper: Sequence[int]


def pack_outlinks(links: OutLinks) -> bytes:
    """Return the links of a page as they are stored in `outlinks.links`."""
    ids = pack_ids([*links.same_depth, *links.deeper])
    return ids[:1] + _COUNT.pack(len(links.same_depth)) + ids[1:]


def unpack_outlinks(data: bytes) -> OutLinks:
    """Return what `pack_outlinks` packed."""
    (same,) = _COUNT.unpack_from(data, 1)
    ids = unpack_ids(data[:1] + data[1 + _COUNT.size :])
    return OutLinks(ids[:same], ids[same:])


def pack_ids(ids: Sequence[int]) -> bytes:
    """Return ids as bytes, in their order."""
    try:
        return b"i" + struct.pack(f"<{len(ids)}i", *ids)
    except struct.error:  # one of them is wider
        return b"q" + struct.pack(f"<{len(ids)}q", *ids)


def unpack_ids(data: bytes) -> tuple[int, ...]:
    """Return what `pack_ids` packed."""
    width = data[:1].decode()
    return struct.unpack(f"<{(len(data) - 1) // struct.calcsize('<' + width)}{width}", data[1:])
