"""Milliseconds of reading, recognising, judging and handing over documents by size: `python -m benchmarks.reading`.

Recorded pages and answers give the median, the 99th percentile and the longest of each size; hostile ones are single.
"""

from __future__ import annotations

import itertools
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from geocrawl.app import wiring
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model import Page
from geocrawl.page.document import PageReader
from geocrawl.probe.registry import probes
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from tests.support.hostile import PAGES, SERVICES, page
from tests.support.interviews import interview
from tests.support.places import shared_folder

STEPS = ("read", "recognise", "judge", "pickle")
SIZES = (0, 4, 16, 64, 256, 1024, 5 * 1024)
"""KiB between which recorded documents are counted together."""


class Timed:
    """Does all that a page's visit does with a document."""

    def __init__(self) -> None:
        self._reader = PageReader(max_scripts=5, headline=True, prose=True)
        self._detector = wiring.make_detector()
        self._strategy = wiring.make_strategy(Settings(), "fusion")

    def steps(self, answer: Page) -> tuple[float, ...]:
        """Return the milliseconds of each step."""
        document, read_ms = clocked(lambda: self._reader.read(answer, depth=1))
        _, recognise_ms = clocked(lambda: self._detector.candidates(document))
        _, judge_ms = clocked(lambda: self._strategy.judge(document))
        _, pickle_ms = clocked(lambda: pickle.loads(pickle.dumps(document)))
        return read_ms, recognise_ms, judge_ms, pickle_ms


def clocked(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return a function's result and its milliseconds."""
    begun = time.perf_counter()
    found = function()
    return found, 1000 * (time.perf_counter() - begun)


def recorded(shared: Path) -> Iterator[Page]:
    """Yield the pages of the recorded webs, then the recorded answers of services."""
    for folder in sorted(path.parent for path in (shared / "worlds").glob("*/world.json")):
        world = World(folder)
        for key, record in world.warc.records.items():
            stored, url = world.stored(key) if record.kind == "page" else None, read_url(f"http://{key}")
            if stored is not None and url is not None and stored.status == 200:
                headers = {name.lower(): value for name, value in stored.headers}
                yield Page(url, url, 200, headers, stored.body, 1.0, 0.0)
    for path in sorted((shared / "corpus" / "documents").rglob("*.*")):
        yield page(path.read_bytes(), "")


def share(values: Sequence[float], part: float) -> float:
    """Return the value below which this part of the values lies."""
    return sorted(values)[min(int(part * len(values)), len(values) - 1)]


def main() -> None:
    """Measure and print."""
    timed = Timed()
    rows = [(len(each.body) / 1024, timed.steps(each)) for each in recorded(shared_folder())]
    for least, most in itertools.pairwise(SIZES):
        if within := [steps for kib, steps in rows if least <= kib < most]:
            columns = [[steps[number] for steps in within] for number in range(len(STEPS))]
            cells = (f"{share(each, 0.5):.1f}/{share(each, 0.99):.1f}/{max(each):.1f}" for each in columns)
            named = (f"{step} {cell}" for step, cell in zip(STEPS, cells, strict=True))
            print(f"{least:>5} to {most} KiB, {len(within)} documents: ", *named, flush=True)
    for kib in (16, 64, 256):
        for hostile in PAGES:
            named = (f"{step} {ms:.0f}" for step, ms in zip(STEPS, timed.steps(hostile.page(1024 * kib)), strict=True))
            print(f"{kib:>5} KiB {hostile.name}: ", *named, flush=True)
        for hostile in SERVICES:
            body = hostile.body(1024 * kib)
            longest = max(clocked(lambda: interview(each, body, "text/xml"))[1] for each in probes())  # noqa: B023
            print(f"{kib:>5} KiB {hostile.name}: longest interview {longest:.0f}", flush=True)


if __name__ == "__main__":
    main()
