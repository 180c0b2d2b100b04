"""Simulate crowds of crawlers on one database: seeds by number of crawlers and kind of fault, and those that fail."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from typing import Any

from tests.simulation.database import engine_named
from tests.simulation.defects import DEFECTS, first_failure
from tests.simulation.seeds import Simulator, run_seeds


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how many seeds, and which."""
    parser.add_argument("--seeds", type=int, default=48_000, help="on SQLite [48,000]")
    parser.add_argument("--postgres-seeds", type=int, default=2_000, help="[2,000]")
    parser.add_argument("--first", type=int, default=10_000, help="first seed: tests run those before [10,000]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="[one a processor]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run the seeds, and put the known defects back; missed is every seed that failed."""
    rows = [
        _row(engine, range(options.first, options.first + count), options.jobs)
        for engine, count in (("sqlite", options.seeds), ("postgres", options.postgres_seeds))
        if count
    ]
    missed = [f"{row['engine']}, seed {seed}: {why}" for row in rows for seed, why in row["failed"].items()]
    return {"engines": rows, "defects_put_back": _defects(), "missed": missed}


def _row(engine: str, seeds: range, jobs: int) -> dict[str, Any]:
    begun = time.perf_counter()
    crawlers, faults, failed = Counter[int](), Counter[str](), dict[int, str]()
    settled = attempts = 0
    longest_idle_s = 0.0
    for result in run_seeds(seeds, engine, jobs=jobs):
        scenario = result.scenario
        crawlers[len(scenario.workers)] += 1
        faults[scenario.fault] += 1
        settled += result.settled
        attempts += result.attempts
        longest_idle_s = max(longest_idle_s, result.longest_idle_s)
        if result.failures:
            failed[scenario.seed] = result.failures[0]
            print(f"seed {scenario.seed} ({scenario.fault}): {result.failures[0]}", flush=True)
    row = {
        "engine": engine,
        "seeds": sum(faults.values()),
        "by_crawlers": dict(sorted(crawlers.items())),
        "by_fault": dict(sorted(faults.items())),
        "visits_settled": settled,
        "attempts_to_lease_per_visit": round(attempts / max(settled, 1), 1),
        "longest_idle_s": longest_idle_s,
        "failed": failed,
        "seconds": round(time.perf_counter() - begun),
    }
    print(row, flush=True)
    return row


def _defects() -> dict[str, int | None]:
    """Return after how many seeds each defect that is put back is found; None if it is not."""
    with engine_named("sqlite") as engine:
        simulator = Simulator(engine)
        found = {name: first_failure(simulator, name) for name in DEFECTS}
    return {name: None if result is None else result.scenario.seed + 1 for name, result in found.items()}
