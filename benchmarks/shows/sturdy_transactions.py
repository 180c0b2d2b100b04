"""Measure the longest transaction of work that strangers or operators can make large, with the rows that it changes."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.settings import Settings
from geocrawl.store.frontier.budgets import page_pattern_key
from geocrawl.store.maintenance.forget import forget
from geocrawl.store.maintenance.retention import Retention
from tests.support.places import ROOT
from tests.support.transactions import transactions_of
from tests.support.world import World, link, url

PAGES = 100_000
REACHED = 228_000
"""Pages behind a hub to which a shorter way is found."""
ENDPOINTS = 10_000
A_PAGE = 19_000
"""Links of one page."""
HOST = "a.example"
Work = Callable[[], object]


def main(arguments: list[str]) -> None:
    """Measure, print, write f_transactions.json; with `--before`, the same of an earlier checkout stands beside it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows sturdy_transactions", description=__doc__)
    parser.add_argument("--work", choices=tuple(WORKS), action="append", help="only this (may be repeated)")
    parser.add_argument("--share", type=float, default=1.0, help="share of the full size [1]")
    parser.add_argument("--before", type=Path, metavar="PATH", help="an earlier checkout, or its file of figures")
    parser.add_argument("--out", type=Path, default=machine.MEASUREMENTS, help="folder of the file that is written")
    options = parser.parse_args(arguments)
    rows = [measured(name, options.share) for name in options.work or WORKS]
    figures: dict[str, Any] = {"share": options.share, "after": rows}
    if options.before:
        is_checkout = options.before.is_dir()
        former = earlier(options.before, options.share) if is_checkout else json.loads(options.before.read_text())
        figures["before"] = {"commit": former["commit"], "work": former["after"]}
    if not options.work:
        print(machine.write("f_transactions", figures, options.out))


def earlier(checkout: Path, share: float) -> dict[str, Any]:
    """Measure the package of an earlier checkout with this script; a work that it cannot do has its error as figure."""
    version = ["git", "-C", str(checkout), "rev-parse", "--short=12", "HEAD"]
    commit = subprocess.run(version, capture_output=True, text=True, check=True).stdout.strip()
    rows = list[dict[str, Any]]()
    with tempfile.TemporaryDirectory(prefix="geocrawl-earlier-") as folder:
        for name, place in (("geocrawl", checkout), ("benchmarks", ROOT), ("tests", ROOT)):
            (Path(folder) / name).symlink_to(place.resolve() / name)
        for name in WORKS:
            call = f"from benchmarks.shows.sturdy_transactions import *; print(json.dumps(measured({name!r}, {share})))"
            done = subprocess.run([sys.executable, "-c", call], cwd=folder, capture_output=True, text=True, check=False)
            last = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()[-1:]
            rows.append(json.loads(last[0]) if done.returncode == 0 else {"work": name, "not_measured": "".join(last)})
            print("before:", rows[-1], flush=True)
    return {"commit": commit, "after": rows}


