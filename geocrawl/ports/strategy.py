"""Decide the order of visits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from geocrawl.model import Document, Feedback, Judgement, Rank, Relevance, Url


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting link as stored in the database: enough to rank it without reading its page again."""

    id: int
    url: Url
    anchor: str
    depth: int
    page_relevance: Relevance
    """Relevance of the page on which the link was found; HIGH for a seed."""


class Strategy(Protocol):
    """Decides the order of visits. One file each in `priority/`, none importing another."""

    @property
    def name(self) -> str: ...

    @property
    def stride(self) -> int:
        """Return how many links are leased together (best-N-first); 1 for most strategies."""

    @property
    def by_depth(self) -> bool:
        """Return whether a link's score is minus its depth (breadth-first), so that it changes with the depth."""

    @property
    def by_yield(self) -> bool:
        """Return whether a link's score, 0 or more, is its expected yield in any unit: half the score, half the yield.
        Then `economy` holds back pages by the ratio of scores, else by tier (or by depth)."""

    @property
    def needs(self) -> frozenset[str]:
        """Return the parts of a Document that `judge` reads and that are made on request only.

        Known are "headline", "prose" and, for the links, "tag_paths".
        """

    def seed_rank(self) -> Rank: ...

    def judge(self, document: Document) -> Judgement: ...

    def rank(self, waiting: Waiting) -> Rank | None:
        """Return the rank of a link that another strategy enqueued; None drops the link."""

    @property
    def learns(self) -> bool:
        """Return whether the strategy learns from feedback; else none is stored."""

    def learn(self, feedback: Feedback) -> None:
        """Learn from a settled visit. Deterministic: the same feedback in the same order results in the same state."""

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """Return batches of (frontier id, new rank) when links are to be reranked, else None.

        Called after every feedback. A rank of None drops the link.
        """

    def explain(self, waiting: Waiting) -> Mapping[str, object]:
        """Return the parts of a link's rank by name, for `geocrawl why`."""

    def dump(self) -> bytes:
        """Return everything learnt so far, for `load`; bounded."""

    def load(self, state: bytes) -> None:
        """Restore the state from a dump. Raises UsageError for a dump of another version."""


@runtime_checkable
class Correcting(Protocol):
    """A strategy that can correct the ranks which another process gave by an older state of it."""

    def correct(self, feedback: Feedback) -> None:
        """Let the next `revise` return the ranks of all links of a visit, which was learnt before."""


@runtime_checkable
class ReadsKeywords(Protocol):
    """A strategy that reads keywords of the topic in links."""

    def link_relevance(self, address: str, anchor: str) -> Relevance:
        """Return the relevance of a link by the keywords in its address and text (gws eq. 3)."""


@runtime_checkable
class Counted(Protocol):
    """A strategy that can count what it has learnt, for `geocrawl status`."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Return counts by what is counted, in words for people."""
