"""Pages a CPU second of the page reader, by whatever geocrawl is on the path: WORLD… prints one JSON object a world.

`ordinary` are pages without any word of services, `about` the others. Of the best of several rounds, one process.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model import Page
from geocrawl.page.document import PageReader
from geocrawl.urls import read_url

SAMPLE = 400
"""Pages of each sort."""
ROUNDS = 7
_ABOUT = re.compile(rb"w(?:ms|fs|mts|cs)|ogc|arcgis|geoserver|mapserv", re.I)


def pages(folder: Path) -> dict[str, list[Page]]:
    """Pages of a recorded web by sort, evenly drawn."""
    world = World(folder)
    sorts: dict[str, list[Page]] = {"ordinary": [], "about": []}
    for key, record in world.warc.records.items():
        stored = world.stored(key) if record.kind == "page" else None
        url = read_url(f"http://{key}")
        if stored is not None and url is not None and stored.status == 200:
            headers = {name.lower(): value for name, value in stored.headers}
            page = Page(url, url, 200, headers, stored.body, 1.0, 0.0)
            sorts["about" if _ABOUT.search(stored.body) else "ordinary"].append(page)
    return {sort: found[:: max(1, len(found) // SAMPLE)] for sort, found in sorts.items()}


def speed(reader: PageReader, sample: Sequence[Page]) -> float:
    """Pages a CPU second."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        for page in sample:
            reader.read(page, depth=1)
        best = min(best, time.process_time() - begun)
    return round(len(sample) / best, 1)


def main(folders: Sequence[Path]) -> None:
    """Measure and print."""
    try:
        reader = PageReader(max_scripts=5)
    except TypeError:  # an older commit
        reader = PageReader()
    for folder in folders:
        figures = {sort: speed(reader, sample) for sort, sample in pages(folder).items() if sample}
        print(json.dumps({folder.name: figures}), flush=True)


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
