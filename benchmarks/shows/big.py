"""Capabilities as large as some servers' are, probed by geocrawl: seconds, peak memory, and what was read of them."""

from __future__ import annotations

import argparse

from benchmarks import machine
from tests.support import large_capabilities


def main(arguments: list[str]) -> None:
    """Probe each in a process of its own, write c_big.json. SystemExit when one is not read as promised."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows big", description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    rows = [large_capabilities.measure(case) for case in large_capabilities.cases()]
    for row in rows:
        print("   " + ", ".join(f"{name} {value}" for name, value in row.items()))
    if not options.no_write:
        print(machine.write("c_big", {"limit_mib": large_capabilities.LIMIT_MIB, "cases": rows}))
    if not all(row["as_promised"] for row in rows):
        raise SystemExit("a large document is not read as promised")
