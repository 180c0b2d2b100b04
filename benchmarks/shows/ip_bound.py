"""Count the requests to one IP address by the log of its machine: one crawl, crawls side by side, several processes."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks import machine
from tests.support import one_address


def main(arguments: list[str]) -> None:
    """Crawl the hosts of one machine in four ways, and write the figures to k_ip_bound.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows ip_bound", description=__doc__)
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    rows = []
    for crawls, processes in ((1, 1), (2, 1), (4, 1), (1, 4)):
        with tempfile.TemporaryDirectory(prefix="geocrawl-ip-") as folder:
            rows.append(one_address.measure(Path(folder), hosts=options.hosts, crawls=crawls, processes=processes))
            print(rows[-1], flush=True)
    if not options.no_write:
        print(machine.write("k_ip_bound", {"runs": rows}))
