"""`geocrawl serve` with 200 visitors who ask the worst, beside one ordinary visitor and the daemon.

*queries*: how long an ordinary visitor waits on a large catalogue, alone and while the others send costly queries and
read pages of 1,000 hits. *previews*: how late the daemon's due probes are on the demo's web, alone and while the others
ask for previews of all its hosts. Each visitor is named by X-Forwarded-For, as a reverse proxy does.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.large_catalogues import fill
from geocrawl.demo import DemoWeb
from tests.support.crawls import crawl, settings_for

ITEMS = "/collections/services/items"
_PROVIDERS = [f"a{number}" for number in range(40)]
_LAYERS = "SELECT s.id, l.position FROM service s JOIN layer l ON l.service_id = s.id WHERE s.kind = 'wms' LIMIT 400"
_LATE = "SELECT count(*) FROM endpoint WHERE due_at <= ? AND last_probe < ?"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of visitors, the size of the catalogue, and how long is measured."""
    parser.add_argument("--visitors", type=int, default=200, help="[200]")
    parser.add_argument("--services", type=int, default=10_000, help="[10,000]")
    parser.add_argument("--seconds", type=int, default=12, help="of each line [12]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the ordinary visitor's waits in seconds with its answers' codes, and the seconds until all due probes were
    made."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-visitors-") as name:
        made, demo = Path(name) / "made.db", Path(name) / "demo.db"
        fill(made, options.services)
        with DemoWeb() as web, _server(made, {}) as address:
            crawl(settings_for(web), demo, web.seeds)
            queries = {
                others: asyncio.run(_waits(address, options.visitors if others else 0, options.seconds))
                for others in (False, True)
            }
            previews = {others: _probed(demo, web, options.visitors if others else 0) for others in (False, True)}
    return {
        "visitors": options.visitors,
        "services": options.services,
        "queries": {"alone": queries[False], "beside others": queries[True]},
        "previews": {"alone": previews[False], "beside others": previews[True]},
    }


@contextmanager
def _server(path: Path, environ: dict[str, str]) -> Iterator[str]:
    port = free_port()
    with served(path, environ, port):
        yield f"http://127.0.0.1:{port}"


def free_port() -> int:
    """Return a port of loopback that is free now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def served(path: Path, environ: dict[str, str], port: int, *options: str) -> Iterator[int]:
    """Let a catalogue be served once it answers; yields the id of the process."""
    command = [sys.executable, "-m", "geocrawl", "serve", "--db", str(path), "--port", str(port), *options]
    with _running(command, environ) as process:
        for _ in range(600):
            with suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}{ITEMS}?q=water", timeout=120)
                break
            time.sleep(0.1)
        yield process


@contextmanager
def _running(command: list[str], environ: dict[str, str]) -> Iterator[int]:
    with subprocess.Popen(command, env={**os.environ, **environ}, stderr=subprocess.DEVNULL) as process:
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def worst(number: int) -> str:
    """Return a costly query that nobody asked before."""
    values = ",".join([f"x{number}", *_PROVIDERS[number % 20 : number % 20 + 19]])
    queries = (
        {"q": f"provider:{values} -provider:b{number},c,d,e,f", "limit": "1000"},
        {"q": f"a* b* c* d* e* f* g* h* i* k* x{number}*", "facets": "true", "limit": "1000"},
        {"q": " ".join(f"-{letter}*" for letter in "bcdefghiklmnoprstu") + f" -y{number}", "limit": "1000"},
        {"q": f"watre maap sooil laand foorest rooads geolgy hydroo z{number}", "limit": "1000"},
    )
    return f"{ITEMS}?{httpx.QueryParams(queries[number % len(queries)])}"


async def _waits(address: str, visitors: int, seconds: int) -> dict[str, Any]:
    """Return how long an ordinary visitor waits meanwhile for pages that nobody asked for before."""
    numbers, waits, codes, others = itertools.count(), dict[str, list[float]](), Counter[int](), Counter[int]()
    tasks = [
        asyncio.create_task(_visit(address, f"198.51.100.{n}", lambda: worst(next(numbers)), others))
        for n in range(visitors)
    ]
    await asyncio.sleep(3 if visitors else 0)
    end = time.monotonic() + seconds
    async with httpx.AsyncClient(base_url=address, headers={"X-Forwarded-For": "203.0.113.1"}, timeout=60) as client:
        for number in itertools.count():
            if time.monotonic() > end:
                break
            pages = {
                "search": f"{ITEMS}?q=water&offset={number * 20}&limit={20 + bool(visitors)}",
                "service": f"{ITEMS}/{2 * number + 1 + bool(visitors)}",
                "robots": "/robots.txt",
            }
            for page, path in pages.items():
                begun = time.perf_counter()
                codes[(await client.get(path)).status_code] += 1
                waits.setdefault(page, []).append(time.perf_counter() - begun)
            await asyncio.sleep(0.5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    found = {
        page: {f"p{part}": round(float(np.percentile(each, part)), 3) for part in (50, 90, 100)}
        for page, each in waits.items()
    }
    return {**found, "codes": dict(codes), "codes of the others": dict(others)}


def _percentiles(waits: list[float]) -> list[float]:
    return [round(float(each), 3) for each in np.percentile(waits, (50, 90, 100))]


async def _visit(address: str, visitor: str, path: Callable[[], str], codes: Counter[int]) -> None:
    """Ask without a pause."""
    async with httpx.AsyncClient(base_url=address, headers={"X-Forwarded-For": visitor}, timeout=60) as client:
        while True:
            try:
                codes[(await client.get(path())).status_code] += 1
            except httpx.TransportError:
                codes[0] += 1
            await asyncio.sleep(0.05)


def _probed(catalogue: Path, web: DemoWeb, visitors: int) -> dict[str, Any]:
    """Return the seconds until the daemon has probed every endpoint that is due, and what previews got meanwhile."""
    environ = {"GEOCRAWL_PROXY": web.proxy_url, "GEOCRAWL_DELAY": "0.2"}
    with sqlite3.connect(catalogue) as writer:
        layers = writer.execute(_LAYERS).fetchall()
    boxes, codes = itertools.count(), Counter[int]()

    def path() -> str:
        number, layer = layers[next(boxes) % len(layers)]
        return f"{ITEMS}/{number}/preview?layer={layer}&bbox={next(boxes) / 1e4:.4f},0,150,60"

    async def probed(address: str) -> float:
        tasks = [asyncio.create_task(_visit(address, f"198.51.100.{n}", path, codes)) for n in range(visitors)]
        await asyncio.sleep(3 if visitors else 0)
        begun = time.time()
        with sqlite3.connect(catalogue, timeout=60) as writer:
            writer.execute("UPDATE endpoint SET due_at = ? WHERE due_at IS NOT NULL", (begun - 1,))
        daemon = [sys.executable, "-m", "geocrawl", "daemon", "--db", str(catalogue)]
        with _running(daemon, environ), sqlite3.connect(catalogue, timeout=60) as reader:
            for _ in range(600):
                if not reader.execute(_LATE, (begun, begun)).fetchone()[0]:
                    break
                await asyncio.sleep(0.5)
            took_s = time.time() - begun
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return round(took_s, 1)

    with _server(catalogue, environ) as address:
        return {"all due probes made after s": asyncio.run(probed(address)), "codes of previews": dict(codes)}
