"""Crawl single-page portals without and with `--browser`, and read pages that mean a browser harm, each alone."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks import machine
from tests.support import browser_measures


def main(arguments: list[str]) -> None:
    """Crawl, print the tables, write g_browser.json; SystemExit where something reached a trap or was left."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows browser", description=__doc__)
    parser.add_argument("--delay", type=float, default=1.0, help="seconds between two requests to a portal [1]")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    portals = browser_measures.measure_portals(options.delay)
    _print_portals(portals)
    pages = browser_measures.measure_traps()
    _print_pages(pages)
    if not options.no_write:
        print(machine.write("g_browser", {"delay_s": options.delay, "portals": portals, "pages": pages}))
    bad = [row["page"] for row in pages if row["requests_at_trap"] or row["processes_left"]]
    if bad:
        raise SystemExit(f"reached a trap, or left a process: {', '.join(bad)}")


def _print_portals(rows: list[dict[str, Any]]) -> None:
    used = ("wall_s", "own_cpu_s", "browser_cpu_s", "own_peak_mib", "browser_peak_mib")
    columns = ("services", "of", "pages", "requests", *used)
    print(f"{'portal':<12}{'browser':<9}" + "".join(f"{column:>17}" for column in columns) + "  smallest gaps s")
    for row in rows:
        cells = "".join(f"{row[column]:>17}" for column in columns)
        print(f"{row['portal']:<12}{'yes' if row['browser'] else 'no':<9}{cells}  {row['smallest_gaps_s']}")


def _print_pages(rows: list[dict[str, Any]]) -> None:
    columns = ("requests_at_trap", "wall_s", "browser_peak_mib", "own_more_mib", "document_bytes", "processes_left")
    print(f"{'page':<18}" + "".join(f"{column:>18}" for column in columns))
    for row in rows:
        print(f"{row['page']:<18}" + "".join(f"{row[column]:>18}" for column in columns))
