"""Choices that were made after the recorded webs had been seen, on made webs that nobody looked at before.

`ipagerank.tunnels` (docs/decisions/006) and `bayes.online` (007), on and off, on two webs of each kind.
"""

from __future__ import annotations

import argparse
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.made_worlds.folder import make

KINDS = ("portal", "agency", "mixed")
CHOICES = {"ipagerank": "tunnels", "bayes": "online"}
FIRST_SEED, PER_KIND, PAGES = 700, 2, 1200


def main(arguments: list[str]) -> None:
    """Crawl each web four times, as many pages as it has; print the rows and write b_choices.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows choices", description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-choices-") as temporary:
        jobs = [job for folder in _worlds(Path(temporary)) for job in _jobs(folder)]
        with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
            rows = list(pool.map(_row, jobs))
    for row in rows:
        print(row)
    print(machine.write("b_choices", {"pages": PAGES, "crawls": rows}))


def _worlds(folder: Path) -> list[Path]:
    worlds = []
    for number in range(PER_KIND * len(KINDS)):
        kind, seed = KINDS[number // PER_KIND], FIRST_SEED + number
        worlds.append(folder / f"{kind}-{seed}")
        counts = make(kind, PAGES, seed, worlds[-1], ())["counts"]
        print(worlds[-1].name, counts["pages"], flush=True)
    return worlds


def _jobs(folder: Path) -> list[Job]:
    return [
        Job(folder, strategy, PAGES, {f"{strategy}.{option}": value})
        for strategy, option in CHOICES.items()
        for value in ("true", "false")
    ]


def _row(job: Job) -> dict[str, Any]:
    score = run(job).score
    (option,) = job.set.items()
    return {
        "world": job.world.name,
        "option": "=".join(option),
        "pages": score.pages,
        "found": score.found,
        "reachable": score.reachable,
        "area": score.area,
        "pages_50": score.pages_50,
        "pages_90": score.pages_90,
    }
