"""Train `bayes` for a topic of the directory on its sample texts, before any of its links are known.

The lines of the topic's sample texts are positive samples, those of all other topics negative ones. According to the
paper, training on texts is weaker than training on links (Han et al. 2010). Learning during the crawl corrects this,
and `geocrawl train bayes --topic` adds links: those to sites of the topic's start pages are positive samples, those to
sites of other topics' start pages negative ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geocrawl.priority.bayes.training import Sample, train_bayes
from geocrawl.priority.models.naive_bayes import BayesModel
from geocrawl.priority.topics.directory import Topic
from geocrawl.priority.topics.topic_vectors import TopicModel


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
