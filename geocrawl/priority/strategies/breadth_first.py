"""`bfs`: visit pages in breadth-first order, as the generic crawler of the papers does, ignoring all words."""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.model import Document, Judgement, Rank
from geocrawl.ports import QueuedLink
from geocrawl.priority.ingredients import Defaults, Ingredients
from geocrawl.priority.options import Option, parse_options

OPTIONS: Mapping[str, Option] = {}
TIERS = {0: "all pages, by depth"}
"""Tier → its name for people."""


class BreadthFirst(Defaults):
    """Ranks pages by depth, the first seen first, as the papers' generic crawler does."""

    name = "bfs"
    by_depth = True

    def __init__(self, options: Mapping[str, str]) -> None:
        """Check that there are no options. Raises UsageError for any `bfs.` option."""
        parse_options(self.name, options, OPTIONS)

    def seed_rank(self) -> Rank:
        return Rank(0, 0.0)

    def judge(self, document: Document) -> Judgement:
        """Rank each link one step deeper than its page."""
        return Judgement(0.0, (Rank(0, -(document.depth + 1.0)),) * len(document.links))

    def rank(self, waiting: QueuedLink) -> Rank | None:
        return Rank(0, 0.0 - waiting.depth)

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return the depth, in links from a seed."""
        return {"depth": waiting.depth}


def make(ingredients: Ingredients) -> BreadthFirst:
    """Make the strategy with its options."""
    return BreadthFirst(ingredients.options)
