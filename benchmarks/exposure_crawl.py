"""One breadth-first crawl of a recorded web to its end, by whatever geocrawl is on the path: WORLD OUT.json.

It runs with the package of an older commit, too (`shows exposures` compares them), so it asks for nothing that is new.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path

from geocrawl.app.crawl import run_crawl as crawl
from geocrawl.lab.contest.run import Job, _Stopwatch, read_seeds, settings_for, valid_endpoints
from geocrawl.lab.recorded_worlds.replay import ReplayClock, ReplayTransport, WorldWeb
from geocrawl.lab.recorded_worlds.world import World

try:
    from geocrawl.app.session import Environment
except ImportError:  # its place in the older commit
    from geocrawl.app.session import Environment

ENDLESS = 1_000_000


def main(folder: Path, out: Path) -> None:
    """Crawl and write the access log and the catalogue."""
    world = World(folder)
    settings = settings_for(Job(folder, "bfs", ENDLESS))
    if any(field.name == "maps" for field in dataclasses.fields(settings)):
        settings = dataclasses.replace(settings, maps=False)  # finding is measured, not what is asked for afterwards
    clock = ReplayClock()
    transport = ReplayTransport(WorldWeb(world), clock)
    with tempfile.TemporaryDirectory(prefix="geocrawl-exposures-") as temporary:
        database = Path(temporary) / "c.db"
        within = Environment(clock, transport, lambda: transport.pages)
        outcome = crawl(settings, database, read_seeds(world.seeds), observer=_Stopwatch(), environment=within)
        catalogue = valid_endpoints(database)
    log = [request._asdict() for request in transport.log]
    out.write_text(json.dumps({"log": log, "catalogue": catalogue, "stopped": outcome.summary.stopped}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
