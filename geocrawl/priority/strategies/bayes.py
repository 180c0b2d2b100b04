"""`bayes`: rank links by a naive Bayes classifier of their contexts (Han et al. 2010, "professional crawling").

A link is classified by its context: the words of its anchor, the words around it, and whether either contains a term of
the domain. The class is argmax P(c) Π P(F_j | c) over the features that are present, and a link's score is P(+ |
features); links are ranked and never discarded. A waiting link keeps the highest of its scores, as with every strategy.

The paper leaves open, and this implementation decides: smoothing is Laplace's; words unknown to the model are no
evidence; seeds rank above all links.

The classifier also learns during the crawl from the results of followed links (`Experience`), which need no
labelling; `bayes.online=false` switches that off. The prior is always the trained model's, so that early and late
scores are comparable.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from geocrawl.errors import UsageError
from geocrawl.model import Document, Feedback, Judgement, Link, Purpose, Rank, State
from geocrawl.ports import QueuedLink
from geocrawl.priority.ingredients import Defaults, Ingredients
from geocrawl.priority.naive_bayes import (
    BAYES_FILE,
    BAYES_PAGES_FILE,
    BayesModel,
    FeatureReader,
    for_links,
    prior_weight,
    probability,
    read_bayes,
    weight,
)
from geocrawl.priority.nearness import TopicModel
from geocrawl.priority.options import Constant, Option, Preset, parse_options
from geocrawl.priority.text_terms import link_contexts
from geocrawl.priority.topics import Topic, all_topics

# --------------------------------------------------------------------------- training
# The samples of each class that have each feature are counted (Han et al. 2010). A crawl for a topic trains a
# classifier at its start (`topic_model`); `geocrawl train bayes` trains one from labelled pages.


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


# --------------------------------------------------------------------------- learning during the crawl
# Links that led to a verified service within two hops are positive samples.
#
# The result of following a link is known late, so every ranked link is remembered with its features. When its page is
# visited the link counts as negative, because it has led to nothing yet; when a valid service is found on that page or
# one link behind it, the link becomes positive. All this depends on the sequence of feedback alone. Memory is bounded:
# the oldest links are forgotten first, and beyond `MAX_FEATURES` no new word is counted.


VERSION = 1
HOPS = 2
"""Links before a service that are counted as positive (Han et al. 2010: within a hop or two)."""
MAX_LINKS = 20_000
MAX_FEATURES = 50_000
MAX_PACKED_BYTES = 20_000
_PACKED_LINKS, _PACKED_FEATURES = 500, 24
"""Most links of a page, and most features of a link, that are packed."""
_WAITING, _NEGATIVE, _POSITIVE = 0, 1, 2


@dataclass(slots=True)
class _Link:
    """A link that is remembered, with its features and its label so far."""

    found_on: int
    label: int
    features: list[str]


@dataclass(slots=True)
class Experience:
    """Counts of the crawl's own samples, and the links whose label may still change."""

    positive: int = 0
    negative: int = 0
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Feature → samples of + and of − that have it."""
    unrevised: int = 0
    """Number of feedbacks since links were last reranked."""
    _links: dict[int, _Link] = field(default_factory=dict)

    def learn(self, feedback: Feedback, score: Callable[[Sequence[str]], float]) -> bool:
        """Learn from one feedback and return True when the counts have changed.

        `score` decides which of two contexts of a link is better.
        """
        self.unrevised += 1
        samples = (self.positive, self.negative)
        if feedback.purpose is Purpose.PAGE:
            self._visited(feedback, score)
        elif feedback.purpose is Purpose.PROBE and feedback.valid:
            self._found(feedback.found_on)
        return samples != (self.positive, self.negative)

    def waiting(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (frontier id, features) of the remembered links that were not visited."""
        return ((number, link.features) for number, link in self._links.items() if link.label == _WAITING)

    def _visited(self, feedback: Feedback, score: Callable[[Sequence[str]], float]) -> None:
        own = self._links.get(feedback.entry_id)
        noted = unpack_features(feedback.features)
        for identity, number in feedback.links:
            # A redirect's target has no anchor of its own: it gets the features of the link to the redirect.
            features = noted.get(_short(identity)) if feedback.features else own.features if own else None
            if features is not None and number != feedback.entry_id:
                self._remember(number, feedback.entry_id, features, score)
        if own is not None and own.label == _WAITING and feedback.state is State.VISITED:
            own.label = _NEGATIVE
            self.negative += 1
            self._count(own.features, 0, 1)

    def _remember(
        self, number: int, found_on: int, features: list[str], score: Callable[[Sequence[str]], float]
    ) -> None:
        known = self._links.get(number)
        if known is None:
            if len(self._links) >= MAX_LINKS:
                del self._links[next(iter(self._links))]
            self._links[number] = _Link(found_on, _WAITING, features)
        elif known.label == _WAITING and features != known.features and score(features) > score(known.features):
            known.found_on, known.features = found_on, features

    def _found(self, page: int | None) -> None:
        """Count the links that led to `page`, on which a valid service was found, as positive samples."""
        for _ in range(HOPS):
            link = self._links.get(page) if page is not None else None
            if link is None:
                return
            if link.label == _NEGATIVE:
                self.negative -= 1
                self.positive += 1
                self._count(link.features, 1, -1)
                link.label = _POSITIVE
            page = link.found_on

    def _count(self, features: Sequence[str], plus: int, minus: int) -> None:
        for feature in features:
            if feature in self.counts or len(self.counts) < MAX_FEATURES:
                before = self.counts.get(feature, (0, 0))
                self.counts[feature] = (max(before[0] + plus, 0), max(before[1] + minus, 0))

    # ------------------------------------------------------------------ kept over restarts

    def dump(self) -> bytes:
        """Return all counts and remembered links as compressed JSON, for `load`."""
        words: dict[str, int] = {}
        links = [
            (number, link.found_on, link.label, [words.setdefault(f, len(words)) for f in link.features])
            for number, link in self._links.items()
        ]
        state = {
            "version": VERSION,
            "samples": [self.positive, self.negative],
            "unrevised": self.unrevised,
            "counts": self.counts,
            "words": list(words),
            "links": links,
        }
        return zlib.compress(json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode(), 6)

    @classmethod
    def load(cls, state: bytes) -> Experience:
        """Return the experience that `dump` wrote. Raises UsageError for a dump of another version."""
        try:
            data = json.loads(zlib.decompress(state))
            if data["version"] != VERSION:
                raise ValueError(f"version {data['version']}, not {VERSION}")
            words, (positive, negative) = data["words"], data["samples"]
            counts = {feature: (plus, minus) for feature, (plus, minus) in data["counts"].items()}
            links = {
                number: _Link(page, label, [words[i] for i in places]) for number, page, label, places in data["links"]
            }
            return cls(positive, negative, counts, data["unrevised"], links)
        except (KeyError, IndexError, TypeError, ValueError, zlib.error) as error:
            raise UsageError(
                f"what bayes had learnt in this database cannot be restored ({error}); crawl on with --strategy "
                "bayes --set bayes.online=false"
            ) from error


