"""MapServer, QGIS Server and MapProxy on loopback, each probed with the command line."""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine
from tests.support import mapservers
from tests.support.places import shared_folder
from tests.support.processes import clean_environment, geocrawl, run

PROBED = {"mapserver": "wms", "qgis": "wms", "mapproxy": "wms"}
EXTRAS = ("rewrite", "redirect", "password", "tls")
KEPT = ("status", "reason", "title", "version", "layers", "deviations", "elapsed_ms")


def main(arguments: list[str]) -> None:
    """Start the servers, probe each, write a_servers.json. SystemExit when one is not accepted."""
    argparse.ArgumentParser(prog="python -m benchmarks.shows servers", description=__doc__).parse_args(arguments)
    if absent := mapservers.missing():
        raise SystemExit(f"not installed: {absent}; .ci/run installs them")
    with mapservers.running(shared_folder()) as servers, tempfile.TemporaryDirectory() as home:
        figures = {name: probe(servers[name][kind], Path(home)) for name, kind in PROBED.items()}
        extras = {f"mapserver, {name}": probe(servers["extras"][name], Path(home)) for name in EXTRAS}
    for name, row in (figures | extras).items():
        print(f"   {name}: {row['status']} ({row['reason']}), {row['title']!r}, {row['layers']} layers")
    print(machine.write("a_servers", {"servers": figures | extras}))
    if any(row["status"] != "valid" for row in figures.values()):
        raise SystemExit("a real server was not accepted")


def probe(url: str, home: Path) -> dict[str, Any]:
    """The verdict of `geocrawl probe URL`."""
    command = geocrawl("probe", url, "--json", "--allow-private", "--delay", "0")
    done = run(command, env=clean_environment(home), limit_s=100)
    verdict = json.loads(done.stdout.splitlines()[0])
    return {name: verdict[name] for name in KEPT}
