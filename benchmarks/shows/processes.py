"""Crawl a synthetic web by `geocrawl crawl --processes 1` and 2, on SQLite and PostgreSQL, with gws and fusion.

The web gives all answers at once and has made them before, so it costs little CPU; the crawl ends after so many pages.
Measured is the time from the first quarter of the pages to nine tenths of them, by the web's own access log. On a
machine that others use, processes wait for a core: the kernel counts for how long (proc(5), schedstat), and
`undisturbed` is the rate without these waits, at most what the cores give to the CPU time of crawl, server and web.
Writes j_processes.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import machine
from tests.support import scale_web
from tests.support.helpers import helpers_of
from tests.support.postgres import Server, running_server
from tests.support.processes import Started, clean_environment, geocrawl
from tests.support.scale_crawl import politeness, server_cpu_s

_HOSTS = 400
_FROM, _TO = 0.25, 0.9
_SAMPLE_S = 0.05


class _Sample(NamedTuple):
    at: float
    cpu_s: dict[int, float]
    """By process."""
    queued_s: dict[int, float]
    """How long each process was ready to run and had no core."""
    server_s: float


def main(arguments: list[str]) -> None:
    """Measure each engine, strategy and number of processes in turns; print the figures, write j_processes.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows processes", description=__doc__)
    parser.add_argument("--engines", nargs="+", default=["sqlite", "postgresql"], help="[sqlite postgresql]")
    parser.add_argument("--strategies", nargs="+", default=["gws", "fusion"], help="[gws fusion]")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], help="[1 2]")
    parser.add_argument("--pages", type=int, default=6000, help="pages of a crawl [%(default)s]")
    parser.add_argument("--visits", type=int, default=40, help="visits at a time, of all processes [%(default)s]")
    parser.add_argument("--runs", type=int, default=3, help="runs of each [%(default)s]")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    rows = []
    for engine in options.engines:
        for strategy in options.strategies:
            found: dict[int, list[dict[str, float]]] = {count: [] for count in options.processes}
            for _ in range(options.runs):
                for count in options.processes:
                    found[count].append(_one_run(engine, strategy, count, options.pages, options.visits))
                    print(engine, strategy, count, found[count][-1], flush=True)
            rows += [_row(engine, strategy, count, runs, found) for count, runs in found.items()]
            for row in rows[-len(found) :]:
                print(row, flush=True)
    if not options.no_write:
        how = {name: getattr(options, name) for name in ("pages", "visits", "runs")}
        print(machine.write("j_processes", {**how, "hosts": _HOSTS, "crawls": rows}))


def _row(
    engine: str, strategy: str, count: int, runs: Sequence[dict[str, float]], all_: dict[int, list[dict[str, float]]]
) -> dict[str, Any]:
    """Return the medians of a crawl's runs, and how many times as fast it is as the one with fewest processes."""
    medians = {name: round(statistics.median(run[name] for run in runs), 2) for name in runs[0]}
    least = all_[min(all_)]
    times = {
        f"times_{name}": round(medians[name] / statistics.median(run[name] for run in least), 2)
        for name in ("pages_a_second", "undisturbed")
    }
    return {"engine": engine, "strategy": strategy, "processes": count, **medians, **times}


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
            crawl = Started(command, env=clean_environment(folder))
            samples = _watched(crawl, count, server)
            done = crawl.wait()
        requests = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    if done.exit_code or json.loads(done.stdout)["pages"] != pages:
        raise SystemExit(f"the crawl ended with {done.exit_code}:\n{done.stdout}{done.stderr[-2000:]}")
    return _figures(requests, samples, count)


def _watched(crawl: Started, count: int, server: Server | None) -> list[_Sample]:
    """Read the kernel's accounts until the crawl ends."""
    samples = []
    while crawl.running():
        accounts = {pid: _account(pid) for pid in (crawl.pid, *helpers_of(crawl.pid))[:count]}
        cpu_s, queued_s = ({pid: account[which] for pid, account in accounts.items()} for which in (0, 1))
        samples.append(_Sample(time.time(), cpu_s, queued_s, server_cpu_s(server) if server else 0.0))
        time.sleep(_SAMPLE_S)
    return samples


def _account(pid: int) -> tuple[float, float]:
    """Return the seconds that a process's first thread had a core and waited for one."""
    try:
        ran, queued = Path(f"/proc/{pid}/schedstat").read_text().split()[:2]
    except OSError:
        return 0.0, 0.0
    return int(ran) / 1e9, int(queued) / 1e9


def _figures(requests: Sequence[dict[str, Any]], samples: Sequence[_Sample], count: int) -> dict[str, float]:
    ended = sorted(each["ended"] for each in requests if each["kind"] == "page")
    first, last = int(len(ended) * _FROM), int(len(ended) * _TO)
    pages = last - first
    begin, end = (min(samples, key=lambda sample: abs(sample.at - at)) for at in (ended[first], ended[last]))
    seconds = ended[last] - ended[first]
    cpu_s, queued_s = (
        sum(after[pid] - before.get(pid, 0.0) for pid in after)
        for before, after in ((begin.cpu_s, end.cpu_s), (begin.queued_s, end.queued_s))
    )
    server_s = end.server_s - begin.server_s
    kept = politeness(requests, 0.0)
    if kept["two_at_once"] or kept["pages_asked_twice"]:
        raise SystemExit(f"not polite: {kept}")
    free_s = max(seconds - queued_s / count, (cpu_s + server_s) / (os.cpu_count() or 1))
    return {
        "pages_a_second": round(pages / seconds, 1),
        "undisturbed": round(pages / free_s, 1),
        "cpu_ms_a_page": round(1000 * cpu_s / pages, 3),
        "server_cpu_ms_a_page": round(1000 * server_s / pages, 3),
        "waits_for_a_core": round(queued_s / count / seconds, 3),
        "waits_for_else": round(1 - (cpu_s + queued_s) / count / seconds, 3),
        "load": round(os.getloadavg()[0], 1),
    }


if __name__ == "__main__":
    main([])
