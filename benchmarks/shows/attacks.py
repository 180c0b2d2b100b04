"""Attacks on a crawl, each in a process of its own: what stopped it, seconds, memory beside that of a small page."""

from __future__ import annotations

import argparse

from benchmarks import machine
from tests.support import attacks


def main(arguments: list[str]) -> None:
    """Run them, print the table; a full run is written to d_attacks.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows attacks", description=__doc__)
    parser.add_argument("--only", default="", help="attacks whose name holds this")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    rows = attacks.measure(options.only)
    print(f"{'attack':<34}{'as':<9}{'ended by':<26}{'wall s':>8}{'CPU s':>8}{'peak MiB':>10}{'asked':>7}  held")
    for row in rows:
        figures = f"{row['wall_s']:>8}{row['cpu_s']:>8}{row['peak_mib']:>10}{row['asked']:>7}"
        print(f"{row['attack']:<34}{row['asked_as']:<9}{row['ended_by']:<26}{figures}  {row['held']}")
    if not (options.no_write or options.only):
        print(machine.write("d_attacks", {"attacks": rows, "all_held": all(row["held"] for row in rows)}))
