"""Recorded worlds: serving one on loopback, crawling it with geocrawl, scoring the crawl.

A world, its server and its scorer come with the recorded data (`shared/`), not with this project; the server writes
down every request, so all figures are the server's account and not the crawler's own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import processes
from tests.support.loopback import serving
from tests.support.places import shared_folder
from tests.support.processes import Run, checked, clean_environment, geocrawl

NAMES = ("portal", "agency", "mixed")
LIMIT_S = 3600.0


def folder(name: str) -> Path:
    """The folder of a recorded world; SystemExit with what to do when it is not there."""
    path = shared_folder() / "worlds" / name
    if not (path / "world.json").is_file():
        raise SystemExit(
            f"no recorded world at {path}: set GEOCRAWL_SHARED to the folder that holds worlds/ and tools/"
        )
    return path


def seeds(world: Path) -> list[str]:
    """The addresses a crawl of this world starts from."""
    found = json.loads((world / "world.json").read_text(encoding="utf-8"))["seeds"]
    return [str(url) for url in found]


def served(world: Path, log: Path, *options: str) -> AbstractContextManager[str]:
    """Serve `world` on a free loopback port, logging to `log`; gives the proxy's URL. The log is whole afterwards."""
    server = str(shared_folder() / "tools" / "world_server.py")
    return serving([sys.executable, server, str(world), "--port", "0", "--log", str(log), *options])


@dataclass(frozen=True, slots=True)
class Plan:
    """How geocrawl crawls a world."""

    strategy: str = "gws"
    options: tuple[str, ...] = ()
    max_pages: int = 30_000
    max_depth: int = 5
    workers: int = 5
    environment: tuple[tuple[str, str], ...] = ()
    """Settings without an option of the command line."""

    def command(self, urls: Sequence[str], db: Path, proxy: str) -> list[str]:
        """The whole command line; without `urls` it goes on with what waits."""
        limits = ["--wait", "--max-pages", str(self.max_pages), "--max-depth", str(self.max_depth)]
        how = ["--strategy", self.strategy, "--workers", str(self.workers), "--delay", "0", *self.options]
        return geocrawl("crawl", *urls, "--db", str(db), "--proxy", proxy, *limits, *how, "--json", "--quiet")


def crawl(world: Path, work: Path, plan: Plan, *server_options: str) -> tuple[Run, dict[str, Any]]:
    """Crawl `world` into `work` (geocrawl.db, access.jsonl, catalog.csv); returns the run and its own summary."""
    work.mkdir(parents=True, exist_ok=True)
    env, db = clean_environment(work, **dict(plan.environment)), work / "geocrawl.db"
    with served(world, work / "access.jsonl", *server_options) as proxy:
        done = processes.run(plan.command(seeds(world), db, proxy), env=env, limit_s=LIMIT_S)
    if done.exit_code != 0:
        raise SystemExit(f"crawl of {world.name} ended with {done.exit_code}:\n{done.stderr[-2000:]}")
    export(db, work / "catalog.csv")
    return done, json.loads(done.stdout)


def export(db: Path, out: Path) -> None:
    """Write the catalogue as CSV; an empty one is fine (exit code 1)."""
    env = clean_environment(out.parent)
    checked(geocrawl("export", "--format", "csv", "--db", str(db), "--out", str(out)), env=env, accept=(0, 1))


def score(world: Path, work: Path, budget: int | None = None) -> dict[str, Any]:
    """The scorer's figures with the curve (`moments`: pages downloaded at each find)."""
    tool = str(shared_folder() / "tools" / "score_world.py")
    files = [str(world), str(work / "access.jsonl"), str(work / "catalog.csv")]
    more = ["--budget", str(budget)] if budget else []
    figures: dict[str, Any] = json.loads(checked([sys.executable, tool, *files, "--json", "--curve", *more]).stdout)
    return figures
