"""`geocrawl migrate` there and back: a catalogue of 100,000 services from SQLite to PostgreSQL and into a new file.

Each way is a process of its own. Time is that of the process and of the server; `peak_mib` is the process's memory.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import machine, search_latency
from geocrawl.store import Store
from geocrawl.store.read.status import read_status
from geocrawl.store.search.index import search_engine
from tests.support.postgres import Server, running_server

_QUERIES = ("water", "soil types bavaria", "土地利用", "kind:wfs", "hydro*", '"flood depth"')


def main(arguments: list[str]) -> None:
    """Copy there and back, write j_migrate.json. SystemExit when a table arrives otherwise."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows migrate", description=__doc__)
    parser.add_argument("--services", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, help="keep the catalogue here, or use the one that is here")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-migrate-") as scratch, running_server(hasty=False) as server:
        first = (options.folder or Path(scratch)) / f"search-{options.services}.db"
        if not first.exists():
            search_latency.fill(first, options.services)
        far, last = server.new_database(), Path(scratch) / "back.db"
        there, sums = _copied(server, str(first), far)
        back, again = _copied(server, far, str(last))
        if sums != again:
            raise SystemExit("the copy of the copy differs")
        if [_answers(str(first), each) != _answers(str(last), each) for each in _QUERIES] != [False] * len(_QUERIES):
            raise SystemExit("a search finds otherwise in the copy of the copy")
        figures = {
            "services": sums["service"]["rows"],
            "layers": sums["layer"]["rows"],
            "rows": sum(each["rows"] for each in sums.values()),
            "tables": len(sums),
            "counts_and_hashes_equal": True,
            "sqlite_mib": round(first.stat().st_size / 2**20),
            "postgresql_mib": _size(far),
            "sqlite_to_postgresql": there,
            "postgresql_to_sqlite": back,
            "durable": "fsync and synchronous_commit on",
        }
    print(json.dumps(figures, indent=1))
    print(machine.write("j_migrate", figures))


def _copied(server: Server, source: str, target: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a copy took, and the number and hash of each table's rows."""
    began, server_began = time.monotonic(), server.cpu_s()
    command = [sys.executable, "-m", "geocrawl", "migrate", source, target, "--json"]
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(command, stdout=printed)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read()
    if process.returncode:
        raise SystemExit(f"geocrawl migrate ended with {process.returncode}")
    row = {
        "wall_s": round(time.monotonic() - began, 1),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "server_cpu_s": round(server.cpu_s() - server_began, 1),
        "peak_mib": usage.ru_maxrss // 1024,
    }
    print(f"   {row}", flush=True)
    return row, json.loads(text)


def _answers(database: str, query: str) -> list[int]:
    with Store.open_readonly(database) as connection:
        return [hit.id for hit in search_engine(connection).search(query, limit=50).hits]


def _size(database: str) -> int:
    with Store.open_readonly(database) as connection:
        size = read_status(connection, time.time()).size
    assert size is not None
    return round(size.file_bytes / 2**20)
