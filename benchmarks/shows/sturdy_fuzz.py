"""Crawl webs of damaged and hostile answers with several strategies: exceptions, stalls of the loop, memory."""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.fuzz import peak_mib
from tests.support import fuzz_documents, fuzz_visits, fuzz_web
from tests.support.places import shared_folder

STRATEGIES = ("gws", "fusion", "bayes", "hits", "adaptive", "ipagerank")
VISITS = 2_000
SEED = 11
LARGEST_BYTES = 5_000_000
"""Titles of 5 MB, 100,000 links."""
LIVE_SHARE = 4
"""A crawl over connections makes one in so many of the visits."""


def main(arguments: list[str]) -> None:
    """Crawl, print, write f_fuzz.json; SystemExit when a visit broke or a command raised."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows sturdy_fuzz", description=__doc__)
    parser.add_argument("--strategy", choices=STRATEGIES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--visits", type=int, default=VISITS, help=f"visits of each crawl [{VISITS:,}]")
    parser.add_argument("--bytes", type=int, default=LARGEST_BYTES, help=f"longest documents made [{LARGEST_BYTES:,}]")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the webs [{SEED}]")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    rows, wrong = [], []
    for number, strategy in enumerate(options.strategy or STRATEGIES):
        for live, visits in ((False, options.visits), (True, options.visits // LIVE_SHARE)):
            row, found = apart(strategy, visits, options.bytes, options.seed + number, live)
            print("   " + ", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
            rows.append(row)
            wrong += found
    if not options.no_write:
        print(machine.write("f_fuzz", {"seed": options.seed, "largest_bytes": options.bytes, "crawls": rows}))
    if wrong:
        raise SystemExit("\n".join(wrong))


def apart(strategy: str, visits: int, largest: int, seed: int, live: bool) -> tuple[dict[str, Any], list[str]]:
    """Measure in a fresh process, for its peak memory."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, strategy, visits, largest, seed, live).result()


def measure(strategy: str, visits: int, largest: int, seed: int, live: bool) -> tuple[dict[str, Any], list[str]]:
    """Return the figures of one crawl, and every fault and problem."""
    web = fuzz_web.FuzzWeb(fuzz_documents.documents(shared_folder()), seed, hostile_bytes=largest)
    with tempfile.TemporaryDirectory(prefix="geocrawl-fuzz-") as folder:
        workers = 8 if live else 1
        result = fuzz_visits.crawl(web, Path(folder) / "c.db", strategy, visits, workers=workers, live=live)
    return {
        "strategy": strategy,
        "over": "connections" if live else "replay",
        "visits": result.visits,
        "documents": result.answers,
        "pages_read": result.reasons["page ok"],
        "services": result.valid,
        "internal_errors": len(result.faults),
        "not_settled": result.not_settled,
        "commands_and_checks_failed": len(result.problems),
        "longest_stall_s": round(result.longest_stall_s, 2),
        "stall_cpu_s": round(result.stall_cpu_s, 2),
        "stalled_at": result.stalled_at,
        "wall_s": round(result.wall_s, 1),
        "peak_mib": peak_mib(),
        "readers_peak_mib": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, 1),
    }, [*result.faults, *result.problems]
