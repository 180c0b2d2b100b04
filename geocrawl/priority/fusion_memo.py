"""What fusion writes down of a page when it judges it, for the lesson that follows: numbers, compressed."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from geocrawl.model import Relevance

MEMO_NUMBERS = 5_000
"""Of 4 bytes: a memo stays below 20 KiB. Links past that wait with the rank they have."""

TextOfLink = tuple[float, int, tuple[int, ...]]
"""(score, arm of the anchor, features of its text)."""


class Memo(NamedTuple):
    """What `learn` needs of a page."""

    level: int
    arms: tuple[int, ...]
    """page, hit."""
    ids: tuple[int, ...]
    """Features of the page."""
    links: dict[int, TextOfLink]
    """Key of the identity → (score, arm of the anchor, features of its text)."""


def write_memo(ids: Sequence[int], arms: Sequence[int], level: Relevance, links: Mapping[str, TextOfLink]) -> bytes:
    """The memo of a page: its features, its arms `page` and `hit`, its level, and its links by identity."""
    numbers = array("I", [int(level), *arms, len(ids), *ids])
    for identity, (score, text_arm, text_ids) in links.items():
        if len(numbers) + 4 + len(text_ids) > MEMO_NUMBERS:
            break
        numbers.extend((key_of(identity), round(score * 10_000), text_arm, len(text_ids), *text_ids))
    return zlib.compress(numbers.tobytes(), 1)


def read_memo(memo: bytes) -> Memo:
    """What `write_memo` wrote."""
    numbers = tuple(array("I", zlib.decompress(memo)))
    level, page, hit, size = numbers[:4]
    at, links = 4 + size, {}
    while at < len(numbers):
        key, score, text_arm, count = numbers[at : at + 4]
        links[key] = (score / 10_000, text_arm, numbers[at + 4 : at + 4 + count])
        at += 4 + count
    return Memo(level, (page, hit), numbers[4 : 4 + size], links)


def key_of(identity: str) -> int:
    """CRC-32 of an identity."""
    return zlib.crc32(identity.encode("utf-8", "surrogatepass"))
