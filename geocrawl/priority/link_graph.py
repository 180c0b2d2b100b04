"""Keep the link graph of the crawled web in bounded memory, and iterate HITS, PageRank and IPageRank over it.

Nodes are frontier ids, so a waiting link is a node like a page that was read. New links are appended to a short tail;
only before an iteration is the tail merged into the sorted edges (`settle`) and a matrix made of them. Values of nodes
(authority, hub …) are kept, so that an iteration starts from the result of the last one.

An edge takes 16 bytes: its key, its weight, and when it was added. The key contains the places of the target and then
of the source in the sorted `ids`, 32 bits each: sorted keys are the rows of the matrix, and ids may be any 64-bit
numbers. Beyond `max_edges`, edges into the nodes of lowest worth are dropped, the oldest first.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geocrawl.priority.codec import Arrays, pack_arrays, unpack_arrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

KEPT_SHARE = 0.9
"""Share of `max_edges` that remains when edges are dropped, so that not every iteration has to drop some."""
_SHIFT = 32
_SOURCE = (1 << _SHIFT) - 1
_LEVELS = 15
_FORMAT = "geocrawl-link-graph 1"
_NODE_VALUES = "figure "
"""Prefix of the names of node values in a dump."""


class LinkMatrix(NamedTuple):
    """An n × n matrix of zeros and ones: 1 in row v, column u where u links to v. 16 bytes a link.

    A product takes 8 bytes a link for a moment and adds in the order of the links, so the same links and values result
    in the same floats (`python -m benchmarks link_matrix`).
    """

    targets: Ints
    """The row of each one, ascending."""
    sources: Ints
    """The column of each one."""
    n: int

    def times(self, values: Floats) -> Floats:
        """Return the product with `values`: for each node, the sum over the pages that link to it."""
        return np.bincount(self.targets, values[self.sources], self.n).astype(np.float64, copy=False)

    def transposed_times(self, values: Floats) -> Floats:
        """Return the product of the transposed matrix: for each page, the sum over the nodes that it links to."""
        return np.bincount(self.sources, values[self.targets], self.n).astype(np.float64, copy=False)

    def out_degrees(self) -> Floats:
        """Return the number of links on each page."""
        return np.bincount(self.sources, minlength=self.n).astype(np.float64)


class LinkGraph:
    """Weighted links between frontier ids. The same calls in the same order result in the same floats."""

    def __init__(self, *, max_edges: int, max_in_links: int = 0) -> None:
        """Make an empty graph that keeps the first `max_in_links` links into each node (d of hits); 0: all."""
        self.max_edges = max_edges
        """Most edges in the graph; `settle` drops those of least worth."""
        self._max_in_links = max_in_links
        self._keys: Ints = np.empty(0, np.int64)
        self._weights: NDArray[np.float32] = np.empty(0, np.float32)
        self._born: NDArray[np.int32] = np.empty(0, np.int32)
        self._clear_tail()
        self._clock = 0
        self.ids: Ints = np.empty(0, np.int64)
        """The nodes as of the last `settle`, ascending."""
        self.node_values: dict[str, Floats] = {}
        """Name → a value for each of `ids`."""
        self.forgotten = 0
        """Edges dropped because of `max_edges`."""

    @property
    def edges(self) -> int:
        """Return the number of edges; duplicates among those not merged yet count twice."""
        return len(self._keys) + len(self._tail_targets)

    @property
    def nbytes(self) -> int:
        """Return the memory of edges and node values in bytes; an iteration temporarily needs as much again."""
        edges = self._keys.nbytes + self._weights.nbytes + self._born.nbytes + 24 * len(self._tail_targets)
        return edges + self.ids.nbytes + sum(values.nbytes for values in self.node_values.values())

    def add(self, source: int, targets: Iterable[int], weights: Iterable[float]) -> None:
        """Add the links of one page, each with a weight of 0 or more; a link to itself does not count."""
        self._clock += 1
        for target, weight in zip(targets, weights, strict=True):
            if target != source:
                self._tail_targets.append(target)
                self._tail_sources.append(source)
                self._tail_weights.append(weight)
                self._tail_born.append(self._clock)
        if len(self._tail_targets) > self.max_edges:
            self.settle()

    # ----------------------------------------------------------------------- merging

    def settle(self, worth: str = "") -> None:
        """Merge the added edges, each once with its highest weight and earliest time; then apply the bounds.

        `worth` names the node value by which edges are dropped when there are too many: that of the edge's target.
        """
        if self._tail_targets:
            former = self.ids
            self._merge()
            self._limit_in_links()
            self._renumber(former)
        if len(self._keys) > self.max_edges:
            self._drop_edges(self.values(worth, 1.0))
            self._renumber(self.ids)

    def _clear_tail(self) -> None:
        self._tail_targets, self._tail_sources = array("q"), array("q")
        self._tail_weights, self._tail_born = array("f"), array("i")

    def _merge(self) -> None:
        targets, sources = np.frombuffer(self._tail_targets, np.int64), np.frombuffer(self._tail_sources, np.int64)
        former, self.ids = self.ids, np.union1d(self.ids, np.concatenate([targets, sources]))
        tail = _keys_of(self.places(targets), self.places(sources))
        keys = np.concatenate([_renumbered(self._keys, self.places(former)), tail])
        weights = np.concatenate([self._weights, np.frombuffer(self._tail_weights, np.float32)])
        born = np.concatenate([self._born, np.frombuffer(self._tail_born, np.int32)])
        self._clear_tail()
        order = np.argsort(keys, kind="stable")  # stable: of equal keys the older one is first
        keys, weights, born = keys[order], weights[order], born[order]
        first = _starts(keys)
        self._keys, self._born = keys[first], born[first]
        self._weights = np.maximum.reduceat(weights, first)

    def _limit_in_links(self) -> None:
        """Keep the earliest `max_in_links` edges of each target; the first keeps the highest weight of all."""
        if not self._max_in_links:
            return
        targets = self._keys >> _SHIFT
        first = _starts(targets)
        counts = np.diff(np.append(first, len(targets)))
        if counts.max() <= self._max_in_links:
            return
        best = np.maximum.reduceat(self._weights, first)
        by_age = np.lexsort((self._born, targets))  # within each target's run: from the oldest to the youngest
        place = np.empty(len(targets), np.int64)
        place[by_age] = np.arange(len(targets)) - np.repeat(first, counts)
        self._weights[by_age[first]] = best
        self._keep_edges(place < self._max_in_links)

    def _drop_edges(self, worth: Floats) -> None:
        """Drop edges into nodes of the lowest worth (in powers of two below the highest), the oldest first."""
        excess = len(self._keys) - int(self.max_edges * KEPT_SHARE)
        _, exponent = np.frexp(worth / max(worth.max(), np.finfo(np.float64).tiny))
        powers = np.where(worth > 0.0, np.maximum(exponent, -_LEVELS), -_LEVELS)
        level = powers[self._keys >> _SHIFT].astype(np.int8)
        keep = np.ones(len(self._keys), bool)
        keep[np.lexsort((self._born, level))[:excess]] = False
        self._keep_edges(keep)
        self.forgotten += excess

    def _keep_edges(self, keep: Flags) -> None:
        self._keys, self._weights, self._born = self._keys[keep], self._weights[keep], self._born[keep]

    def _renumber(self, former: Ints) -> None:
        """Keep only the nodes of the current edges.

        Node values, which are in the order of the nodes `former`, are reordered; those of new nodes are NaN.
        """
        used = np.union1d(self._keys >> _SHIFT, self._keys & _SOURCE)
        place_of_used = np.full(len(self.ids), -1, np.int64)
        place_of_used[used] = np.arange(len(used))
        self._keys, self.ids = _renumbered(self._keys, place_of_used), self.ids[used]
        places = self.places(former)
        known = places >= 0
        for name, values in self.node_values.items():
            moved = np.full(len(self.ids), np.nan)
            moved[places[known]] = values[known]
            self.node_values[name] = moved

    # ----------------------------------------------------------------------- reading, as of the last `settle`

    def places(self, ids: Ints) -> Ints:
        """Return the index of each of `ids` in `self.ids`, −1 for an id that is no node."""
        if not len(self.ids):
            return np.full(len(ids), -1, np.int64)
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, places, -1)

    def values(self, name: str, start: float) -> Floats:
        """Return the named value of each node, `start` for a node that has none yet."""
        known = self.node_values.get(name)
        return np.full(len(self.ids), start) if known is None else np.where(np.isnan(known), start, known)

    def matrix(self) -> LinkMatrix:
        """Return the links as of the last `settle`, each once."""
        return LinkMatrix(self._keys >> _SHIFT, self._keys & _SOURCE, len(self.ids))

    def best_weights(self) -> Floats:
        """Return the highest weight of the links into each node, 0 for a node without links to it."""
        best = np.zeros(len(self.ids))
        if len(self._keys):
            targets = self._keys >> _SHIFT
            first = _starts(targets)
            best[targets[first]] = np.maximum.reduceat(self._weights, first)
        return best

    # ----------------------------------------------------------------------- dumps

    def dump(self, **more: NDArray[Any]) -> bytes:
        """Return the whole graph with its node values, compressed; `load` returns `more`."""
        arrays: Arrays = {
            "keys": self._keys,
            "weights": self._weights,
            "born": self._born,
            "tail_targets": np.frombuffer(self._tail_targets, np.int64),
            "tail_sources": np.frombuffer(self._tail_sources, np.int64),
            "tail_weights": np.frombuffer(self._tail_weights, np.float32),
            "tail_born": np.frombuffer(self._tail_born, np.int32),
            "ids": self.ids,
            "counts": np.array([self._clock, self.forgotten], np.int64),
        }
        arrays.update({_NODE_VALUES + name: values for name, values in self.node_values.items()})
        arrays.update({f"more {name}": value for name, value in more.items()})
        return pack_arrays(_FORMAT, arrays)

    def load(self, state: bytes) -> Arrays:
        """Restore a dump and return its `more`. Raises UsageError for one of another version, or damaged."""
        arrays = unpack_arrays(_FORMAT, state)
        self.ids = arrays["ids"]
        self._keys, self._weights, self._born = arrays["keys"], arrays["weights"], arrays["born"]
        self._tail_targets = array("q", arrays["tail_targets"].tobytes())
        self._tail_sources = array("q", arrays["tail_sources"].tobytes())
        self._tail_weights = array("f", arrays["tail_weights"].tobytes())
        self._tail_born = array("i", arrays["tail_born"].tobytes())
        self._clock, self.forgotten = arrays["counts"].tolist()
        self.node_values = {n.removeprefix(_NODE_VALUES): a for n, a in arrays.items() if n.startswith(_NODE_VALUES)}
        return {name.removeprefix("more "): a for name, a in arrays.items() if name.startswith("more ")}


def _keys_of(targets: Ints, sources: Ints) -> Ints:
    """Return the keys of edges between nodes at these places."""
    return targets << _SHIFT | sources


def _renumbered(keys: Ints, places: Ints) -> Ints:
    """Return the keys of the same edges after the node at place i moved to `places[i]`."""
    return _keys_of(places[keys >> _SHIFT], places[keys & _SOURCE])


def _starts(values: Ints) -> NDArray[np.intp]:
    """Return the index at which each run of equal values begins in `values`, which are sorted and not empty."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))


