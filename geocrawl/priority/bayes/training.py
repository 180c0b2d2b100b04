"""Train the naive Bayes classifier of links: count the samples of each class that have each feature (Han et al. 2010).

A crawl for a topic trains a classifier at its start (`topic`); `geocrawl train bayes` trains one from labelled pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from geocrawl.errors import UsageError
from geocrawl.priority.models.naive_bayes import BayesModel, FeatureReader

LEAST_SOURCES = 2
"""A word of fewer sources is left out of the model: a site's names and navigation are no evidence elsewhere.
"""


class Sample(NamedTuple):
    """A link with its class."""

    anchor: str
    context: tuple[str, ...]
    positive: bool
    source: str
    """Source of the link: host of its page; of a labelled address without page, the site of the address."""


def train_bayes(samples: Iterable[Sample], lexicon: Sequence[str], *, least: int = LEAST_SOURCES) -> BayesModel:
    """Count the samples of each class that have each feature; words of fewer than `least` sources are left out.

    Raises UsageError when a class has no sample.
    """
    reader = FeatureReader(lexicon)
    totals, contexts = Counter[bool](), Counter[bool]()
    counts = {True: Counter[str](), False: Counter[str]()}
    sources: dict[str, set[str]] = defaultdict(set)
    for sample in samples:
        features = reader.of_link(sample.anchor, sample.context)
        totals[sample.positive] += 1
        contexts[sample.positive] += bool(sample.context)
        counts[sample.positive].update(features)
        for feature in features:
            if len(sources[feature]) < least:
                sources[feature].add(sample.source)
    if not totals[True] or not totals[False]:
        raise UsageError(
            f"nothing to learn from: {totals[True]:,} positive and {totals[False]:,} negative links; both are needed"
        )
    plus, minus = counts[True], counts[False]
    kept = sorted(feature for feature, known in sources.items() if len(known) >= least)
    features_kept = {feature: (plus[feature], minus[feature]) for feature in kept}
    return BayesModel(totals[True], totals[False], (contexts[True], contexts[False]), features_kept, tuple(lexicon))
