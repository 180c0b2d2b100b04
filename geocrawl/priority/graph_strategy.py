"""Define the base class of strategies that rank links by iterating over the link graph.

Enough downloads after the last iteration, the graph is iterated again, and waiting links whose score changed get a new
rank.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from geocrawl.model import Feedback, Purpose, Rank, State
from geocrawl.priority.ingredients import Defaults
from geocrawl.priority.link_graph import Flags, Floats, Ints, LinkGraph
from geocrawl.priority.options import Constant, Option, Value

BATCH = 2_000
MAX_EDGES = 2_000_000
"""Most edges of a graph; at 16 bytes each, with less than 64 MiB more during an iteration."""


def graph_options(period: str, change: float) -> Mapping[str, Option]:
    """Return the options for schedule and bounds; `period` is the paper's name for the downloads between iterations."""
    return {
        period: Option(200, "downloads between two iterations over the graph", 1, 10**9),
        "growth": Option(
            1.1, "factor by which the crawl has to grow, too, between iterations; 1: none, as in the paper", 1.0
        ),
        "change": Option(change, "a new score that differs by no more than this share is not written", 0.0, 1.0),
        "edges": Option(
            MAX_EDGES, "most links in the graph; links to the lowest-ranked pages are dropped first", 1000, 10**8
        ),
    }


def graph_constants(period: str) -> Mapping[str, Constant]:
    """Return the constants of `graph_options` in a preset: all links are scored again every `period` downloads."""
    return {
        period: Constant(200, f"the graph is iterated every {period} downloads", f"{period} not printed"),
        "growth": Constant(1.0, f"nothing but {period} delays an iteration"),
        "change": Constant(0.0, "every waiting link is scored again"),
        "edges": Constant(MAX_EDGES, "the graph has no bound", "far above the papers' graphs"),
    }


class GraphStrategy(Defaults):
    """A strategy that keeps the link graph; subclasses implement `learn`, `_scores` and `_rank`."""

    learns = True

    def _begin(self, values: Mapping[str, Value], period: str, *, worth: str, max_in_links: int = 0) -> None:
        """Begin with an empty graph. `period`: as in `graph_options`.

        `worth` names the node value that decides which edges are dropped when there are too many.
        """
        self._graph = LinkGraph(max_edges=int(values["edges"]), max_in_links=max_in_links)
        self._period, self._growth = int(values[period]), float(values["growth"])
        self._change, self._worth = float(values["change"]), worth
        self._downloads = self._last = 0
        self._visited = array("q")
        self._pending: tuple[Ints, Floats] | None = None
        self._typical = 1.0
        """Mean `worth` of the pages read, as of the last iteration; 1, the starting value, before the first."""

    @abstractmethod
    def _scores(self, graph: LinkGraph) -> Floats:
        """Iterate over the graph, store node values in it, and return a score for every node."""

    @abstractmethod
    def _rank(self, score: float) -> Rank | None:
        """Return the rank of a link with that score; None drops it."""

    def _judged(self, graph: LinkGraph) -> Floats | None:
        """Return the scores that links had before their first iteration; None: unknown, all are new."""
        return None

    @property
    def counts(self) -> Mapping[str, int]:
        """Return, for status: nodes, edges and their bound, forgotten edges, bytes of the graph."""
        graph = self._graph
        return {
            "graph nodes": len(graph.ids),
            "graph edges": graph.edges,
            "edges at most": graph.max_edges,
            "edges forgotten": graph.forgotten,
            "graph bytes": graph.nbytes,
        }

    def _add(self, feedback: Feedback, weights: Sequence[float] | None) -> None:
        """Add a settled visit with the `weights` of its links to the graph, and iterate when due.

        Without `weights` (None) the links are not added.
        """
        if feedback.purpose is not Purpose.PAGE:
            return
        self._visited.append(feedback.entry_id)
        if weights is not None and feedback.links:
            self._graph.add(feedback.entry_id, [target for _, target in feedback.links], weights)
        if is_download(feedback):
            self._downloads += 1
            if self._downloads >= max(self._last + self._period, self._last * self._growth):
                self._iterate()

    def _iterate(self) -> None:
        graph, self._last = self._graph, self._downloads
        graph.settle(self._worth)
        if not len(graph.ids):
            return
        scores = self._scores(graph)
        waits = self._waiting()
        given = graph.values("given", np.nan)
        if (judged := self._judged(graph)) is not None:
            given = np.where(np.isnan(given), judged, given)
        same = np.abs(scores - given) <= self._change * np.abs(given)  # never for NaN
        changed = waits & ~same
        if not waits.all():
            self._typical = float(graph.node_values[self._worth][~waits].mean())
        graph.node_values["given"] = np.where(changed, scores, given)
        self._pending = (graph.ids[changed], scores[changed])

    def _waiting(self) -> Flags:
        """Return which nodes are not known to be visited; the frontier ignores ranks of ids that do not wait."""
        visited = self._graph.values("visited", 0.0)
        places = self._graph.places(np.frombuffer(self._visited, np.int64))
        visited[places[places >= 0]] = 1.0
        self._graph.node_values["visited"] = visited
        self._visited = array("q")
        return np.equal(visited, 0.0)

    def revise(self) -> Iterator[Sequence[tuple[int, Rank | None]]] | None:
        """Return, once after an iteration, the new ranks of the waiting links whose score changed; else None."""
        pending, self._pending = self._pending, None
        return None if pending is None else self._batches(*pending)

    def _batches(self, ids: Ints, scores: Floats) -> Iterator[Sequence[tuple[int, Rank | None]]]:
        for at in range(0, len(ids), BATCH):
            part = slice(at, at + BATCH)
            yield [
                (id_, self._rank(score)) for id_, score in zip(ids[part].tolist(), scores[part].tolist(), strict=True)
            ]

    def _value_of(self, id_: int, name: str) -> float | None:
        """Return a node's named value as of the last iteration, None when it has none."""
        place = int(self._graph.places(np.array([id_]))[0])
        values = self._graph.node_values.get(name)
        return None if values is None or place < 0 else float(values[place])

    def dump(self) -> bytes:
        """Return the graph, its node values and the schedule."""
        counts = np.array([self._downloads, self._last], np.int64)
        visited = np.frombuffer(self._visited, np.int64)
        return self._graph.dump(counts=counts, visited=visited, typical=np.array([self._typical]))

    def load(self, state: bytes) -> None:
        """Restore an earlier dump. Raises UsageError for a dump of another version."""
        more = self._graph.load(state)
        self._downloads, self._last = more["counts"].tolist()
        self._visited = array("q", more["visited"].tobytes())
        self._typical = float(more["typical"][0])


def is_download(feedback: Feedback) -> bool:
    """Return whether the visit downloaded a page, not a redirect."""
    return feedback.purpose is Purpose.PAGE and feedback.state is State.VISITED and feedback.reason != "redirect"
