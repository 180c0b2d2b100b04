"""Compare two ids for URLs in SQLite: numbers in the order of arrival, and the address's 64-bit key itself.

`python -m benchmarks.url_ids [URLS]` (default 3,000,000) fills a table of URLs like the frontier's in batches of 500 a
transaction, then makes 20,000 visits: 25 addresses looked up by key, two of them new, and the host's next URL taken in
the order of tier, score and arrival. Both layouts in one run, in files of their own; prints one JSON object a layout.
"""

from __future__ import annotations

import json
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

BATCH = 500
PAGES_A_HOST = 500
VISITS, LOOKUPS, NEW = 20_000, 23, 2
_COLUMNS = """
  address TEXT NOT NULL, purpose TEXT NOT NULL, host_id INTEGER NOT NULL, state TEXT NOT NULL, depth INTEGER NOT NULL,
  tier INTEGER NOT NULL, score REAL NOT NULL, found_on INTEGER, anchor TEXT, first_seen REAL NOT NULL"""
SCHEMAS = {
    "numbers": f"""
CREATE TABLE url (id INTEGER PRIMARY KEY, key BIGINT NOT NULL UNIQUE, {_COLUMNS});
CREATE INDEX url_queue ON url (host_id, tier DESC, score DESC) WHERE state = 'waiting'""",
    "keys": f"""
CREATE TABLE url (key INTEGER PRIMARY KEY, arrival INTEGER NOT NULL, {_COLUMNS});
CREATE INDEX url_queue ON url (host_id, tier DESC, score DESC, arrival) WHERE state = 'waiting'""",
}
_INSERT = """
INSERT INTO url ({}, key, address, purpose, host_id, state, depth, tier, score, found_on, anchor, first_seen)
VALUES (?, ?, ?, 'page', ?, 'waiting', 5, ?, ?, ?, ?, 1000000.0)"""
_HEAD = "SELECT {} FROM url WHERE host_id = ? AND state = 'waiting' ORDER BY tier DESC, score DESC, {} LIMIT 1"
_KNOWN = "SELECT key, {}, depth, tier, score FROM url WHERE key IN (SELECT value FROM json_each(?))"


def row(number: int, key_of_source: int | None) -> tuple[object, ...]:
    """The n-th URL, as the frontier would keep it."""
    host = number // PAGES_A_HOST
    address = f"http://www{host}.example.org/department/section-{number % 37}/page-{number}.html"
    anchor = f"page {number} of section {number % 37}"
    return number, key(number), address, host, number % 8, (number * 7919 % 1000) / 1000, key_of_source, anchor


def key(number: int) -> int:
    """64 bits of the n-th address."""
    return int.from_bytes(blake2b(str(number).encode(), digest_size=8).digest(), "big", signed=True)


def measure(layout: str, urls: int) -> dict[str, float | str]:
    """Fill and visit one layout."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-ids-") as folder:
        file = Path(folder) / "ids.db"
        connection = sqlite3.connect(file, isolation_level=None)
        for statement in (*_pragmas(), *SCHEMAS[layout].split(";")):
            connection.execute(statement)
        filled = _fill(connection, layout, urls)
        visited = _visit(connection, layout, urls)
        connection.close()
        size = file.stat().st_size
    return {"layout": layout, "urls": urls, **filled, **visited, "bytes_a_url": round(size / urls, 1)}


def _fill(connection: sqlite3.Connection, layout: str, urls: int) -> dict[str, float]:
    insert = _INSERT.format("id" if layout == "numbers" else "arrival")
    wall, cpu = time.perf_counter(), time.process_time()
    for begin in range(1, urls + 1, BATCH):
        source = begin if layout == "numbers" else key(begin)
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(insert, [row(number, source) for number in range(begin, begin + BATCH)])
        connection.execute("COMMIT")
    return {
        "adds_a_cpu_second": round(urls / (time.process_time() - cpu)),
        "adds_a_second": round(urls / (time.perf_counter() - wall)),
    }


def _visit(connection: sqlite3.Connection, layout: str, urls: int) -> dict[str, float]:
    own, order = ("id", "id") if layout == "numbers" else ("key", "arrival")
    known, head = _KNOWN.format(own), _HEAD.format(own, order)
    insert = _INSERT.format("id" if layout == "numbers" else "arrival")
    chooser, fresh = random.Random(1), urls + BATCH
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(VISITS):
        numbers = [chooser.randrange(1, urls) for _ in range(LOOKUPS)]
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(known, (json.dumps([key(number) for number in numbers]),)).fetchall()
        connection.executemany(insert, [row(fresh + n, None) for n in range(NEW)])
        found = connection.execute(head, (numbers[0] // PAGES_A_HOST,)).fetchone()
        connection.execute(f"UPDATE url SET state = 'visited' WHERE {own} = ?", found)
        connection.execute("COMMIT")
        fresh += NEW
    return {
        "visit_cpu_ms": round(1000 * (time.process_time() - cpu) / VISITS, 3),
        "visit_wall_ms": round(1000 * (time.perf_counter() - wall) / VISITS, 3),
    }


def _pragmas() -> Iterator[str]:
    """Those of the frontier."""
    yield "PRAGMA journal_mode = WAL"
    yield "PRAGMA synchronous = NORMAL"
    yield "PRAGMA temp_store = MEMORY"
    yield "PRAGMA cache_size = -65536"
    yield "PRAGMA wal_autocheckpoint = 16000"


if __name__ == "__main__":
    count = int((sys.argv[1] if len(sys.argv) > 1 else "3_000_000").replace("_", ""))
    for name in SCHEMAS:
        print(json.dumps(measure(name, count)), flush=True)
