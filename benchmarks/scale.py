"""What one page and one known URL cost by the runs of `benchmarks.shows scale`, and what so many of them would take."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

SIZES = (10**7, 10**8, 10**9)
_DAY_S = 86_400


def slopes(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the medians of all runs: CPU ms a page of worker and server, commits a page, URLs known for each page."""
    names = ("cpu_ms_a_page", "server_cpu_ms_a_page", "commits_a_page", "bytes_a_url")
    found = {name: round(statistics.median(run[name] for run in runs), 2) for name in names}
    return found | {"urls_a_page": round(statistics.median(run["urls"] / run["visited"] for run in runs), 2)}


def plan(cost: Mapping[str, float], sizes: Sequence[int] = SIZES) -> list[dict[str, float]]:
    """Return what frontiers of these sizes take when each of their URLs is visited once within 30 days."""
    rows = []
    for size in sizes:
        worker_days = size * cost["cpu_ms_a_page"] / 1000 / _DAY_S
        server_days = size * cost["server_cpu_ms_a_page"] / 1000 / _DAY_S
        rows.append(
            {
                "urls": size,
                "gib": round(size * cost["bytes_a_url"] / 2**30, 1),
                "worker_cpu_days": round(worker_days, 1),
                "server_cpu_days": round(server_days, 1),
                "pages_a_second": round(size / 30 / _DAY_S, 1),
                "worker_cores": round(worker_days / 30, 2),
                "server_cores": round(server_days / 30, 2),
            }
        )
    return rows
