"""Crawl a recorded web breadth first to its end, and write its access log and catalogue: WORLD OUT.json."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from geocrawl.app.crawl import run_crawl
from geocrawl.app.session import Environment
from geocrawl.lab.contest.run import Job, _Stopwatch, read_seeds, settings_for, valid_endpoints
from geocrawl.lab.recorded_worlds.replay import ReplayClock, ReplayTransport, WorldWeb
from geocrawl.lab.recorded_worlds.world import World

ENDLESS = 1_000_000


def main(folder: Path, out: Path) -> None:
    """Crawl and write the access log and the catalogue."""
    world = World(folder)
    settings = replace(settings_for(Job(folder, "bfs", ENDLESS)), maps=False)  # discovery is measured, not content
    clock = ReplayClock()
    transport = ReplayTransport(WorldWeb(world), clock)
    with tempfile.TemporaryDirectory(prefix="geocrawl-exposures-") as temporary:
        database = Path(temporary) / "c.db"
        environment = Environment(clock, transport, lambda: transport.pages)
        report = run_crawl(settings, database, read_seeds(world.seeds), observer=_Stopwatch(), environment=environment)
        catalogue = valid_endpoints(database)
    log = [request._asdict() for request in transport.log]
    out.write_text(json.dumps({"log": log, "catalogue": catalogue, "stopped": report.summary.stopped}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
