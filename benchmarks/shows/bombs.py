"""Decompression bombs and an endless slow body, fetched by geocrawl: memory and time beside those of a small page."""

from __future__ import annotations

import argparse

from benchmarks import machine
from tests.support import bombs


def main(arguments: list[str]) -> None:
    """Fetch every case in a process of its own, print the table; a full run is written to a_bombs.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows bombs", description=__doc__)
    parser.add_argument("--mib", type=int, default=1024, help="size of a bomb, unpacked")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    figures = bombs.measure(options.mib)
    print(f"{'':<22}{'as':<8}{'sent KiB':>10}{'wall s':>9}{'CPU s':>8}{'peak MiB':>10}{'more MiB':>10}  ended by")
    for row in figures["cases"]:
        cells = f"{row['sent_kib']:>10}{row['wall_s']:>9}{row['cpu_s']:>8}{row['peak_mib']:>10}{row['more_mib']:>10}"
        print(f"{row['case']:<22}{row['asked_as']:<8}{cells}  {row['ended_by']}")
    if not options.no_write:
        print(machine.write("a_bombs", figures))
