"""Hostile answers crawled live, each in a crawl of its own: the longest stall of the loop, and memory.

A stall is told twice: by the clock, and by the CPU time that the loop's thread used meanwhile. On a busy machine the
clock also counts the time in which other programs ran, so that the second figure is the loop's own.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.fuzz import peak_mib
from geocrawl.model import Lease
from geocrawl.settings import Settings
from geocrawl.store.engine.database import open_readonly
from tests.support.crawls import Watcher, url
from tests.support.hostile import PAGES, SERVICES, Hostile
from tests.support.loopback import Handler, Server, running

SIZE = 4_500_000
"""Below `page_body_bytes`, so that every page is read."""
READING_S = 4.0
"""CPU time of a reading process, at most: the loop's stalls are measured, not how long a reader takes."""
_LONGEST_S = 30.0
"""Longest crawl: a document may name 20,000 services, all of which would be asked."""
_TICK_S = 0.005
ORDINARY = Hostile("(an ordinary page)", "text/html", "<html><p>{}", lambda n: "The weather of this month. ")


class Ticker(Watcher):
    """An observer that measures from within the loop for how long nothing else ran."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_s = 0.0
        self.longest_cpu_s = 0.0
        self._task: asyncio.Task[None] | None = None

    def leased(self, lease: Lease) -> None:
        """Begin to tick."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._tick())

    async def _tick(self) -> None:
        last, last_cpu = time.monotonic(), time.thread_time()
        while True:
            await asyncio.sleep(_TICK_S)
            now, cpu = time.monotonic(), time.thread_time()
            self.longest_s = max(self.longest_s, now - last - _TICK_S)
            self.longest_cpu_s = max(self.longest_cpu_s, cpu - last_cpu)
            last, last_cpu = now, cpu


def main(arguments: list[str]) -> None:
    """Crawl all documents, print the table, write f_stalls.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows sturdy_stalls", description=__doc__)
    parser.add_argument("--only", default="", help="documents whose name holds this")
    parser.add_argument("--size", type=int, default=SIZE, help=f"bytes of each document [{SIZE:,}]")
    parser.add_argument("--processes", type=int, default=2, help="reading processes; 0: all is read in the loop [2]")
    parser.add_argument("--reading-time", type=float, default=READING_S, help=f"CPU s of a reader [{READING_S:.0f}]")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    rows = []
    columns = f"{'longest stall s':>17}{'its CPU s':>11}{'wall s':>8}{'peak MiB':>10}{'of readers':>12}"
    print(f"{'document':<24}{'KiB':>7}{columns}  ended as")
    for kind, hostile in [
        ("page", ORDINARY),
        *(("page", each) for each in PAGES),
        *(("wms", each) for each in SERVICES),
    ]:
        if options.only in hostile.name:
            size = 20_000 if hostile is ORDINARY else options.size
            row = apart(kind, hostile.name, size, options.processes, options.reading_time)
            rows.append(row)
            figures = (
                f"{row['longest_stall_s']:>17}{row['longest_cpu_s']:>11}{row['wall_s']:>8}"
                f"{row['peak_mib']:>10}{row['readers_peak_mib']:>12}"
            )
            print(f"{row['document']:<24}{row['kib']:>7}{figures}  {row['ended_as']}", flush=True)
    if not options.no_write:
        given = {"processes": options.processes, "bytes": options.size, "reading_time_s": options.reading_time}
        print(machine.write("f_stalls", {**given, "documents": rows}))


def apart(kind: str, name: str, size: int, processes: int, reading_s: float) -> dict[str, Any]:
    """Measure in a fresh process, for its peak memory."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measure, kind, name, size, processes, reading_s).result()


def measure(kind: str, name: str, size: int, processes: int, reading_s: float) -> dict[str, Any]:
    """Crawl one document and return the figures."""
    from geocrawl.app.crawl import run_crawl

    hostile = next(each for each in (ORDINARY, *PAGES, *SERVICES) if each.name == name)
    body = hostile.body(size)

    class Answer(Handler):
        def respond(self) -> None:
            found = self.path.partition("?")[0] == "/map"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", hostile.content_type)
            self.send_header("Content-Length", str(len(body) if found else 0))
            self.end_headers()
            self.write(body if found else b"")

    settings = Settings(
        delay_s=0.0,
        allow_private=True,
        allow=("127.0.0.1",),
        max_pages=1,
        max_time_s=_LONGEST_S,
        reading_processes=processes,
        reading_time_s=reading_s,
    )
    ticker = Ticker()
    with tempfile.TemporaryDirectory(prefix="geocrawl-stalls-") as folder, running(Server(Answer)) as server:
        database = Path(folder) / "c.db"
        query = "?service=WMS&request=GetCapabilities" if kind == "wms" else ""
        seed = url(f"http://127.0.0.1:{server.server_port}/map{query}")
        report = run_crawl(settings, database, [seed], observer=ticker)
        with open_readonly(database) as connection:
            row = connection.execute("SELECT reason FROM url WHERE address LIKE '%/map%'").fetchone()
    return {
        "document": name,
        "asked_as": kind,
        "kib": len(body) // 1024,
        "longest_stall_s": round(ticker.longest_s, 2),
        "longest_cpu_s": round(ticker.longest_cpu_s, 2),
        "wall_s": round(report.summary.seconds, 1),
        "peak_mib": peak_mib(),
        "readers_peak_mib": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, 1),
        "ended_as": row[0] if row else "",
    }
