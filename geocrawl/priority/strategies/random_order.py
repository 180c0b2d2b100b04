"""`random`: visit pages in the order of a hash of each URL, as a baseline of comparisons, ignoring all words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from geocrawl.model import Document, Judgement, Rank
from geocrawl.ports import QueuedLink
from geocrawl.priority.ingredients import Defaults, Ingredients
from geocrawl.priority.options import Option, parse_options

OPTIONS: Mapping[str, Option] = {"seed": Option(0, "another number results in another order, the same one each time")}
_HASH_BYTES = 6
_HASHES = 2.0**48
"""Number of different 48-bit hashes; 48 bits are exact in the 53 of a float."""

TIERS = {0: "all pages, in the order drawn"}
"""Tier → its name for people."""


class Random(Defaults):
    """Ranks pages by a hash of their URL: the order does not depend on the order in which pages are found."""

    name = "random"

    def __init__(self, options: Mapping[str, str]) -> None:
        """Read the option `random.seed`, which chooses the order. Raises UsageError for a bad option."""
        seed = parse_options(self.name, options, OPTIONS)["seed"]
        self._hash = hashlib.blake2b(f"{seed} ".encode(), digest_size=_HASH_BYTES)

    def seed_rank(self) -> Rank:
        """Return a rank above all links: without the seeds there is nothing to choose from."""
        return Rank(0, 1.0)

    def judge(self, document: Document) -> Judgement:
        """Score each link from 0 to 1 (excluded) by its hash; no page is relevant."""
        ranks = tuple(Rank(0, self._score(link.url.identity)) for link in document.links)
        return Judgement(0.0, ranks)

    def rank(self, waiting: QueuedLink) -> Rank | None:
        return self.seed_rank() if waiting.depth == 0 else Rank(0, self._score(waiting.url.identity))

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return the score, drawn by the URL's hash."""
        return {"score": self._score(waiting.url.identity)}

    def _score(self, identity: str) -> float:
        hashed = self._hash.copy()
        hashed.update(identity.encode("utf-8", "surrogatepass"))
        return int.from_bytes(hashed.digest()) / _HASHES


def make(ingredients: Ingredients) -> Random:
    """Make the strategy with its options."""
    return Random(ingredients.options)
