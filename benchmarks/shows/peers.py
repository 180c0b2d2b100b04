"""Pages a CPU second beside Scrapy and Crawlee, with gws and fusion: least, median and most of several runs.

All crawl the same web over loopback in turns (`benchmarks.__main__` says how). Ratios are of medians. Writes
j_peers.json.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from benchmarks import __main__ as speed
from benchmarks import machine, peers

STRATEGIES = ("gws", "fusion")
MEASURES = ("pages_per_cpu_s", "cpu_s", "wall_s", "peak_mib", "pages")


def main(arguments: list[str]) -> None:
    """Measure, print the table, write j_peers.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows peers", description=__doc__)
    parser.add_argument("--pages", type=int, default=3000, help="answers a run [3000]")
    parser.add_argument("--runs", type=int, default=5, help="runs of each [5]")
    options = parser.parse_args(arguments)
    place = speed.choose_web(None, options.pages)
    peers.install()
    every = speed.contenders(STRATEGIES)
    runs: dict[str, list[dict[str, float]]] = {each.name: [] for each in every}
    loads = []
    for _ in range(options.runs):
        for each in every:
            loads.append(os.getloadavg()[0])
            runs[each.name].append(speed.one_run(each, place, options.pages))
    rows = [row(name, results) for name, results in runs.items()]
    for one in rows:
        one |= ratios(one, rows)
        print(one, flush=True)
    extras = [name for name in ("uvloop", "Stemmer") if find_spec(name)]
    figures = {"web": place.name, "pages": options.pages, "runs": options.runs, "extras": extras}
    print(machine.write("j_peers", {**figures, "load": round(statistics.median(loads), 1), "crawlers": rows}))


def row(name: str, results: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return least, median and most of each measure."""
    found: dict[str, Any] = {"name": name}
    for measure in MEASURES:
        values = sorted(result[measure] for result in results)
        found[measure] = [values[0], round(statistics.median(values), 2), values[-1]]
    return found


def ratios(one: dict[str, Any], rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return how many times as fast as Scrapy, the fastest peer and geocrawl with gws a crawler is."""
    rates = {each["name"]: each["pages_per_cpu_s"][1] for each in rows}
    others = {
        "Scrapy": rates["Scrapy"],
        "the fastest peer": max(rates[peer.name] for peer in peers.PEERS),
        "gws": rates["geocrawl, gws"],
    }
    return {f"times {name}": round(rates[one["name"]] / rate, 2) for name, rate in others.items()}
