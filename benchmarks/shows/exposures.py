"""Count how services are written on recorded and made webs (link, text, script, record …) and how many of each are
found by breadth-first crawls to their end.

Rules are written with other seeds than those of `UNSEEN`, so that the made webs are an honest test. For a full run:
`python -m benchmarks.shows exposures --pages 5000`; for a small one: `--world portal --made mixed:70001 --pages 600`.

A service counts when it is valid, within the depth of the crawl, and not slow. It is found when its describing document
was requested and the catalogue lists it as valid. A service that is written in several ways counts for each of them.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.lab.contest.measure import measure, read_catalogue, read_log
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.addresses import key_of
from geocrawl.lab.recorded_worlds.replay import Request
from geocrawl.lab.recorded_worlds.world import TrueService, World
from tests.support import world_crawls
from tests.support.places import ROOT

MAX_DEPTH = 5
UNSEEN = ("mixed:70001", "mixed:70002", "mixed:70003", "portal:70004", "agency:70005")
"""Kinds and seeds of made webs that nobody looks at while rules are written."""
_BUDGET = 1_000_000
_SCRIPT = ROOT / "benchmarks" / "exposure_crawl.py"


def main(arguments: list[str]) -> None:
    """Crawl, print the table and write it to docs/measurements/g_exposures.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows exposures", description=__doc__)
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only this one (may be repeated)")
    parser.add_argument("--made", metavar="KIND:SEED", action="append", help="only this made web (may be repeated)")
    parser.add_argument("--pages", type=int, default=1_500, help="pages of a made web (default: %(default)s)")
    options = parser.parse_args(arguments)
    some = options.world or options.made
    names, made = options.world or ([] if some else world_crawls.NAMES), options.made or ([] if some else UNSEEN)
    with tempfile.TemporaryDirectory(prefix="geocrawl-exposures-") as temporary:
        work = Path(temporary)
        figures = {
            "recorded": _with_sum({name: _of_world(name, world_crawls.folder(name), work) for name in names}),
            "made": _with_sum({name: _of_made(name, options.pages, work) for name in made}),
        }
    for each in figures.values():
        show(each)
    print(machine.write("g_exposures", {"max_depth": MAX_DEPTH, "made_pages": options.pages, **figures}))


def _with_sum(figures: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {**figures, "all": _sum(list(figures.values()))} if figures else {}


def _of_made(name: str, pages: int, work: Path) -> dict[str, Any]:
    kind, _, seed = name.partition(":")
    folder = work / f"{kind}-{seed}"
    make(kind, pages, int(seed), folder)
    return _of_world(folder.name, folder, work)


def _of_world(name: str, folder: Path, work: Path) -> dict[str, Any]:
    out = work / f"{name}.json"
    subprocess.run([sys.executable, str(_SCRIPT), str(folder), str(out)], check=True)
    return _figures(World(folder), _depths(folder), json.loads(out.read_text()))


def _depths(folder: Path) -> dict[str, int]:
    with (folder / "truth.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: int(row["min_depth"]) for row in csv.DictReader(file) if row["min_depth"]}


def _figures(world: World, depths: Mapping[str, int], crawled: Mapping[str, Any]) -> dict[str, Any]:
    log = [Request(**entry) for entry in crawled["log"]]
    catalogue = [(address, kind) for address, kind in crawled["catalogue"]]
    due = [s for s in world.services if s.valid and s.behaviour != "slow" and depths.get(s.id, 99) <= MAX_DEPTH]
    found = read_catalogue(world, catalogue)[0].keys() & read_log(world, log)[0].keys() & {s.id for s in due}
    hows = Counter((how, s.kind == "wms") for s in due for how in _hows(s))
    hits = Counter((how, s.kind == "wms") for s in due if s.id in found for how in _hows(s))
    asked = sum(request.kind in ("service", "unknown") for request in log)
    return {
        "found": len(found),
        "due": len(due),
        "by_how": {how: [hits[how, True] + hits[how, False], hows[how, True] + hows[how, False]] for how in _all(hows)},
        "by_how_wms": {how: [hits[how, True], hows[how, True]] for how in _all(hows)},
        "by_kind": _by_kind(due, found),
        "missed": _missed(world, due, found, {request.key for request in log}),
        "false_accepts": len(measure(world, log, catalogue, _BUDGET).false_accepts),
        "requests": dict(Counter(request.kind for request in log)),
        "service_requests_a_service": round(asked / max(len(found), 1), 2),
    }


def _hows(service: TrueService) -> set[str]:
    return {how for _, how in service.exposures}


def _all(counts: Counter[tuple[str, bool]]) -> list[str]:
    return sorted({how for how, _ in counts})


def _by_kind(due: Sequence[TrueService], found: set[str]) -> dict[str, list[int]]:
    every, hits = Counter(s.kind for s in due), Counter(s.kind for s in due if s.id in found)
    return {kind: [hits[kind], every[kind]] for kind in sorted(every)}


def _missed(world: World, due: Sequence[TrueService], found: set[str], asked: set[str]) -> dict[str, int]:
    """What was missed by how it is written, and whether a page that names it was read."""
    causes: Counter[str] = Counter()
    for service in due:
        if service.id not in found:
            read = any(key_of(page) in asked for page, _ in service.exposures)
            hows = "+".join(sorted(_hows(service)))
            causes[f"{service.kind}: {hows}, {'on a page that was read' if read else 'no page read'}"] += 1
    return dict(causes.most_common())


def _sum(figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    total: dict[str, Any] = {}
    for name in ("by_how", "by_how_wms", "by_kind"):
        keys = sorted({key for each in figures for key in each[name]})
        total[name] = {key: [sum(each[name].get(key, [0, 0])[i] for each in figures) for i in (0, 1)] for key in keys}
    for name in ("found", "due", "false_accepts"):
        total[name] = sum(each[name] for each in figures)
    asked = sum(each["service_requests_a_service"] * each["found"] for each in figures)
    total["service_requests_a_service"] = round(asked / max(total["found"], 1), 2)
    return total


def show(figures: Mapping[str, Any]) -> None:
    """Print recall by how a service is written."""
    for name, row in figures.items():
        share = row["found"] / max(row["due"], 1)
        print(
            f"{name}: {row['found']} of {row['due']} ({share:.1%}), {row['false_accepts']} false, "
            f"{row['service_requests_a_service']} requests of services for each"
        )
        for how, (hits, every) in row["by_how"].items():
            wms, wms_due = row["by_how_wms"][how]
            print(f"   {how:<20}{hits:>5} of {every:<5} {hits / every:7.1%}   wms {wms} of {wms_due}")
        print("   kinds: " + ", ".join(f"{kind} {a}/{b}" for kind, (a, b) in row["by_kind"].items()))
        for cause, count in list(row.get("missed", {}).items())[:12]:
            print(f"   missed {count}: {cause}")
