"""CPU seconds that commands cost before they do anything: the whole process, user and system time, medians.

`--beside FOLDER` measures another checkout, with its environment in `.venv`, in turns with this one.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.demo import DemoWeb
from tests.support.made_catalogue import make_catalogue
from tests.support.places import ROOT
from tests.support.processes import Started, checked, clean_environment, geocrawl

GOAL_CPU_S = {"status": 0.5}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the catalogue, the number of runs, and another checkout."""
    parser.add_argument("--runs", type=int, default=5, help="runs of each command [5]")
    parser.add_argument("--services", type=int, default=10_000, help="[10,000]")
    parser.add_argument("--waiting", type=int, default=100_000, help="pages in the queue [100,000]")
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="another checkout")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the median CPU seconds of each command."""
    trees = {"cpu_s": ROOT} | ({"beside_cpu_s": options.beside.resolve()} if options.beside else {})
    with tempfile.TemporaryDirectory(prefix="geocrawl-starts-") as temporary, DemoWeb() as web:
        folder = Path(temporary)
        _fill(folder, options.services, options.waiting)
        rows: dict[str, dict[str, float]] = {}
        for name, command in _commands(web, folder):
            rows[name] = _row(command, trees, folder, options.runs)
            print(f"   {name:<30} {rows[name]}", flush=True)
    beside = {"beside": machine.commit(options.beside)} if options.beside else {}
    missed = [f"{name}: more than {most} s" for name, most in GOAL_CPU_S.items() if rows[name]["cpu_s"] > most]
    return {"services": options.services, "waiting": options.waiting, **beside, "commands": rows, "missed": missed}


def _fill(folder: Path, services: int, waiting: int) -> None:
    """Make a catalogue with a long queue."""
    make_catalogue(folder / "geocrawl.db", services)
    pages = folder / "pages.txt"
    pages.write_text("".join(f"http://www{n % 2000}.example/page/{n}\n" for n in range(waiting)))
    command = geocrawl("seeds", "add", "--db", str(folder / "geocrawl.db"), "--file", str(pages))
    checked(command, env=clean_environment(folder))


def _commands(web: DemoWeb, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each measured command with its arguments; a crawl begins with a database of its own."""
    db = ["--db", str(folder / "geocrawl.db")]
    loopback = ["--proxy", web.proxy_url, "--delay", "0"]
    one_page = ["crawl", web.seeds[0], "--max-pages", "1", "--quiet", *loopback, "--db", str(folder / "NEW.db")]
    yield "--version", ["--version"]
    yield "--help", ["--help"]
    yield "status --help", ["status", "--help"]
    yield "status", ["status", *db]
    yield "search", ["search", "roads", *db]
    yield "crawl of one page, fusion", one_page
    yield "crawl of one page, gws", [*one_page, "--strategy", "gws"]
    yield "probe of one service", ["probe", f"http://{sorted(web.expected_valid)[0]}", *loopback]


def _row(command: list[str], trees: Mapping[str, Path], folder: Path, runs: int) -> dict[str, float]:
    """Return the median CPU seconds by the trees' names; a first run of each warms the caches and is not counted."""
    times: dict[str, list[float]] = {name: [] for name in trees}
    for _ in range(runs + 1):
        for name, tree in trees.items():
            times[name].append(_cpu_s(command, tree, folder))
    return {name: round(statistics.median(all_[1:]), 3) for name, all_ in times.items()}


def _cpu_s(command: list[str], tree: Path, folder: Path) -> float:
    for file in folder.glob("NEW.db*"):
        file.unlink()
    program = [str(tree / ".venv" / "bin" / "python"), "-m", "geocrawl", *command]
    done = Started(program, env=clean_environment(folder), cwd=tree).wait()
    if done.exit_code != 0:
        raise SystemExit(f"{' '.join(program)} ended with {done.exit_code}:\n{done.stderr[-2000:]}")
    return done.cpu_s
