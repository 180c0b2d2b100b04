"""Run many replays, each in a process of its own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from geocrawl.lab.contest.run import Job


def measure(jobs: Sequence[Job], replayed: Callable[[Job], dict[str, Any]], parallel: int) -> Iterator[dict[str, Any]]:
    """Yield, and print, what `replayed` returns for each job, in the order of the jobs; `parallel` run at once."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(parallel, mp_context=spawn, max_tasks_per_child=1) as pool:
        for row in pool.map(replayed, jobs):
            print("   " + ", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
            yield row
