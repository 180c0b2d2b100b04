"""`geocrawl serve` under load: 50 connections of wrk on a large catalogue, alone and while another process writes.

Two mixes: *varied* asks for thousands of different pages, so that nearly each is made; *kept* asks for ten pages again
and again. Each line gives requests a second, latency, memory of the server and errors.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.large_catalogues import QUERIES, fill
from geocrawl.store import Store
from tests.support.world import ManualClock

ITEMS = "/collections/services/items"
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
    parser.add_argument("--catalogue", type=Path, help="a catalogue of so many services; made without")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return requests a second, latency, memory and errors of each mix, alone and while another process writes."""
    if not shutil.which("wrk"):
        raise SystemExit("wrk is not installed (apt install wrk)")
    with tempfile.TemporaryDirectory(prefix="geocrawl-serve-") as name:
        path = Path(name) / "made.db"
        if options.catalogue:
            shutil.copy(options.catalogue, path)
            Store.open(path, clock=ManualClock()).close()  # upgraded, if it is of an older version
        else:
            fill(path, options.services)
        return {"services": options.services, "connections": 50, **_measured(path, options.seconds, Path(name))}


def _measured(path: Path, seconds: int, folder: Path) -> dict[str, Any]:
    rng, numbers = random.Random(7), numbers_of(path)
    mixes = {"varied": _varied(rng, numbers), "kept": _varied(rng, numbers)[:10]}
    lines = []
    with server(path) as (address, process, first_s):
        idle_mib = _memory_mib(process.pid)
        for mix, paths in mixes.items():
            for writes in (False, True):
                with _writer(path) if writes else _nobody() as written:
                    found = _wrk(address, paths, seconds, folder)
                line = {"mix": mix, "pages": len(paths), "while_writing": writes, **found, "transactions": written[0]}
                line["requests_a_second"] = round(found["requests"] / found["seconds"], 1)
                line["peak_mib"] = _memory_mib(process.pid)
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
    for number in range(4_000):
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


def _wrk(address: str, paths: list[str], seconds: int, folder: Path) -> dict[str, Any]:
    (folder / "paths.txt").write_text("\n".join(paths) + "\n", "utf-8")
    script = folder / "mix.lua"
    script.write_text(_SCRIPT % (folder / "paths.txt"), "utf-8")
    command = ["wrk", "-t", "1", "-c", "50", "-d", f"{seconds}s", "--timeout", "30s", "-s", str(script), address]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    line = next(each for each in said.splitlines() if each.startswith("JSON "))
    found: dict[str, Any] = json.loads(line.removeprefix("JSON "))
    return found


@contextmanager
def _writer(path: Path) -> Iterator[list[int]]:
    """Write as a crawl does meanwhile: a transaction about 20 times a second; yield their count."""
    count, over = [0], threading.Event()

    def write() -> None:
        connection = sqlite3.connect(path, isolation_level=None, timeout=30)
        while not over.wait(0.05):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE endpoint SET last_probe = ? WHERE id = ?", (time.time(), 1 + count[0] % 1000))
            connection.execute("COMMIT")
            count[0] += 1
        connection.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield count
    finally:
        over.set()
        thread.join()


@contextmanager
def _nobody() -> Iterator[list[int]]:
    yield [0]


def _memory_mib(pid: int) -> int:
    """Return the most memory that a process has had (VmHWM)."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024
