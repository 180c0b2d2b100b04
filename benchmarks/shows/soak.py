"""A quarter of a year of the daemon, simulated: memory, database, and how long what happens goes unnoticed."""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from benchmarks import machine
from tests.support import soak


def main(arguments: list[str]) -> None:
    """Simulate, print, write d_soak.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows soak", description=__doc__)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args(arguments)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="geocrawl-soak-") as folder:
        figures = soak.simulate(Path(folder), days=options.days, pages=options.pages, seed=options.seed, say=_say)
    figures["seed"] = options.seed
    figures["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(figures, indent=2))
    print(machine.write("d_soak", figures))


def _say(line: str) -> None:
    print(f"   {line}", flush=True)
