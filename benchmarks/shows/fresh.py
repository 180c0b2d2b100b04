"""A fresh clone with an empty home and no recorded data beside it: `make demo`, then `make test`, and their times."""

from __future__ import annotations

import argparse

from benchmarks import machine
from tests.support import fresh_clone


def main(arguments: list[str]) -> None:
    """Clone, run, write a_fresh.json. SystemExit when a target fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows fresh", description=__doc__)
    parser.add_argument(
        "--target", action="append", choices=fresh_clone.TARGETS, help="only this one (may be repeated)"
    )
    options = parser.parse_args(arguments)
    figures = fresh_clone.measure(options.target or list(fresh_clone.TARGETS))
    print("   " + ", ".join(f"make {name}: {row['wall_s']} s" for name, row in figures.items()))
    if not options.target:
        print(machine.write("a_fresh", {"targets": figures}))
