"""The papers' claims on the recorded worlds (`evaluate --papers`, as `make papers`), and what ties alone change.

Each world is a contest of its own, so that one can be measured again without the others, and a report that is at hand
can be recorded without its crawls (`--report`). Verdicts are those of the report.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.lab.contest.contest import study_path
from geocrawl.lab.recorded_worlds.walk import read_web
from geocrawl.lab.recorded_worlds.world import World
from tests.support import processes, world_crawls
from tests.support.one_queue import compare
from tests.support.papers_table import table
from tests.support.processes import geocrawl

STRATEGIES = "papers,fusion"
_SHOWN = ("strategy", "budget", "pages", "found", "precision", "area", "harvest_rate", "discovery_rate", "cpu_s")


def main(arguments: list[str]) -> None:
    """Run the contests or read their reports, print the claims; worlds that are measured replace those in the file."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows papers", description=__doc__)
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--budget", type=int, help="pages of each crawl [as many as the world has]")
    parser.add_argument("--strategies", default=STRATEGIES)
    parser.add_argument(
        "--report", type=Path, help="folder that evaluate --papers --out wrote for the one --world named"
    )
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    names: Sequence[str] = options.world or world_crawls.NAMES
    if options.report and len(names) != 1:
        parser.error("--report is the report of one world: name it with --world")
    worlds = {}
    for name in names:
        folder = world_crawls.folder(name)
        measured = _read(options.report) if options.report else _contest(folder, options.strategies, options.budget)
        worlds[name] = {**measured, "ties": compare(read_web(World(folder)), study_path(folder))}
        print(name, json.dumps(worlds[name]["verdicts"]), json.dumps(worlds[name]["ties"]), flush=True)
        for claim in worlds[name]["claims"]:
            print(f"  {claim['verdict']:<15}{claim['claim']} [{claim['presets']}]: {claim['figures']}")
    if not options.no_write:
        print(machine.write("h_papers", {"worlds": {**_written(), **worlds}}))
    print("\n".join(table(worlds if options.no_write else _written())))


def _contest(world: Path, strategies: str, budget: int | None) -> dict[str, Any]:
    """Run `geocrawl evaluate --papers` on a world; return what `_read` returns, and the seconds that it took."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="geocrawl-papers-") as temporary:
        out = Path(temporary) / "report"
        bound = ["--budget", str(budget)] if budget else []
        command = geocrawl("evaluate", str(world), "--papers", "--strategies", strategies, "--out", str(out), *bound)
        processes.checked(command, env=processes.clean_environment(Path(temporary)))
        return {**_read(out), "wall_s": round(time.monotonic() - begun)}


def _read(report: Path) -> dict[str, Any]:
    """Return the claims with their verdicts, how many there are of each, and the rows of the contest of a report."""
    claims = list(csv.DictReader((report / "claims.csv").open(encoding="utf-8")))
    rows = csv.DictReader((report / "results.csv").open(encoding="utf-8"))
    return {
        "verdicts": Counter(claim["verdict"] for claim in claims),
        "claims": claims,
        "contest": [{key: row[key] for key in _SHOWN} for row in rows],
    }


def _written() -> dict[str, Any]:
    path = machine.MEASUREMENTS / "h_papers.json"
    worlds: dict[str, Any] = json.loads(path.read_text("utf-8"))["worlds"] if path.exists() else {}
    return worlds
