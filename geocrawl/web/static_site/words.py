"""Make the index by which a browser searches a site: parts of some 30 kB; a search loads those with its words.

A word has a list of numbers, each three times a service's plus the field in which the word stands there. Parts end
where a word's own hash says so, so that a word more or less changes one part and not all that follow; their names are
hashes of their content. Scripts carry the data, because a browser reads no other file of a folder that it opened from
the disk. `static/site_search.js` reads what is written here, and divides texts as `words_of` does.
"""

from __future__ import annotations

import json
import re
import unicodedata
from array import array
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from zlib import crc32

FIELDS = ("title", "about", "text")
"""Parts of a service's description in which a word may stand, the most telling first: its title; its keywords, provider
and kind; its abstract and layers."""
_LEAST_CHARS, _MOST_CHARS = 20_000, 40_000
"""Of a part, but for one word that alone is longer."""
_EVERY = 16
"""One word of so many, by its hash, ends a part that has `_LEAST_CHARS`."""
_MOST_WORD = 40
_RUN = re.compile(r"[^\W_]+")
_HAN = re.compile("([\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)")
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ı": "i"})
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text, most of them once, in lower case without diacritics; of Chinese and Japanese each pair
    of characters."""
    if text.isascii():
        yield from (run[:_MOST_WORD] for run in dict.fromkeys(_RUN.findall(text.lower())))
        return
    text = unicodedata.normalize("NFKD", text)
    for character in set(text):
        if unicodedata.category(character).startswith("M"):
            text = text.replace(character, "")
    for run in dict.fromkeys(_RUN.findall(text.lower().translate(_LETTERS))):
        if run.isascii():
            yield run[:_MOST_WORD]
            continue
        for number, part in enumerate(_HAN.split(run)):
            if number % 2:
                yield from map("".join, pairwise(part)) if len(part) > 1 else (part,)
            elif part:
                yield part[:_MOST_WORD]


def words_of_names(names: Iterable[str]) -> Iterator[str]:
    """Yield the words of layers' names, also of those that are written together (`LandUse`), but for bare numbers."""
    text = " ".join(names)
    divided = _HUMP.sub(" ", text)
    for word in words_of(text if divided == text else f"{text} {divided}"):
        if not (word.isdecimal() and len(word) > 4):
            yield word


class SearchIndex:
    """The words of services, in the order of their numbers."""

    def __init__(self) -> None:
        self._postings: defaultdict[str, array[int]] = defaultdict(lambda: array("Q"))

    def add(self, number: int, by_field: Sequence[Iterable[str]]) -> None:
        """Add a service with the words of each of `FIELDS`; of a word in several the first counts."""
        seen = set[str]()
        for field, words in enumerate(by_field):
            new = set(words) - seen
            seen |= new
            for word in new:
                self._postings[word].append(number * len(FIELDS) + field)

    def parts(self) -> Iterator[tuple[str, str, bytes]]:
        """Yield (first word, name, content) of the parts, in the order of the words."""
        part, size = dict[str, str](), 0
        for word in sorted(self._postings):
            part[word] = _packed(self._postings[word])
            size += len(part[word]) + len(word) + 6
            is_end = size >= _LEAST_CHARS and not crc32(word.encode()) % _EVERY
            if is_end or size >= _MOST_CHARS:
                yield _named(part)
                part, size = {}, 0
        if part:
            yield _named(part)


def _named(part: dict[str, str]) -> tuple[str, str, bytes]:
    content = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
    name = content_name(content.encode())
    return next(iter(part)), name, script(f"words/{name}", content)


def content_name(content: bytes | bytearray) -> str:
    """Return the name of a file by its content: a hash of 16 hexadecimal digits."""
    return blake2b(content, digest_size=8).hexdigest()


def script(name: str, content: str) -> bytes:
    """Return a script that hands JSON to the search under a name."""
    return f"geocrawlPart({json.dumps(name)},{content})\n".encode()


def _packed(numbers: Sequence[int]) -> str:
    """Return rising numbers as base64 of their differences, seven bits a byte, the lowest first, the last below 128."""
    packed, former = bytearray(), 0
    for number in numbers:
        rest = number - former
        former = number
        while rest > 127:
            packed.append(rest & 127 | 128)
            rest >>= 7
        packed.append(rest)
    return b64encode(packed).decode().rstrip("=")
