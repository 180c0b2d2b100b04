"""The contest on the recorded worlds, the same contest twice, and a live crawl beside its replay."""

from __future__ import annotations

import argparse
import csv
import io
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.lab.contest.results import COSTS
from tests.support import processes, world_crawls
from tests.support.live_and_replayed import live_and_replayed
from tests.support.processes import geocrawl


def main(arguments: list[str]) -> None:
    """Run all three, print them; a full run is written to b_contest.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows contest", description=__doc__)
    parser.add_argument("--strategies", default="all")
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--out", type=Path, help="folder for the report (default: thrown away)")
    options = parser.parse_args(arguments)
    names = options.world or list(world_crawls.NAMES)
    with tempfile.TemporaryDirectory(prefix="geocrawl-contest-") as temporary:
        work = Path(temporary)
        figures = {
            "contest": evaluate(names, options.strategies, options.out or work / "contest", work),
            "twice": twice("portal", "gws,bfs,random", work),
            "live_and_replayed": [
                live_and_replayed(world_crawls.folder("portal"), name, work / name) for name in ("bfs", "gws")
            ],
        }
    print(json.dumps(figures["twice"]), json.dumps(figures["live_and_replayed"], indent=1))
    if len(names) == len(world_crawls.NAMES) and options.strategies == "all":
        print(machine.write("b_contest", figures))


def evaluate(names: list[str], strategies: str, out: Path, home: Path) -> dict[str, Any]:
    """Run `geocrawl evaluate` on the worlds; return its rows, what it skipped, and its wall time."""
    begun = time.monotonic()
    folders = [str(world_crawls.folder(name)) for name in names]
    env = processes.clean_environment(home)
    done = processes.checked(geocrawl("evaluate", *folders, "--strategies", strategies, "--out", str(out)), env=env)
    print(done.stdout)
    data = json.loads((out / "results.json").read_text("utf-8"))
    rows = list(csv.DictReader(io.StringIO((out / "results.csv").read_text("utf-8"))))
    return {"rows": rows, "skipped": data["skipped"], "wall_s": round(time.monotonic() - begun, 1)}


def twice(name: str, strategies: str, work: Path) -> dict[str, Any]:
    """Run one contest twice; return whether all results but times and memory are equal."""
    texts = []
    for number in ("first", "second"):
        evaluate([name], strategies, work / number, work)
        rows = csv.DictReader(io.StringIO((work / number / "results.csv").read_text("utf-8")))
        texts.append([{key: value for key, value in row.items() if key not in COSTS} for row in rows])
    return {"world": name, "strategies": strategies, "equal": texts[0] == texts[1]}