# --------------------------------------------------------------------------- features of a page's links


def pack_features(links: Sequence[Link], features: Sequence[Sequence[str]]) -> bytes:
    """Return the features of a page's first links, packed for its feedback; at most `MAX_PACKED_BYTES`."""
    words: dict[str, int] = {}
    noted: dict[str, list[int]] = {}
    for link, link_features in zip(links, features, strict=True):
        if len(noted) >= _PACKED_LINKS:
            break
        known = noted.setdefault(_short(link.url.identity), [])
        known += [words.setdefault(f, len(words)) for f in link_features[: _PACKED_FEATURES - len(known)]]
    while True:
        packed = zlib.compress(json.dumps([list(words), noted], ensure_ascii=False, separators=(",", ":")).encode(), 1)
        if len(packed) <= MAX_PACKED_BYTES:
            return packed
        noted = dict(list(noted.items())[: len(noted) // 2])
        words = dict.fromkeys(list(words)[: max((i for places in noted.values() for i in places), default=-1) + 1], 0)


def unpack_features(packed: bytes) -> dict[str, list[str]]:
    """Return the short name of a link's identity → its features; empty for b""."""
    if not packed:
        return {}
    words, noted = json.loads(zlib.decompress(packed))
    return {name: list(dict.fromkeys(words[i] for i in places)) for name, places in noted.items()}


def _short(identity: str) -> str:
    return hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


# --------------------------------------------------------------------------- the strategy


NAME = "bayes"
SEED_TIER, LINK_TIER = 2, 1
TIERS = {SEED_TIER: "start pages", LINK_TIER: "links, by their words"}
"""Tier → its name for people."""
_EXPLAINED = 12
"""Number of features in the answer of `explain`, the heaviest first."""
_BATCH = 5_000

OPTIONS: Mapping[str, Option] = {
    "model": Option("", "file of `geocrawl train bayes` to use; empty: the model that comes with geocrawl"),
    "online": Option(True, "learn during the crawl: links that led to a valid service within two hops are positive"),
    "anchors": Option(False, "read the words of the anchor alone, neither context nor lexicon"),
    "pages": Option(False, "use a model of the words of pages, the paper's control, instead of one of links"),
    "own_weight": Option(10.0, "how many trained samples one sample of the crawl's own counts for", 0.0, 1e6),
    "revise": Option(500, "visits after which waiting links are reranked (online only); 0: never", 0, 10_000_000),
}
_UNUSED = "not used: nothing is learnt during the crawl"
_BEFORE = {
    "online": Constant(False, "the classifier is trained before the crawl"),
    "own_weight": Constant(0.0, _UNUSED),
    "revise": Constant(0, _UNUSED),
}
_SMOOTHED = (
    "P(F | c) has Laplace smoothing (ours), and words unknown to the model are no evidence.",
    "A word counts only when samples of two sources have it, and words are reduced to their stems.",
    "The window of a link ends with the block that holds it; a link alone in its block has the links before and after "
    "it in the document as its neighbours. The paper prints no size of a window.",
)
_SETUP = {"max_pages": Constant(50_000, "harvest over 50,000 pages")}
PRESETS: Mapping[str, Preset] = {
    "bayes:paper": Preset(
        "anchor, context and lexicon, trained before the crawl (Han et al. 2010)",
        {
            "model": Constant(
                "",
                "trained on 34,728 positive and 32,872 negative links, by authoritative domains",
                "the shipped model: 1,843 positive and 5,501 negative links, 5,208 of them listed ones without context",
            ),
            "anchors": Constant(False, "anchor + context + lexicon is best"),
            "pages": Constant(False, "trained on links, not on pages"),
            **_BEFORE,
        },
        _SMOOTHED,
        _SETUP,
    ),
    "bayes:anchors": Preset(
        "the words of the anchor alone, which the paper compares with (Han et al. 2010)",
        {
            "model": Constant("", "the same links", "the shipped model"),
            "anchors": Constant(True, "features of the anchor alone"),
            "pages": Constant(False, "trained on links, not on pages"),
            **_BEFORE,
        },
        (
            *_SMOOTHED,
            "A feature is counted by itself, so the counts of anchors are those of a model of anchors alone.",
        ),
        _SETUP,
    ),
    "bayes:pages": Preset(
        "the control: the same classifier, trained on the words of pages (Han et al. 2010)",
        {
            "model": Constant(
                "",
                "trained on 1,200 pages on the topic and 1,200 others",
                "the shipped model of 92 pages about OGC services and 207 others",
            ),
            "anchors": Constant(False, "the words of a link are those of its anchor and context"),
            "pages": Constant(True, "trained on pages"),
            **_BEFORE,
        },
        (*_SMOOTHED, "A page counts as one sample, and its words as evidence in anchor and context alike."),
        _SETUP,
    ),
}


def model_file(options: Mapping[str, str]) -> Path | None:
    """Return the file that `bayes.model` names, None for the shipped model. Raises UsageError for a bad option."""
    named = str(parse_options(NAME, options, OPTIONS)["model"])
    return Path(named) if named else None


class BayesStrategy(Defaults):
    """Ranks links by P(+ | features)."""

    name = NAME
    by_yield = True

    def __init__(self, model: BayesModel, options: Mapping[str, str]) -> None:
        """Read the `options` that people set (`bayes.online` …, see `OPTIONS`). Raises UsageError for a bad one."""
        values = parse_options(NAME, options, OPTIONS)
        self.learns = bool(values["online"])
        self._own_weight = float(values["own_weight"])
        self._revise_after = int(values["revise"])
        self._model = model
        self._prior = prior_weight(model)
        self._anchors_alone = bool(values["anchors"])
        self._features = FeatureReader(() if self._anchors_alone else model.lexicon)
        self._experience = Experience()
        self._weights: dict[str, float] = {}
        """Weights computed since the last change of the counts."""

    def seed_rank(self) -> Rank:
        return Rank(SEED_TIER)

    def judge(self, document: Document) -> Judgement:
        """Score each link by P(+ | features). The page has no score: the classifier reads links, not pages."""
        links, of_link = document.links, self._features.of_link
        contexts = [()] * len(links) if self._anchors_alone else link_contexts(links)
        features = [of_link(link.anchor, context) for link, context in zip(links, contexts, strict=True)]
        ranks = tuple(Rank(LINK_TIER, self.score(link_features)) for link_features in features)
        packed = pack_features(links, features) if self.learns else b""
        return Judgement(0.0, ranks, packed)

    def score(self, features: Sequence[str]) -> float:
        """Return P(+ | features), 0…1 (Han et al. 2010: argmax P(c) Π P(F_j | c))."""
        known = self._weights
        return probability([self._prior, *[known[f] if f in known else self._weight(f) for f in features]])

    def rank(self, waiting: QueuedLink) -> Rank:
        """Rank a link that another strategy enqueued by its anchor, the only words of a link in the database."""
        if waiting.depth == 0:
            return self.seed_rank()
        return Rank(LINK_TIER, self.score(self._features.of_link(waiting.anchor)))

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return score (0…1, of the anchor alone), prior, and the features with the largest weights, ln P(F|+) − ln
        P(F|−).
        """
        features = self._features.of_link(waiting.anchor)
        known = {feature: round(self._weight(feature), 3) for feature in features if self._weight(feature)}
        heaviest = sorted(known.items(), key=lambda item: (-abs(item[1]), item[0]))[:_EXPLAINED]
        return {
            "score": round(self.score(features), 6),
            "prior": round(self._prior, 3),
            "features": dict(heaviest),
            "unknown": [feature for feature in features if feature not in known],
            "seed": waiting.depth == 0,
        }

    # ------------------------------------------------------------------ learning

    def learn(self, feedback: Feedback) -> None:
        """Count the result of a settled visit for the links that led to it (`Experience`)."""
        if self.learns and self._experience.learn(feedback, self.score):
            self._weights.clear()

    def revise(self) -> Iterator[Sequence[tuple[int, Rank]]] | None:
        """Return new ranks of the remembered waiting links every `bayes.revise` feedbacks, else None."""
        if not self.learns or not self._revise_after or self._experience.unrevised < self._revise_after:
            return None
        self._experience.unrevised = 0
        ranks = [(number, Rank(LINK_TIER, self.score(features))) for number, features in self._experience.waiting()]
        return (ranks[start : start + _BATCH] for start in range(0, len(ranks), _BATCH))

    def dump(self) -> bytes:
        """Return all counts and remembered links, which are bounded."""
        return self._experience.dump() if self.learns else b""

    def load(self, state: bytes) -> None:
        """Restore an earlier dump. Raises UsageError for a dump of another version."""
        if self.learns and state:
            self._experience = Experience.load(state)
            self._weights.clear()

    def _weight(self, feature: str) -> float:
        """Return ln P(F|+) − ln P(F|−) of a feature, 0 for a feature without samples.

        A sample from the crawl counts as `own_weight` trained ones.
        """
        known = self._weights.get(feature)
        if known is not None:
            return known
        own, times = self._experience, self._own_weight
        plus, minus = self._model.features.get(feature, (0, 0))
        own_plus, own_minus = own.counts.get(feature, (0, 0))
        having = (plus + times * own_plus, minus + times * own_minus)
        if not any(having):
            return 0.0
        all_plus, all_minus = self._model.positive, self._model.negative  # eq. 2: all samples, with context or without
        self._weights[feature] = weight(having, (all_plus + times * own.positive, all_minus + times * own.negative))
        return self._weights[feature]


def make(ingredients: Ingredients) -> BayesStrategy:
    """Make the strategy with the model of `bayes.model`, else one of the chosen topic's texts, else the shipped one."""
    named = model_file(ingredients.options)
    if named is None and ingredients.topic is not None:
        model = topic_model(ingredients.topic, all_topics().values(), ingredients.keywords())
        return BayesStrategy(model, ingredients.options)
    of_pages = bool(parse_options(NAME, ingredients.options, OPTIONS)["pages"])
    model = read_bayes(named or ingredients.models / (BAYES_PAGES_FILE if of_pages else BAYES_FILE))
    return BayesStrategy(for_links(model) if of_pages else model, ingredients.options)