# --------------------------------------------------------------------------- iterations
# All iterations take the matrix of `LinkGraph.matrix` and start from given values, so
# that a graph that grew a little needs only a few rounds. They end when no value changes by more than `tolerance`, at
# the latest after `most` rounds. The same input results in the same floats.


TOLERANCE = 1e-4
"""Largest change of a value at the end, far below differences of scores with similarities of two or three digits."""
MOST_ROUNDS = 200


def hits(
    matrix: LinkMatrix, authority: Floats, hub: Floats, *, tolerance: float = TOLERANCE, most: int = MOST_ROUNDS
) -> tuple[Floats, Floats]:
    """Return (authority, hub) by Kleinberg's HITS (Liu & Li 2017, I: a(v) = Σ h(u→v); O: h(u) = Σ a(u→v)).

    Both are normalised by their highest value (ours; the paper does not name the norm), so that they are in 0…1 like
    the similarities to which they are added, however large the graph is.
    """
    for _ in range(most):
        former_authority, former_hub = authority, hub
        authority = _by_highest(matrix.times(hub))
        hub = _by_highest(matrix.transposed_times(authority))
        if _moved(authority, former_authority) <= tolerance and _moved(hub, former_hub) <= tolerance:
            break
    return authority, hub


def pagerank(
    matrix: LinkMatrix, start: Floats, *, d: float, tolerance: float = TOLERANCE, most: int = MOST_ROUNDS
) -> Floats:
    """Return PR of each node, PR(A) = (1 − d) + d · Σ over T→A of PR(T)/C(T), C(T) the number of links on T.

    Nodes without links pass nothing on; the values do not add up to 1 (the form of the paper).
    """
    share = _inverse(matrix.out_degrees())
    return _fixed_point(lambda values: (1.0 - d) + d * matrix.times(values * share), start, tolerance, most)


