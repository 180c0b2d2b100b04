"""Every kind of page and document of `geocrawl serve` on a large catalogue, asked for one at a time.

No address is asked twice, so that each answer is made. The first answer of a kind is left out of the median; the
slowest of all is stated as well.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from benchmarks.large_catalogues import LARGEST, QUERIES, fill
from benchmarks.serve import ITEMS, cpu_s, numbers_of, server
from geocrawl.store import Store
from geocrawl.web.parameters import SORTS
from tests.support.world import ManualClock

GOAL_MS = 300
"""Of a page for people."""
_TAKEN_ALONG = ("csv", "geojson", "gpkg", "qgis", "dcat", "jsonld", "iso19139")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the catalogue, and how often each kind of page is asked for."""
    parser.add_argument("--services", type=int, default=100_000, help="[100,000]")
    parser.add_argument("--times", type=int, default=15, help="[15]")
    parser.add_argument("--catalogue", type=Path, help="a catalogue of so many services; made without")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the median and the longest time of each kind of page; missed is every page above the goal."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-pages-") as name:
        path = Path(name) / "made.db"
        if options.catalogue:
            shutil.copy(options.catalogue, path)
            Store.open(path, clock=ManualClock()).close()  # upgraded, if it is of an older version
        else:
            fill(path, options.services)
        kinds = _kinds(random.Random(7), numbers_of(path), _providers(path, options.times + 1))
        with server(path) as (address, process, first_s), httpx.Client(base_url=address, timeout=120) as client:
            rows = {kind: _times(client, process.pid, kind, make, options.times) for kind, make in kinds.items()}
    slow = [kind for kind, row in rows.items() if row["median_ms"] > GOAL_MS and kind.startswith("page")]
    return {
        "services": options.services,
        "first_search_s": first_s,
        "pages": rows,
        "missed": [f"{kind}: {rows[kind]['median_ms']} ms, {GOAL_MS} at most" for kind in slow],
    }


def _providers(path: Path, most: int) -> list[str]:
    with closing(sqlite3.connect(path)) as reader:
        query = "SELECT DISTINCT provider FROM service WHERE provider != ? LIMIT ?"
        return [name for (name,) in reader.execute(query, (LARGEST, most))]


def _kinds(rng: random.Random, numbers: list[int], providers: list[str]) -> Mapping[str, Callable[[int], str]]:
    """Return what makes the n-th address of each kind."""

    def search(form: str, **more: str) -> Callable[[int], str]:
        def made(number: int) -> str:
            query = QUERIES[number % len(QUERIES)]
            return f"?{httpx.QueryParams({'q': query, 'limit': str(20 + number), 'f': form, **more})}"

        return made

    def water(form: str) -> Callable[[int], str]:
        return lambda number: f"?q=water&f={form}&limit={100 + number}"

    def of_provider(number: int) -> str:
        return f"?{httpx.QueryParams({'f': 'html', 'name': providers[number]})}"

    def at(path: str, query: Callable[[int], str] = lambda number: f"?n={number}") -> Callable[[int], str]:
        return lambda number: path.replace("NUMBER", str(rng.choice(numbers))) + query(number)

    def html(number: int) -> str:
        return f"?f=html&n={number}"

    one = f"{ITEMS}/NUMBER"
    return {
        "page: first": at("/", html),
        "page: search": at(ITEMS, search("html")),
        **{f"page: search by {sort}": at(ITEMS, search("html", sortby=sort)) for sort in SORTS},
        "page: search with facets chosen": at(ITEMS, search("html", kind="wms,wfs", country="DE,FR", health="alive")),
        "page: search, 100 hits": at(ITEMS, lambda number: f"?q=water&f=html&limit={100 - number}"),
        "page: everything, far behind": at(ITEMS, lambda number: f"?f=html&offset={90_000 + number}"),
        "page: layers": at("/layers", search("html")),
        "page: service": at(one, html),
        "page: layers of a service": at(f"{one}/layers", html),
        "page: providers": at("/providers", html),
        "page: a provider": at("/providers", of_provider),
        "page: the largest provider": at("/providers", lambda number: f"?f=html&name={LARGEST}&n={number}"),
        "page: operations": at("/operations", html),
        "page: statistics": at("/statistics", html),
        "page: API": at("/api", html),
        "records: search": at(ITEMS, search("json")),
        "records: search, 1,000": at(ITEMS, lambda number: f"?q=water&f=json&limit={1000 - number}"),
        "records: CQL2": at(ITEMS, lambda number: f"?f=json&filter=title+LIKE+'%25water%25'&limit={20 + number}"),
        "records: facets": at(ITEMS, search("json", facets="kind,country")),
        "record": at(one, lambda number: "?f=json"),
        **{f"record: {name}": at(f"{one}/{name}") for name in ("health", "history", "changes", "badge.svg")},
        "layers": at("/layers", search("json")),
        **{f"a search as {form}": at(ITEMS, water(form)) for form in _TAKEN_ALONG},
        "1,000 services as csv": at(ITEMS, lambda number: f"?q=map&f=csv&limit={1000 - number}"),
        "layers as csv": at("/layers", lambda number: f"?q=water&f=csv&limit={1000 - number}"),
        "OAI: records": at(
            "/oai", lambda number: f"?verb=ListRecords&resumptionToken=iso19139!0!99999999999!{number * 1000}"
        ),
        "feed": at("/feed.atom", lambda number: f"?lang=x{number}"),
        "feed of a search": at("/feed.atom", lambda number: f"?q=water&limit={20 + number}"),
        "sitemap": at("/sitemap-2.xml"),
    }


def _times(client: httpx.Client, pid: int, kind: str, make: Callable[[int], str], times: int) -> dict[str, Any]:
    """Return the times until the first byte and until the last one, and the server's own time of the processor."""
    begun_cpu_s = cpu_s(pid)
    first, whole, codes, size = list[float](), list[float](), set[int](), 0
    for number in range(times + 1):
        begun = time.perf_counter()
        with client.stream("GET", make(number)) as answer:
            first.append(time.perf_counter() - begun)
            size = len(answer.read())
        whole.append(time.perf_counter() - begun)
        codes.add(answer.status_code)
    row = {
        "median_ms": round(1000 * statistics.median(whole[1:])),
        "worst_ms": round(1000 * max(whole)),
        "first_byte_ms": round(1000 * statistics.median(first[1:])),
        "cpu_ms": round(1000 * (cpu_s(pid) - begun_cpu_s) / (times + 1)),
        "kib": size // 1024,
        "codes": sorted(codes),
    }
    print(f"   {kind}: {json.dumps(row)}", flush=True)
    return row
