"""Make webs with pages in trouble and a dead host, replay every strategy on them, and print how each crawl ended."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine, replays
from benchmarks.shows.orders import STRATEGIES
from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.made_worlds.plans.registry import KINDS

PAGES = 1000
SEED = 7
WELL_ENDED = ("done", "resting")
"""Nothing waited, or only addresses that failed and are to be asked again later."""
YARDSTICK = "bfs"
"""The strategy that also crawls the webs without trouble: what it finds there is what trouble may not cost."""
BUDGET = 100_000
"""Pages a replay, more than any of the webs has: each ends when the queue is empty."""


def main(arguments: list[str]) -> None:
    """Replay, print, write f_ends.json; SystemExit when a crawl ended while pages waited.

    The file says which webs and strategies were replayed, also when options have chosen some.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows sturdy_ends", description=__doc__)
    parser.add_argument("--kind", choices=tuple(KINDS), action="append", help="only this one (may be repeated)")
    parser.add_argument("--strategy", choices=STRATEGIES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--pages", type=int, default=PAGES, help=f"pages of each web [{PAGES:,}]")
    parser.add_argument("--seed", type=int, default=SEED, help=f"random seed of each web [{SEED}]")
    parser.add_argument("--parallel", type=int, default=2, help="replays at once")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    kinds, strategies = options.kind or tuple(KINDS), options.strategy or STRATEGIES
    with tempfile.TemporaryDirectory(prefix="geocrawl-ends-") as folder:
        for kind in kinds:
            make(kind, options.pages, options.seed, Path(folder) / f"{kind}-calm")
            make(kind, options.pages, options.seed, Path(folder) / kind, troubled=True)
        jobs = [Job(Path(folder) / f"{kind}-calm", YARDSTICK, BUDGET) for kind in kinds]
        jobs += [Job(Path(folder) / kind, strategy, BUDGET) for kind in kinds for strategy in strategies]
        rows = list(replays.measure(jobs, replayed, options.parallel))
    if not options.no_write:
        print(machine.write("f_ends", {"pages": options.pages, "seed": options.seed, "crawls": rows}))
    early = [f"{row['world']} {row['strategy']}: {row['ended']}" for row in rows if row["ended"] not in WELL_ENDED]
    if early:
        raise SystemExit("\n".join(early))


def replayed(job: Job) -> dict[str, Any]:
    """Return what one replay found of what can be reached, and why it ended."""
    done = run(job)
    return {
        "world": job.world.name,
        "strategy": job.strategy,
        "pages": done.score.pages,
        "found": done.score.found,
        "reachable": done.score.reachable,
        "recall": round(done.score.recall, 4),
        "ended": done.stopped,
        "cpu_s": done.cpu_s,
    }
