"""Measure texts for fusion by the models of `best-first` (cosines with the topic) and `bayes` (odds of a link)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from geocrawl.priority.naive_bayes import (
    ANCHOR,
    CONTEXT,
    TERM_IN_ANCHOR,
    TERM_IN_CONTEXT,
    BayesModel,
    prior_weight,
    samples_of,
    weight,
)
from geocrawl.priority.text.keywords import Keywords
from geocrawl.priority.text.terms import REMEMBERED_WORDS, term_counts, term_of_word
from geocrawl.priority.text.tfidf import TextModel, tf_idf

REMEMBERED = 50_000
READ = 6_000


class _Features(NamedTuple):
    """The weights of the classifier's features in a text, as an anchor and as the context of a link."""

    of_anchor: Mapping[str, float]
    of_context: Mapping[str, float]


_NOTHING: Mapping[str, float] = MappingProxyType({})
_NO_FEATURES = _Features(_NOTHING, _NOTHING)


class WordModels:
    """Measures texts, with a cache: a site's navigation is on each of its pages."""

    def __init__(self, texts: TextModel, bayes: BayesModel | None) -> None:
        """Make measures by two models. Without `bayes` (trained for another topic) all odds are 0."""
        self._texts = texts
        self._odds = {f: weight(n, samples_of(bayes, f)) for f, n in bayes.features.items()} if bayes else {}
        self._start = prior_weight(bayes) if bayes else 0.0
        self._terms = Keywords(frozenset(bayes.lexicon if bayes else ()))
        self._known_term = lru_cache(REMEMBERED_WORDS)(self._read_term)
        self._known_counts = lru_cache(REMEMBERED)(term_counts)
        self._known_features = lru_cache(REMEMBERED)(self._features)

    def anchor_nearness(self, anchor: str) -> float:
        """Return the cosine of a short text with the topic, 0…1."""
        return self._nearness(self._known_counts(anchor)) if anchor else 0.0

    def page_nearness(self, title: str, text: str) -> float:
        """Return the cosine of a page with the topic over all words, in units of the median page on the topic.

        The first `READ` characters count.
        """
        return self._nearness(term_counts(f"{title}\n{text[:READ]}", self._known_term)) / (self._texts.typical or 1.0)

    def odds(self, anchor: str, context: Sequence[str]) -> float:
        """Return ln of the odds that a link with this anchor and these texts around it leads to the topic (bayes)."""
        found = self._known_features(anchor).of_anchor
        for text in context:
            if around := self._known_features(text).of_context:
                found = {**found, **around}
        return self._start + sum(found.values())

    def _features(self, text: str) -> _Features:
        """Return the classifier's features in `text`."""
        if not text or not self._odds:
            return _NO_FEATURES
        words, has_term = self._known_counts(text), bool(self._terms.found_in(text))
        return _Features(
            self._weights((*(f"{ANCHOR} {word}" for word in words), *(TERM_IN_ANCHOR,) * has_term)),
            self._weights((*(f"{CONTEXT} {word}" for word in words), *(TERM_IN_CONTEXT,) * has_term)),
        )

    def _weights(self, features: Iterable[str]) -> Mapping[str, float]:
        odds = self._odds
        return {feature: odds[feature] for feature in features if feature in odds} or _NOTHING

    def _nearness(self, counts: Mapping[str, int]) -> float:
        return self._texts.nearness(tf_idf(counts, self._texts.idf)) if counts else 0.0

    def _read_term(self, word: str) -> str:
        """Return the term of a word, '' when the text model does not know it."""
        term = term_of_word(word)
        return term if term in self._texts.idf else ""
