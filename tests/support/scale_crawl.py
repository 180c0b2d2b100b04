"""Crawl a large synthetic web by several processes on one PostgreSQL: `benchmarks.shows scale` and a small test.

The web (`tests.support.scale_web`) answers after 50 to 200 ms; all home pages are start pages. After
`WARM_S` seconds with all processes, one window is measured: pages by the web's own access
log, transactions by pg_stat_database, what the workers' connections wait for by samples of pg_stat_activity, CPU time
by the kernel's account of the processes. Politeness and fairness are read from the whole access log.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from geocrawl.store.engine.postgres.connection import PostgresConnection
from geocrawl.urls.database import server_of
from tests.support import scale_web
from tests.support.postgres import Server, running_server
from tests.support.processes import Run, Started, clean_environment, geocrawl

LARGE = scale_web.Web()
WARM_S = 15.0
_SAMPLE_S = 0.2
_START_S, _END_S = 300.0, 1_200.0
"""Longest wait until the processes have begun, and longest life of one."""
_WAITS = """
SELECT CASE WHEN wait_event_type = 'Lock' THEN 'lock: ' || wait_event WHEN state = 'active' AND wait_event IS NULL
  THEN 'at work' WHEN state = 'active' THEN wait_event_type || ': ' || wait_event ELSE 'idle' END, count(*)
FROM pg_stat_activity WHERE application_name = 'geocrawl' AND pid <> pg_backend_pid() GROUP BY 1"""
_SIZE = """
SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname IN ('url', 'outlinks', 'host', 'validator')"""
_LOAD = "SELECT xact_commit, xact_rollback, deadlocks FROM pg_stat_database WHERE datname = current_database()"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is crawled, and how."""

    web: scale_web.Web = LARGE
    processes: int = 1
    visits: int = 20
    """Concurrent visits of each process."""
    seconds: float | None = 60.0
    """The measured window; None: until all is visited."""
    delay_s: float = 0.5
    strategy: str = "gws"
    warm_s: float = WARM_S

    def command(self, url: str, proxy: str, start: Sequence[str]) -> list[str]:
        """Return the command line of a worker."""
        how = ["--strategy", self.strategy, "--workers", str(self.visits), "--delay", str(self.delay_s)]
        limits = ["--max-depth", "30", "--max-pages", "1000000000", "--economy", "0"]
        return geocrawl("crawl", *start, "--db", url, "--proxy", proxy, *how, *limits, "--json", "--quiet")


def measure(plan: Plan) -> dict[str, Any]:
    """Crawl with a server, a web and processes of its own; return the figures."""
    with running_server(hasty=False) as server, tempfile.TemporaryDirectory(prefix="geocrawl-scale-") as folder:
        url, log = server.new_catalogue(), Path(folder) / "access.jsonl"
        watch = PostgresConnection(server_of(url))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with scale_web.served(plan.web, log) as proxy:
            window, runs = _crawl(plan, server, watch, url, proxy, Path(folder))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        web_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime - sum(run.cpu_s for run in runs)
        stored = _stored(watch)
        watch.close()
        requests = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    figures = _rates(plan, window, requests, runs, web_s)
    return {**figures, **stored, "politeness": politeness(requests, plan.delay_s), "fairness": fairness(requests)}


def _crawl(
    plan: Plan, server: Server, watch: PostgresConnection, url: str, proxy: str, home: Path
) -> tuple[dict[str, Any], list[Run]]:
    """Run the workers; return what was read at the ends of the window, and how each worker ended."""
    start = [scale_web.address(host, 0) for host in range(plan.web.hosts)]
    environment = clean_environment(home)
    workers = [Started(plan.command(url, proxy, start), env=environment)]
    try:
        _until(lambda: watch.execute("SELECT count(*) FROM url").fetchone()[0] >= len(start))
        more = range(1, plan.processes)
        workers += [Started(plan.command(url, proxy, ()), env=environment) for _ in more]
        _until(lambda: watch.execute("SELECT count(*) FROM run").fetchone()[0] >= plan.processes)
        time.sleep(plan.warm_s)
        window = _watch(plan, server, watch, workers)
        if plan.seconds is not None:
            for worker in workers:
                worker.terminate()
    except BaseException:
        for worker in workers:
            worker.kill()
        raise
    finally:
        runs = [worker.wait(limit_s=_END_S) for worker in workers]
    return window, runs


