"""Measure a settlement by the number of its new links: `python -m benchmarks.settlement [--json]`.

For pages with 10, 100 and 1,000 links that nobody knew, on hosts of 500 pages and of 20: calls that reach the database
(a batch is one), statements that SQLite carries out (each row of a batch is one), and milliseconds, the median of 27
settlements in a frontier of 20,000 URLs.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import frontier as bench
from geocrawl.model import Rank
from geocrawl.settings import Settings
from geocrawl.store.catalog.catalog import Catalog
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.sqlite.connection import SqliteConnection
from geocrawl.store.frontier.frontier import SqlFrontier
from geocrawl.store.frontier.options import FrontierOptions

LINKS = (10, 100, 1000)
PAGES_A_HOST = (500, 20)
KNOWN = 20_000
COUNTED, TIMED = 3, 27


class CountedConnection:
    """A connection that counts the calls made on it."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def execute(self, *arguments: Any) -> Any:
        """Carry out one statement."""
        self.calls += 1
        return self._inner.execute(*arguments)

    def executemany(self, *arguments: Any) -> Any:
        """Carry out a batch."""
        self.calls += 1
        return self._inner.executemany(*arguments)

    def write(self, *arguments: Any) -> None:
        """Carry out one writing statement."""
        self.execute(*arguments)

    def write_many(self, *arguments: Any) -> None:
        """Carry out a writing batch."""
        self.executemany(*arguments)


def measure(links: int, pages_a_host: int) -> dict[str, float]:
    """Return calls, statements and milliseconds of one settlement with this many new links."""
    bench.PAGES_A_HOST = pages_a_host
    with tempfile.TemporaryDirectory(prefix="geocrawl-settlement-") as folder:
        clock = bench.FixedClock()
        database = Database.open(Path(folder) / "frontier.db", create=True, clock=clock)
        counted = CountedConnection(database.connection)
        database.connection = counted  # type: ignore[assignment]
        settings = Settings(max_pages_per_host=10**9, max_fruitless_per_pattern=10**9, max_hosts_per_site=10**9)
        catalog = Catalog(database, clock)
        frontier = SqlFrontier(
            database, settings, clock, catalog=catalog, options=FrontierOptions(owner="bench:1", learns=True)
        )
        frontier.add_seeds([bench.page(0)], Rank(20))
        chooser, statements = random.Random(1), list[str]()
        calls, traced, wall_ms, cpu_ms, added = 0, 0, list[float](), list[float](), 1
        for number in range(-1, COUNTED + TIMED):
            count = KNOWN if number < 0 else links
            lease = frontier.lease()
            assert lease is not None
            visit = bench.visit(lease, bench.ranked(range(added, added + count), chooser))
            added += count
            assert isinstance(database.connection, SqliteConnection)
            database.connection.trace(statements.append if 0 <= number < COUNTED else None)
            statements.clear()
            counted.calls = 0
            wall, cpu = time.perf_counter(), time.process_time()
            frontier.settle(visit)
            if number >= COUNTED:
                wall_ms.append(1000 * (time.perf_counter() - wall))
                cpu_ms.append(1000 * (time.process_time() - cpu))
            elif number >= 0:
                calls, traced = counted.calls, len(statements)
        database.close()
    return {
        "links": links,
        "pages_a_host": pages_a_host,
        "calls": calls,
        "statements": traced,
        "wall_ms": round(statistics.median(wall_ms), 3),
        "cpu_ms": round(statistics.median(cpu_ms), 3),
    }


def main() -> list[dict[str, float]]:
    """Measure all sizes."""
    return [measure(links, pages) for pages in PAGES_A_HOST for links in LINKS]


if __name__ == "__main__":
    figures = main()
    if "--json" in sys.argv:
        print(json.dumps(figures, indent=1))
    else:
        for row in figures:
            print("  ".join(f"{name} {value:>8,}" for name, value in row.items()))
