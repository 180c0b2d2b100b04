"""One service, many addresses: all addresses of the recorded worlds are probed; pairs that are one service, by truth.

Twice, the second time in the opposite order: the clusters must be the same.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import machine
from geocrawl.model import Kind
from geocrawl.urls import read_url, service_endpoint
from tests.support import processes, world_crawls

_ASKED = ("wms", "wfs", "wmts", "wcs", "csw")
"""Kinds whose address must say what is asked for."""
Pair = frozenset[str]


def main(arguments: list[str]) -> None:
    """Probe the worlds' addresses, compare pairs, write c_clusters.json. SystemExit when a pair is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows clusters", description=__doc__)
    parser.add_argument("--world", choices=world_crawls.NAMES, action="append", help="only these")
    options = parser.parse_args(arguments)
    figures = {name: measure(world_crawls.folder(name)) for name in options.world or world_crawls.NAMES}
    for name, figure in figures.items():
        print(f"   {name}: {json.dumps(figure, ensure_ascii=False)}")
    if not options.world:
        print(machine.write("c_clusters", {"worlds": figures}))
    if any(figure["wrong"] or not figure["same_in_opposite_order"] for figure in figures.values()):
        raise SystemExit("clusters are wrong")


def measure(world: Path) -> dict[str, Any]:
    """Pairs of addresses right, wrong and missed, and why they were joined."""
    services = [json.loads(line) for line in (world / "services.jsonl").read_text(encoding="utf-8").splitlines()]
    addresses = [address for each in services for address in _asked(each)]
    found, signals = _clusters(world, addresses)
    backwards, _ = _clusters(world, addresses[::-1])
    valid = {key for pair in found[0] for key in pair} | found[1]
    true = {pair for each in services for pair in _pairs(_keys(each)) if pair <= valid}
    return {
        "addresses_valid": len(valid),
        "pairs": len(true),
        "right": len(true & found[0]),
        "missed": sorted(map(sorted, true - found[0])),
        "wrong": sorted(map(sorted, found[0] - true)),
        "same_in_opposite_order": found[0] == backwards[0],
        "signals": signals,
    }


def _asked(service: dict[str, Any]) -> list[str]:
    query = f"service={service['kind']}&request=GetCapabilities" if service["kind"] in _ASKED else ""
    places = [service["base"], *service.get("aliases", ())]
    return [f"{place}{'&' if '?' in place else '?'}{query}" if query else place for place in places]


def _keys(service: dict[str, Any]) -> list[str]:
    urls = [read_url(place) for place in (service["base"], *service.get("aliases", ()))]
    kind = Kind(service["kind"])
    return [f"{kind} {service_endpoint(kind, url).key}" for url in urls if url is not None]


def _pairs(keys: list[str]) -> set[Pair]:
    return {frozenset(pair) for pair in combinations(sorted(set(keys)), 2)}


def _clusters(world: Path, addresses: list[str]) -> tuple[tuple[set[Pair], set[str]], dict[str, int]]:
    """((pairs found to be one, all valid endpoints), edges by signal) after probing the addresses in this order."""
    with TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "list.txt").write_text("\n".join(addresses) + "\n", encoding="utf-8")
        with world_crawls.served(world, work / "access.jsonl") as proxy:
            places = ["--file", str(work / "list.txt"), "--save", "--db", str(work / "c.db"), "--proxy", proxy]
            command = processes.geocrawl("probe", *places, "--delay", "0", "--workers", "16", "--json", "--quiet")
            run = processes.run(command, env=processes.clean_environment(work), limit_s=600)
        if run.exit_code not in (0, 1):
            raise SystemExit(f"probing {world.name} ended with {run.exit_code}:\n{run.stderr[-2000:]}")
        connection = sqlite3.connect(work / "c.db")
        members = defaultdict[int, list[str]](list)
        statement = "SELECT kind || ' ' || key, service_id FROM endpoint WHERE status = 'valid'"
        for key, service_id in connection.execute(statement):
            members[service_id].append(key)
        counts = "SELECT signal, count(*) FROM same_service WHERE same = 1 GROUP BY signal"
        signals = dict(connection.execute(counts).fetchall())
        connection.close()
    pairs = {pair for keys in members.values() for pair in _pairs(keys)}
    return (pairs, {key for keys in members.values() for key in keys}), signals
