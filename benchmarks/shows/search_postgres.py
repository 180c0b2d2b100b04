"""The search on PostgreSQL: SQLite's answers to all queries of the benchmarks, and its latency in 100,000 services.

Both catalogues are copied from SQLite with `geocrawl migrate`. CPU is that of the search's process, and of the server.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import machine, search_latency
from benchmarks.search_catalogue import add_written, fill
from benchmarks.shows.search import typed_queries
from geocrawl.search.engine import SearchEngine
from geocrawl.search.results import Results
from geocrawl.store import Store
from geocrawl.store.maintenance.migrate import migrate
from geocrawl.store.search.index import search_engine
from tests.support.places import shared_folder
from tests.support.postgres import Server, running_server
from tests.support.world import ManualClock


def main(arguments: list[str]) -> None:
    """Compare all answers, measure latencies, write j_search_postgres.json. SystemExit when an answer differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows search_postgres", description=__doc__)
    parser.add_argument("--size", type=int, default=100_000, help="services of the catalogue for latency")
    parser.add_argument("--folder", type=Path, help="keep the large catalogue here, or use the one that is here")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-search-") as scratch, running_server(hasty=False) as server:
        compared = _compared(Path(scratch) / "search.db", server)
        print(f"   {compared}", flush=True)
        large = (options.folder or Path(scratch)) / f"search-{options.size}.db"
        if not large.exists():
            search_latency.fill(large, options.size)
        latency = {engine: _latency(database, server) for engine, database in _both(large, server).items()}
    print(machine.write("j_search_postgres", {"services": options.size, "answers": compared, "latency": latency}))
    if compared["different"]:
        raise SystemExit("an answer differs")


def _both(path: Path, server: Server) -> dict[str, str | Path]:
    """Copy a catalogue to the server; return both places."""
    copy = server.new_database()
    migrate(path, copy, ManualClock(), lambda table, rows: None)
    return {"sqlite": path, "postgresql": copy}


def _compared(path: Path, server: Server) -> dict[str, Any]:
    """Return how many queries have one answer on both engines, and those that have not."""
    truths = len(fill(path, shared_folder())) + len(add_written(path))
    sqlite, postgres = (_answers(each) for each in _both(path, server).values())
    different = [text for text, one, other in zip(typed_queries(), sqlite, postgres, strict=True) if one != other]
    return {
        "services": truths,
        "queries": len(sqlite),
        "with_hits": sum(bool(each.hits) for each in sqlite),
        "different": different,
    }


def _answers(database: str | Path) -> list[Results]:
    """Return the first 20 services for each query with scores, layers, twins and facets."""
    with Store.open_readonly(database) as connection:
        engine = search_engine(connection)
        return [_undated(engine, text) for text in typed_queries()]


def _undated(engine: SearchEngine, text: str) -> Results:
    found = engine.search(text, facets=True)
    return replace(found, ms=0.0, hits=tuple(replace(hit, availability=None) for hit in found.hits))


def _latency(database: str | Path, server: Server) -> dict[str, Any]:
    before = server.cpu_s()
    row = search_latency.latency(database)
    row["server_cpu_s"] = round(server.cpu_s() - before, 2)
    print(f"   {row}", flush=True)
    return row
