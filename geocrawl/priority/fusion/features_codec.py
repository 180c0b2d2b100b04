"""Pack the features of a judged page and its links as compressed numbers, for the feedback of the page."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from geocrawl.model import Relevance

MAX_NUMBERS = 5_000
"""Most numbers (of 4 bytes) that are packed, less than 20 KiB. Links beyond that are not reranked later."""


class PageFeatures(NamedTuple):
    """The features of a page and its links that `learn` needs."""

    level: int
    numbers: tuple[int, ...]
    """The features that the page contributes to its links (`LinkReader.page`)."""
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
    """Return the features that `pack_features` packed."""
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
