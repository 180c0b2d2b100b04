"""Turn texts into TF-IDF vectors and measure how near they are to the topic, for strategies that compare texts.

The weight of a term is (1 + ln tf)·idf, tf its count in the text and idf that of the training pages; terms that are
rare in those pages are ignored. A vector has length 1. As in gws there is one topic vector for each language, and a
text's similarity is the highest of its cosines with these: with one joint vector a page could reach no more than its
language's share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from geocrawl.model import Document
from geocrawl.priority.text.terms import term_counts

Vector = Mapping[str, float]
TF_IDF = (
    "The weight of a word is (1 + ln tf)·idf with idf = ln((1 + N)/(1 + df)) + 1.",
    "The topic is Rocchio's: the centroid of pages on the topic minus that of others.",
)
"""What presets that compare texts do otherwise than their papers print, for `Preset.differs`."""
REMEMBERED_ANCHORS = 50_000
LONGEST_REMEMBERED_ANCHOR = 120


class TextModel:
    """A vocabulary and the topic's vectors, with the scores to expect of pages on the topic."""

    def __init__(
        self,
        idf: Vector,
        topics: Mapping[str, Vector],
        *,
        threshold: float,
        typical: float,
        made: Mapping[str, object] | None = None,
        percentiles: Sequence[float] = (),
        selections: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Make a model. `idf`: term → IDF. `topics`: language → topic vector, of any length above 0.

        `threshold`: a low quantile of `similarity` over held-out pages on the topic (links of pages at or below the
        threshold are not followed in hits). `typical`: their median. `percentiles`: 0 to 100 % of the scores of
        relevant pages, also from webs. `selections`: measure → terms that tell the topic best, the best first.
        """
        self.idf = idf
        self.topics = {language: unit(vector) for language, vector in topics.items()}
        self.threshold = threshold
        self.typical = typical
        self.made: Mapping[str, object] = made or {}
        self.percentiles = tuple(percentiles)
        self.selections: Mapping[str, Sequence[str]] = selections or {}
        self._remembered = lru_cache(maxsize=REMEMBERED_ANCHORS)(self.similarity)

    def threshold_at(self, share: float) -> float:
        """Return the score below which `share`, 0…1, of relevant pages are; `threshold` when their scores are unknown.

        Between two percentiles it is the lower one.
        """
        return self.percentiles[math.floor(share * (len(self.percentiles) - 1))] if self.percentiles else self.threshold

    def selected(self, measure: str, number: int) -> TextModel:
        """Return the model with the `number` terms that are best by a measure. Raises KeyError for an unknown one."""
        kept = set(self.selections[measure][:number])
        topics = {language: {t: w for t, w in topic.items() if t in kept} for language, topic in self.topics.items()}
        return TextModel(
            {term: weight for term, weight in self.idf.items() if term in kept},
            {language: topic for language, topic in topics.items() if topic},
            threshold=self.threshold,
            typical=self.typical,
            made=self.made,
        )

    def vector(self, text: str) -> dict[str, float]:
        """Return the TF-IDF vector of `text`, length 1; empty when none of its terms is in the vocabulary."""
        return tf_idf(term_counts(text), self.idf)

    def similarity(self, text: str) -> float:
        """Return the cosine, 0…1, of `text` with the nearest language's topic vector; 0 without known terms."""
        return self.nearness(self.vector(text))

    def nearness(self, vector: Vector) -> float:
        """Return `similarity` of a text whose `vector` is known."""
        return min(max((_product(vector, topic) for topic in self.topics.values()), default=0.0), 1.0)

    def page_similarity(self, document: Document) -> float:
        """Return `similarity` of a page: of its title and its text."""
        return self.similarity(page_text(document))

    def anchor_similarity(self, anchor: str) -> float:
        """Return `similarity` of a short text, cached: the same anchors are on every page of a site."""
        if not anchor:
            return 0.0
        return self._remembered(anchor) if len(anchor) <= LONGEST_REMEMBERED_ANCHOR else self.similarity(anchor)


def page_text(document: Document) -> str:
    """Return title and text of a page."""
    return f"{document.title}\n{document.text}"


def tf_idf(counts: Mapping[str, int], idf: Vector) -> dict[str, float]:
    """Return the vector of (1 + ln tf)·idf, length 1, of the terms in `idf`."""
    weights: dict[str, float] = {}
    log = math.log
    squares = 0.0
    for term, count in counts.items():
        rarity = idf.get(term)
        if rarity is not None:
            weight = rarity if count == 1 else (1.0 + log(count)) * rarity
            weights[term] = weight
            squares += weight * weight
    if not squares:
        return {}
    length = math.sqrt(squares)
    return {term: weight / length for term, weight in weights.items()}


def unit(vector: Vector) -> dict[str, float]:
    """Return the vector with length 1; empty for one of length 0."""
    length = norm(vector)
    return {term: weight / length for term, weight in vector.items()} if length else {}


def norm(vector: Vector) -> float:
    """Return the Euclidean length of a vector."""
    return math.sqrt(sum(weight * weight for weight in vector.values()))


def cosine(a: Vector, b: Vector) -> float:
    """Return a·b / (|a||b|), 0…1, of vectors without negative weights; 0 when one is empty. Exactly symmetric."""
    lengths = norm(a) * norm(b)
    return min(_product(a, b) / lengths, 1.0) if lengths else 0.0


def mean(vectors: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of the vectors, of which there is at least one."""
    total: dict[str, float] = {}
    for vector in vectors:
        for term, weight in vector.items():
            total[term] = total.get(term, 0.0) + weight
    return {term: weight / len(vectors) for term, weight in total.items()}


def _product(a: Vector, b: Vector) -> float:
    """Return the scalar product, summed with exact rounding, so that the order of the terms does not matter."""
    if len(a) > len(b):
        a, b = b, a
    return math.fsum([weight * b[term] for term, weight in a.items() if term in b])
