"""`make bench`: pages a CPU second of the whole crawl beside Scrapy and Crawlee doing text and links only.

All crawl the same web from the same server through the same HTTP proxy on loopback, in turns, each in a process of its
own; what counts is the crawler's process alone, its start included. geocrawl obeys robots.txt, judges every page and
link, recognises and probes services, and keeps its frontier on disk; the peers do none of that. A peer is credited
with every answer it got, geocrawl only with pages: neither its robots.txt nor its probes count.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine, peers, web
from tests.support import world_crawls
from tests.support.places import shared_folder
from tests.support.processes import checked, clean_environment

WORLD = "agency"
SLOW_S = 1
"""The recorded world's slow services answer after this long instead of 20 s: waiting costs no CPU, only patience."""
FRONTIER_SIZES = (1_000_000, 3_000_000)


@dataclass(frozen=True, slots=True)
class Contender:
    """A crawler under test: (seeds, proxy, pages, scratch folder) -> command line."""

    name: str
    ours: bool
    command: Callable[[list[str], str, int, Path], list[str]]


@dataclass(frozen=True, slots=True)
class Web:
    """What is crawled."""

    name: str
    seeds: list[str]
    serve: Callable[[Path], AbstractContextManager[str]]


def main() -> None:
    """Measure, print the tables, write a_bench.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--pages", type=int, default=3000, help="answers a run [3000]")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, the median counts [3]")
    parser.add_argument("--web", choices=("recorded", "generated"), help="[recorded where it is at hand]")
    parser.add_argument("--only", choices=("peers", "stages", "frontier"), help="this part alone, nothing written")
    measure(parser.parse_args())


def measure(options: argparse.Namespace) -> None:
    """The parts that `options.only` asks for."""
    place = choose_web(options.web, options.pages)
    figures: dict[str, Any] = {"web": place.name, "pages": options.pages, "runs": options.runs}
    if options.only in (None, "peers"):
        figures |= compare(place, options.pages, options.runs)
    if options.only in (None, "stages"):
        figures["stages"] = stages(place, options.pages)
    if options.only in (None, "frontier"):
        figures["frontier"] = [frontier(size) for size in FRONTIER_SIZES]
    if options.only is None:
        print(machine.write("a_bench", figures))


def choose_web(kind: str | None, pages: int) -> Web:
    """The recorded agency world, or a generated web of half as many pages again as are read."""
    recorded = (shared_folder() / "worlds" / WORLD / "world.json").is_file()
    if kind == "recorded" or (kind is None and recorded):
        world = world_crawls.folder(WORLD)
        slow = ("--slow-seconds", str(SLOW_S))
        return Web(
            f"recorded world {WORLD}", world_crawls.seeds(world), lambda log: world_crawls.served(world, log, *slow)
        )
    count = pages * 3 // 2
    return Web(f"generated, {count} pages", [web.SEED], lambda log: web.served(count, log))


def contenders(strategies: Sequence[str] = ("gws", "bfs")) -> list[Contender]:
    """geocrawl with each of these orders, and the peers."""
    ours = [_ours(strategy) for strategy in strategies]
    return ours + [_theirs(peer) for peer in peers.PEERS]


def _ours(strategy: str) -> Contender:
    def command(seeds: list[str], proxy: str, pages: int, folder: Path) -> list[str]:
        return world_crawls.Plan(strategy, max_pages=pages).command(seeds, folder / "geocrawl.db", proxy)

    return Contender(f"geocrawl, {strategy}", True, command)


def _theirs(peer: peers.Peer) -> Contender:
    def command(seeds: list[str], proxy: str, pages: int, folder: Path) -> list[str]:
        return peer.command(seeds, proxy, pages)

    return Contender(peer.name, False, command)


def compare(place: Web, pages: int, runs: int) -> dict[str, Any]:
    """Medians of `runs` interleaved runs of each, start-up measured by a run of one page, and the ratio."""
    peers.install()
    every = contenders()
    rounds = [[one_run(each, place, pages) for each in every] for _ in range(runs)]
    rows: list[dict[str, Any]] = []
    for index, each in enumerate(every):
        results = [results[index] for results in rounds]
        row: dict[str, Any] = {name: round(statistics.median(r[name] for r in results), 2) for name in results[0]}
        row["start_cpu_s"] = one_run(each, place, 1)["cpu_s"]
        rows.append({"name": each.name, **row, "all_pages_per_cpu_s": [r["pages_per_cpu_s"] for r in results]})
    fastest = max((row for row, each in zip(rows, every, strict=True) if not each.ours), key=_rate)
    for row in rows:
        row["ratio_to_fastest_peer"] = round(_rate(row) / _rate(fastest), 2)
    _print_rows(place.name, rows)
    return {"crawlers": rows, "fastest_peer": fastest["name"]}


def one_run(contender: Contender, place: Web, pages: int) -> dict[str, float]:
    """Pages, CPU and wall seconds and peak MiB of one crawl."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-bench-") as temporary:
        folder = Path(temporary)
        log = folder / "access.jsonl"
        with place.serve(log) as proxy:
            command = contender.command(place.seeds, proxy, pages, folder)
            done = checked(command, env=clean_environment(folder))
        answered = _answers(log, pages_only=contender.ours)
    rate = round(answered / done.cpu_s, 1)
    print(f"   {contender.name}: {answered} in {done.cpu_s} CPU s, {rate}/s", file=sys.stderr, flush=True)
    costs = {"cpu_s": done.cpu_s, "wall_s": done.wall_s, "peak_mib": done.peak_mib}
    return {"pages": float(answered), **costs, "pages_per_cpu_s": rate}


def _answers(log: Path, *, pages_only: bool) -> int:
    requests = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    if not pages_only:
        return len(requests)
    return sum(each["kind"] == "page" and not 300 <= each["status"] < 400 for each in requests)


def _rate(row: dict[str, Any]) -> float:
    return float(row["pages_per_cpu_s"])


def _print_rows(title: str, rows: Sequence[dict[str, Any]]) -> None:
    columns = ("pages", "cpu_s", "start_cpu_s", "peak_mib", "pages_per_cpu_s", "ratio_to_fastest_peer")
    print(f"{title:<28}" + "".join(f"{column:>22}" for column in columns))
    for row in rows:
        print(f"{row['name']:<28}" + "".join(f"{row[column]:>22}" for column in columns))


def stages(place: Web, pages: int) -> dict[str, Any]:
    """CPU milliseconds a page of each part of geocrawl, timers around the parts (`benchmarks.stages`)."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-bench-") as temporary:
        folder = Path(temporary)
        with place.serve(folder / "access.jsonl") as proxy:
            arguments = [str(folder / "geocrawl.db"), proxy, str(pages), *place.seeds]
            done = checked([sys.executable, "-m", "benchmarks.stages", *arguments])
    figures: dict[str, Any] = json.loads(done.stdout)
    print("CPU ms a page: " + ", ".join(f"{name} {ms}" for name, ms in figures["ms_per_page"].items()))
    return figures


def frontier(size: int) -> dict[str, Any]:
    """Adds and leases a second and memory of a frontier of `size` URLs (`benchmarks.frontier`)."""
    done = checked([sys.executable, "-m", "benchmarks.frontier", str(size)])
    figures: dict[str, Any] = {**json.loads(done.stdout), "peak_mib": done.peak_mib, "cpu_s": done.cpu_s}
    print(f"frontier of {size:,} URLs: " + ", ".join(f"{name} {value}" for name, value in figures.items()))
    return figures


if __name__ == "__main__":
    main()
