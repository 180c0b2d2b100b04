"""Milliseconds of a matrix product, and memory of an iteration, over a link graph of full size (HITS, PageRank)."""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from geocrawl.priority.graph_strategy import MAX_EDGES
from geocrawl.priority.link_graph import Floats, LinkGraph, hits

GOAL_MS = 30.0
"""Most milliseconds of a product."""
_RUNS = 15


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the graph."""
    parser.add_argument("--nodes", type=int, default=300_000, help="[300000]")
    parser.add_argument("--links", type=int, default=MAX_EDGES, help=f"drawn; some twice [{MAX_EDGES}]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return medians in milliseconds, and the memory of graph and iteration in MiB."""
    graph = _graph(options.nodes, options.links)
    matrix, values = graph.matrix(), np.ones(len(graph.ids))
    times = {"product": _median_ms(matrix.times, values), "transposed": _median_ms(matrix.transposed_times, values)}
    figures = {
        "nodes": matrix.n,
        "links": len(matrix.sources),
        "ms": times,
        "graph MiB": round(graph.nbytes / 2**20, 1),
        "further MiB of an iteration": _iteration_mib(graph, values),
    }
    missed = [f"{name}: {ms} ms, wanted {GOAL_MS:g}" for name, ms in times.items() if ms > GOAL_MS]
    return {**figures, "missed": missed}


def _graph(nodes: int, links: int) -> LinkGraph:
    """Return a graph whose pages have eight links each, most into few nodes, as on the web."""
    draw = np.random.default_rng(1)
    graph = LinkGraph(max_edges=links)
    targets = (nodes * draw.random((links // 8, 8)) ** 2).astype(np.int64)
    for source, row in zip(draw.integers(0, nodes, len(targets)).tolist(), targets.tolist(), strict=True):
        graph.add(source, row, [1.0] * 8)
    graph.settle()
    return graph


def _median_ms(product: Callable[[Floats], Floats], values: Floats) -> float:
    """Return the median CPU time of a product, milliseconds."""
    taken = []
    for _ in range(_RUNS):
        began = time.process_time()
        product(values)
        taken.append(1000 * (time.process_time() - began))
    return round(statistics.median(taken), 2)


def _iteration_mib(graph: LinkGraph, values: Floats) -> float:
    """Return the peak of what three rounds of HITS allocate beside the graph, the matrix included."""
    tracemalloc.start()
    hits(graph.matrix(), values, values, most=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return round(peak / 2**20, 1)
