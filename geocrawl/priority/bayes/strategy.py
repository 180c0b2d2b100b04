"""`bayes`: rank links by a naive Bayes classifier of their contexts (Han et al. 2010, "professional crawling").

A link is classified by its context: the words of its anchor, the words around it, and whether either contains a term of
the domain. The class is argmax P(c) Π P(F_j | c) over the features that are present, and a link's score is P(+ |
features); links are ranked and never discarded. A waiting link keeps the highest of its scores, as with every strategy.

The paper leaves open, and this implementation decides: smoothing is Laplace's; words unknown to the model are no
evidence; seeds rank above all links. Pages are not judged, so their relevance is 0.

The classifier also learns during the crawl from the results of followed links (`online_learning`), which need no
labelling; `bayes.online=false` switches that off. The prior is always the trained model's, so that early and late
scores are comparable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from geocrawl.model import Document, Feedback, Judgement, Rank, Relevance
from geocrawl.ports import Waiting
from geocrawl.priority.bayes.online_learning import Experience, pack_features
from geocrawl.priority.bayes.training import topic_model
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
from geocrawl.priority.options import Constant, Option, Preset, parse_options
from geocrawl.priority.text.keywords import link_contexts
from geocrawl.priority.topics import all_topics

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
)
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
        """Score each link by P(+ | features). The page's relevance is 0: the classifier reads links, not pages."""
        links, of_link = document.links, self._features.of_link
        contexts = [()] * len(links) if self._anchors_alone else link_contexts(links)
        features = [of_link(link.anchor, context) for link, context in zip(links, contexts, strict=True)]
        ranks = tuple(Rank(LINK_TIER, self.score(each)) for each in features)
        packed = pack_features(links, features) if self.learns else b""
        return Judgement(Relevance.NONE, 0.0, ranks, packed)

    def score(self, features: Sequence[str]) -> float:
        """Return P(+ | features), 0…1 (Han et al. 2010: argmax P(c) Π P(F_j | c))."""
        known = self._weights
        return probability([self._prior, *[known[f] if f in known else self._weight(f) for f in features]])

    def rank(self, waiting: Waiting) -> Rank:
        """Rank a link that another strategy enqueued by its anchor, the only words of a link in the database."""
        if waiting.depth == 0:
            return self.seed_rank()
        return Rank(LINK_TIER, self.score(self._features.of_link(waiting.anchor)))

    def explain(self, waiting: Waiting) -> Mapping[str, object]:
        """Return score (0…1, of the anchor alone), prior, and the features with the largest weights, ln P(F|+) − ln
        P(F|−).
        """
        features = self._features.of_link(waiting.anchor)
        known = {each: round(self._weight(each), 3) for each in features if self._weight(each)}
        heaviest = sorted(known.items(), key=lambda item: (-abs(item[1]), item[0]))[:_EXPLAINED]
        return {
            "score": round(self.score(features), 6),
            "prior": round(self._prior, 3),
            "features": dict(heaviest),
            "unknown": [each for each in features if each not in known],
            "seed": waiting.depth == 0,
        }

    # ------------------------------------------------------------------ learning

    def learn(self, feedback: Feedback) -> None:
        """Count the result of a settled visit for the links that led to it (`online_learning`)."""
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
