"""What the strategies over a link graph cost more than best-first: whole replayed crawls of one large made web.

On a shared machine the CPU seconds of two equal crawls differ by a third, so the work that best-first does not have is
also measured within each crawl: lessons learnt, iterations, ranks written, dumps, beside all the rest of that crawl.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.crawler.learning import Learning
from geocrawl.lab.contest.run import CrawlResult, Job, run
from geocrawl.lab.made_worlds.folder import make

RIVAL = "best-first"
OVER_GRAPHS = ("hits", "ipagerank", "pagerank")


def main(arguments: list[str]) -> None:
    """Crawl with each, one after the other; a run of full size is written to b_overhead.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows overhead", description=__doc__)
    parser.add_argument("--pages", type=int, default=30_000, help="of the web; about two thirds lie within the depth")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--strategies", default=",".join((RIVAL, *OVER_GRAPHS)), help="the first is the measure")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-overhead-") as temporary:
        folder = Path(temporary) / f"agency-{options.seed}"
        make("agency", options.pages, options.seed, folder, ())
        rows = []
        for name in options.strategies.split(","):
            rows.append(cost(folder, name, options.pages))
            print(rows[-1], flush=True)
    least = rows[0]["cpu_ms_a_page"]
    for row in rows:
        row["over_the_first"] = round(row["cpu_ms_a_page"] / least - 1, 3)
        print(f"{row['strategy']}: {row['over_the_first']:+.1%}")
    if options.pages >= 20_000:
        print(
            machine.write(
                "b_overhead", {"world": f"agency, {options.pages} pages, seed {options.seed}", "crawls": rows}
            )
        )


def cost(folder: Path, strategy: str, budget: int) -> dict[str, Any]:
    """A crawl in a process of its own: its pages and CPU seconds, without imports and the reading of the world."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result, learning_s = pool.submit(watched, Job(folder, strategy, budget)).result()
    pages = result.score.pages
    return {
        "strategy": strategy,
        "pages": pages,
        "cpu_s": result.cpu_s,
        "learning_cpu_s": round(learning_s, 3),
        "learning_over_the_rest": round(learning_s / (result.cpu_s - learning_s), 3),
        "cpu_ms_a_page": round(1000 * result.cpu_s / pages, 3),
        "peak_mib": result.peak_mib,
        "found": result.score.found,
        "area": result.score.area,
    }


def watched(job: Job) -> tuple[CrawlResult, float]:
    """A crawl, and the CPU seconds of what only a strategy that learns does. For a process of its own: it stays
    watched."""
    spent = [0.0]
    for name in ("learn",):
        setattr(Learning, name, _timed(getattr(Learning, name), spent))
    return run(job), spent[0]


def _timed(method: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def timed(*arguments: Any) -> Any:
        begun = time.process_time()
        try:
            return method(*arguments)
        finally:
            spent[0] += time.process_time() - begun

    return timed
