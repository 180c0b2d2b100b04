"""Find training pages that are also part of a recorded web: a model must not learn from the pages it is measured on.

Texts are compared by shingles (Broder 1997): runs of eight words, a Han or kana character counting as one. Shingles
that occur in many training pages belong to a site's frame, so they are left out.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from geocrawl.errors import EnvironmentFault, UsageError

TextOf = Callable[[bytes, str], tuple[str, str]]
"""Function of (body, Content-Type header) that returns (title, body text)."""

SHINGLE_WORDS = 8
FRAME_PAGES = 3
"""A shingle that occurs in more training pages than this belongs to a site's frame."""
LEAST_SHINGLES = 20
"""A text with fewer shingles outside the frame is too short to compare, so it is not learnt from."""
LEAST_COMMON = 10
"""Fewer shingles in common with one page are no evidence."""
CONTAINED = 0.5
"""A training page counts as part of the worlds when this share of its shingles occurs there, or in one page (then of
the shorter of the two, because worlds contain truncated pages too).
"""
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


def shingles(text: str) -> set[int]:
    """Return hashes of every run of eight words (of the whole text when it is shorter); empty without words."""
    words = _WORD.findall(text.lower())
    last = max(len(words) - SHINGLE_WORDS, 0) if words else -1
    return {hash(tuple(words[i : i + SHINGLE_WORDS])) for i in range(last + 1)}


def contained(texts: Sequence[str], worlds: Sequence[Path], text_of: TextOf) -> set[int]:
    """Return indexes of the `texts` that are (nearly) contained in the recorded webs `worlds` or too short to compare.

    Raises UsageError for a world without pages.warc.gz, EnvironmentFault for one that cannot be read.
    """
    if not worlds:
        return set()
    where = _index(texts)
    sizes = Counter(i for pages in where.values() for i in pages)
    standing: dict[int, set[int]] = defaultdict(set)
    found = {i for i in range(len(texts)) if sizes[i] < LEAST_SHINGLES}
    for world in worlds:
        for content_type, body in warc_pages(world):
            page = shingles(text_of(body, content_type)[1])
            common: Counter[int] = Counter()
            for shingle in page & where.keys():
                for i in where[shingle]:
                    common[i] += 1
                    standing[i].add(shingle)
            for i, number in common.items():
                if number >= max(CONTAINED * min(sizes[i], len(page)), LEAST_COMMON):
                    found.add(i)
    return found | {i for i, parts in standing.items() if len(parts) >= CONTAINED * sizes[i]}


def _index(texts: Sequence[str]) -> dict[int, list[int]]:
    """Return shingle → the texts that have it, page frames left out."""
    where: dict[int, list[int]] = defaultdict(list)
    for i, text in enumerate(texts):
        for shingle in shingles(text):
            where[shingle].append(i)
    return {shingle: pages for shingle, pages in where.items() if len(pages) <= FRAME_PAGES}


def warc_pages(world: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (Content-Type, body) of each HTML response in `world`/pages.warc.gz (WARC/1.1, ISO 28500)."""
    path = world / "pages.warc.gz"
    if not path.is_file():
        raise UsageError(f"{world} is no recorded web: it has no pages.warc.gz")
    try:
        with gzip.open(path, "rb") as file:
            while header := _header(file.readline, first=True):
                block = file.read(int(header["content-length"]))
                head, _, body = block.partition(b"\r\n\r\n")
                http = _header(iter([*head.split(b"\r\n")[1:], b""]).__next__)
                content_type = http.get("content-type", "")
                if header.get("warc-type") == "response" and "html" in content_type:
                    yield content_type, body
    except (OSError, EOFError, KeyError, ValueError) as error:
        raise EnvironmentFault(f"{path} cannot be read: {error}") from error


def _header(next_line: Callable[[], bytes], *, first: bool = False) -> dict[str, str]:
    """Return the fields up to an empty line, with names in lower case; `first` skips blank lines before the fields."""
    fields: dict[str, str] = {}
    while line := next_line():
        name, colon, value = line.decode("latin-1").strip().partition(":")
        if colon:
            fields[name.lower()] = value.strip()
        elif not line.strip() and (fields or not first):
            break
    return fields
