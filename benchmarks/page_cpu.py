"""CPU milliseconds a page, before a change and now: crawls of a recorded web by both checkouts, in turns.

On a shared machine the figures are high, and only their ratio says something.
"""

from __future__ import annotations

import argparse
import os
import statistics
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.peers import one_run, ours
from tests.support import world_crawls
from tests.support.places import ROOT


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the earlier checkout, and how far and how often is crawled."""
    parser.add_argument("--before", type=Path, required=True, metavar="FOLDER", help="checkout of the earlier commit")
    parser.add_argument("--world", choices=world_crawls.NAMES, default="agency", help="[agency]")
    parser.add_argument("--strategies", nargs="+", default=["gws", "fusion"], help="[gws fusion]")
    parser.add_argument("--pages", type=int, default=2000, help="pages a crawl [2000]")
    parser.add_argument("--runs", type=int, default=3, help="crawls of each [3]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the medians of CPU milliseconds a page, and their ratio."""
    world, rows = world_crawls.folder(options.world), []
    for strategy in options.strategies:
        found: dict[str, list[float]] = {"before": [], "now": []}
        for _ in range(options.runs):
            for when, checkout in (("before", options.before.resolve()), ("now", ROOT)):
                # -m looks for the package in the current folder last: PYTHONSAFEPATH leaves it out, PYTHONPATH decides.
                done = one_run(world, ours(strategy), options.pages, PYTHONPATH=str(checkout), PYTHONSAFEPATH="1")
                found[when].append(1000 * done["cpu_s"] / max(done["pages"], 1))
        medians = {when: round(statistics.median(values), 3) for when, values in found.items()}
        rows.append({"strategy": strategy, **medians, "ratio": round(medians["now"] / medians["before"], 3)})
        print(f"   {rows[-1]}", flush=True)
    told = {"world": options.world, "pages": options.pages, "runs": options.runs}
    told["before"] = machine.commit(options.before)
    return {**told, "load": round(os.getloadavg()[2], 1), "cpu_ms_a_page": rows}
