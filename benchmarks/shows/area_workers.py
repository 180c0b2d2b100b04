"""One, two and four processes that crawl a recorded web together on PostgreSQL, and one on SQLite, in real time.

Each process makes one visit at a time; beside four there is one that makes four at a time, which asks as much at once.
Crawls differ by chance by a tenth and more: the table has the means of several (`--repeat`), their least and most.

The area is that of the contest, from the server's account of all requests. All processes of a crawl are stopped when
the server has answered the budget of pages. Writes j_area_workers.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.shows.economy import LIVE
from tests.support import world_crawls
from tests.support.postgres import Server, running_server
from tests.support.processes import checked, clean_environment, geocrawl

WORLDS = ("agency", "mixed")
CRAWLS = (("sqlite", 1, 1), ("postgresql", 1, 1), ("postgresql", 1, 4), ("postgresql", 2, 1), ("postgresql", 4, 1))
"""Engine, processes, and visits under way at once in each."""
LIMIT_S = 1800.0
_LOOK_S = 0.2


def main(arguments: list[str]) -> None:
    """Crawl, print the table, write the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows area_workers", description=__doc__)
    parser.add_argument("--pages", type=int, default=700, help="pages of a crawl [%(default)s]")
    parser.add_argument("--delay", default="0.1", help="seconds between two requests to a host [%(default)s]")
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--strategy", action="append", help="instead of fusion (may be repeated)")
    parser.add_argument("--repeat", type=int, default=1, help="crawls of each sort [%(default)s]")
    parser.add_argument("--only", type=int, action="append", help="only so many processes (may be repeated)")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    how = ["--max-pages", str(options.pages), "--max-depth", "5", "--delay", options.delay]
    rows, chosen = [], [each for each in CRAWLS if each[1] in (options.only or (1, 2, 4))]
    with running_server() as server, tempfile.TemporaryDirectory(prefix="geocrawl-area-") as temporary:
        for world in options.world or WORLDS:
            for strategy in options.strategy or ("fusion",):
                for number in range(options.repeat):
                    for engine, processes, visits in chosen:
                        work = Path(temporary) / f"{world}-{strategy}-{engine}-{processes}-{visits}-{number}"
                        more = ["--strategy", strategy, "--workers", str(visits)]
                        crawl = Crawl(world_crawls.folder(world), work, [*how, *more])
                        figures = crawl.run(server if engine == "postgresql" else None, processes, options.pages)
                        kind = {"world": world, "strategy": strategy, "engine": engine, "visits": visits}
                        rows.append({**kind, **figures})
                        print(json.dumps(rows[-1]), flush=True)
    means = compared(rows)
    print(json.dumps(means, indent=1))
    if not options.no_write:
        told = {"pages": options.pages, "delay_s": float(options.delay)}
        print(machine.write("j_area_workers", {**told, "means": means, "crawls": rows}))


def compared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean area of the crawls of each sort, the least and the most, and the mean as a share of that of one
    process on PostgreSQL that makes one visit at a time."""
    areas: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        sort = tuple(row[name] for name in ("world", "strategy", "engine", "processes", "visits"))
        areas.setdefault(sort, []).append(row["area"])
    means = []
    for (world, strategy, *how), found in areas.items():
        one = areas.get((world, strategy, "postgresql", 1, 1), [])
        row = dict(zip(("engine", "processes", "visits"), how, strict=True))
        mean = statistics.mean(found)
        figures = {"crawls": len(found), "area": mean, "least": min(found), "most": max(found)}
        share = {"of_one": mean / statistics.mean(one)} if one else {}
        rounded = {name: round(value, 3) for name, value in {**figures, **share}.items()}
        means.append({"world": world, "strategy": strategy, **row, **rounded})
    return means


class Crawl:
    """One crawl of a recorded web by several processes."""

    def __init__(self, world: Path, work: Path, options: Sequence[str]) -> None:
        self._world = world
        self._work = work
        self._options = list(options)
        self._env = clean_environment(work, **dict(LIVE))
        work.mkdir(parents=True)

    def run(self, server: Server | None, processes: int, pages: int) -> dict[str, Any]:
        """Crawl on a server, None: on SQLite; return pages, finds, area, wall time."""
        database = server.new_catalogue() if server else str(self._work / "geocrawl.db")
        begun = time.monotonic()
        with world_crawls.served(self._world, self._work / "access.jsonl", "--slow-seconds", "0.2") as proxy:
            crawls = [self._start(database, proxy, number) for number in range(processes)]
            while any(crawl.poll() is None for crawl in crawls) and self._pages() < pages:
                if time.monotonic() - begun > LIMIT_S:
                    break
                time.sleep(_LOOK_S)
            wall_s = time.monotonic() - begun
            for crawl in crawls:
                if crawl.poll() is None:
                    crawl.terminate()
            for crawl in crawls:
                crawl.wait(120)
        files = ["--format", "csv", "--db", database, "--out", str(self._work / "catalog.csv")]
        checked(geocrawl("export", *files), env=self._env, accept=(0, 1))
        scored = world_crawls.score(self._world, self._work, pages)
        if server:
            server.drop(database)
        return {
            "processes": processes,
            "pages": scored["pages_downloaded"],
            "found": scored["wms_found"],
            "area": scored["area"],
            "wall_s": round(wall_s, 1),
        }

    def _start(self, database: str, proxy: str, number: int) -> subprocess.Popen[bytes]:
        seeds = world_crawls.seeds(self._world)
        command = geocrawl("crawl", *seeds, "--db", database, "--proxy", proxy, *self._options, "--json", "--quiet")
        with (self._work / f"{number}.txt").open("wb") as out:
            return subprocess.Popen(command, env=self._env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def _pages(self) -> int:
        """Return how many pages the server has answered, as the scorer counts them."""
        log = self._work / "access.jsonl"
        lines = log.read_text("utf-8").splitlines() if log.exists() else []
        requests = [json.loads(line) for line in lines if line.endswith("}")]
        return sum(
            each["kind"] == "page" and each["method"] == "GET" and not 300 <= each["status"] < 400 for each in requests
        )
