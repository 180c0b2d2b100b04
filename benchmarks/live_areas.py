"""Area under the harvest curve of live crawls of recorded webs, beside the same strategy's replay with one worker.

One and five workers with a delay on SQLite (`--visits` takes other numbers of them); one, two and four processes on
PostgreSQL that make one visit at a time.
Crawls differ by chance by a tenth and more, so there are several of each (`--repeat`). The area is that of the contest,
from the server's account of all requests; a crawl is stopped when the server has answered the budget of pages.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geocrawl.lab.contest.run import Job, run
from tests.support import world_crawls
from tests.support.postgres import Server, running_server
from tests.support.processes import Started, checked, clean_environment, geocrawl

CRAWLS = (("sqlite", 1, 1), ("sqlite", 1, 5), ("postgresql", 1, 1), ("postgresql", 2, 1), ("postgresql", 4, 1))
"""Engine, processes, and visits under way at once in each."""
LIVE = (("GEOCRAWL_MAPS", "false"), ("GEOCRAWL_MAX_CRAWL_DELAY", "1"), ("GEOCRAWL_BACKOFF_FIRST", "1"))
"""So that a crawl with a budget of pages does not last for hours."""
LIMIT_S = 1800.0
_LOOK_S = 0.2


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add which webs and strategies, how far and how often."""
    parser.add_argument("--pages", type=int, default=700, help="pages of a crawl [700]")
    parser.add_argument("--delay", default="0.1", help="seconds between two requests to a host [0.1]")
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--strategies", nargs="+", default=["fusion"], help="[fusion]")
    parser.add_argument("--repeat", type=int, default=3, help="crawls of each sort [3]")
    parser.add_argument("--engine", choices=("sqlite", "postgresql"), help="only this one")
    parser.add_argument("--visits", type=int, nargs="+", help="on SQLite so many at once, and no other crawls")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return least, mean and most area of each sort of crawl, as such and as shares of the replay's."""
    limits = ["--max-pages", str(options.pages), "--delay", options.delay]
    chosen = [each for each in CRAWLS if options.engine in (None, each[0])]
    if options.visits:
        chosen = [("sqlite", 1, visits) for visits in options.visits]
    rows = []
    with running_server() as server, tempfile.TemporaryDirectory(prefix="geocrawl-area-") as temporary:
        for name in options.world or world_crawls.NAMES:
            world = world_crawls.folder(name)
            for strategy in options.strategies:
                replay = Job(world, strategy, options.pages)
                replayed = run(replay).score.area
                for engine, processes, visits in chosen:
                    depth = ["--max-depth", str(replay.max_depth)]
                    how = [*limits, *depth, "--strategy", strategy, "--workers", str(visits)]
                    crawls = []
                    for number in range(options.repeat):
                        work = Path(temporary) / f"{name}-{strategy}-{engine}-{processes}-{visits}-{number}"
                        crawl = Crawl(world, work, how)
                        crawls.append(crawl.run(server if engine == "postgresql" else None, processes, options.pages))
                        print(f"   {name} {strategy} {engine} {processes} x {visits}: {crawls[-1]}", flush=True)
                    areas = [each["area"] for each in crawls]
                    spread = [round(value, 3) for value in (min(areas), statistics.mean(areas), max(areas))]
                    sort = {"world": name, "strategy": strategy, "engine": engine, "processes": processes}
                    share = round(spread[1] / (replayed or 1), 3)
                    figures = {"replayed": round(replayed, 3), "area": spread, "of_replayed": share, "crawls": crawls}
                    rows.append({**sort, "visits": visits, **figures})
    return {"pages": options.pages, "delay_s": float(options.delay), "areas": rows}


class Crawl:
    """One crawl of a recorded web by several processes."""

    def __init__(self, world: Path, work: Path, options: Sequence[str]) -> None:
        self._world = world
        self._work = work
        self._options = list(options)
        self._env = clean_environment(work, **dict(LIVE))
        work.mkdir(parents=True)

    def run(self, server: Server | None, processes: int, pages: int) -> dict[str, Any]:
        """Crawl on a server, None: on SQLite; return pages, finds, area, wall time, memory, what rests at the end."""
        database = server.new_catalogue() if server else str(self._work / "geocrawl.db")
        begun = time.monotonic()
        with world_crawls.served(self._world, self._work / "access.jsonl", "--slow-seconds", "0.2") as proxy:
            crawls = [self._start(database, proxy) for _ in range(processes)]
            while any(crawl.running() for crawl in crawls) and self._pages() < pages:
                if time.monotonic() - begun > LIMIT_S:
                    break
                time.sleep(_LOOK_S)
            wall_s = time.monotonic() - begun
            for crawl in crawls:
                crawl.terminate()
            ended = [crawl.wait(limit_s=120) for crawl in crawls]
        status = checked(geocrawl("status", "--json", "--db", database), env=self._env, accept=(0, 1))
        files = ["--format", "csv", "--db", database, "--out", str(self._work / "catalog.csv")]
        checked(geocrawl("export", *files), env=self._env, accept=(0, 1))
        scored = world_crawls.score(self._world, self._work, pages)
        if server:
            server.drop(database)
        found = {"pages": scored["pages_downloaded"], "found": scored["wms_found"], "area": scored["area"]}
        costs = {"wall_s": round(wall_s, 1), "pages_s": round(scored["pages_downloaded"] / wall_s, 1)}
        memory = {"memory_mib": max(round(each.peak_mib) for each in ended)}
        resting = {host["name"]: host["errors"] for host in json.loads(status.stdout)["resting"]}
        return {**found, **costs, **memory, "resting": resting}

    def _start(self, database: str, proxy: str) -> Started:
        seeds = world_crawls.seeds(self._world)
        command = geocrawl("crawl", *seeds, "--db", database, "--proxy", proxy, *self._options, "--json", "--quiet")
        return Started(command, env=self._env)

    def _pages(self) -> int:
        """Return how many pages the server has answered, as the scorer counts them."""
        log = self._work / "access.jsonl"
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        requests = [json.loads(line) for line in lines if line.endswith("}")]
        return sum(
            each["kind"] == "page" and each["method"] == "GET" and not 300 <= each["status"] < 400 for each in requests
        )
