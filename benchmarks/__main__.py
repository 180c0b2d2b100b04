"""`python -m benchmarks NAME [OPTION]…` runs one measurement, `python -m benchmarks` all of them at full size.

A measurement is a module of this folder with `add_options(parser)` and `measure(options)`. What `measure` returns is
printed and written; a text under "missed" says which goals were missed, and is the reason for exit code 1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time

from benchmarks import machine

NAMES = (
    "readers",
    "known",
    "connections",
    "many_hosts",
    "watched",
    "course",
    "economy",
    "frame",
    "peers",
    "processes",
    "rooms",
    "live_areas",
    "plans",
    "walks",
    "link_matrix",
    "survey",
    "claims",
    "search",
    "serve",
    "pages",
    "publish",
    "budgets",
    "visitors",
    "one_client",
    "windows",
    "families",
    "attacks",
    "politeness",
    "slow_services",
    "soak",
    "week",
    "statement_kills",
)
SMALL_IN_TESTS = {"attacks", "politeness", "slow_services", "soak", "statement_kills", "week"}
"""What `tests.support` measures and tests run with smaller sizes: `benchmarks.same_as_tests` has the full ones."""
ON_DEMAND = ("page_cpu", "search_engines")
"""What needs arguments, or a package that is no part of the project."""


def main(arguments: list[str]) -> None:
    """Run the named measurement with its options, or all; SystemExit when one missed a goal."""
    if arguments and arguments[0] not in (*NAMES, *ON_DEMAND):
        raise SystemExit(f"usage: python -m benchmarks [{'|'.join((*NAMES, *ON_DEMAND))} [OPTION]…]")
    missed = []
    for name in arguments[:1] or NAMES:
        print(f"== {name}", flush=True)
        begun = time.monotonic()
        missed += run(name, arguments[1:])
        print(f"   {time.monotonic() - begun:.0f} s", flush=True)
    if missed:
        raise SystemExit("\n".join(missed))


def run(name: str, arguments: list[str]) -> list[str]:
    """Run one measurement; return the goals that it missed."""
    module = importlib.import_module(f"benchmarks.{'same_as_tests' if name in SMALL_IN_TESTS else name}")
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=module.__doc__)
    parser.set_defaults(name=name)
    module.add_options(parser)
    parser.add_argument("--no-write", action="store_true", help="print the figures only")
    options = parser.parse_args(arguments)
    figures = module.measure(options)
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    if not options.no_write:
        print(machine.write(name, figures))
    missed: list[str] = figures.get("missed", [])
    return missed


if __name__ == "__main__":
    main(sys.argv[1:])
