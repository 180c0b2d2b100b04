"""The recorded worlds to the end: gws with and without its zero-priority links, and breadth-first beside it."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks import machine
from benchmarks.shows import losses
from tests.support import world_crawls
from tests.support.scored_worlds import PLANS, measure, show


def main(arguments: list[str]) -> None:
    """Crawl, score, print the table; a full run is written to a_worlds.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows worlds", description=__doc__)
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--strategy", choices=list(PLANS), action="append", help="only this one, always beside bfs")
    parser.add_argument("--keep", type=Path, help="folder for databases, logs and catalogues (default: thrown away)")
    parser.add_argument("--parallel", type=int, default=2, help="crawls at once")
    options = parser.parse_args(arguments)
    names = options.world or list(world_crawls.NAMES)
    strategies = sorted({"bfs", *(options.strategy or PLANS)})
    with tempfile.TemporaryDirectory(prefix="geocrawl-worlds-") as temporary:
        work = options.keep or Path(temporary)
        figures = measure(names, strategies, work, options.parallel)
        if {"gws", "gws-drop"} <= set(strategies):
            for name in names:
                databases = [work / name / each / "geocrawl.db" for each in ("gws", "gws-drop")]
                figures[name]["lost_by_dropping"] = losses.measure(*databases)
    show(figures)
    if len(names) == len(world_crawls.NAMES) and len(strategies) == len(PLANS):
        print(machine.write("a_worlds", {"worlds": figures}))
