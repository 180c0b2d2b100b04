"""fusion beside every other strategy on ten made webs that neither its weights nor its settings have seen.

Seeds 900 to 909 over the three kinds, each with themes of its own by the seed; every strategy reads as many pages as
the web has. Writes b_fusion.json: the area under the harvest curve by web, its mean and worst, the CPU time a page, and
on how many webs fusion is ahead of each.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.priority.registry import strategies

KINDS = ("portal", "agency", "mixed")
FIRST_SEED, WORLDS, PAGES = 900, 10, 600
OURS = "fusion"


def main(arguments: list[str]) -> None:
    """Make the webs, crawl each by every strategy, print the tables, write the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows fusion", description=__doc__)
    parser.add_argument("--pages", type=int, default=PAGES, help="pages of a web [%(default)s]")
    parser.add_argument("--worlds", type=int, default=WORLDS, help="how many webs [%(default)s]")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-fusion-") as temporary:
        folders = list(_made(Path(temporary), options.worlds, options.pages))
        jobs = [Job(folder, name, World(folder).pages) for folder in folders for name in strategies()]
        with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
            rows = []
            for row in pool.map(_row, jobs):
                rows.append(row)
                print(json.dumps(row), flush=True)
    figures = {"pages": options.pages, "strategies": summary(rows), "crawls": rows}
    _print(rows, figures["strategies"])
    if not options.no_write:
        print(machine.write("b_fusion", figures))


def _made(folder: Path, worlds: int, pages: int) -> Iterable[Path]:
    for number in range(worlds):
        kind, seed = KINDS[number % len(KINDS)], FIRST_SEED + number
        out = folder / f"{kind}-{seed}"
        make(kind, pages, seed, out)
        yield out


def _row(job: Job) -> dict[str, Any]:
    result = run(job)
    score = result.score
    return {
        "world": job.world.name,
        "strategy": job.strategy,
        "pages": score.pages,
        "found": score.found,
        "reachable": score.reachable,
        "area": round(score.area, 4),
        "cpu_ms_a_page": round(1000 * result.cpu_s / max(score.pages, 1), 2),
    }


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Strategy → mean and least area, CPU time a page, and the webs on which fusion is ahead of it, best mean first."""
    areas: dict[str, dict[str, float]] = {}
    cpu: dict[str, list[float]] = {}
    for row in rows:
        areas.setdefault(row["strategy"], {})[row["world"]] = row["area"]
        cpu.setdefault(row["strategy"], []).append(row["cpu_ms_a_page"])
    ours = areas[OURS]
    found: dict[str, dict[str, Any]] = {
        name: {
            "mean": round(statistics.mean(area.values()), 4),
            "worst": min(area.values()),
            "cpu_ms_a_page": round(statistics.mean(cpu[name]), 2),
            "fusion_ahead_on": sum(ours[world] > area[world] for world in area) if name != OURS else None,
        }
        for name, area in areas.items()
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]["mean"]))


def _print(rows: Sequence[Mapping[str, Any]], by_strategy: Mapping[str, Mapping[str, Any]]) -> None:
    worlds = list(dict.fromkeys(row["world"] for row in rows))
    areas = {(row["strategy"], row["world"]): row["area"] for row in rows}
    print(f"{'area':<20}" + "".join(f"{world:>12}" for world in worlds) + "   mean  worst  ms/page  fusion ahead")
    for name, of in by_strategy.items():
        line = "".join(f"{areas[name, world]:>12.3f}" for world in worlds)
        ahead = "" if of["fusion_ahead_on"] is None else f"{of['fusion_ahead_on']} of {len(worlds)}"
        print(f"{name:<20}{line}  {of['mean']:.3f}  {of['worst']:.3f}  {of['cpu_ms_a_page']:>7.2f}  {ahead:>12}")
