"""Every kind that the real servers on loopback offer: read, and proved by its content, with the command line."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks import machine
from geocrawl.model import Kind
from tests.support import mapservers
from tests.support.places import shared_folder
from tests.support.processes import clean_environment, geocrawl, run

BESIDE = {"wmts_rest": Kind.WMTS}
"""Entries of the servers' addresses that are not called by their kind."""
WITHIN = (
    ("pygeoapi", "ogcapi", "/stac", Kind.STAC),
    ("mapcache", "wms", "", Kind.WMSC),
    ("mapproxy", "wms", "", Kind.WMSC),
)
"""(server, entry, suffix of its address, kind) of services that the list of servers does not name."""
KEPT = ("status", "reason", "title", "version", "layers", "deviations", "elapsed_ms")


def main(arguments: list[str]) -> None:
    """Start the servers, probe each kind of each, write c_kinds.json. SystemExit when one is not accepted."""
    argparse.ArgumentParser(prog="python -m benchmarks.shows kinds", description=__doc__).parse_args(arguments)
    if absent := mapservers.missing():
        raise SystemExit(f"not installed: {absent}; .ci/run installs them")
    figures = {}
    with mapservers.running(shared_folder()) as servers, tempfile.TemporaryDirectory() as home:
        for name, kind, url in offered(servers):
            figures[name] = row = probe(url, kind, Path(home))
            proof = (
                f"{row['level'] or 'not asked'}: {', '.join(row['outcomes'])}"
                if row["outcomes"]
                else "no content asked"
            )
            print(f"   {name}: {row['status']} {row['version']}, {row['layers']} items; {proof}", flush=True)
    print(machine.write("c_kinds", {"offered": figures}))
    if any(row["status"] != "valid" for row in figures.values()):
        raise SystemExit("a kind that a real server offers was not accepted")


def offered(servers: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Kind, str]]:
    """(server and kind, kind, address) of all that the servers offer."""
    known = {str(kind): kind for kind in Kind} | BESIDE
    for server, entries in servers.items():
        for entry, url in entries.items():
            if entry in known:
                yield f"{server} {entry}", known[entry], url
    for server, entry, path, kind in WITHIN:
        yield f"{server} {kind}", kind, servers[server][entry] + path


def probe(url: str, kind: Kind, home: Path) -> dict[str, Any]:
    """The verdict of `geocrawl probe URL --kind KIND --maps`: with the level and the outcome of each attempt."""
    command = geocrawl("probe", url, "--kind", kind, "--maps", "--json", "--allow-private", "--delay", "0")
    done = run(command, env=clean_environment(home), limit_s=100)
    verdict = json.loads(done.stdout.splitlines()[0])
    outcomes = [entry["outcome"] for entry in verdict.get("proof") or ()]
    return {name: verdict[name] for name in KEPT} | {"level": verdict.get("level") or "", "outcomes": outcomes}
