"""Decide whether a page is on the topic, by the page filter of SkyReach (Li, Zhao, Yu).

The filter computes the cosine of the page's keywords with the topic vector (VSM). Words of the title, the most likely
headline, get a higher weight. The topic vector prunes and expands the page's keywords, in a way that the paper does not
state (ours): besides the words of the topic only the `STRONGEST` heaviest other words remain, so that a long page is
not dominated by other words; and a synonym (of `text/thesaurus.py`) of a word of the topic counts as that word. The
threshold is the topic model's own, for the pages that a crawl keeps (`--store-pages`) and for `ipagerank.filter` alike.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from geocrawl.model import Document, Relevance
from geocrawl.priority.text.terms import term_counts

if TYPE_CHECKING:
    from geocrawl.priority.text.thesaurus import Thesaurus
    from geocrawl.priority.topics.directory import Topic
    from geocrawl.priority.vectors.tfidf import TextModel

STRONGEST = 100
TITLE_WEIGHT = 3.0
"""Weight of a word in the title, one in the text has 1 (ours; the paper does not print it)."""


class PageFilter:
    """Judges pages by title and text."""

    def __init__(
        self,
        model: TextModel,
        thesaurus: Thesaurus,
        *,
        title_weight: float = TITLE_WEIGHT,
        threshold: float | None = None,
    ) -> None:
        """Make a filter; `title_weight` is the weight of a word in the title (1 in the text).

        `threshold`: similarity of a page on the topic; None: above the topic model's threshold.
        """
        self._model = model
        self._threshold = math.nextafter(model.threshold, 1.0) if threshold is None else threshold
        self._title_weight = title_weight
        self._topic = frozenset(term for topic in model.topics.values() for term in topic)
        self._expansions = _expansions(thesaurus, self._topic)

    def judge(self, document: Document) -> tuple[float, Relevance]:
        """Return (cosine 0…1, HIGH from the threshold on, else NONE)."""
        similarity = self.similarity(document.headline or document.title, document.text)
        return similarity, Relevance.HIGH if similarity >= self._threshold else Relevance.NONE

    def kept_score(self, document: Document) -> float | None:
        """Return the cosine, 0…1, of a page on the topic, None for any other."""
        similarity, relevance = self.judge(document)
        return similarity if relevance is Relevance.HIGH else None

    def similarity(self, title: str, text: str) -> float:
        """Return the cosine, 0…1, of the page's pruned and expanded keywords with the nearest topic vector."""
        counts: dict[str, float] = {term: float(count) for term, count in term_counts(text).items()}
        for term, count in term_counts(title).items():
            counts[term] = counts.get(term, 0.0) + self._title_weight * count
        idf = self._model.idf
        weights = {t: (1.0 + math.log(count)) * idf[t] for t, count in counts.items() if t in idf}
        weights = self._expanded(self._pruned(weights))
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        return self._model.nearness({t: weight / length for t, weight in weights.items()}) if length else 0.0

    def _pruned(self, weights: Mapping[str, float]) -> dict[str, float]:
        others = ((weight, term) for term, weight in weights.items() if term not in self._topic)
        strongest = {term for _, term in heapq.nlargest(STRONGEST, others)}
        return {t: weight for t, weight in weights.items() if t in self._topic or t in strongest}

    def _expanded(self, weights: dict[str, float]) -> dict[str, float]:
        expanded = dict(weights)
        for term, weight in weights.items():
            for synonym in self._expansions.get(term, ()):
                if synonym not in weights:
                    expanded[synonym] = max(weight, expanded.get(synonym, 0.0))
        return expanded


def make_page_filter(topic: Topic | None, threshold: float) -> PageFilter:
    """Return the filter for a topic, None for the trained one; with 0 the threshold is the topic model's.

    Raises EnvironmentFault when the model cannot be read.
    """
    from geocrawl.priority.ingredients import Ingredients
    from geocrawl.priority.models.files import shipped_models
    from geocrawl.priority.text.thesaurus import shipped_thesaurus

    trained = topic is None or topic.shipped_model
    model = Ingredients("", {}, shipped_models(), None if trained else topic).text_model()
    return PageFilter(model, shipped_thesaurus(), threshold=threshold or None)


def _expansions(thesaurus: Thesaurus, topic: frozenset[str]) -> Mapping[str, tuple[str, ...]]:
    """Return term → its synonyms among the topic's terms; only synonyms of a single term count."""
    found: dict[str, tuple[str, ...]] = {}
    for group in thesaurus.groups:
        terms = sorted({term for word in group if len(counts := term_counts(word)) == 1 for term in counts})
        for term in terms:
            meant = tuple(other for other in terms if other != term and other in topic)
            if meant:
                found[term] = (*found.get(term, ()), *meant)
    return found
