"""Probe real servers, each behind relays on loopback that break one thing: verdict, level and requests of each."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine
from tests.support import mapservers
from tests.support.places import shared_folder
from tests.support.relay_defects import DEFECTS
from tests.support.relayed_probes import SERVICES, as_expected, probe_relayed


def main(arguments: list[str]) -> None:
    """Probe them, print what differs from the server alone, write g_relays.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows relays", description=__doc__)
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    if absent := mapservers.missing():
        raise SystemExit(f"not installed: {absent}; .ci/run installs them")
    names = tuple(dict.fromkeys(("mapserver", *(server for server, _ in SERVICES))))
    with mapservers.running(shared_folder(), names) as servers, tempfile.TemporaryDirectory() as home:
        rows = probe_relayed(servers, Path(home))
    found = figures(rows)
    for row in found["by_defect"]:
        print(f"   {row['defect']:<30}{row['as_expected']:>3} of {row['services']:<4}requests {row['requests']}")
    for row in rows:
        if not as_expected(row, rows):
            print(
                f"   {row['server']} {row['kind']}, {row['defect']}: {row['verdict']} ({row['reason']}), {row['level']}"
            )
    if not options.no_write:
        print(machine.write("g_relays", found))


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the rows, and for each defect how many services are judged as a person with a GIS would."""
    by_defect = []
    for defect in DEFECTS:
        chosen = [row for row in rows if row["defect"] == defect.name]
        requests = [row["requests"] for row in chosen]
        by_defect.append(
            {
                "defect": defect.name,
                "services": len(chosen),
                "as_expected": sum(as_expected(row, rows) for row in chosen),
                "requests": {"median": statistics.median(requests), "most": max(requests)},
            }
        )
    return {"by_defect": by_defect, "rows": rows}
