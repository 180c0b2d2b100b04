"""Check politeness by the web's access log: two processes of 25 workers on one database, killed and restarted."""

from __future__ import annotations

import argparse

from benchmarks import machine
from tests.support import politeness_crawl


def main(arguments: list[str]) -> None:
    """Crawl, print the figures by sort of host; a full run is written to d_politeness.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows politeness", description=__doc__)
    parser.add_argument("--hosts", type=int, default=12, help="hosts of each sort")
    parser.add_argument("--workers", type=int, default=25, help="of each process")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    figures = politeness_crawl.measure(options.hosts, options.workers)
    print(f"{'hosts':<14}{'requests':>9}{'pages':>7}{'demanded s':>12}{'smallest gap s':>16}")
    for row in figures["hosts"]:
        print(
            f"{row['sort']:<14}{row['requests']:>9}{row['pages']:>7}{row['demanded_s']:>12}{row['smallest_gap_s']:>16}"
        )
    print({name: value for name, value in figures.items() if name != "hosts"})
    if not options.no_write:
        print(machine.write("d_politeness", figures))
