"""Pack the value of a page and the values of its links as the features of a judgement, and unpack them from feedback.

Only values above 0 are packed, each with a hash of the link's identity: most links have the value 0.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from geocrawl.errors import UsageError

MAX_LINKS = 2_500
"""Number of first links of a page whose values are packed: 20 KB before compression."""
_PAGE, _LINK = struct.Struct("<f"), struct.Struct("<If")


class LinkValues(NamedTuple):
    """The values of a page and of its links, with the precision of 32-bit floats."""

    page: float
    links: dict[int, float]

    def of(self, identity: str) -> float:
        """Return the value of the link with this identity, 0 when none was packed."""
        return self.links.get(_hash(identity), 0.0)


def pack_link_values(page: float, links: Iterable[tuple[str, float]]) -> bytes:
    """Return 4 to some 20,000 bytes that contain the page's value and the values of its links.

    `links` are pairs of identity and value; of a link that occurs several times the highest value counts.
    """
    best: dict[int, float] = {}
    for identity, value in links:
        if value > 0.0:
            key = _hash(identity)
            if value > best.get(key, 0.0) and (key in best or len(best) < MAX_LINKS):
                best[key] = value
    return zlib.compress(_PAGE.pack(page) + b"".join(_LINK.pack(*item) for item in best.items()), 1)


def unpack_link_values(packed: bytes) -> LinkValues:
    """Unpack the values of `pack_link_values`. Raises UsageError for other bytes (a database of another version)."""
    try:
        raw = zlib.decompress(packed)
        return LinkValues(_PAGE.unpack_from(raw)[0], dict(_LINK.iter_unpack(raw[_PAGE.size :])))
    except (zlib.error, struct.error) as error:
        raise UsageError(f"the features of a feedback cannot be read ({error}): written by another version") from error


def _hash(identity: str) -> int:
    return zlib.crc32(identity.encode("utf-8", "surrogatepass"))
