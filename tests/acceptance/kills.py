"""kill -9 at random moments: a crawl that is killed and resumed ends with the catalogue of an undisturbed one."""

from __future__ import annotations

import csv
import json
import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.support import world_crawls
from tests.support.processes import Started, clean_environment

MAX_RUNS = 200
SPAN = (0.02, 0.9)
"""The kills are spread over this part of the crawl, by the server's log of the undisturbed one."""
LONGEST_PAUSE_S = 2.0
COMPARED = ("url", "kind", "status", "title", "version", "layers")


def measure(world: Path, kills: int, seed: int, work: Path, *server_options: str) -> dict[str, Any]:
    """Both crawls and how their catalogues compare. `server_options`: of the world's server."""
    calm, summary = world_crawls.crawl(world, work / "calm", world_crawls.Plan(), *server_options)
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
    env, db, log, plan = clean_environment(work), work / "geocrawl.db", work / "access.jsonl", world_crawls.Plan()
    done = 0
    with world_crawls.served(world, log, *server_options) as proxy:
        for run in range(1, MAX_RUNS):
            # The seeds are given each time: the first kill may come before they are in the database.
            started = Started(plan.command(world_crawls.seeds(world), db, proxy), env=env)
            if done < len(moments) and _gets_to(started, log, moments[done], pause_s()):
                started.kill()
                started.wait()
                done += 1
                continue
            ended = started.wait(limit_s=world_crawls.LIMIT_S)
            if ended.exit_code != 0:
                raise SystemExit(f"a resumed crawl ended with {ended.exit_code}:\n{ended.stderr[-2000:]}")
            summary: dict[str, Any] = json.loads(ended.stdout)
            if summary["stopped"] in ("done", "resting"):
                world_crawls.export(db, work / "catalog.csv")
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
    score = world_crawls.score(world, work)
    names = ("pages_downloaded", "wms_found", "false_accepts", "robots_violations", "repeated_requests")
    return {name: score[name] for name in names}
