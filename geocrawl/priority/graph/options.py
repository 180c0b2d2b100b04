"""Define the options that strategies over a link graph share. Importing this module does not load NumPy."""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.priority.options import Constant, Option

MAX_EDGES = 2_000_000
"""Most edges of a graph; with the matrices of an iteration they need less than 300 MiB."""


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
