"""CPU seconds that commands cost before they do anything: the whole process, user and system time, medians.

`--beside FOLDER` measures another checkout, with its environment in `.venv`, in turns with this one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks import machine
from benchmarks.shows.status import fill
from geocrawl.demo import DemoWeb
from tests.support.places import ROOT
from tests.support.processes import Started, clean_environment

GOAL_CPU_S = {"status": 0.3}


def main(arguments: list[str]) -> None:
    """Run each command some times, write j_starts.json. SystemExit above a goal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows starts", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each command [5]")
    parser.add_argument("--services", type=int, default=10_000)
    parser.add_argument("--waiting", type=int, default=100_000, help="pages in the queue")
    parser.add_argument("--beside", type=Path, help="another checkout, measured in turns with this one")
    options = parser.parse_args(arguments)
    trees = {"cpu_s": ROOT} | ({"beside_cpu_s": options.beside.resolve()} if options.beside else {})
    with tempfile.TemporaryDirectory(prefix="geocrawl-starts-") as temporary, DemoWeb() as web:
        folder = Path(temporary)
        fill(folder / "geocrawl.db", options.services, options.waiting)
        rows: dict[str, dict[str, float]] = {}
        for name, command in _commands(web, folder):
            rows[name] = _row(command, trees, folder, options.runs)
            print(f"   {name:<30} {json.dumps(rows[name])}", flush=True)
    figures = {"services": options.services, "pages_waiting": options.waiting, "runs": options.runs, "commands": rows}
    if options.beside:
        figures["beside_commit"] = machine.commit(options.beside)
    print(machine.write("j_starts", {**figures, "goal_cpu_s": GOAL_CPU_S}))
    missed = [name for name, most in GOAL_CPU_S.items() if rows[name]["cpu_s"] > most]
    if missed:
        raise SystemExit(f"more CPU than the goal: {', '.join(missed)}")


def _commands(web: DemoWeb, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each measured command with its arguments; a crawl begins with a database of its own."""
    db = ["--db", str(folder / "geocrawl.db")]
    loopback = ["--proxy", web.proxy_url, "--delay", "0"]
    one_page = ["crawl", web.seeds[0], "--max-pages", "1", "--quiet", *loopback, "--db", str(folder / "NEW.db")]
    service = f"http://{sorted(web.expected_valid)[0]}"
    yield "--version", ["--version"]
    yield "--help", ["--help"]
    yield "status --help", ["status", "--help"]
    yield "status", ["status", *db]
    yield "search", ["search", "roads", *db]
    yield "crawl of one page, fusion", one_page
    yield "crawl of one page, gws", [*one_page, "--strategy", "gws"]
    yield "probe of one service", ["probe", service, *loopback]


def _row(command: list[str], trees: Mapping[str, Path], folder: Path, runs: int) -> dict[str, float]:
    """Return the median CPU seconds by the trees' names; a first run of each warms the caches and is not counted."""
    times: dict[str, list[float]] = {name: [] for name in trees}
    for _ in range(runs + 1):
        for name, tree in trees.items():
            times[name].append(_cpu_s(command, tree, folder))
    row = {name: round(statistics.median(all_[1:]), 3) for name, all_ in times.items()}
    return row


def _cpu_s(command: list[str], tree: Path, folder: Path) -> float:
    for file in folder.glob("NEW.db*"):
        file.unlink()
    program = [str(tree / ".venv" / "bin" / "python"), "-m", "geocrawl", *command]
    done = Started(program, env=clean_environment(folder), cwd=tree).wait()
    if done.exit_code != 0:
        raise SystemExit(f"{' '.join(program)} ended with {done.exit_code}:\n{done.stderr[-2000:]}")
    return done.cpu_s
