"""Crawl webs of damaged and hostile answers with several strategies: exceptions, stalls of the loop, memory."""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.crawler import fuzz_documents, fuzz_visits, fuzz_web
from tests.support.places import shared_folder

STRATEGIES = ("gws", "fusion", "bayes", "hits", "adaptive", "ipagerank")
LIVE_SHARE = 4
"""A crawl over connections makes one in so many of the visits."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how many visits, of which documents."""
    parser.add_argument("--strategies", nargs="+", default=STRATEGIES, help=f"[{' '.join(STRATEGIES)}]")
    parser.add_argument("--visits", type=int, default=2_000, help="visits of each crawl [2,000]")
    parser.add_argument("--bytes", type=int, default=5_000_000, help="longest documents made [5,000,000]")
    parser.add_argument("--seed", type=int, default=11, help="of the webs [11]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of each crawl; missed is every visit that broke and every command that raised."""
    rows, missed = [], []
    for number, strategy in enumerate(options.strategies):
        for live, visits in ((False, options.visits), (True, options.visits // LIVE_SHARE)):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:  # for its peak memory
                row, found = pool.submit(_crawl, strategy, visits, options.bytes, options.seed + number, live).result()
            print(f"   {row}", flush=True)
            rows.append(row)
            missed += found
    return {"seed": options.seed, "largest_bytes": options.bytes, "crawls": rows, "missed": missed}


def _crawl(strategy: str, visits: int, largest: int, seed: int, live: bool) -> tuple[dict[str, Any], list[str]]:
    web = fuzz_web.FuzzWeb(fuzz_documents.documents(shared_folder()), seed, hostile_bytes=largest)
    with tempfile.TemporaryDirectory(prefix="geocrawl-fuzz-") as folder:
        database = Path(folder) / "c.db"
        result = fuzz_visits.crawl(web, database, strategy, visits, workers=8 if live else 1, live=live)
    return {
        "strategy": strategy,
        "over": "connections" if live else "replay",
        "visits": result.visits,
        "documents": result.answers,
        "services": result.valid,
        "internal_errors": len(result.faults),
        "not_settled": result.not_settled,
        "commands_and_checks_failed": len(result.problems),
        "longest_stall_s": round(result.longest_stall_s, 2),
        "stalled_at": result.stalled_at,
        "wall_s": round(result.wall_s, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "readers_peak_mib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10,
    }, [*result.faults, *result.problems]
