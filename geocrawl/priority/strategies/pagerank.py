"""`pagerank`: rank pages by plain PageRank, the baseline of IPageRank (Li, Zhao, Yu: the "SkyReach" crawler).

PR(A) = (1 − d) + d · Σ over T→A of PR(T)/C(T), over the pages read so far and the links that wait. The paper does not
state how often PageRank is computed (ours: every q pages, and when the crawl has grown by a factor), nor the value of a
link before that (ours: the value that its page would pass on with the mean rank of the pages read, 1 at the start).
C(T) counts the links of T that the frontier accepted, each once. A redirect is a page with one link.
"""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.model import Document, Feedback, Judgement, Rank
from geocrawl.ports import QueuedLink
from geocrawl.priority.graph_strategy import GraphStrategy, graph_constants, graph_options
from geocrawl.priority.ingredients import Ingredients
from geocrawl.priority.link_graph import Floats, LinkGraph, pagerank
from geocrawl.priority.options import Constant, Option, Preset, parse_options

NAME = "pagerank"
SEEDS, FOLLOWED = 1, 0
TIERS = {SEEDS: "start pages", FOLLOWED: "links, by PageRank"}
"""Tier → its name for people."""
OPTIONS: Mapping[str, Option] = {
    "d": Option(0.85, "d, the share of a page's rank that its links pass on", 0.0, 0.99),
    **graph_options("q", change=0.1),
}
PRESETS: Mapping[str, Preset] = {
    "pagerank:paper": Preset(
        "plain PageRank, the rival of IPageRank (Li, Zhao, Yu: SkyReach)",
        {"d": Constant(0.85, "PR = (1 − d) + d · Σ PR(T)/C(T)"), **graph_constants("q")},
        ("A new link has the value that a page of the mean rank would pass on until the next iteration.",),
        {"max_pages": Constant(4_000, "figures to 4,000 pages")},
    )
}


class PageRankStrategy(GraphStrategy):
    """Ranks links by PageRank alone; words of pages and links do not count."""

    name = NAME
    by_yield = True

    def __init__(self, options: Mapping[str, str]) -> None:
        """Read the `options` that people set (see `OPTIONS`). Raises UsageError for a bad one."""
        values = parse_options(NAME, options, OPTIONS)
        self._d = float(values["d"])
        self._begin(values, "q", worth="pr")

    def seed_rank(self) -> Rank:
        """Return a rank above all links."""
        return Rank(SEEDS, 1.0)

    def judge(self, document: Document) -> Judgement:
        """Rank each link by the value that a typical page passes on to it; no page is relevant."""
        distinct = len({link.url.identity for link in document.links} - {document.url.identity})
        rank = self._rank(1.0 - self._d + self._d * self._typical / max(distinct, 1))
        return Judgement(0.0, (rank,) * len(document.links))

    def rank(self, waiting: QueuedLink) -> Rank | None:
        """Rank a link that another strategy enqueued by its PageRank, or as a page to which nothing links."""
        if waiting.depth == 0:
            return self.seed_rank()
        return self._rank(self._value_of(waiting.id, "pr") or 1.0 - self._d)

    def learn(self, feedback: Feedback) -> None:
        """Add the page's links to the graph; iterate PageRank every q pages."""
        self._add(feedback, [1.0] * len(feedback.links))

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return pagerank (None before the link's first iteration) and d."""
        return {"pagerank": self._value_of(waiting.id, "pr"), "d": self._d, "seed": waiting.depth == 0}

    def _scores(self, graph: LinkGraph) -> Floats:
        """Iterate (from 1, later from the last values) and return PageRank of every node."""
        values = pagerank(graph.matrix(), graph.values("pr", 1.0), d=self._d)
        graph.node_values["pr"] = values
        return values

    def _rank(self, score: float) -> Rank:
        return Rank(FOLLOWED, score)


def make(ingredients: Ingredients) -> PageRankStrategy:
    """Make the strategy with its options."""
    return PageRankStrategy(ingredients.options)
