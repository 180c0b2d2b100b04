"""What strategies that rank by iterating over the link graph have in common: their `LinkOrder` learns for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from geocrawl.model import Rank
from geocrawl.priority.defaults import Defaults

if TYPE_CHECKING:
    from geocrawl.priority.linkorder import LinkOrder


class ByGraph(Defaults):
    """Hands out the new ranks of the order, and keeps and takes up its graph. `learn` is the strategy's own."""

    learns = True
    _order: LinkOrder

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """After an iteration: the new ranks of the waiting links whose score changed."""
        return self._order.revise()

    def dump(self) -> bytes:
        """The graph with its figures."""
        return self._order.dump()

    def load(self, state: bytes) -> None:
        """Take up a dump. Raises UsageError for one of another version."""
        self._order.load(state)

    @property
    def counts(self) -> Mapping[str, int]:
        """For status: nodes, edges, forgotten edges, bytes of the graph."""
        return self._order.counts
