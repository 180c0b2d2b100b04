"""Where a page's CPU goes, before a change and now: crawls of one web over loopback, by both code in turns.

`--before` is a checkout of the earlier commit. Of several runs the median of each part counts; on a shared machine the
figures are high, and only their ratios say something. Writes j_stages.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import __main__ as speed
from benchmarks import machine
from tests.support.places import ROOT
from tests.support.processes import checked

STRATEGIES = ("gws", "fusion")
_CRAWL = (
    "import json, sys; from pathlib import Path; from benchmarks import stages; a = sys.argv[1:]; "
    "print(json.dumps(stages.measure(Path(a[0]), a[1], int(a[2]), a[4:], a[3])))"
)


def main(arguments: list[str]) -> None:
    """Crawl, print, write j_stages.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows page_cpu", description=__doc__)
    parser.add_argument("--before", type=Path, required=True, metavar="FOLDER", help="checkout of the earlier commit")
    parser.add_argument("--pages", type=int, default=2000, help="pages a crawl [2000]")
    parser.add_argument("--runs", type=int, default=3, help="crawls of each [3]")
    options = parser.parse_args(arguments)
    place = speed.choose_web(None, options.pages)
    found: dict[str, list[dict[str, Any]]] = {}
    for _ in range(options.runs):
        for strategy in STRATEGIES:
            for when, checkout in (("before", options.before), ("now", ROOT)):
                one = crawl(checkout, place, strategy, options.pages)
                found.setdefault(f"{strategy}, {when}", []).append(one)
                print(strategy, when, one, flush=True)
    rows = {name: middle(crawls) for name, crawls in found.items()}
    for name, each in rows.items():
        print(name, each)
    commit = subprocess.run(
        ["git", "-C", str(options.before), "rev-parse", "--short=12", "HEAD"],
        check=True,
        capture_output=True,
        text=True,
    )
    figures = {"web": place.name, "pages": options.pages, "runs": options.runs, "before": commit.stdout.strip()}
    print(machine.write("j_stages", {**figures, "load": round(os.getloadavg()[2], 1), "ms_per_page": rows}))


def crawl(checkout: Path, place: speed.Web, strategy: str, pages: int) -> dict[str, float]:
    """Return the CPU milliseconds a page of each part of one crawl by the code in `checkout`."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-cpu-") as temporary:
        folder = Path(temporary)
        with place.serve(folder / "access.jsonl") as proxy:
            arguments = [str(folder / "geocrawl.db"), proxy, str(pages), strategy, *place.seeds]
            environment = {**os.environ, "PYTHONPATH": str(checkout)}  # with -P nothing else comes first
            done = checked([sys.executable, "-P", "-c", _CRAWL, *arguments], env=environment)
    parts: dict[str, float] = json.loads(done.stdout)["ms_per_page"]
    return parts


def middle(crawls: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of each part."""
    return {part: round(statistics.median(each.get(part, 0.0) for each in crawls), 3) for part in crawls[0]}
