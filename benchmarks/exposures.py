"""Count how services are written on recorded and made webs (link, text, script, record …) and how many of each are
found by breadth-first crawls to their end.

Nobody looks at the webs of `UNSEEN` while rules are written, so that they are an honest test. A service counts when it
is valid, within the depth of the crawl, and not slow. It is found when its describing document was requested and the
catalogue lists it as valid. A service that is written in several ways counts for each of them.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from geocrawl.lab.contest.measure import measure as scored
from geocrawl.lab.contest.measure import read_catalogue, read_log
from geocrawl.lab.contest.run import Job, read_seeds, replay, settings_for
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.replay import WorldWeb
from geocrawl.lab.recorded_worlds.world import TrueService, World
from tests.support import world_crawls

MAX_DEPTH = 5
UNSEEN = ("mixed:70001", "mixed:70002", "mixed:70003", "portal:70004", "agency:70005")
"""Kinds and seeds of made webs."""
_BUDGET = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add which webs, and how large the made ones are."""
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--made", metavar="KIND:SEED", action="append", help="only this made web (may be repeated)")
    parser.add_argument("--pages", type=int, default=5_000, help="pages of a made web [5,000]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return recall by how a service is written and by kind, requests and false accepts, web by web and in all."""
    some = options.world or options.made
    names, made = options.world or ([] if some else world_crawls.NAMES), options.made or ([] if some else UNSEEN)
    with tempfile.TemporaryDirectory(prefix="geocrawl-exposures-") as temporary:
        folders = [world_crawls.folder(name) for name in names]
        for web in made:
            kind, _, seed = web.partition(":")
            folders.append(Path(temporary) / f"{kind}-{seed}")
            make(kind, options.pages, int(seed), folders[-1])
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
            webs = {folder.name: figures for folder, figures in zip(folders, pool.map(_crawled, folders), strict=True)}
    return {"max_depth": MAX_DEPTH, "made_pages": options.pages, "webs": webs, "all": _sum(webs.values())}


def _crawled(folder: Path) -> dict[str, Any]:
    world = World(folder)
    done = replay(WorldWeb(world), read_seeds(world.seeds), settings_for(Job(folder, "bfs", _BUDGET)))
    with (folder / "truth.csv").open(encoding="utf-8", newline="") as file:
        depths = {row["id"]: int(row["min_depth"]) for row in csv.DictReader(file) if row["min_depth"]}
    due = [s for s in world.services if s.valid and s.behaviour != "slow" and depths.get(s.id, 99) <= MAX_DEPTH]
    found = read_catalogue(world, done.catalogue)[0].keys() & read_log(world, done.log)[0].keys() & {s.id for s in due}
    asked = {request.key for request in done.log}
    return {
        "found": len(found),
        "due": len(due),
        "by_how": _shares((how, s.id in found) for s in due for how in _hows(s)),
        "by_how_wms": _shares((how, s.id in found) for s in due if s.kind == "wms" for how in _hows(s)),
        "by_kind": _shares((s.kind, s.id in found) for s in due),
        "missed_because": dict(Counter(_cause(s, asked) for s in due if s.id not in found).most_common(12)),
        "false_accepts": len(scored(world, done.log, done.catalogue, _BUDGET).false_accepts),
        "requests_of_services": sum(request.kind in ("service", "unknown") for request in done.log),
    }


def _hows(service: TrueService) -> set[str]:
    return {how for _, how in service.exposures}


def _shares(rows: Iterable[tuple[str, bool]]) -> dict[str, list[int]]:
    """Return how many were found, and how many there are, by name."""
    counts: dict[str, list[int]] = {}
    for name, is_found in sorted(rows):
        count = counts.setdefault(name, [0, 0])
        count[0] += is_found
        count[1] += 1
    return counts


def _cause(service: TrueService, asked: set[str]) -> str:
    """Return how a missed service is written, and whether a page that names it was read."""
    place = "on a page that was read" if any(key_of(page) in asked for page, _ in service.exposures) else "no page read"
    return f"{service.kind}: {'+'.join(sorted(_hows(service)))}, {place}"


def _sum(webs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    webs = list(webs)
    total: dict[str, Any] = {
        name: sum(web[name] for web in webs) for name in ("found", "due", "false_accepts", "requests_of_services")
    }
    for name in ("by_how", "by_how_wms", "by_kind"):
        keys = sorted({key for web in webs for key in web[name]})
        total[name] = {key: [sum(web[name].get(key, [0, 0])[i] for web in webs) for i in (0, 1)] for key in keys}
    return total
