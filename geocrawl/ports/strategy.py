"""Decide the order of visits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from geocrawl.model import Document, Feedback, Judgement, Rank, Relevance, Url


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the database knows of a waiting link: enough to rank it without the page it came from."""

    id: int
    url: Url
    anchor: str
    depth: int
    page_relevance: Relevance
    """Of the page it was found on; HIGH for a seed."""


class Strategy(Protocol):
    """Decides the order of visits. One file each in `priority/`, none importing another."""

    @property
    def name(self) -> str: ...

    @property
    def stride(self) -> int:
        """How many links it wants at once (best-N-first); 1 for most."""

    @property
    def by_depth(self) -> bool:
        """True when a link's score is minus its depth (breadth-first): the frontier keeps it in step with the depth."""

    @property
    def needs(self) -> frozenset[str]:
        """What `judge` reads of a Document that is made on request only: "headline", "prose"."""

    def seed_rank(self) -> Rank: ...

    def judge(self, document: Document) -> Judgement: ...

    def rank(self, waiting: Waiting) -> Rank | None:
        """Rank of a link that another strategy put there; None drops it."""

    @property
    def learns(self) -> bool:
        """False: it needs no feedback, and none are kept."""

    def learn(self, feedback: Feedback) -> None:
        """Learn from a settled visit. Deterministic: the same feedback in the same order gives the same strategy."""

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """(frontier id, new rank) in batches when it is time to rank anew, else None. Asked after every feedback.
        A rank of None drops the link."""

    def explain(self, waiting: Waiting) -> Mapping[str, object]:
        """The parts of a link's rank, for `geocrawl why`."""

    def dump(self) -> bytes:
        """Return everything learnt so far, for `load`; bounded."""

    def load(self, state: bytes) -> None:
        """Take up a former dump. Raises UsageError for one of another version."""


@runtime_checkable
class Counted(Protocol):
    """A strategy that can say how much it holds, for `geocrawl status`."""

    @property
    def counts(self) -> Mapping[str, int]:
        """What is counted → how many, as people read it."""
