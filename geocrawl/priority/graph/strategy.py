"""Define the base class of strategies that rank links by iterating over the link graph."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from geocrawl.errors import needs_extra
from geocrawl.model import Feedback, Purpose, Rank, State
from geocrawl.priority.graph.link_graph import Flags, Floats, Ints, LinkGraph
from geocrawl.priority.ingredients import Defaults
from geocrawl.priority.options import Value


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


BATCH = 2_000

Score = Callable[[LinkGraph], Floats]
"""Function that iterates over the graph, stores node values in it and returns a score for each node."""


class GraphRanking:
    """The graph, the schedule of its iterations, and the scores that the frontier has."""

    def __init__(
        self,
        graph: LinkGraph,
        score: Score,
        rank: Callable[[float], Rank | None],
        *,
        period: int,
        growth: float,
        change: float,
        worth: str,
        judged: Callable[[LinkGraph], Floats] | None = None,
    ) -> None:
        """Make a ranking. `rank` turns a score into a rank. `worth` names the node value that decides which edges are
        dropped when there are too many. `judged` returns the scores that links had before their first iteration; None:
        unknown, all are new.
        """
        self.graph = graph
        self._score, self._rank, self._judged = score, rank, judged
        self._period, self._growth, self._change, self._worth = period, growth, change, worth
        self._downloads = self._last = 0
        self._visited = array("q")
        self._pending: tuple[Ints, Floats] | None = None
        self.typical = 1.0
        """Mean `worth` of the pages read, as of the last iteration; 1, the starting value, before the first."""

    @property
    def counts(self) -> Mapping[str, int]:
        """Return, for status: nodes, edges and their bound, forgotten edges, bytes."""
        graph = self.graph
        return {
            "graph nodes": len(graph.ids),
            "graph edges": graph.edges,
            "edges at most": graph.max_edges,
            "edges forgotten": graph.forgotten,
            "graph bytes": graph.nbytes,
        }

    def learn(self, feedback: Feedback, weights: Sequence[float] | None) -> None:
        """Add a settled visit with the `weights` of its links to the graph, and iterate when due.

        Without `weights` (None) the links are not added.
        """
        if feedback.purpose is not Purpose.PAGE:
            return
        self._visited.append(feedback.entry_id)
        if weights is not None and feedback.links:
            self.graph.add(feedback.entry_id, [target for _, target in feedback.links], weights)
        if is_download(feedback):
            self._downloads += 1
            if self._downloads >= max(self._last + self._period, self._last * self._growth):
                self._iterate()

    def _iterate(self) -> None:
        graph, self._last = self.graph, self._downloads
        graph.settle(self._worth)
        if not len(graph.ids):
            return
        scores = self._score(graph)
        waits = self._waiting()
        given = graph.values("given", np.nan)
        if self._judged is not None:
            given = np.where(np.isnan(given), self._judged(graph), given)
        same = np.abs(scores - given) <= self._change * np.abs(given)  # never for NaN
        changed = waits & ~same
        if not waits.all():
            self.typical = float(graph.node_values[self._worth][~waits].mean())
        graph.node_values["given"] = np.where(changed, scores, given)
        self._pending = (graph.ids[changed], scores[changed])

    def _waiting(self) -> Flags:
        """Return which nodes are not known to be visited; the frontier ignores ranks of ids that do not wait."""
        visited = self.graph.values("visited", 0.0)
        places = self.graph.places(np.frombuffer(self._visited, np.int64))
        visited[places[places >= 0]] = 1.0
        self.graph.node_values["visited"] = visited
        self._visited = array("q")
        return np.equal(visited, 0.0)

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """Return (frontier id, new rank) in batches after an iteration, once; else None."""
        pending, self._pending = self._pending, None
        return None if pending is None else self._batches(*pending)

    def _batches(self, ids: Ints, scores: Floats) -> Iterator[Sequence[tuple[int, Rank | None]]]:
        for at in range(0, len(ids), BATCH):
            part = slice(at, at + BATCH)
            yield [
                (id_, self._rank(score)) for id_, score in zip(ids[part].tolist(), scores[part].tolist(), strict=True)
            ]

    def value_of(self, id_: int, name: str) -> float | None:
        """Return a node's named value as of the last iteration, None when it has none."""
        place = int(self.graph.places(np.array([id_]))[0])
        values = self.graph.node_values.get(name)
        return None if values is None or place < 0 else float(values[place])

    def dump(self) -> bytes:
        """Return the graph, its node values and the schedule."""
        counts = np.array([self._downloads, self._last], np.int64)
        visited = np.frombuffer(self._visited, np.int64)
        return self.graph.dump(counts=counts, visited=visited, typical=np.array([self.typical]))

    def load(self, state: bytes) -> None:
        """Restore an earlier dump. Raises UsageError for a dump of another version."""
        more = self.graph.load(state)
        self._downloads, self._last = more["counts"].tolist()
        self._visited = array("q", more["visited"].tobytes())
        self.typical = float(more["typical"][0])


def is_download(feedback: Feedback) -> bool:
    """Return whether the visit downloaded a page, not a redirect."""
    return feedback.purpose is Purpose.PAGE and feedback.state is State.VISITED and feedback.reason != "redirect"
