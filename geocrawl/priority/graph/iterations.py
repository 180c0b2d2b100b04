"""Compute HITS, PageRank and IPageRank by iterating over the matrix of a link graph.

All iterations take the matrix of `LinkGraph.matrix` (row v, column u: u links to v) and start from given values, so
that a graph that grew a little needs only a few rounds. They end when no value changes by more than `tolerance`, at the
latest after `most` rounds. The same input results in the same floats.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]

TOLERANCE = 1e-4
"""Largest change of a value at the end, far below differences of scores with similarities of two or three digits."""
MOST_ROUNDS = 200


def hits(
    matrix: csr_array, authority: Floats, hub: Floats, *, tolerance: float = TOLERANCE, most: int = MOST_ROUNDS
) -> tuple[Floats, Floats]:
    """Return (authority, hub) by Kleinberg's HITS (Liu & Li 2017, I: a(v) = Σ h(u→v); O: h(u) = Σ a(u→v)).

    Both are normalised by their highest value (ours; the paper does not name the norm), so that they are in 0…1 like
    the similarities to which they are added, however large the graph is.
    """
    transposed = matrix.T.tocsr()
    for _ in range(most):
        former_authority, former_hub = authority, hub
        authority = _by_highest(matrix @ hub)
        hub = _by_highest(transposed @ authority)
        if _moved(authority, former_authority) <= tolerance and _moved(hub, former_hub) <= tolerance:
            break
    return authority, hub


def pagerank(
    matrix: csr_array, start: Floats, *, d: float, tolerance: float = TOLERANCE, most: int = MOST_ROUNDS
) -> Floats:
    """Return PR of each node, PR(A) = (1 − d) + d · Σ over T→A of PR(T)/C(T), C(T) the number of links on T.

    Nodes without links pass nothing on; the values do not add up to 1 (the form of the paper).
    """
    share = _inverse(_column_sums(matrix))
    return _fixed_point(lambda values: (1.0 - d) + d * (matrix @ (values * share)), start, tolerance, most)


def ipagerank(
    matrix: csr_array,
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
    share = _inverse(matrix.T @ rw)
    return _fixed_point(lambda values: (1.0 - d) + d * rw * (matrix @ (values * share)), start, tolerance, most)


def even_shares(matrix: csr_array, values: Floats) -> Floats:
    """Return Σ over T→A of value(T)/C(T) for each node A: the sum that A gets when pages share evenly."""
    shares: Floats = matrix @ (values * _inverse(_column_sums(matrix)))
    return shares


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


def _column_sums(matrix: csr_array) -> Floats:
    return np.bincount(matrix.indices, minlength=matrix.shape[1]).astype(np.float64)


def _inverse(values: Floats) -> Floats:
    """Return 1/x, 0 for x = 0."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0.0)
