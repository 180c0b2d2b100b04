"""Answers handled a CPU second beside Scrapy and Crawlee, which do text and links only: least, median and most.

All crawl the same recorded web from the same server through the same HTTP proxy on loopback, in turns, each in a
process of its own; what counts is the crawler's process alone, its start included. geocrawl obeys robots.txt, judges
every page and link, recognises and probes services, and keeps its frontier on disk; the peers do none of that. All
answers count (pages, probes, robots.txt); `pages` are those of pages alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import other_crawlers
from tests.support import world_crawls
from tests.support.processes import checked, clean_environment

SLOW_S = "1"
"""The recorded world's slow services answer after this long instead of 20 s: waiting costs no CPU, only patience."""
MEASURES = ("answers_a_cpu_s", "answers", "pages", "cpu_s", "wall_s", "peak_mib")
Command = Callable[[list[str], str, int, Path], list[str]]
"""(seeds, proxy, pages, scratch folder) -> command line."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add which web is crawled, how far, and how often."""
    parser.add_argument("--world", choices=world_crawls.NAMES, default="agency", help="[agency]")
    parser.add_argument("--pages", type=int, default=3000, help="answers a run [3000]")
    parser.add_argument("--runs", type=int, default=5, help="runs of each [5]")
    parser.add_argument("--strategies", nargs="+", default=["gws", "bfs", "fusion"], help="[gws bfs fusion]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return a row a crawler, with its ratio to Scrapy and to the fastest peer."""
    other_crawlers.install()
    world = world_crawls.folder(options.world)
    every = {f"geocrawl, {strategy}": ours(strategy) for strategy in options.strategies}
    every |= {peer.name: theirs(peer) for peer in other_crawlers.PEERS}
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in every}
    for _ in range(options.runs):
        for name, command in every.items():
            runs[name].append(one_run(world, command, options.pages))
            print(f"   {name}: {runs[name][-1]}", flush=True)
    rates = {name: statistics.median(run["answers_a_cpu_s"] for run in found) for name, found in runs.items()}
    fastest = max(rates[peer.name] for peer in other_crawlers.PEERS)
    rows = [
        {
            "name": name,
            **{each: _spread([run[each] for run in found]) for each in MEASURES},
            "times_scrapy": round(rates[name] / rates["Scrapy"], 2),
            "times_the_fastest": round(rates[name] / fastest, 2),
        }
        for name, found in runs.items()
    ]
    load = round(os.getloadavg()[2], 1)
    return {"world": options.world, "pages": options.pages, "runs": options.runs, "load": load, "crawlers": rows}


def ours(strategy: str) -> Command:
    """Return how geocrawl is started with a strategy."""

    def command(seeds: list[str], proxy: str, pages: int, folder: Path) -> list[str]:
        return world_crawls.Plan(strategy, max_pages=pages).command(seeds, folder / "geocrawl.db", proxy)

    return command


def theirs(peer: other_crawlers.Peer) -> Command:
    """Return how another crawler is started."""
    return lambda seeds, proxy, pages, folder: peer.command(seeds, proxy, pages)


def one_run(world: Path, command: Command, pages: int, **environment: str) -> dict[str, float]:
    """Return answers, CPU and wall seconds and peak MiB of one crawl."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-bench-") as temporary:
        folder = Path(temporary)
        log = folder / "access.jsonl"
        with world_crawls.served(world, log, "--slow-seconds", SLOW_S) as proxy:
            program = command(world_crawls.seeds(world), proxy, pages, folder)
            done = checked(program, env=clean_environment(folder, **environment))
        requests = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    read = sum(each["kind"] == "page" and not 300 <= each["status"] < 400 for each in requests)
    costs = {"cpu_s": done.cpu_s, "wall_s": done.wall_s, "peak_mib": done.peak_mib}
    return {"answers_a_cpu_s": round(len(requests) / done.cpu_s, 1), "answers": len(requests), "pages": read, **costs}


def _spread(values: Sequence[float]) -> list[float]:
    return [min(values), round(statistics.median(values), 2), max(values)]
