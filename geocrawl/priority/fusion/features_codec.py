"""Pack the features of a judged page and its links as numbers, for the feedback of the page.

Those of an ordinary page are two kilobytes, which are stored as they are: to compress them takes more time than
anything else here.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Mapping, Sequence
from itertools import islice
from struct import Struct
from typing import NamedTuple

from geocrawl.model import Relevance

MAX_NUMBERS = 5_000
"""Most numbers (of 4 bytes) that are packed with features, less than 20 KiB: links beyond that keep their value."""
MOST_PLAIN_BYTES = 8 * 1024
"""Features with more bytes are compressed."""
MAX_LINKS = 4_000
"""Most links that are packed at all."""
KEPT = 100
"""Most judged pages that wait to be learnt with their features."""
_HEAD = 4
_pack_head = Struct(f"={_HEAD}I").pack
_ZLIB = b"\x78"
"""First byte of compressed features; otherwise the first number is a level."""


class LinkFeatures(NamedTuple):
    """What a judgement keeps of a link."""

    value: float
    group: int
    """The link's group (`link_groups`), as a bucket."""
    packed: bytes
    """The link's own arms and features, uint32; empty when the page has too many links."""


class PageFeatures(NamedTuple):
    """The features of a page and its links that `learn` needs."""

    level: int
    numbers: tuple[int, ...]
    """The features that the page contributes to its links (`LinkReader.page`)."""
    links: dict[int, LinkFeatures]
    """By the key of the link's identity."""


class JudgedPages:
    """Packs features of judged pages, and keeps those of the last ones, which so need not be unpacked to be learnt."""

    def __init__(self) -> None:
        self._kept: dict[bytes, PageFeatures] = {}

    def pack(self, page: tuple[int, ...], level: Relevance, links: dict[int, LinkFeatures]) -> bytes:
        """Return the numbers of a page, its level and its links by key, packed."""
        packed = pack_features(page, level, links)
        if packed[:1] != _ZLIB:  # of a compressed page the last links may have been left out
            self._kept[packed] = PageFeatures(level, page, links)
            if len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
        return packed

    def unpack(self, packed: bytes) -> PageFeatures:
        """Return the features that were packed, in this process or another one; they are kept no longer."""
        return self._kept.pop(packed, None) or unpack_features(packed)


def pack_features(page: Sequence[int], level: Relevance, links: Mapping[int, LinkFeatures]) -> bytes:
    """Return the numbers of a page, its level and its links by key, packed."""
    parts = [array("I", (int(level), len(page), *page)).tobytes()]
    room = MAX_NUMBERS - 2 - len(page)
    for key, (value, group, packed) in islice(links.items(), MAX_LINKS):
        count = len(packed) // 4
        if _HEAD + count > room:
            packed, count = b"", 0
        room -= _HEAD + count
        parts += (_pack_head(key, round(value * 10_000), group, count), packed)
    raw = b"".join(parts)
    return zlib.compress(raw, 1) if len(raw) > MOST_PLAIN_BYTES else raw


def unpack_features(packed: bytes) -> PageFeatures:
    """Return the features that `pack_features` packed."""
    raw = zlib.decompress(packed) if packed[:1] == _ZLIB else packed
    numbers = array("I", raw)
    level, size = numbers[:2]
    at, links = 2 + size, dict[int, LinkFeatures]()
    while at < len(numbers):
        key, value, group, count = numbers[at : at + _HEAD]
        at += _HEAD + count
        links[key] = LinkFeatures(value / 10_000, group, raw[4 * (at - count) : 4 * at])
    return PageFeatures(level, tuple(numbers[2 : 2 + size]), links)


def key_of(identity: str) -> int:
    """Return the CRC-32 of an identity."""
    return zlib.crc32(identity.encode("utf-8", "surrogatepass"))
