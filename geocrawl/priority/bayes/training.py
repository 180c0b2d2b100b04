"""Train the naive Bayes classifier of links: count the samples of each class that have each feature (Han et al. 2010).

A crawl for a topic trains a classifier at its start (`topic`); `geocrawl train bayes` trains one from labelled pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from geocrawl.errors import UsageError
from geocrawl.priority.naive_bayes import BayesModel, FeatureReader
from geocrawl.priority.nearness import TopicModel
from geocrawl.priority.topics import Topic

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


# --------------------------------------------------------------------------- topics of the directory
# The lines of the topic's sample texts are positive samples, those of all other topics negative ones. According to the
# paper, training on texts is weaker than training on links (Han et al. 2010). Learning during the crawl corrects this,
# and `geocrawl train bayes --topic` adds links: those to sites of the topic's start pages are positive samples, those
# to sites of other topics' start pages negative ones.


def topic_model(topic: Topic, others: Iterable[Topic], keywords: TopicModel) -> BayesModel:
    """Train the model on the sample texts alone. Raises UsageError when there is no other topic to compare with."""
    return train_bayes(topic_samples(topic, others), topic_lexicon(keywords), least=1)


def topic_samples(topic: Topic, others: Iterable[Topic]) -> Iterator[Sample]:
    """Yield each line of a sample text as a sample: as the anchor of a link and as the text around it.

    The topic's lines are repeated until they are about as many as those of the others: smoothing favours the smaller
    class, and one topic is compared with many.
    """
    ours, theirs = _lines([topic]), _lines(other for other in others if other.name != topic.name)
    repeated = ours * max(1, round(len(theirs) / max(len(ours), 1)))
    for lines, positive in ((repeated, True), (theirs, False)):
        for number, line in enumerate(lines):
            yield Sample(line, (line,), positive, f"line {number}")


def _lines(topics: Iterable[Topic]) -> list[str]:
    texts = (text for topic in topics for text in (topic.title, *topic.texts))
    return list(dict.fromkeys(stripped for text in texts for line in text.splitlines() if (stripped := line.strip())))


def topic_lexicon(keywords: TopicModel) -> tuple[str, ...]:
    """Return the domain terms: the topic's keywords in all its languages, sorted."""
    return tuple(sorted({word.lower() for vector in keywords.vectors.values() for word in vector}))
