"""Count how far pages and probes go through the code: `python -m scripts.ways`.

A crawl of the demo's web by one worker is watched by a profile function. What is called from one lease to the next is
the way of one visit. The median visit's figures say how far a reader has to go; the files below them, where it leads.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from types import FrameType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = str(ROOT / "geocrawl") + "/"
_LEASE = ("store/frontier/frontier.py", "SqlFrontier.lease_in_steps")
_VISITORS = {
    "page": ("crawler/page_visit.py", "PageVisitor.visit"),
    "probe": ("crawler/probe_visit.py", "ProbeVisitor.visit"),
}
_LEAST_SHARE = 0.5
"""A file is a stop when at least this share of the visits enter it."""

Call = tuple[str, str]
"""File below geocrawl/, qualified name of the function."""


class Figures(NamedTuple):
    """How far the median visit goes."""

    visits: int
    calls: int
    functions: int
    files: int
    file_changes: int
    room_changes: int


class Way(NamedTuple):
    """What one visit runs through."""

    calls: Sequence[Call]
    path: Sequence[str]
    """Files in the order in which they run, by calls and returns."""


class _Watch:
    """Records the calls of each visit."""

    def __init__(self) -> None:
        self.ways: dict[str, list[Way]] = defaultdict(list)
        self._way: list[Call] = []
        self._path: list[str] = []
        self._visitors = {call: name for name, call in _VISITORS.items()}
        self._names: dict[object, Call | None] = {}

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return") or (call := self._name(frame)) is None:
            return
        if event == "call":
            if call == _LEASE and (not self._way or self._way[-1] != call):
                self._end()
            self._way.append(call)
        elif frame.f_back is not None and (caller := self._name(frame.f_back)) is not None:
            self._path.append(caller[0])
            return
        self._path.append(call[0])

    def _name(self, frame: FrameType) -> Call | None:
        """Return which of our functions runs in a frame; None for others'."""
        code = frame.f_code
        if code not in self._names:
            path = code.co_filename
            self._names[code] = (path[len(PACKAGE) :], code.co_qualname) if path.startswith(PACKAGE) else None
        return self._names[code]

    def _end(self) -> None:
        for call in self._way:
            if (name := self._visitors.get(call)) is not None:
                self.ways[name].append(Way(self._way, self._path))
                break
        self._way, self._path = [], []


def ways() -> Mapping[str, Sequence[Way]]:
    """Return the calls of every visit of a crawl of the demo's web by one worker: 'page' and 'probe' → visits."""
    from geocrawl.app.crawl import run_crawl
    from geocrawl.cli.progress import observe
    from geocrawl.demo import DemoWeb
    from geocrawl.settings import Settings
    from geocrawl.store.database import database
    from geocrawl.store.database.runner import InLoop
    from geocrawl.urls import read_url

    # In a thread of its own the store would be watched out of order.
    setattr(database, "StoreThread", lambda clock, connection: InLoop(clock))  # noqa: B010
    watch = _Watch()
    with DemoWeb() as web, tempfile.TemporaryDirectory() as folder:
        settings = Settings(proxy=web.proxy_url, delay_s=0.0, contact="demo@localhost", quiet=True, workers=1)
        seeds = [url for url in map(read_url, web.seeds) if url is not None]
        with observe(settings, json=True, max_pages=settings.max_pages) as observer:
            sys.setprofile(watch)
            try:
                run_crawl(settings, Path(folder) / "demo.db", seeds, observer=observer)
            finally:
                sys.setprofile(None)
    return watch.ways


def figures(visits: Sequence[Way]) -> Figures:
    """Return the medians over some visits."""

    def median(values: Iterable[int]) -> int:
        return round(statistics.median(values))

    def changes(names: Sequence[str]) -> int:
        return sum(before != after for before, after in pairwise(names))

    return Figures(
        len(visits),
        median(len(way.calls) for way in visits),
        median(len(set(way.calls)) for way in visits),
        median(len(set(way.path)) for way in visits),
        median(changes(way.path) for way in visits),
        median(changes([_room(path) for path in way.path]) for way in visits),
    )


def stops(visits: Sequence[Way]) -> list[Call]:
    """Return the files that most visits enter, in the usual order, with the function that is entered first in it."""
    entered: dict[str, list[float]] = defaultdict(list)
    first: dict[str, Counter[str]] = defaultdict(Counter)
    for way in visits:
        seen: dict[str, str] = {}
        for path, function in way.calls:
            if path not in seen:
                seen[path] = function
        for place, (path, function) in enumerate(seen.items()):
            entered[path].append(place / len(seen))
            first[path][function] += 1
    usual = [path for path, places in entered.items() if len(places) >= _LEAST_SHARE * len(visits)]
    usual.sort(key=lambda path: statistics.median(entered[path]))
    return [(path, min(first[path].most_common(), key=lambda entry: (-entry[1], entry[0]))[0]) for path in usual]


def _room(path: str) -> str:
    return path.partition("/")[0].removesuffix(".py")


def main() -> None:
    """Print the figures of pages and probes, and the files that most of them enter, a line for each stay in a room."""
    for name, visits in ways().items():
        usual = stops(visits)
        print(f"{name}: {figures(visits)._asdict()}; most go through these {len(usual)} files:")
        for room, calls in groupby(usual, lambda call: _room(call[0])):
            print(f"  {room}: " + " → ".join(f"{path} {function.replace('<locals>.', '')}" for path, function in calls))


if __name__ == "__main__":
    main()
