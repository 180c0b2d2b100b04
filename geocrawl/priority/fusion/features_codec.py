"""What fusion writes down of a page when it judges it, for the feedback that follows: numbers, compressed."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from geocrawl.model import Relevance

MAX_NUMBERS = 5_000
"""Of 4 bytes: a packed stays below 20 KiB. Links past that wait with the rank they have."""


class PageFeatures(NamedTuple):
    """What `learn` needs of a page."""

    level: int
    numbers: tuple[int, ...]
    """The page's part of its links' features (`fusion_features.PageNumbers`)."""
    links: dict[int, tuple[float, bytes]]
    """Key of the identity → (score, the link's own features, packed)."""


def pack_features(page: Sequence[int], level: Relevance, links: Mapping[str, tuple[float, bytes]]) -> bytes:
    """The packed of a page: its numbers, its level, and its links by identity."""
    numbers = array("I", [int(level), len(page), *page])
    for identity, (score, packed) in links.items():
        if len(numbers) + 3 + len(packed) // 4 > MAX_NUMBERS:
            break
        numbers.extend((key_of(identity), round(score * 10_000), len(packed) // 4))
        numbers.frombytes(packed)
    return zlib.compress(numbers.tobytes(), 1)


def unpack_features(packed: bytes) -> PageFeatures:
    """What `pack_features` wrote."""
    raw = zlib.decompress(packed)
    numbers = array("I", raw)
    level, size = numbers[:2]
    at, links = 2 + size, {}
    while at < len(numbers):
        key, score, count = numbers[at : at + 3]
        at += 3 + count
        links[key] = (score / 10_000, raw[4 * (at - count) : 4 * at])
    return PageFeatures(level, tuple(numbers[2 : 2 + size]), links)


def key_of(identity: str) -> int:
    """CRC-32 of an identity."""
    return zlib.crc32(identity.encode("utf-8", "surrogatepass"))
