"""Probe servers on loopback whose TLS is at fault: verdicts, deviations, and what search, show and status say."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks import machine
from tests.support import tls_visits


def main(arguments: list[str]) -> None:
    """Probe them, print the table, write g_tls.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows tls", description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = tls_visits.measure(Path(folder))
    print(
        f"{'server':<22}{'verdict':<9}{'level':<10}{'deviations':<26}{'answered':>9}  {'--strict-tls':<13}search, show"
    )
    for row in found["servers"]:
        what = f"{row['server']:<22}{row['verdict']:<9}{row['level']:<10}{', '.join(row['deviations']) or '-':<26}"
        print(f"{what}{row['requests']:>9}  {row['strict']:<13}{row['search'] or '-'}; {row['show'] or '-'}")
    print(*found["search"], f"status: TLS {found['status']}", sep="\n")
    if not options.no_write:
        print(machine.write("g_tls", found))
