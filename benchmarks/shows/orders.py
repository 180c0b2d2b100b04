"""Replay the recorded worlds under every strategy and note the order of visits: the same code gives the same order."""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine, replays
from geocrawl.lab.contest.run import Job, run
from tests.support import world_crawls

FIRST = 500
BUDGET = 100_000
"""Pages a replay, more than any world has: each ends when the queue is empty."""
STRATEGIES = (
    "fusion",
    "gws",
    "best-first",
    "best-first-page",
    "best-first-anchor",
    "best-n-first",
    "hits",
    "adaptive",
    "ipagerank",
    "pagerank",
    "bayes",
    "bfs",
    "random",
)
COMPARED = ("area", "found", "pages", "first500", "all")


def main(arguments: list[str]) -> None:
    """Replay, print, write e_orders.json; with `--compare`, SystemExit when a row differs from the file's."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows orders", description=__doc__)
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--strategy", choices=STRATEGIES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--pages", type=int, default=BUDGET, help=f"pages a replay [{BUDGET:,}]")
    parser.add_argument("--parallel", type=int, default=2, help="replays at once")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="print what differs from these figures")
    options = parser.parse_args(arguments)
    worlds, strategies = options.world or world_crawls.NAMES, options.strategy or STRATEGIES
    jobs = [Job(world_crawls.folder(world), strategy, options.pages) for world in worlds for strategy in strategies]
    rows = list(replays.measure(jobs, replayed, options.parallel))
    if not (options.world or options.strategy):
        print(machine.write("e_orders", {"budget": options.pages, "orders": rows}))
    if options.compare:
        found = differences(json.loads(options.compare.read_text("utf-8"))["orders"], rows)
        print("\n".join(found) or "no difference", flush=True)
        if found:
            raise SystemExit(f"{len(found)} differences")


def replayed(job: Job) -> dict[str, Any]:
    """Return area, services found and pages of one replay, and hashes of the addresses in the order of their visits."""
    done = run(job)
    return {
        "world": job.world.name,
        "strategy": job.strategy,
        "area": done.score.area,
        "found": done.score.found,
        "pages": done.score.pages,
        "first500": _hash(done.visited[:FIRST]),
        "all": _hash(done.visited),
        "cpu_s": done.cpu_s,
        "peak_mib": done.peak_mib,
    }


def differences(before: Iterable[dict[str, Any]], after: Iterable[dict[str, Any]]) -> list[str]:
    """Return a line for each value of `COMPARED` that differs; rows that only one side has are left out."""
    former = {(row["world"], row["strategy"]): row for row in before}
    return [
        f"{row['world']} {row['strategy']} {name}: {old[name]} → {row[name]}"
        for row in after
        if (old := former.get((row["world"], row["strategy"])))
        for name in COMPARED
        if old[name] != row[name]
    ]


def _hash(addresses: Sequence[str]) -> str:
    """Return the first 64 bits of the SHA-256 of the addresses, one a line."""
    return hashlib.sha256("\n".join(addresses).encode()).hexdigest()[:16]
