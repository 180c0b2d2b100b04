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

from benchmarks import machine, processes, worlds
from benchmarks.processes import geocrawl
from geocrawl.lab.contest.measure import measure as score_of
from geocrawl.lab.contest.results import COSTS
from geocrawl.lab.contest.run import Job, read_seeds, replay, settings_for, valid_endpoints
from geocrawl.lab.recorded_worlds.replay import WorldWeb
from geocrawl.lab.recorded_worlds.world import World

SLOW = ("--slow-seconds", "0.2")
"""Of the live server: in a replay twenty seconds cost nothing."""
AS_REPLAYED = (
    ("GEOCRAWL_MAX_CRAWL_DELAY", "0"),
    ("GEOCRAWL_BACKOFF_FIRST", "0"),
    ("GEOCRAWL_MAX_ATTEMPTS", "1"),
    ("GEOCRAWL_MAPS", "false"),
)
"""What a contest sets (`evaluate.run.settings_for`): who rests, and for how long, would be a matter of real time."""


def main(arguments: list[str]) -> None:
    """Run all three, print them; a full run is written to b_contest.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows contest", description=__doc__)
    parser.add_argument("--strategies", default="all")
    parser.add_argument("--world", choices=worlds.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--out", type=Path, help="folder for the report (default: thrown away)")
    options = parser.parse_args(arguments)
    names = options.world or list(worlds.NAMES)
    with tempfile.TemporaryDirectory(prefix="geocrawl-contest-") as temporary:
        work = Path(temporary)
        figures = {
            "contest": hold(names, options.strategies, options.out or work / "contest", work),
            "twice": twice("portal", "gws,bfs,random", work),
            "live_and_replayed": [live_and_replayed("portal", name, work / name) for name in ("bfs", "gws")],
        }
    print(json.dumps(figures["twice"]), json.dumps(figures["live_and_replayed"], indent=1))
    if len(names) == len(worlds.NAMES) and options.strategies == "all":
        print(machine.write("b_contest", figures))


def hold(names: list[str], strategies: str, out: Path, home: Path) -> dict[str, Any]:
    """`geocrawl evaluate` of the worlds; its rows, what it skipped, and its wall time."""
    begun = time.monotonic()
    folders = [str(worlds.folder(name)) for name in names]
    env = processes.clean_environment(home)
    done = processes.checked(geocrawl("evaluate", *folders, "--strategies", strategies, "--out", str(out)), env=env)
    print(done.stdout)
    data = json.loads((out / "results.json").read_text("utf-8"))
    rows = list(csv.DictReader(io.StringIO((out / "results.csv").read_text("utf-8"))))
    return {"rows": rows, "skipped": data["skipped"], "wall_s": round(time.monotonic() - begun, 1)}


def twice(name: str, strategies: str, work: Path) -> dict[str, Any]:
    """One contest held twice: whether its results are the same but for times and memory."""
    texts = []
    for number in ("first", "second"):
        hold([name], strategies, work / number, work)
        rows = csv.DictReader(io.StringIO((work / number / "results.csv").read_text("utf-8")))
        texts.append([{key: value for key, value in row.items() if key not in COSTS} for row in rows])
    return {"world": name, "strategies": strategies, "equal": texts[0] == texts[1]}


def live_and_replayed(name: str, strategy: str, work: Path) -> dict[str, Any]:
    """Pages, finds and area of one crawl through the server, with one worker, and of its replay."""
    folder = worlds.folder(name)
    world = World(folder)
    plan = worlds.Plan(strategy, workers=1, environment=AS_REPLAYED)
    work.mkdir(parents=True, exist_ok=True)
    live_run, _ = worlds.crawl(folder, work, plan, *SLOW)
    live = worlds.score(folder, work, world.pages)
    begun = time.monotonic()
    crawled = replay(WorldWeb(world), read_seeds(world.seeds), settings_for(Job(folder, strategy, world.pages)))
    again = score_of(world, crawled.log, crawled.catalogue, world.pages)
    endpoints = set(valid_endpoints(work / "geocrawl.db")) == set(crawled.catalogue)
    return {
        "world": name,
        "strategy": strategy,
        "live": {"pages": live["pages_downloaded"], "found": live["wms_found"], "area": live["area"]},
        "replayed": {"pages": again.pages, "found": again.found, "area": again.area},
        "same_catalogue": endpoints,
        "wall_s": {"live": live_run.wall_s, "replayed": round(time.monotonic() - begun, 1)},
    }
