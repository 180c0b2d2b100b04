"""kill -9 at random moments: a crawl that is killed and resumed ends with the catalogue of an undisturbed one."""

from __future__ import annotations

import argparse
import csv
import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks import machine, worlds
from benchmarks.processes import Started, clean_environment

MAX_RUNS = 200
SPAN = (0.02, 0.9)
"""The kills are spread over this part of the crawl, by the server's log of the undisturbed one."""
LONGEST_PAUSE_S = 2.0
COMPARED = ("url", "kind", "status", "title", "version", "layers")


def main(arguments: list[str]) -> None:
    """Crawl once undisturbed, once killed; compare. SystemExit when the catalogues differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows kill", description=__doc__)
    parser.add_argument("--world", choices=worlds.NAMES, default="mixed")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=2015, help="of the random moments")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-kill-") as work:
        figures = measure(worlds.folder(options.world), options.kills, options.seed, Path(work))
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    if not options.no_write:
        print(machine.write("a_kill", figures))
    if figures["only_undisturbed"] or figures["only_killed"] or figures["integrity_check"] != "ok":
        raise SystemExit("the killed crawl's catalogue differs from the undisturbed one's")


def measure(world: Path, kills: int, seed: int, work: Path, *server_options: str) -> dict[str, Any]:
    """Both crawls and how their catalogues compare. `server_options`: of the world's server."""
    calm, summary = worlds.crawl(world, work / "calm", worlds.Plan(), *server_options)
    size = (work / "calm" / "access.jsonl").stat().st_size
    chance = random.Random(seed)
    moments = sorted(chance.uniform(*SPAN) * size for _ in range(kills))
    done, resumes, ending = _killed_crawl(
        world, work / "killed", moments, lambda: chance.uniform(0.0, LONGEST_PAUSE_S), *server_options
    )
    undisturbed, killed = (_catalogue(work / name / "catalog.csv") for name in ("calm", "killed"))
    return {
        "world": world.name,
        "kills": done,
        "resumes": resumes,
        "random_seed": seed,
        "undisturbed": {"endpoints": len(undisturbed), "wall_s": calm.wall_s, "stopped": summary["stopped"]},
        "killed": {"endpoints": len(killed), "stopped": ending["stopped"], "waiting": ending["waiting"]},
        "only_undisturbed": sorted(undisturbed - killed)[:20],
        "only_killed": sorted(killed - undisturbed)[:20],
        "equal": undisturbed == killed,
        "integrity_check": _integrity(work / "killed" / "geocrawl.db"),
        "scores": {name: _score(world, work / name) for name in ("calm", "killed")},
    }


def _killed_crawl(
    world: Path, work: Path, moments: list[float], pause_s: Callable[[], float], *server_options: str
) -> tuple[int, int, dict[str, Any]]:
    """Kills done, runs started, and the summary of the last run, which ended by itself."""
    work.mkdir()
    env, db, log, plan = clean_environment(work), work / "geocrawl.db", work / "access.jsonl", worlds.Plan()
    done = 0
    with worlds.served(world, log, *server_options) as proxy:
        for run in range(1, MAX_RUNS):
            # The seeds are given each time: the first kill may come before they are in the database.
            started = Started(plan.command(worlds.seeds(world), db, proxy), env=env)
            if done < len(moments) and _gets_to(started, log, moments[done], pause_s()):
                started.kill()
                started.wait()
                done += 1
                continue
            ended = started.wait(limit_s=worlds.LIMIT_S)
            if ended.exit_code != 0:
                raise SystemExit(f"a resumed crawl ended with {ended.exit_code}:\n{ended.stderr[-2000:]}")
            summary: dict[str, Any] = json.loads(ended.stdout)
            if summary["stopped"] in ("done", "resting"):
                worlds.export(db, work / "catalog.csv")
                return done, run, summary
    raise SystemExit(f"not at its end after {MAX_RUNS} runs")


def _gets_to(started: Started, log: Path, size: float, pause_s: float) -> bool:
    """Whether it is still under way when the server's log has `size` bytes and `pause_s` have passed since."""
    while started.running() and log.stat().st_size < size:
        time.sleep(0.01)
    # The log is written four times a second; the pause makes the moment a random one, the start of a run included.
    until = time.monotonic() + pause_s
    while started.running() and time.monotonic() < until:
        time.sleep(0.005)
    return started.running()


def _catalogue(path: Path) -> set[tuple[str, ...]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        return {tuple(row[name] for name in COMPARED) for row in csv.DictReader(file)}


def _integrity(db: Path) -> str:
    with closing(sqlite3.connect(db)) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])


def _score(world: Path, work: Path) -> dict[str, Any]:
    score = worlds.score(world, work)
    names = ("pages_downloaded", "wms_found", "false_accepts", "robots_violations", "repeated_requests")
    return {name: score[name] for name in names}
