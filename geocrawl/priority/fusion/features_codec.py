"""Pack what fusion needs to know of a judged page and its links when its feedback comes: numbers, compressed."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from geocrawl.model import Relevance

MAX_NUMBERS = 5_000
"""Numbers of 4 bytes, so that less than 20 KiB is packed. Links past that keep the rank they have."""


class PageFeatures(NamedTuple):
    """What `learn` needs to know of a page."""

    level: int
    numbers: tuple[int, ...]
    """The page's part of its links' features (`LinkReader.page`)."""
    links: dict[int, tuple[float, bytes]]
    """Key of the identity → (score, the link's own features, packed)."""


def pack_features(page: Sequence[int], level: Relevance, links: Mapping[str, tuple[float, bytes]]) -> bytes:
    """Return the numbers of a page, its level and its links by identity, packed."""
    numbers = array("I", [int(level), len(page), *page])
    for identity, (score, packed) in links.items():
        if len(numbers) + 3 + len(packed) // 4 > MAX_NUMBERS:
            break
        numbers.extend((key_of(identity), round(score * 10_000), len(packed) // 4))
        numbers.frombytes(packed)
    return zlib.compress(numbers.tobytes(), 1)


def unpack_features(packed: bytes) -> PageFeatures:
    """Return what `pack_features` packed."""
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
    """Return the CRC-32 of an identity."""
    return zlib.crc32(identity.encode("utf-8", "surrogatepass"))
