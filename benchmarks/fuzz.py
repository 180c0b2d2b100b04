"""Damaged documents through every probe: `python -m benchmarks.fuzz [--count N] [--seed N]`."""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

from benchmarks import machine
from geocrawl.probe.registry import probes
from tests.support import fuzz
from tests.support.places import shared_folder

COUNT = 20_000
SEED = 5


def main(arguments: list[str] | None = None) -> None:
    """Run, print, write c_fuzz.json. SystemExit when a probe raised."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help=f"documents [{COUNT}]")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the mutations [{SEED}]")
    parser.add_argument("--seconds", type=float, default=math.inf, help="end after so many [with the last document]")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    begun = time.monotonic()
    documents = fuzz.recorded(shared_folder())
    result = fuzz.run(documents, probes(), options.count, options.seed, seconds=options.seconds)
    figures = {**result.as_json(), "wall_s": round(time.monotonic() - begun, 1), "peak_mib": peak_mib()}
    print(json.dumps({key: value for key, value in figures.items() if key != "first_failures"}, indent=1))
    for failure in result.failures[:10]:
        print(failure)
    if not options.no_write:
        print(machine.write("c_fuzz", {"seed": options.seed, **figures}))
    if result.failures:
        raise SystemExit(f"{len(result.failures)} exceptions")


def peak_mib() -> float:
    """Return the most memory that this process has used, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024, 1)


if __name__ == "__main__":
    main()
