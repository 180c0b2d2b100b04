"""`geocrawl status` on a catalogue of 10,000 services and a long queue: CPU seconds of the whole command."""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from benchmarks import machine
from geocrawl.detect import Detector
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import Layer, Rank, Service, Status, Url, Verdict
from geocrawl.probe.registry import declarations
from geocrawl.settings import Settings
from geocrawl.store.catalog.catalog import Catalog
from geocrawl.store.engine.database import Database
from geocrawl.store.frontier.frontier import SqlFrontier
from geocrawl.urls import read_url
from tests.support.processes import checked, clean_environment, geocrawl

RUNS = 5
GOAL_CPU_S = 0.3
LAYERS = 12
SITES = 500
BEGUN = 1_750_000_000.0


def main(arguments: list[str]) -> None:
    """Fill a catalogue through the store, ask for its status, write a_status.json. SystemExit above the goal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows status", description=__doc__)
    parser.add_argument("--services", type=int, default=10_000)
    parser.add_argument("--waiting", type=int, default=100_000, help="pages in the queue")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="geocrawl-status-") as temporary:
        db = Path(temporary) / "geocrawl.db"
        fill(db, options.services, options.waiting)
        env = clean_environment(Path(temporary))
        # The first run warms the page cache and the bytecode, as any second use of the command finds them.
        runs = [checked(geocrawl("status", "--db", str(db)), env=env) for _ in range(RUNS + 1)]
        size_mib = round(db.stat().st_size / 2**20, 1)
    print(runs[-1].stdout)
    times = [run.cpu_s for run in runs[1:]]
    figures = {
        "services": options.services,
        "layers": options.services * LAYERS,
        "pages_waiting": options.waiting,
        "database_mib": size_mib,
        "cpu_s": statistics.median(times),
        "cpu_s_first": runs[0].cpu_s,
        "cpu_s_all": times,
        "wall_s": statistics.median(run.wall_s for run in runs[1:]),
        "peak_mib": max(run.peak_mib for run in runs),
        "goal_cpu_s": GOAL_CPU_S,
    }
    print(json.dumps(figures, indent=1))
    print(machine.write("a_status", figures))
    if figures["cpu_s"] > GOAL_CPU_S:
        raise SystemExit(f"status takes more than {GOAL_CPU_S} s of CPU")


def fill(db: Path, services: int, waiting: int) -> None:
    """A catalogue of `services` WMS, a tenth as many dead endpoints, and a queue of `waiting` pages."""
    clock = SystemClock()
    database = Database.open(db, create=True, clock=clock)
    try:
        catalog, detector = Catalog(database, clock), Detector(declarations())
        for number in range(services):
            candidate = detector.candidate_at(_url(f"http://maps{number % SITES}.example/wms?map=/srv/{number}.map"))
            found = Verdict(Status.VALID, "ok", service(number), http_status=200)
            with database.transaction:
                catalog.write(catalog.note([candidate], BEGUN + number)[0], candidate, found, BEGUN + number)
        for number in range(services // 10):
            candidate = detector.candidate_at(_url(f"http://gone{number % SITES}.example/wms?map=/srv/{number}.map"))
            dead = Verdict(Status.INVALID, "http-404", http_status=404)
            with database.transaction:
                catalog.write(catalog.note([candidate], BEGUN + number)[0], candidate, dead, BEGUN + number)
        frontier = SqlFrontier(database, Settings(), clock, catalog=catalog)
        frontier.add_seeds((_url(f"http://www{n % 2000}.example/page/{n}") for n in range(waiting)), Rank(5, 0.5))
    finally:
        database.close()


def service(number: int) -> Service:
    """A WMS with a group of layers; each differs from all others."""
    title = f"Map server {number} of the survey"
    layers = [Layer("", title)] + [
        Layer(f"layer{n}", f"Layer {n} of map {number}", parent=0, crs=("EPSG:4326", "EPSG:3857"), styles=("default",))
        for n in range(LAYERS)
    ]
    return Service(
        Detector(declarations()).candidate_at(_url("http://maps.example/wms")).endpoint.kind,
        "1.3.0",
        title,
        abstract=f"Roads, rivers and place names of district {number}.",
        keywords=("WMS", "map", f"district {number}"),
        formats=("image/png", "image/jpeg"),
        layers=tuple(layers),
        fingerprint=f"{number:032x}",
    )


def _url(text: str) -> Url:
    url = read_url(text)
    assert url is not None, f"{text} is an address"
    return url
