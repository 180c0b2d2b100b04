"""Where the time of a crawl goes: timers around geocrawl's parts: `python -m benchmarks.stages DB PROXY PAGES SEED…`.

One crawl in this process, as `geocrawl crawl` does it. The parts think without awaiting, so CPU time between entering
and leaving one is its own; what is left is fetching and the event loop. Prints one JSON object.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from geocrawl.app import wiring
from geocrawl.app.crawl import run_crawl
from geocrawl.detect import Detector
from geocrawl.model import Entry, FrontierStats, Lease, Settled, Visit
from geocrawl.page.document import PageReader
from geocrawl.probe.wms import probe
from geocrawl.settings import Settings
from geocrawl.store.frontier.frontier import SqlFrontier
from geocrawl.urls import read_url


class Stopwatch:
    """CPU seconds by part, each called part counted once: a part inside another is the inner one's."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._inner = [0.0]

    def around(self, owner: Any, name: str, part: str) -> None:
        """Replace the callable `owner.name` by one that is timed as `part`."""
        setattr(owner, name, self._timed(getattr(owner, name), part))

    def _timed(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            begun = time.process_time()
            self._inner.append(0.0)
            try:
                return function(*arguments, **named)
            finally:
                whole = time.process_time() - begun
                self.seconds[part] = self.seconds.get(part, 0.0) + whole - self._inner.pop()
                self._inner[-1] += whole

        return timed


class Silent:
    """An observer that shows nothing."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """A crawl begins."""

    def noted(self, text: str) -> None:
        """Nothing is shown."""

    def leased(self, lease: Lease) -> None:
        """A visit begins."""

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        """A visit has ended."""


def measure(db: Path, proxy: str, pages: int, seeds: list[str], strategy: str = "gws") -> dict[str, Any]:
    """CPU milliseconds a page by part, and the start (imports, models) in seconds."""
    settings = Settings(proxy=proxy, delay_s=0.0, max_pages=pages, strategy=strategy, quiet=True)
    watch = Stopwatch()
    watch.around(PageReader, "read", "parse")
    watch.around(type(wiring.make_strategy(settings, strategy)), "judge", "judge")
    watch.around(Detector, "candidates", "recognise")
    watch.around(probe, "examine", "read capabilities")
    for name in ("lease", "ready_at", "settle"):
        watch.around(SqlFrontier, name, "frontier and catalogue")
    start_s = time.process_time()
    urls = [url for url in map(read_url, seeds) if url is not None]
    outcome = run_crawl(settings, db, urls, observer=Silent())
    whole_s = time.process_time() - start_s
    stages = {**watch.seconds, "fetch and event loop": whole_s - sum(watch.seconds.values()), "all": whole_s}
    read = outcome.summary.pages
    return {
        "pages": read,
        "probes": outcome.summary.probes,
        "ms_per_page": {part: round(1000 * seconds / max(read, 1), 3) for part, seconds in stages.items()},
        "start_s": round(start_s, 2),
    }


def main() -> None:
    """Crawl and print."""
    db, proxy, pages, *seeds = sys.argv[1:]
    print(json.dumps(measure(Path(db), proxy, int(pages), seeds)))


if __name__ == "__main__":
    main()