def ipagerank(
    matrix: LinkMatrix,
    rw: Floats,
    start: Floats,
    *,
    d: float,
    tolerance: float = TOLERANCE,
    most: int = MOST_ROUNDS,
) -> Floats:
    """Return IPR of each node, IPR(A) = (1 − d) + d · Σ over T→A of IPR(T) · RW(A) / Σ over T's links i of RW(i).

    `rw`: RW of each node as a link's target; it is a property of the target (its metadata come from every page that
    links to it), so it is a factor of the whole sum. A page whose links all have RW 0 passes nothing on (ours).
    """
    share = _inverse(matrix.transposed_times(rw))
    return _fixed_point(lambda values: (1.0 - d) + d * rw * matrix.times(values * share), start, tolerance, most)


def even_shares(matrix: LinkMatrix, values: Floats) -> Floats:
    """Return Σ over T→A of value(T)/C(T) for each node A: the sum that A gets when pages share evenly."""
    return matrix.times(values * _inverse(matrix.out_degrees()))


def _fixed_point(step: Callable[[Floats], Floats], values: Floats, tolerance: float, most: int) -> Floats:
    for _ in range(most):
        former, values = values, step(values)
        if _moved(values, former) <= tolerance:
            break
    return values


def _by_highest(values: Floats) -> Floats:
    highest = values.max(initial=0.0)
    return values / highest if highest > 0.0 else values


def _moved(values: Floats, former: Floats) -> float:
    return float(np.abs(values - former).max(initial=0.0))


def _inverse(values: Floats) -> Floats:
    """Return 1/x, 0 for x = 0."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0.0)
