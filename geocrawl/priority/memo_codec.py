"""A page's figure and its links' as the memo of a judgement: what a strategy is given back when the visit is settled.

Only figures above 0 are written, each with a hash of its link's identity: most links say nothing of the topic.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import NamedTuple

from geocrawl.errors import UsageError

MAX_LINKS = 2_500
"""Of one page, the first ones: 20 KB before compression."""
_PAGE, _LINK = struct.Struct("<f"), struct.Struct("<If")


class Figures(NamedTuple):
    """What a memo held; figures have the precision of 32-bit floats."""

    page: float
    links: dict[int, float]

    def of(self, identity: str) -> float:
        """The figure of a link; 0 when it had none."""
        return self.links.get(_hash(identity), 0.0)


def pack_figures(page: float, links: Iterable[tuple[str, float]]) -> bytes:
    """`links`: (identity, figure); one that stands several times keeps its highest. 4 to some 20,000 bytes."""
    best: dict[int, float] = {}
    for identity, figure in links:
        if figure > 0.0:
            key = _hash(identity)
            if figure > best.get(key, 0.0) and (key in best or len(best) < MAX_LINKS):
                best[key] = figure
    return zlib.compress(_PAGE.pack(page) + b"".join(_LINK.pack(*item) for item in best.items()), 1)


def unpack_figures(memo: bytes) -> Figures:
    """What `pack_figures` packed. Raises UsageError for anything else (a database of another version)."""
    try:
        raw = zlib.decompress(memo)
        return Figures(_PAGE.unpack_from(raw)[0], dict(_LINK.iter_unpack(raw[_PAGE.size :])))
    except (zlib.error, struct.error) as error:
        raise UsageError(f"a feedback's memo cannot be read ({error}): written by another version") from error


def _hash(identity: str) -> int:
    return zlib.crc32(identity.encode("utf-8", "surrogatepass"))
