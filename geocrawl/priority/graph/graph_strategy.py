"""Define the base class of strategies that rank links by iterating over the link graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from geocrawl.errors import needs_extra
from geocrawl.model import Rank
from geocrawl.priority.defaults import Defaults
from geocrawl.priority.options import Value

if TYPE_CHECKING:
    from geocrawl.priority.graph.link_graph import Floats, LinkGraph
    from geocrawl.priority.graph.reranking import GraphRanking


class GraphStrategy(Defaults):
    """A strategy that delegates reranking, dump and counts to its `GraphRanking`; subclasses implement `learn`."""

    learns = True
    _ranking: GraphRanking

    def _make_ranking(
        self,
        values: Mapping[str, Value],
        period: str,
        *,
        worth: str,
        max_in_links: int = 0,
        judged: Callable[[LinkGraph], Floats] | None = None,
    ) -> GraphRanking:
        """Return a ranking by `_scores` and `_rank`; arguments as in `graph_options` and `GraphRanking`.

        Raises EnvironmentFault without SciPy.
        """
        try:
            from geocrawl.priority.graph.link_graph import LinkGraph
            from geocrawl.priority.graph.reranking import GraphRanking
        except ModuleNotFoundError as error:
            raise needs_extra(f"the strategy {self.name}", "SciPy") from error

        return GraphRanking(
            LinkGraph(max_edges=int(values["edges"]), max_in_links=max_in_links),
            self._scores,
            self._rank,
            period=int(values[period]),
            growth=float(values["growth"]),
            change=float(values["change"]),
            worth=worth,
            judged=judged,
        )

    @abstractmethod
    def _scores(self, graph: LinkGraph) -> Floats:
        """Iterate over the graph and return a score for every node."""

    @abstractmethod
    def _rank(self, score: float) -> Rank | None:
        """Return the rank of a link with that score; None drops it."""

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """Return, after an iteration, the new ranks of the waiting links whose score changed."""
        return self._ranking.revise()

    def dump(self) -> bytes:
        """Return the graph with the values of its nodes."""
        return self._ranking.dump()

    def load(self, state: bytes) -> None:
        """Restore an earlier dump. Raises UsageError for a dump of another version."""
        self._ranking.load(state)

    @property
    def counts(self) -> Mapping[str, int]:
        """Return, for status: nodes, edges, forgotten edges and bytes of the graph."""
        return self._ranking.counts
