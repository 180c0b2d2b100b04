"""`geocrawl serve` under load: connections of wrk on a large catalogue, alone and while a crawl fills it further.

Three mixes: *searches* asks for thousands of different searches, pages and records in equal parts, so that nearly each
is made; *varied* for as many services as searches; *kept* for ten pages again and again. Each line gives requests a
second, latency, the server's CPU a request, its memory, and errors. The crawl visits a made web of a hundred hosts at
its full pace (a delay of a second a host).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import httpx

from benchmarks.large_catalogues import QUERIES, fill
from geocrawl.store import Store
from tests.support import scale_web
from tests.support.world import ManualClock

ITEMS = "/collections/services/items"
_BEGINS_S = 5
"""Seconds after which a crawl is at work."""
_SCRIPT = """
local paths = {}
for line in io.lines("%s") do paths[#paths + 1] = line end
local at = 0
function init(args) math.randomseed(os.time()); at = math.random(#paths) end
function request() at = at %% #paths + 1; return wrk.format("GET", paths[at]) end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('JSON {"requests": %%d, "seconds": %%.2f, "p50_ms": %%.1f, "p90_ms": %%.1f, "p99_ms": %%.1f, '
    .. '"worst_ms": %%.1f, "not_2xx": %%d, "connect": %%d, "read": %%d, "write": %%d, "timeout": %%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(90) / 1e3,
    latency:percentile(99) / 1e3, latency.max / 1e3, e.status, e.connect, e.read, e.write, e.timeout))
end
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the catalogue, and how long is measured."""
    parser.add_argument("--services", type=int, default=100_000, help="[100,000]")
    parser.add_argument("--seconds", type=int, default=60, help="of each line [60]")
    parser.add_argument(
        "--connections", type=int, default=50, help="at once, each with a question after the other [50]"
    )
    parser.add_argument("--catalogue", type=Path, help="a catalogue of so many services; made without")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return requests a second, latency, CPU, memory and errors of each mix, alone and while a crawl is at work."""
    if not shutil.which("wrk"):
        raise SystemExit("wrk is not installed (apt install wrk)")
    with tempfile.TemporaryDirectory(prefix="geocrawl-serve-") as name:
        path = Path(name) / "made.db"
        if options.catalogue:
            shutil.copy(options.catalogue, path)
            Store.open(path, clock=ManualClock()).close()  # upgraded, if it is of an older version
        else:
            fill(path, options.services)
        measured = _measured(path, options.seconds, options.connections, Path(name))
        return {"services": options.services, "connections": options.connections, **measured}


def _measured(path: Path, seconds: int, connections: int, folder: Path) -> dict[str, Any]:
    rng, numbers = random.Random(7), numbers_of(path)
    varied = _varied(rng, numbers)
    searches = [each for each in varied if "?q=" in each or "&q=" in each]
    lines = []
    with server(path) as (address, process, first_s):
        idle_mib = _memory_mib(process.pid)
        for mix, paths in {"searches": searches, "varied": varied, "kept": varied[:10]}.items():
            for crawls in (False, True):
                with _crawl(path, folder) if crawls else nullcontext():
                    pages, cpu = _pages(path), cpu_s(process.pid)
                    found = _wrk(address, paths, seconds, connections, folder)
                    pages, cpu = _pages(path) - pages, cpu_s(process.pid) - cpu
                line = {"mix": mix, "pages": len(paths), "while_crawling": crawls, **found, "pages_crawled": pages}
                line["requests_a_second"] = round(found["requests"] / found["seconds"], 1)
                line["cpu_ms_a_request"] = round(1000 * cpu / found["requests"], 1)
                line["cores"] = round(cpu / found["seconds"], 2)
                line["peak_mib"] = _memory_mib(process.pid)
                line["load_average"] = round(os.getloadavg()[0], 1)
                print(json.dumps(line), flush=True)
                lines.append(line)
    return {"first_search_s": first_s, "mib_before": idle_mib, "lines": lines}


def numbers_of(path: Path) -> list[int]:
    """Return the numbers of all services of a catalogue."""
    with sqlite3.connect(path) as reader:
        return [row[0] for row in reader.execute("SELECT id FROM service")]


def _varied(rng: random.Random, numbers: list[int]) -> list[str]:
    """Return different addresses: searches as people type them, services, both for programs and people."""
    words = [word for query in QUERIES for word in query.split() if word.isalpha()]
    paths = []
    for number in range(8_000):
        query = " ".join(rng.sample(words, rng.choice((1, 1, 2)))) if number % 3 else rng.choice(QUERIES)
        parameters = {"q": query, "f": rng.choice(("html", "json")), "limit": str(rng.choice((10, 20)))}
        if rng.random() < 0.3:
            parameters["offset"] = str(rng.randrange(0, 200, 10))
        one = f"{ITEMS}/{rng.choice(numbers)}?f={rng.choice(('html', 'json'))}"
        paths.append(one if number % 2 else f"{ITEMS}?{httpx.QueryParams(parameters)}")
    return paths


@contextmanager
def server(path: Path) -> Iterator[tuple[str, subprocess.Popen[bytes], float]]:
    """Run the server as people do; yield its address, its process and the seconds of its first search."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "geocrawl", "serve", "--db", str(path), "--port", str(port), "--rate", "0"]
    process = subprocess.Popen([*command, "--no-preview"])
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                httpx.get(f"{address}/conformance")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        begun = time.perf_counter()
        httpx.get(f"{address}{ITEMS}?q=water", timeout=120).raise_for_status()
        yield address, process, round(time.perf_counter() - begun, 2)
    finally:
        process.terminate()
        process.wait(20)


def _wrk(address: str, paths: list[str], seconds: int, connections: int, folder: Path) -> dict[str, Any]:
    (folder / "paths.txt").write_text("\n".join(paths) + "\n", "utf-8")
    script = folder / "mix.lua"
    script.write_text(_SCRIPT % (folder / "paths.txt"), "utf-8")
    how = ["-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "30s", "-s", str(script)]
    command = ["wrk", *how, address]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    line = next(each for each in said.splitlines() if each.startswith("JSON "))
    found: dict[str, Any] = json.loads(line.removeprefix("JSON "))
    return found


@contextmanager
def _crawl(path: Path, folder: Path) -> Iterator[None]:
    """Crawl a made web into the catalogue meanwhile."""
    web = scale_web.Web(hosts=100, pages_a_host=10_000)
    start = [scale_web.address(host, 0) for host in range(web.hosts)]
    with scale_web.served(web, folder / "log") as proxy:
        command = ("crawl", *start, "--db", str(path), "--proxy", proxy, "--delay", "1", "--quiet")
        crawl = subprocess.Popen([sys.executable, "-m", "geocrawl", *command], stdout=subprocess.DEVNULL)
        try:
            time.sleep(_BEGINS_S)
            if crawl.poll() is not None:
                raise SystemExit(f"the crawl ended with {crawl.returncode}")
            yield
        finally:
            crawl.terminate()
            crawl.wait(60)


def _pages(path: Path) -> int:
    with closing(sqlite3.connect(path, timeout=60)) as reader:
        return int(reader.execute("SELECT count(*) FROM url WHERE settled_at IS NOT NULL").fetchone()[0])


def cpu_s(pid: int) -> float:
    """Return the seconds of the processor that a process has had (proc(5): utime and stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_mib(pid: int) -> int:
    """Return the most memory that a process has had (VmHWM)."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024
