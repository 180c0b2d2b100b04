"""`best-first` and variants: the baselines of `hits` (Liu, Li: Topic crawler algorithm with link structure, 2017).

A link's score is the similarity of its page with the topic (`best-first-page`), that of its anchor
(`best-first-anchor`), or their sum, 0…2 (`best-first`). `best-n-first` scores by the sum and leases the best N waiting
links at once, so that N links are visited before new ones can overtake them. The paper does not state N; 10 is ours.
The rival of `adaptive` (Min, Huang 2015) is `best-first-page` with the terms that tell pages on the topic from others
best, by information gain or χ².

The paper follows no links of pages at or below its relevance threshold, and does not state whether its baselines did
so. Here these links are followed (unless `cut` is set), because a page's low score already ranks its links last. Pages
are compared by title and text. A link that another strategy enqueued is ranked by its anchor and the level of its page,
because the text of the page is no longer known.
"""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.errors import UsageError
from geocrawl.model import Document, Judgement, Rank, Relevance
from geocrawl.ports import QueuedLink
from geocrawl.priority.ingredients import Defaults, Ingredients
from geocrawl.priority.options import Constant, Option, Preset, parse_options
from geocrawl.priority.text_terms import TF_IDF, TextModel

LINK_TIER = 1
SEED_TIER = 8
"""Tier of seeds, above all links: in the paper seeds have the highest weight, 1."""
TIERS = {SEED_TIER: "start pages", LINK_TIER: "links, by similarity"}
"""Tier → its name for people."""
N_FIRST = "best-n-first"
ALL = "all"

OPTIONS: Mapping[str, Option] = {
    "cut": Option(False, "follow no links of pages at or below the text model's threshold, as hits does"),
    "features": Option(ALL, "terms that texts are compared by: all, or the best by gain (information gain), chi2 (χ²)"),
    "terms": Option(500, "number of the best terms, where `features` selects them", 1, 500),
}
N_OPTIONS: Mapping[str, Option] = {
    **OPTIONS,
    "n": Option(10, "N, links that are leased from the queue at once", 1, 10_000),
}
_SHARES: Mapping[str, tuple[float, float]] = {
    "best-first": (1.0, 1.0),
    "best-first-page": (1.0, 0.0),
    "best-first-anchor": (0.0, 1.0),
    N_FIRST: (1.0, 1.0),
}
"""Name → the factors of sim(page) and sim(anchor)."""
_SHARED: Mapping[str, Constant] = {
    "cut": Constant(False, "links of pages at or below the threshold are not followed", "not said of the baselines"),
    "features": Constant(ALL, "TF-IDF of words that are neither stop words nor rare"),
    "terms": Constant(500, "no features are selected", "not used"),
}
_RIVAL: Mapping[str, Constant] = {
    "cut": Constant(False, "ranked by the page only; nothing is discarded"),
    "terms": Constant(500, "a number of features is selected", "how many is not printed; as many as adaptive's m"),
}
_LIU = {"max_pages": Constant(5_000, "5,000 pages of each topic")}
_MIN = {"max_pages": Constant(3_000, "3,000 pages")}
PRESETS: Mapping[str, Preset] = {
    "best-first:paper": Preset("sim(page) + sim(anchor), the third variant (Liu & Li 2017)", _SHARED, TF_IDF, _LIU),
    "best-first-page:paper": Preset("sim(page), the first variant (Liu & Li 2017)", _SHARED, TF_IDF, _LIU),
    "best-first-page:gain": Preset(
        "the rival of adaptive, trained with information gain (Min & Huang 2015)",
        {**_RIVAL, "features": Constant("gain", "features by information gain, TF-IDF")},
        TF_IDF,
        _MIN,
    ),
    "best-first-page:chi2": Preset(
        "the rival of adaptive, trained with χ² (Min & Huang 2015)",
        {**_RIVAL, "features": Constant("chi2", "features by χ², TF-IDF")},
        TF_IDF,
        _MIN,
    ),
    "best-first-anchor:paper": Preset("sim(anchor), the second variant (Liu & Li 2017)", _SHARED, TF_IDF, _LIU),
    "best-n-first:paper": Preset(
        "the best N at once, scored by sim(page) + sim(anchor) (Liu & Li 2017)",
        {**_SHARED, "n": Constant(10, "the best N links are taken from the queue at once", "N not printed")},
        TF_IDF,
        _LIU,
    ),
}


class BestFirst(Defaults):
    """Ranks links by similarity. The strategy learns nothing during a crawl: the text model is trained beforehand."""

    by_yield = True

    def __init__(self, name: str, model: TextModel, options: Mapping[str, str]) -> None:
        """Make the strategy called `name`, one of the four. Raises UsageError for a bad option."""
        values = parse_options(name, options, N_OPTIONS if name == N_FIRST else OPTIONS)
        self.name = name
        self._model = _selected(name, model, str(values["features"]), int(values["terms"]))
        self._page_share, self._anchor_share = _SHARES[name]
        self._cut = bool(values["cut"])
        self.stride = int(values.get("n", 1))

    def seed_rank(self) -> Rank:
        """Return a rank above all links."""
        return Rank(SEED_TIER)

    def judge(self, document: Document) -> Judgement:
        """Score a page by sim(page) and each link by sim(page) + sim(anchor), or by one of the two."""
        page = self._model.page_similarity(document)
        if self._cut and page <= self._model.threshold and document.depth > 0:
            return Judgement(page, (None,) * len(document.links))
        return Judgement(page, tuple(self._rank(page, link.anchor) for link in document.links))

    def rank(self, waiting: QueuedLink) -> Rank | None:
        """Rank a link that another strategy enqueued by its anchor and the level of its page, where 2 stands for the
        similarity of the median page on the topic, 1 for the threshold."""
        if waiting.depth == 0:
            return self.seed_rank()
        return self._rank(self._least(waiting.page_relevance), waiting.anchor)

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return page_at_least (the similarity by the page's level), anchor_similarity and the threshold."""
        return {
            "page_at_least": round(self._least(waiting.page_relevance), 4),
            "anchor_similarity": round(self._model.anchor_similarity(waiting.anchor), 4),
            "threshold": self._model.threshold,
            "seed": waiting.depth == 0,
        }

    def _rank(self, page: float, anchor: str) -> Rank:
        score = self._page_share * page
        if self._anchor_share:
            score += self._anchor_share * self._model.anchor_similarity(anchor)
        return Rank(LINK_TIER, score)

    def _least(self, level: Relevance) -> float:
        return (0.0, self._model.threshold, self._model.typical)[level]


def _selected(name: str, model: TextModel, features: str, terms: int) -> TextModel:
    """Return the model with the selected features. Raises UsageError when the model knows no such selection."""
    if features == ALL:
        return model
    if features not in model.selections:
        known = ", ".join([ALL, *model.selections])
        raise UsageError(f"{name}.features={features}: this text model has the features {known}")
    return model.selected(features, terms)


def make(ingredients: Ingredients) -> BestFirst:
    """Make the strategy of this module that `ingredients` names."""
    return BestFirst(ingredients.name, ingredients.text_model(), ingredients.options)
