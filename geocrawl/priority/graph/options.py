"""Define the options that strategies over a link graph share, in a file of their own: listing them loads no NumPy."""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.priority.options import Option

MAX_EDGES = 2_000_000
"""Edges of a graph; with the matrices of an iteration they stay below 300 MiB."""


def graph_options(period: str, change: float) -> Mapping[str, Option]:
    """Return the options of schedule and bounds; `period` is the paper's name for the downloads between iterations."""
    return {
        period: Option(200, "downloads between two iterations over the graph", 1, 10**9),
        "growth": Option(
            1.1, "and the crawl grew by this factor since the last iteration; 1: every time, as the paper", 1.0
        ),
        "change": Option(change, "a new score that differs by no more than this share is not written", 0.0, 1.0),
        "edges": Option(MAX_EDGES, "links the graph holds at most; those into the least pages go first", 1000, 10**8),
    }
