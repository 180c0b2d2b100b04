"""`hits`: rank links by best-first and link structure (Liu, Li: Topic crawler algorithm with link structure,
2017).

LinkScore(i) = A·sim(page) + B·sim(anchor i) + C·(α·authority(i) + β·hub(i)), A + B + C = 1, α > β. A page above the
relevance threshold and its out-links join the HITS graph; every p downloads HITS is iterated to convergence and waiting
links are scored again. Until then a link has the plain best-first score, A·sim(page) + B·sim(anchor).

The paper's three queues are the frontier's states (waiting, visited, failed); a seed weighs 1. The paper leaves open
(all ours): a link on several pages keeps its highest A·sim(page) + B·sim(anchor); authority and hub are scaled to 0…1,
and are 0 for a link that is not in the graph yet; A = B = 0.35, α = 0.6. The paper follows no links of a page at or
below the threshold and drops low scores; here such links wait in tier 0, after all others, unless `hits.drop` is set: a
page without any word of the topic may still lead to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.errors import UsageError
from geocrawl.model import Document, Feedback, Judgement, Rank, Relevance
from geocrawl.ports import QueuedLink
from geocrawl.priority.codec import pack_link_values, unpack_link_values
from geocrawl.priority.graph_strategy import GraphStrategy, graph_constants, graph_options
from geocrawl.priority.ingredients import Ingredients
from geocrawl.priority.link_graph import Floats, LinkGraph, hits
from geocrawl.priority.options import Constant, Option, Preset, parse_options
from geocrawl.priority.text_terms import TF_IDF, TextModel

NAME = "hits"
FOLLOWED, LAST = 1, 0
"""Tiers: links of pages above the threshold; all others."""
TIERS = {FOLLOWED: "links above the threshold", LAST: "links below the threshold"}
"""Tier → its name for people."""

OPTIONS: Mapping[str, Option] = {
    "a": Option(0.35, "A, share of the page's similarity in LinkScore", 0.0, 1.0),
    "b": Option(0.35, "B, share of the anchor's similarity; the rest, C = 1 − A − B, is that of the graph", 0.0, 1.0),
    "alpha": Option(0.6, "α, share of the authority in the graph's part, above that of the hub, β = 1 − α", 0.5, 1.0),
    "d": Option(50, "in-links of a page that are added to the graph", 1, 10**6),
    "threshold": Option(-1.0, "a page at or below this similarity is irrelevant; −1: the model's own", -1.0, 1.0),
    "quantile": Option(
        -1.0, "share of relevant pages at or below the threshold, by their known scores; −1: the model's own", -1.0, 1.0
    ),
    "least": Option(0.0, "a link that HITS scores at or below this is low", 0.0, 1.0),
    "drop": Option(False, "drop low links and those of irrelevant pages, as the paper; else they are served last"),
    "root_seeds": Option(False, "seeds are the root set, as in the paper: followed even when they are off the topic"),
    **graph_options("p", change=0.02),
}
PRESETS: Mapping[str, Preset] = {
    "hits:paper": Preset(
        "best-first with HITS as printed: low scores and links of irrelevant pages are dropped (Liu & Li 2017)",
        {
            "a": Constant(0.35, "LinkScore = A·sim(page) + B·sim(anchor) + C·(α·a + β·h)", "A + B + C = 1 is printed"),
            "b": Constant(0.35, "B of LinkScore; C = 1 − A − B", "A + B + C = 1 is printed"),
            "alpha": Constant(0.6, "α·authority + β·hub, β = 1 − α", "α > β is printed"),
            "d": Constant(50, "at most d = 50 in-links of a page join the graph"),
            "threshold": Constant(-1.0, "from the scores of 200 hand-picked relevant pages", "by the quantile"),
            "quantile": Constant(
                0.05, "from the scores of 200 hand-picked relevant pages", "how is not printed; ours are 418 pages"
            ),
            "least": Constant(
                0.0,
                "low scores are dropped after an iteration",
                "what is low is not printed; 0 drops nothing, since every link of a page above the threshold has more",
            ),
            "drop": Constant(True, "links of pages at or below the threshold are not followed"),
            "root_seeds": Constant(True, "seeds have weight 1 and are HITS' root set"),
            **graph_constants("p"),
        },
        (
            "Authority and hub are divided by their highest value; the paper does not name the norm.",
            "The printed bracket puts B inside A; the text has three weights, which is what runs here.",
            "Before the first iteration a link has A·sim(page) + B·sim(anchor), not the plain sum of best-first.",
            *TF_IDF,
        ),
        setup={"max_pages": Constant(5_000, "5,000 pages of each topic")},
        discards="links of pages at or below the relevance threshold are not followed",
    )
}


class HitsStrategy(GraphStrategy):
    """Ranks links by best-first search and HITS together."""

    name = NAME
    by_yield = True

    def __init__(self, model: TextModel, options: Mapping[str, str]) -> None:
        """Read the `options` that people set (see `OPTIONS`). Raises UsageError for a bad one."""
        values = parse_options(NAME, options, OPTIONS)
        self._a, self._b, self._alpha = float(values["a"]), float(values["b"]), float(values["alpha"])
        self._c = 1.0 - self._a - self._b
        if self._c < 0.0:
            raise UsageError(f"hits.a={self._a:g} and hits.b={self._b:g}: A + B + C = 1, so A + B is at most 1")
        if self._alpha <= 0.5:
            raise UsageError(f"hits.alpha={self._alpha:g}: the authority weighs more than the hub, α > 0.5")
        self._model = model
        self._threshold = float(values["threshold"])
        if self._threshold < 0.0:
            quantile = float(values["quantile"])
            self._threshold = model.threshold_at(quantile) if quantile >= 0.0 else model.threshold
        self._least, self._drop = float(values["least"]), bool(values["drop"])
        self._root_seeds = bool(values["root_seeds"])
        self._begin(values, "p", worth="authority", max_in_links=int(values["d"]))

    def seed_rank(self) -> Rank:
        """Return the rank of a seed, whose weight is 1."""
        return Rank(FOLLOWED, 1.0)

    def judge(self, document: Document) -> Judgement:
        """Score the page by sim(page), and its links by the plain Best-First score; those of a page at or below the
        threshold wait until all others are visited, or are dropped."""
        page = self._model.page_similarity(document)
        is_followed = page > self._threshold or (self._root_seeds and document.depth == 0)
        anchors = [self._model.anchor_similarity(link.anchor) for link in document.links]
        tier = FOLLOWED if is_followed else None if self._drop else LAST
        ranks = tuple(Rank(tier, self._best_first(page, anchor)) if tier is not None else None for anchor in anchors)
        packed = b""
        if is_followed:
            identities = (link.url.identity for link in document.links)
            packed = pack_link_values(page, zip(identities, anchors, strict=True))
        return Judgement(page, ranks, packed)

    def rank(self, waiting: QueuedLink) -> Rank | None:
        """Rank a link that another strategy enqueued, with the threshold as the similarity of a relevant page."""
        if waiting.depth == 0:
            return self.seed_rank()
        page = self._threshold if waiting.page_relevance is Relevance.HIGH else 0.0
        score = self._best_first(page, self._model.anchor_similarity(waiting.anchor))
        if waiting.page_relevance is Relevance.HIGH:
            return Rank(FOLLOWED, score)
        return None if self._drop else Rank(LAST, score)

    def learn(self, feedback: Feedback) -> None:
        """Add a page above the threshold and its links to the graph; iterate HITS every p downloads."""
        weights = None
        if feedback.features:
            values = unpack_link_values(feedback.features)
            weights = [self._best_first(values.page, values.of(identity)) for identity, _ in feedback.links]
        self._add(feedback, weights)

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return anchor (its similarity), authority and hub (0…1; at first None), weights."""
        return {
            "anchor": round(self._model.anchor_similarity(waiting.anchor), 4),
            "authority": self._value_of(waiting.id, "authority"),
            "hub": self._value_of(waiting.id, "hub"),
            "weights": {"A": self._a, "B": self._b, "C": self._c, "alpha": self._alpha},
            "seed": waiting.depth == 0,
        }

    def _best_first(self, page: float, anchor: float) -> float:
        return self._a * page + self._b * anchor

    def _scores(self, graph: LinkGraph) -> Floats:
        """Iterate HITS (from 1, later from the last values) and return LinkScore of every node."""
        authority, hub = hits(graph.matrix(), graph.values("authority", 1.0), graph.values("hub", 1.0))
        graph.node_values.update(authority=authority, hub=hub)
        return graph.best_weights() + self._c * (self._alpha * authority + (1.0 - self._alpha) * hub)

    def _judged(self, graph: LinkGraph) -> Floats:
        return graph.best_weights()

    def _rank(self, score: float) -> Rank | None:
        if score > self._least:
            return Rank(FOLLOWED, score)
        return None if self._drop else Rank(LAST, score)


def make(ingredients: Ingredients) -> HitsStrategy:
    """Make the strategy with the topic's text model."""
    return HitsStrategy(ingredients.text_model(), ingredients.options)
