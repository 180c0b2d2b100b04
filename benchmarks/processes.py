"""Pages a second of `geocrawl crawl --processes N` on SQLite and PostgreSQL, of a web that answers at once.

The web has made its answers before, so it costs little CPU; the crawl ends after so many pages. Pages a second are
those from the first quarter of the pages to nine tenths of them, by the web's own access log. The CPU of all processes
is measured for a quarter of the pages, too: the difference is what a page costs, the rest what processes cost to start.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.support import scale_web
from tests.support.postgres import running_server
from tests.support.processes import checked, clean_environment, geocrawl
from tests.support.scale_web import politeness

_HOSTS = 400
_FROM, _TO = 0.25, 0.9


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what is compared, how far and how often."""
    parser.add_argument("--engines", nargs="+", default=["sqlite", "postgresql"], help="[sqlite postgresql]")
    parser.add_argument("--strategies", nargs="+", default=["gws", "fusion"], help="[gws fusion]")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4], help="[1 2 4]")
    parser.add_argument("--pages", type=int, default=6000, help="pages of a crawl [6000]")
    parser.add_argument("--visits", type=int, default=40, help="visits at a time, of all processes [40]")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, in turns [3]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the medians of each engine, strategy and number of processes."""
    rows = []
    for engine in options.engines:
        for strategy in options.strategies:
            found: dict[int, list[dict[str, float]]] = {count: [] for count in options.processes}
            for _ in range(options.runs):
                for count in options.processes:
                    found[count].append(_two_crawls(engine, strategy, count, options))
                    print(f"   {engine} {strategy} {count}: {found[count][-1]}", flush=True)
            of_one = statistics.median(run["pages_a_second"] for run in found[min(found)])
            fewest_ms = math.nan
            for count, runs in sorted(found.items()):
                medians = {name: round(statistics.median(run[name] for run in runs), 3) for name in runs[0]}
                times = round(medians["pages_a_second"] / of_one, 2)
                row = {"engine": engine, "strategy": strategy, "processes": count, **medians}
                cpu = _of_a_page(medians, options.pages)
                fewest_ms = cpu["cpu_ms_a_page"] if count == min(found) else fewest_ms
                in_cpu = round(fewest_ms / cpu["cpu_ms_a_page"], 2)
                rows.append({**row, "times_the_fewest": times, **cpu, "a_cpu_s_times_the_fewest": in_cpu})
    told = {name: getattr(options, name) for name in ("pages", "visits", "runs")}
    return {**told, "hosts": _HOSTS, "load": round(os.getloadavg()[2], 1), "crawls": rows}


def _two_crawls(engine: str, strategy: str, count: int, options: argparse.Namespace) -> dict[str, float]:
    """Return what a crawl of all pages measures, and the CPU of one of a quarter of them."""
    few = _one_run(engine, strategy, count, options.pages // 4, options.visits)
    return {**_one_run(engine, strategy, count, options.pages, options.visits), "cpu_s_of_a_quarter": few["cpu_s"]}


def _of_a_page(medians: dict[str, float], pages: int) -> dict[str, float]:
    """Return the CPU of a page beyond the first quarter, and of the start: what is left of the whole."""
    page_s = (medians["cpu_s"] - medians["cpu_s_of_a_quarter"]) / (pages - pages // 4)
    return {"cpu_ms_a_page": round(1000 * page_s, 3), "start_cpu_s": round(medians["cpu_s"] - page_s * pages, 2)}


def _one_run(engine: str, strategy: str, count: int, pages: int, visits: int) -> dict[str, float]:
    web = scale_web.Web(_HOSTS, max(2 * pages // _HOSTS, 20))
    start = [scale_web.address(host, 0) for host in range(web.hosts)]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="geocrawl-processes-")))
        server = stack.enter_context(running_server(hasty=False)) if engine == "postgresql" else None
        url = server.new_catalogue() if server else str(folder / "c.db")
        with scale_web.served(web, folder / "log", ready=True) as proxy:
            where = ("--db", url, "--proxy", proxy, "--delay", "0", "--economy", "0", "--max-depth", "30")
            how = ("--strategy", strategy, "--workers", str(visits), "--processes", str(count))
            command = geocrawl("crawl", *start, *where, *how, "--max-pages", str(pages), "--json", "--quiet")
            done = checked(command, env=clean_environment(folder))
        requests = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    kept = politeness(requests, 0.0)
    if kept["two_at_once"] or kept["pages_asked_twice"]:
        raise SystemExit(f"not polite: {kept}")
    ended = sorted(each["ended"] for each in requests if each["kind"] == "page")
    first, last = int(len(ended) * _FROM), int(len(ended) * _TO)
    rate = (last - first) / (ended[last] - ended[first])
    return {"pages_a_second": round(rate, 1), "cpu_s": round(done.cpu_s, 2)}
