"""Compute the centroid of a few seed pages in the space of their most frequent words (Min, Huang 2015; see `adaptive`).

`with_seed` returns a new centroid, `correct` changes a centroid in place. The result depends on the vectors and their
order alone, so the same feedback results in the same centroid.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

from geocrawl.priority.vectors.tfidf import cosine

MAX_SEEDS = 50
"""Most seeds that define the topic; further ones are visited as pages. SkyReach offers up to 50 per topic, the paper
used 10.
"""
SEED_WORDS = 1_500
"""Number of most frequent words of a seed page that are kept."""


class Centroid:
    """The centroid M of n seed vectors and u corrections, stored as their sum, which has the direction of M."""

    def __init__(self, m: int) -> None:
        """Make an empty centroid; `m` is the number of words that span the space."""
        self._m = m
        self.seeds: dict[int, dict[str, float]] = {}
        """Frontier id → word → count, for the kept words of the seed page."""
        self._vectors: dict[int, dict[str, float]] = {}
        """Frontier id → the seed's vector in the space."""
        self._corrections: dict[str, float] = {}
        """Sum of the vectors that corrected the centroid."""
        self.updates = 0
        """u, the number of corrections."""
        self.space: frozenset[str] = frozenset()
        self.total: dict[str, float] = {}

    def with_seed(self, seed: int, words: Mapping[str, float]) -> Centroid:
        """Return the centroid with a further seed page (or a new version of one), in the space of all its seeds."""
        new = Centroid(self._m)
        new.seeds = {**self.seeds, seed: dict(words)}
        new._corrections, new.updates = dict(self._corrections), self.updates
        new._span()
        return new

    def _span(self) -> None:
        """Choose the axes and project seeds and corrections on them."""
        frequencies: Counter[str] = Counter()
        for words in self.seeds.values():
            for word, count in words.items():
                frequencies[word] += int(count)
        self.space = frozenset(sorted(frequencies, key=lambda word: (-frequencies[word], word))[: self._m])
        self._vectors = {seed: self.vector(words) for seed, words in self.seeds.items()}
        self._corrections = {word: value for word, value in self._corrections.items() if word in self.space}
        self.total = dict(self._corrections)
        for vector in self._vectors.values():
            self._add(self.total, vector)

    def vector(self, counts: Mapping[str, float]) -> dict[str, float]:
        """Return the vector of TF: a word's share of those words of the page that are axes."""
        inside = {word: count for word, count in counts.items() if word in self.space}
        size = sum(inside.values())
        return {word: count / size for word, count in inside.items()} if size else {}

    def mean(self) -> dict[str, float]:
        """Return the mean vector M of seeds and corrections (Min & Huang 2015)."""
        number = len(self.seeds) + self.updates
        return {word: value / number for word, value in self.total.items()} if number else {}

    def nearest_seed(self, vector: Mapping[str, float]) -> float:
        """Return the highest cosine with a seed's vector."""
        return max((cosine(vector, seed) for seed in self._vectors.values()), default=0.0)

    def of_seed(self, seed: int) -> float:
        """Return cos(seed page, M)."""
        return cosine(self._vectors[seed], self.total)

    def correct(self, vector: Mapping[str, float]) -> None:
        """Correct the centroid by a page's vector v: M' = (M·(n + u) + v)/(n + u + 1), v projected on the space."""
        inside = {word: value for word, value in vector.items() if word in self.space}
        self._add(self._corrections, inside)
        self._add(self.total, inside)
        self.updates += 1

    def heaviest(self, number: int) -> list[str]:
        """Return the `number` words with the highest weights in M."""
        return sorted(self.total, key=lambda word: (-self.total[word], word))[:number]

    def state(self) -> dict[str, Any]:
        """Return seeds, corrections and sum as JSON values, for `of_state`."""
        seeds = list(self.seeds.items())
        return {"seeds": seeds, "corrections": self._corrections, "total": self.total, "updates": self.updates}

    @classmethod
    def of_state(cls, state: Mapping[str, Any], m: int) -> Self:
        """Return the centroid whose `state` this is. Raises KeyError, TypeError or ValueError for another value."""
        centroid = cls(m)
        centroid.seeds = {int(seed): dict(words) for seed, words in state["seeds"]}
        centroid._corrections, centroid.updates = dict(state["corrections"]), int(state["updates"])
        centroid._span()
        if centroid.total.keys() == state["total"].keys():
            # The stored sum restores every bit: the order of additions matters. With another m it is computed again.
            centroid.total = dict(state["total"])
        return centroid

    @staticmethod
    def _add(total: dict[str, float], vector: Mapping[str, float]) -> None:
        for word, value in vector.items():
            total[word] = total.get(word, 0.0) + value


def heaviest_words(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the most frequent words of a page, at most `SEED_WORDS`."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:SEED_WORDS])


def pack(words: Mapping[str, float]) -> bytes:
    """Return words and their numbers as compressed JSON, a few KiB."""
    return zlib.compress(json.dumps(words, ensure_ascii=False).encode())


def unpack(packed: bytes) -> dict[str, float]:
    """Return the words that `pack` packed, with exact numbers."""
    words: dict[str, float] = json.loads(zlib.decompress(packed))
    return words