def measured(name: str, share: float) -> dict[str, Any]:
    """Prepare a database, do the work on it, and return what its transactions took."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-transactions-") as folder:
        world, work = WORKS[name](Path(folder) / "crawl.db", share)
        with transactions_of(world.database) as done:
            begun = time.perf_counter()
            work()
            total_s = time.perf_counter() - begun
        world.store.close()
    row = {
        "work": name,
        "transactions": len(done),
        "longest_ms": round(1000 * max(each.seconds for each in done), 1),
        "most_rows": max(each.rows for each in done),
        "rows": sum(each.rows for each in done),
        "total_s": round(total_s, 2),
    }
    print(row, flush=True)
    return row


# --------------------------------------------------------------------------- what is measured


def held_host(path: Path, share: float) -> tuple[World, Work]:
    """A site with waiting pages is quarantined: one lease refuses them all."""
    world = _with_pages(path, round(PAGES * share), fruitless=0)
    with world.database.transaction:
        world.database.connection.execute("UPDATE site SET held_at = 1 WHERE name = ?", (HOST,))
    return world, world.frontier.lease


def spent_pattern(path: Path, share: float) -> tuple[World, Work]:
    """The budget of the pattern of all waiting pages is spent: one lease refuses them all, then serves some late."""
    world = _with_pages(path, round(PAGES * share), fruitless=300)
    key = page_pattern_key(url(f"{HOST}/p/1"))
    with world.database.transaction:
        world.database.connection.execute("INSERT INTO pattern VALUES (?, 300, 0, 1, 0)", (key,))
    return world, world.frontier.lease


def short_cut(path: Path, share: float) -> tuple[World, Work]:
    """A shorter way to a hub is found after all that it leads to: the settlement, and the lease after it."""
    world = World(path, _settings(0), by_depth=True)
    world.seed(f"{HOST}/")
    lists = max(round(REACHED * share) // A_PAGE, 1)
    world.settle(world.lease(), link(f"{HOST}/way/1"))
    for step in range(1, 6):
        world.settle(world.lease(), link(f"{HOST}/way/{step + 1}"))
    world.settle(world.lease(), *[link(f"{HOST}/list/{number}") for number in range(lists)])
    for number in range(lists):
        world.settle(world.lease(), *[link(f"{HOST}/data/{number}/{entry}") for entry in range(A_PAGE)])
    world.seed(f"{HOST}/map")
    lease = world.lease()

    def work() -> None:
        world.settle(lease, link(f"{HOST}/way/6"))
        world.lease()

    return world, work


def forget_host(path: Path, share: float) -> tuple[World, Work]:
    """A host with pages and endpoints opts out."""
    world = _with_pages(path, round(PAGES * share), fruitless=0)
    _add_endpoints(world, round(ENDPOINTS * share), probes=5, changes=3)
    return world, lambda: forget(world.database, HOST, "", 5.0)


def retention(path: Path, share: float) -> tuple[World, Work]:
    """A limit on the size leaves no room for waiting pages and old probes."""
    world = _with_pages(path, round(PAGES * share), fruitless=0)
    endpoints = round(ENDPOINTS * share)
    _add_endpoints(world, endpoints, probes=12, changes=0)

    def work() -> None:
        tidying = Retention(world.database, keep_days=400, max_bytes=1)
        while any(tidying.tidy(1_000.0).values()):
            pass

    return world, work


WORKS: dict[str, Callable[[Path, float], tuple[World, Work]]] = {
    "held host": held_host,
    "spent pattern": spent_pattern,
    "short cut to a hub": short_cut,
    "forget a host": forget_host,
    "retention": retention,
}


# --------------------------------------------------------------------------- databases


def _settings(fruitless: int) -> Settings:
    return Settings(delay_s=0, max_depth=1000, max_fruitless_per_pattern=fruitless, max_pages_per_host=10**9)


def _with_pages(path: Path, count: int, *, fruitless: int) -> World:
    """Return a database in which `count` pages of the host wait."""
    world = World(path, _settings(fruitless))
    world.seed(f"{HOST}/")
    lists = -(-count // A_PAGE)
    world.settle(world.lease(), *[link(f"{HOST}/list-{'x' * number}", tier=9) for number in range(lists)])
    for number in range(lists):
        entries = range(number * A_PAGE, min((number + 1) * A_PAGE, count))
        world.settle(world.lease(), *[link(f"{HOST}/p/{entry}") for entry in entries])
    return world


def _add_endpoints(world: World, count: int, *, probes: int, changes: int) -> None:
    """Add endpoints of the host, each with a service, layers, evidence, probes and changes."""
    numbers = [(number,) for number in range(1, count + 1)]
    with world.database.transaction:
        for statement in _ENDPOINT:
            world.database.connection.executemany(statement, numbers)
        for each in range(probes):
            values = [(number, float(each)) for (number,) in numbers]
            world.database.connection.executemany(_PROBE, values)
        for _ in range(changes):
            world.database.connection.executemany(_CHANGE, numbers)


_ENDPOINT = (
    "INSERT INTO service (id, kind, fingerprint, site, title, abstract, keywords, provider, contact, fees, "
    "access_constraints, version, formats, online_resource, layer_count, first_seen, last_ok) VALUES "
    "(?1, 'wms', 'f' || ?1, 'a.example', 'Soils', '', '[]', '', '{}', '', '', '1.3.0', '[]', '', 1, 1, 1)",
    "INSERT INTO search_text (rowid, title, keywords, layers, abstract, provider, found, address) "
    "VALUES (?1, 'soils', '', 'soils', '', '', '', '')",
    "INSERT INTO search_entry (service_id, systems, formats, country, title_words, words, completeness, evidence) "
    "VALUES (?1, 0, 0, '', 1, 2, 0, 1)",
    "INSERT INTO layer (service_id, position, name, title, abstract, crs, styles, keywords, queryable) "
    "VALUES (?1, 0, 'soils', 'Soils', '', '[]', '[]', '[]', 1)",
    "INSERT INTO endpoint (id, kind, key, url, host, site, weak, service_id, status, first_seen) VALUES "
    "(?1, 'wms', 'a.example/wms/' || ?1, 'http://a.example/wms/' || ?1, 'a.example', 'a.example', 0, ?1, 'valid', 1)",
    "INSERT INTO evidence (endpoint_id, signal, page, link, anchor, at) "
    "VALUES (?1, 'query', 'http://a.example/p/' || ?1, '', '', 1)",
)
_PROBE = (
    "INSERT INTO probe (endpoint_id, at, status, reason, detail, content_type, first_bytes, elapsed_ms, requests, "
    "deviations) VALUES (?, ?, 'valid', 'ok', '', '', '', 1, 1, '[]')"
)
_CHANGE = (
    "INSERT INTO change (endpoint_id, service_id, at, what, name, before, after) "
    "VALUES (?1, ?1, 1, 'abstract', '', 'a', 'b')"
)
