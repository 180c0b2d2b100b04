"""The frontier from 100,000 to 10,000,000 URLs on SQLite and PostgreSQL (`benchmarks.frontier`), each in a process.

A visit has 25 links, 1 or 2 of them new. CPU counts, not wall time; PostgreSQL's own CPU is told beside its client's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from benchmarks import machine

GOALS = {"visit_at_10m_to_1m": 1.3, "rss_mib": 300}
"""On SQLite."""


def main(arguments: list[str]) -> None:
    """Measure all sizes, write j_frontier.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows frontier_curve", description=__doc__)
    parser.add_argument(
        "--sqlite", default="100000,300000,1000000,3000000,10000000", help="numbers of URLs; '': keep the former rows"
    )
    parser.add_argument("--postgresql", default="100000,300000,1000000,3000000,10000000", help="numbers of URLs")
    options = parser.parse_args(arguments)
    before = machine.MEASUREMENTS / "j_frontier.json"
    rows: dict[str, list[dict[str, Any]]] = json.loads(before.read_text())["engines"] if before.is_file() else {}
    for engine, sizes in (("sqlite", options.sqlite), ("postgresql", options.postgresql)):
        if sizes:
            rows[engine] = []
        for size in filter(None, sizes.split(",")):
            rows[engine].append(_measure(int(size), engine))
            machine.write("j_frontier", {"goals": GOALS, "ratios": _ratios(rows), "engines": rows})
    print(machine.write("j_frontier", {"goals": GOALS, "ratios": _ratios(rows), "engines": rows}))


def _measure(urls: int, engine: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.frontier", str(urls)]
    ran = subprocess.run(
        [*command, *(["--postgres"] if engine == "postgresql" else [])], stdout=subprocess.PIPE, text=True, check=True
    )
    row: dict[str, Any] = json.loads(ran.stdout)
    print(f"   {engine} {row}", flush=True)
    return row


def _ratios(rows: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Return what a visit takes in each size, over what it takes at 1,000,000 URLs: client and server together."""
    found = {}
    for engine, sizes in rows.items():
        cost = {row["urls"]: row["visit_cpu_ms"] + row.get("visit_server_cpu_ms", 0.0) for row in sizes}
        if base := cost.get(1_000_000):
            found[engine] = {f"{int(urls):,}": round(ms / base, 2) for urls, ms in cost.items()}
    return found
