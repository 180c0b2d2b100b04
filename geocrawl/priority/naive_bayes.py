"""Define the naive Bayes model of links: its features, its counts, its weights and its file (bayes and fusion use it).

A feature is a word of the anchor, a word of the context, or the fact that one of them has a term of the lexicon. The
model counts *samples* that have a feature, not how often a word occurs in them (Han et al. 2010).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from geocrawl.priority.models import Format, malformed, read_model, write_text
from geocrawl.priority.text_terms import Keywords, term_counts

BAYES_FILE = "bayes_links.json"
"""Name of the file in a folder of models."""
BAYES_PAGES_FILE = "bayes_pages.json"
"""Name of the file of the paper's control, which was trained on pages: a page counts as an anchor, with all its words.
"""
FORMAT = Format("geocrawl-bayes-links", "geocrawl train bayes")
ANCHOR, CONTEXT = "anchor", "context"
"""Place of a word; a feature is one of these, a space and the word."""
TERM_IN_ANCHOR, TERM_IN_CONTEXT = "term in anchor", "term in context"
_TERMS = (TERM_IN_ANCHOR, TERM_IN_CONTEXT)
REMEMBERED_TEXTS = 8_192
"""Texts whose features are cached: a site's navigation is on each of its pages."""
_PAIR = re.compile(r"\[\s+(\d+),\s+(\d+)\s+\]")


@dataclass(frozen=True, slots=True)
class BayesModel:
    """The counts of samples, and the record of the training."""

    positive: int
    """Number of samples of the class +: links that lead to the topic."""
    negative: int
    with_context: tuple[int, int]
    """Numbers of samples of + and − that have a context: the totals for features of the context, because links in a
    list of addresses have none.
    """
    features: Mapping[str, tuple[int, int]]
    """Feature → numbers of samples of + and − that have the feature."""
    lexicon: tuple[str, ...]
    """Domain terms, lower case."""
    made: Mapping[str, object] = field(default_factory=dict)


class FeatureReader:
    """Turns texts into features, with a cache; the same text always has the same features."""

    def __init__(self, lexicon: Iterable[str]) -> None:
        terms = Keywords(frozenset(lexicon))
        self.of_anchor = lru_cache(maxsize=REMEMBERED_TEXTS)(lambda text: _features(text, terms, ANCHOR))
        """The features of an anchor, each once, in the text's order."""
        self._of_context = lru_cache(maxsize=REMEMBERED_TEXTS)(lambda text: _features(text, terms, CONTEXT))

    def of_link(self, anchor: str, context: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the features of a link with that anchor and those texts around it, each once."""
        features = self.of_anchor(anchor)
        for text in context:
            features += self._of_context(text)
        return tuple(dict.fromkeys(features)) if len(context) > 1 else features


def _features(text: str, terms: Keywords, where: str) -> tuple[str, ...]:
    if not text:
        return ()
    words = tuple(f"{where} {word}" for word in term_counts(text))
    return (*words, TERM_IN_ANCHOR if where == ANCHOR else TERM_IN_CONTEXT) if terms.found_in(text) else words


def weight(having: Sequence[float], samples: Sequence[float]) -> float:
    """Return ln P(F|+) − ln P(F|−) of a feature that `having` = (+, −) of all `samples` = (+, −) have.

    P(F|c) = (n_cF + 1) / (n_c + 2): Laplace smoothing over the two values of a feature, present or not (ours).
    """
    (plus, minus), (all_plus, all_minus) = having, samples
    return math.log((plus + 1.0) / (all_plus + 2.0)) - math.log((minus + 1.0) / (all_minus + 2.0))


def samples_of(model: BayesModel, feature: str) -> tuple[int, int]:
    """Return the numbers of samples of + and of − that could have the feature (ours; fusion is trained with these).

    By eq. 2 of Han et al. a feature's samples are counted over all samples of the class, with or without context.
    """
    if feature == TERM_IN_CONTEXT or feature.startswith(f"{CONTEXT} "):
        return model.with_context
    return model.positive, model.negative


def for_links(model: BayesModel) -> BayesModel:
    """Return a model of pages for links: a word of a page is evidence in the anchor and in the context alike."""
    contexts = {
        TERM_IN_CONTEXT if feature == TERM_IN_ANCHOR else f"{CONTEXT}{feature.removeprefix(ANCHOR)}": counts
        for feature, counts in model.features.items()
    }
    samples = (model.positive, model.negative)
    return replace(model, with_context=samples, features={**model.features, **contexts})


def prior_weight(model: BayesModel) -> float:
    """Return ln P(+) − ln P(−), P(c) = (n_c + 1) / (n + 2)."""
    return math.log((model.positive + 1.0) / (model.negative + 1.0))


def probability(weights: Iterable[float]) -> float:
    """Return P(+ | features), 0…1, from the weights of the prior and of the features that are present."""
    odds = math.fsum(weights)
    if odds >= 0.0:
        return 1.0 / (1.0 + math.exp(-odds))
    return math.exp(max(odds, -700.0)) / (1.0 + math.exp(max(odds, -700.0)))


# --------------------------------------------------------------------------- the file


def read_bayes(path: Path) -> BayesModel:
    """Return the Bayes model in `path`. Raises EnvironmentFault if unreadable, UsageError if not a model."""
    data = read_model(path, FORMAT)
    try:
        samples, words = data["samples"], data["words"]
        features = {f"{where} {word}": _pair(n) for where in (ANCHOR, CONTEXT) for word, n in words[where].items()}
        features |= {term: _pair(n) for term, n in data["terms"].items() if term in _TERMS}
        positive, negative = _pair([samples["positive"], samples["negative"]])
        with_context = _pair(samples["with_context"])
        lexicon = tuple(str(term) for term in data["lexicon"])
        if not all(lexicon):
            raise ValueError("an empty term in the lexicon")
        model = BayesModel(positive, negative, with_context, features, lexicon, dict(data["made"]))
        for feature, (plus, minus) in features.items():
            most = samples_of(model, feature)
            if plus > most[0] or minus > most[1]:
                raise ValueError(f"more samples with {feature!r} than samples")
        return model
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise malformed(path, FORMAT, error) from error


def write_bayes(model: BayesModel, path: Path) -> None:
    """Write a model, words of most samples first. Raises EnvironmentFault when `path` cannot be written."""
    words: dict[str, dict[str, tuple[int, int]]] = {ANCHOR: {}, CONTEXT: {}}
    terms: dict[str, tuple[int, int]] = {}
    for feature, counts in sorted(model.features.items(), key=lambda item: (-sum(item[1]), item[0])):
        where, _, word = feature.partition(" ")
        if feature in _TERMS:
            terms[feature] = counts
        else:
            words[where][word] = counts
    data = {
        "format": FORMAT.name,
        "version": FORMAT.version,
        "samples": {"positive": model.positive, "negative": model.negative, "with_context": model.with_context},
        "terms": terms,
        "lexicon": model.lexicon,
        "made": model.made,
        "words": words,
    }
    write_text(path, _PAIR.sub(r"[\1, \2]", json.dumps(data, ensure_ascii=False, indent=1)))


def _pair(value: Sequence[object]) -> tuple[int, int]:
    plus, minus = value
    if not isinstance(plus, int) or not isinstance(minus, int) or plus < 0 or minus < 0:
        raise ValueError(f"expected two counts, not {value!r}")
    return plus, minus