def _watch(plan: Plan, server: Server, watch: PostgresConnection, workers: Sequence[Started]) -> dict[str, Any]:
    """Sample what the workers' connections wait for, until the window's end."""
    waits: Counter[str] = Counter()
    load, cpu_s, own_s = _load(watch), server_cpu_s(server), sum(worker.cpu_s() for worker in workers)
    begun = time.time()
    while any(worker.running() for worker in workers) and (plan.seconds is None or time.time() - begun < plan.seconds):
        time.sleep(_SAMPLE_S)
        waits.update(dict(watch.execute(_WAITS).fetchall()))
    ended, did = time.time(), _load(watch)
    return {
        "begun": begun,
        "ended": ended,
        "server_cpu_s": server_cpu_s(server) - cpu_s,
        "cpu_s": sum(worker.cpu_s() for worker in workers) - own_s,
        "commits": did[0] - load[0],
        "rollbacks": did[1] - load[1],
        "deadlocks": did[2] - load[2],
        "waits": waits,
    }


def _load(watch: PostgresConnection) -> tuple[int, int, int]:
    watch.execute("SELECT pg_stat_clear_snapshot()")
    row: tuple[int, int, int] = watch.execute(_LOAD).fetchone()
    return row


def server_cpu_s(server: Server) -> float:
    """Return the CPU seconds of a server with all its processes, those that have ended too."""
    first = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    ticks, children = _ticks(first, ended=True), Path(f"/proc/{first}/task/{first}/children").read_text()
    return (ticks + sum(_ticks(int(pid)) for pid in children.split())) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int, *, ended: bool = False) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15] if ended else fields[11:13]))


def _stored(watch: PostgresConnection) -> dict[str, Any]:
    count = watch.execute("SELECT count(*), count(*) FILTER (WHERE state = 'visited') FROM url").fetchone()
    services = watch.execute("SELECT count(*) FROM service").fetchone()[0]
    size = watch.execute(_SIZE).fetchone()[0]
    return {"urls": count[0], "visited": count[1], "services": services, "bytes_a_url": round(int(size) / count[0])}


def _rates(
    plan: Plan, window: dict[str, Any], requests: Sequence[dict[str, Any]], runs: Sequence[Run], web_s: float
) -> dict[str, Any]:
    pages = [each for each in requests if each["kind"] == "page"]
    inside = sum(window["begun"] <= each["ended"] < window["ended"] for each in pages)
    seconds, waits = window["ended"] - window["begun"], window["waits"]
    samples = sum(waits.values())
    return {
        "processes": plan.processes,
        "window_s": round(seconds, 1),
        "pages": inside,
        "pages_a_second": round(inside / seconds, 1),
        "cpu_ms_a_page": round(1000 * window["cpu_s"] / max(inside, 1), 2),
        "server_cpu_ms_a_page": round(1000 * window["server_cpu_s"] / max(inside, 1), 2),
        "web_cpu_ms_a_page": round(1000 * web_s / max(len(requests), 1), 2),
        "commits_a_page": round(window["commits"] / max(inside, 1), 2),
        "rollbacks": window["rollbacks"],
        "deadlocks": window["deadlocks"],
        "connections": {name: round(count / samples, 3) for name, count in waits.most_common()},
        "peak_mib": max(run.peak_mib for run in runs),
        "exit_codes": sorted({run.exit_code for run in runs}),
        "load": round(os.getloadavg()[0], 1),
    }


def politeness(requests: Sequence[dict[str, Any]], delay_s: float) -> dict[str, Any]:
    """Return how many requests met another one of their host under way, or came before its delay."""
    met, early, smallest, asked = 0, 0, float("inf"), Counter[str]()
    for of_host in _by_host(requests).values():
        ordered = sorted(of_host, key=lambda each: float(each["begun"]))
        for former, each in pairwise(ordered):
            gap_s = each["begun"] - former["ended"]
            met += gap_s < 0
            early += gap_s < delay_s - 0.001  # the log's times are rounded
            smallest = min(smallest, gap_s)
    asked.update(each["url"] for each in requests if each["kind"] == "page")
    return {
        "requests": len(requests),
        "two_at_once": met,
        "before_the_delay": early,
        "smallest_gap_s": round(smallest, 4),
        "pages_asked_twice": sum(count > 1 for count in asked.values()),
    }


def fairness(requests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how pages are spread over hosts: Jain's index (1: all have the same), least, median and most."""
    counts = [sum(each["kind"] == "page" for each in of_host) for of_host in _by_host(requests).values()]
    squares = len(counts) * sum(count * count for count in counts)
    return {
        "hosts": len(counts),
        "jain": round(sum(counts) ** 2 / squares, 3) if squares else 0.0,
        "least": min(counts, default=0),
        "median": statistics.median(counts) if counts else 0,
        "most": max(counts, default=0),
    }


def _by_host(requests: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in requests:
        found[each["url"].split("/")[2]].append(each)
    return found


def _until(is_true: Callable[[], bool]) -> None:
    ends = time.monotonic() + _START_S
    while not is_true():
        if time.monotonic() > ends:
            raise SystemExit(f"not all workers have begun after {_START_S:g} s")
        time.sleep(0.1)
