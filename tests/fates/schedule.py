"""Watch services in minutes through a day of virtual time, and measure how well their schedule is kept:
`python -m tests.fates.schedule`.

The daemon, its ticks, schedule and store are the real ones. An interval is kept when it differs by a tenth at most.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from geocrawl.daemon.service import TICKS
from geocrawl.model.health import DAY_S, HOUR_S
from tests.fates.fates import MadeService
from tests.fates.life import Life
from tests.simulation.scheduler import START

SERVICES, HOURS, EVERY_S, SEED = 2_000, 24.0, 300.0, 1
_WATCHED_FROM_S = HOUR_S
_DAEMON_TICKS = tuple(each for each in TICKS if each.name != "metrics")


class Day(Life):
    """A daemon without troubles, which is stopped some hours after services are watched."""

    most_watched = sys.maxsize
    hours = HOURS

    def _troubles(self) -> Iterator[tuple[float, Callable[[], Awaitable[None]]]]:
        yield (_WATCHED_FROM_S + self.hours * HOUR_S) / DAY_S, self._observed


def measure(
    services: int = SERVICES, hours: float = HOURS, every_s: float = EVERY_S, seed: int = SEED
) -> dict[str, Any]:
    """Return the figures of the intervals between probes that follow each other; "failures" should be empty."""
    made = [
        MadeService(number, "well", f"s{number}.example", number, phases=[(-1.0, "well")]) for number in range(services)
    ]
    with tempfile.TemporaryDirectory(prefix="geocrawl-schedule-") as folder:
        watched_from = _WATCHED_FROM_S / DAY_S
        life = Day(made, 0, seed, Path(folder), _DAEMON_TICKS, watched_from=watched_from, every_s=every_s)
        life.hours = hours
        begun = time.process_time()
        life.run()
        cpu_s = time.process_time() - begun
        since = START + _WATCHED_FROM_S
        rows = life.rows(f"SELECT endpoint_id, at FROM probe WHERE at > {since} ORDER BY endpoint_id, at")
    return {
        "services": services,
        "hours": hours,
        "every_s": every_s,
        **intervals(rows, every_s),
        "cpu_ms_a_probe": round(1000 * cpu_s / len(rows), 2),
        "failures": life.failures,
    }


def intervals(rows: Sequence[tuple[Any, ...]], every_s: float) -> dict[str, float]:
    """Return the figures of the times between probes that follow each other. `rows`: (endpoint, time) of each probe, in
    order."""
    times = [[at for _, at in group] for _, group in groupby(rows, key=lambda row: row[0])]
    gaps = sorted(later - former for each in times for former, later in pairwise(each))
    late = [gap for gap in gaps if abs(gap - every_s) > every_s / 10]
    return {
        "probes": len(rows),
        "watched": len(times),
        "mean_s": round(sum(gaps) / len(gaps), 2),
        "shortest_s": round(gaps[0], 1),
        "median_s": round(gaps[len(gaps) // 2], 1),
        "longest_s": round(gaps[-1], 1),
        "kept_share": round(1 - len(late) / len(gaps), 6),
    }


def main(arguments: Sequence[str]) -> int:
    """Print the figures; return 1 if an interval was not kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.fates.schedule", description=__doc__)
    parser.add_argument("--services", type=int, default=SERVICES)
    parser.add_argument("--hours", type=float, default=HOURS)
    parser.add_argument("--every-s", type=float, default=EVERY_S)
    parser.add_argument("--seed", type=int, default=SEED)
    found = measure(**vars(parser.parse_args(arguments)))
    print(json.dumps(found, indent=1))
    return int(found["kept_share"] < 1 or bool(found["failures"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
