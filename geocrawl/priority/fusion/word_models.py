"""Measure texts for fusion by the models of `best-first` and `bayes`: cosines with the topic, odds of the classifier.

The models' words are searched without a segmenter, which would take a second at the first Chinese page: every part of a
run of Han characters counts that is a word of the models, just as jieba's search mode returns long words and the
shorter ones within. Japanese text is split as everywhere (`text.terms`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from geocrawl.priority.text.terms import (
    LONGEST_REMEMBERED_RUN,
    REMEMBERED_RUNS,
    REMEMBERED_WORDS,
    is_japanese,
    term_counts,
    term_of_word,
)
from geocrawl.priority.text.tfidf import TextModel, tf_idf

REMEMBERED = 50_000
READ = 6_000
_ASCII = re.compile("[\x00-\x7f]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_LENGTHS = (2, 3, 4)
"""Lengths of Han words in characters: the dictionaries contain few longer ones."""


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
        self._han = frozenset(word for word in _words(texts, bayes) if _HAN.fullmatch(word))
        self._known_runs = lru_cache(REMEMBERED_RUNS)(self._words_in)
        self._known_term = lru_cache(REMEMBERED_WORDS)(self._read_term)
        self._known_counts = lru_cache(REMEMBERED)(self.counts)
        self._known_features = lru_cache(REMEMBERED)(self._features)

    def anchor_nearness(self, anchor: str) -> float:
        """Return the cosine of a short text with the topic, 0…1."""
        return self._nearness(self._known_counts(anchor)) if anchor else 0.0

    def page_nearness(self, title: str, text: str) -> float:
        """Return the cosine of a page with the topic over all words, in units of the median page on the topic.

        The first `READ` characters count.
        """
        return self._nearness(self.counts(f"{title}\n{text[:READ]}", self._known_term)) / (self._texts.typical or 1.0)

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

    def counts(self, text: str, term_of: Callable[[str], str] = term_of_word) -> dict[str, int]:
        """Return term → how often it occurs in `text`; `term_of` as in `term_counts`."""
        if text.isascii() or not _HAN.search(_ASCII.sub("", text)) or is_japanese(text):
            return term_counts(text, term_of)
        counts = term_counts(_HAN.sub(" ", text), term_of)
        for run in _HAN.findall(text):
            for word in self._known_runs(run) if len(run) <= LONGEST_REMEMBERED_RUN else self._words_in(run):
                counts[word] = counts.get(word, 0) + 1
        return counts

    def _words_in(self, run: str) -> tuple[str, ...]:
        """Return the words of the models in a run of Han characters, the shorter ones first."""
        known = self._han
        parts = (run[start : start + n] for n in _LENGTHS for start in range(len(run) - n + 1))
        return tuple(part for part in parts if part in known)


def _words(texts: TextModel, bayes: BayesModel | None) -> Iterable[str]:
    yield from texts.idf
    for feature in bayes.features if bayes else ():
        yield feature.partition(" ")[2]
