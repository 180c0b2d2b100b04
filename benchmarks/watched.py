"""Watch thousands of services in minutes by the real daemon: how well their intervals are kept, CPU, memory.

Each address of loopback is a host with a WMS, whose capabilities and maps one process sends. The services are imported
as a person imports a list (`geocrawl watch import`), with default settings; the intervals are read from the catalogue.
`python -m tests.fates.schedule` does the same for a day in virtual time.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from benchmarks.many_hosts import loopback_host, serving
from geocrawl.resources import allow_open_files
from tests.fates.schedule import intervals
from tests.fates.web import capabilities
from tests.probe.content_runs import drawn
from tests.support.http_server import NOT_FOUND, answer
from tests.support.processes import Started, checked, clean_environment, geocrawl

_SAMPLE_S = 10.0


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the number of services, their interval, and how long they are watched."""
    parser.add_argument("--services", type=int, default=2_000, help="each on a host of its own [2000]")
    parser.add_argument("--every-s", type=float, default=300.0, help="seconds between two probes [300]")
    parser.add_argument("--seconds", type=float, default=1_800.0, help="of watching, after a first interval [1800]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of the intervals, and what the daemon took."""
    allow_open_files(3 * options.services)
    with (
        tempfile.TemporaryDirectory(prefix="geocrawl-watched-") as name,
        serving(options.services, _answered) as (port, _),
    ):
        folder = Path(name)
        listed, database, env = folder / "list.txt", folder / "c.db", clean_environment(folder)
        listed.write_text("".join(f"http://{loopback_host(n)}:{port}/ows\n" for n in range(options.services)))
        where = ("--db", str(database), "--allow-private")
        imported = checked(
            geocrawl("watch", "import", str(listed), "--every", f"{options.every_s:g}s", *where), env=env
        )
        daemon = Started(geocrawl("daemon", "--quiet", *where), env=env)
        time.sleep(options.every_s)  # the first probes are spread over an interval
        since, cpu_before = time.time(), daemon.cpu_s()
        while daemon.running() and time.time() < since + options.seconds:
            time.sleep(_SAMPLE_S)
        seconds, cpu_s = time.time() - since, daemon.cpu_s() - cpu_before
        if daemon.running():
            daemon.terminate()
        run = daemon.wait(limit_s=2 * options.seconds + 3_600)
        with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
            rows = connection.execute(
                "SELECT endpoint_id, at FROM probe JOIN endpoint ON endpoint.id = endpoint_id"
                " WHERE at > ? AND every_s IS NOT NULL ORDER BY endpoint_id, at",
                (since,),
            ).fetchall()
        size = database.stat().st_size
    if run.exit_code:
        raise SystemExit(f"the daemon ended with {run.exit_code}: {run.stderr[-500:]}")
    found = intervals(rows, options.every_s)
    return {
        "services": options.services,
        "every_s": options.every_s,
        "seconds": round(seconds),
        **found,
        "cpu_ms_a_probe": round(1000 * cpu_s / len(rows), 2),
        "core_share": round(cpu_s / seconds, 3),
        "peak_mib": round(run.peak_mib),
        "import_ms_a_service": round(1000 * imported.cpu_s / options.services, 1),
        "catalogue_mb": round(size / 1e6, 1),
        "load": round(os.getloadavg()[0], 1),
        "missed": [f"only {found['kept_share']:.2%} of the intervals were kept"] if found["kept_share"] < 1 else [],
    }


def _answered(host: int, target: str, port: int) -> bytes:
    path, _, query = target.partition("?")
    if path != "/ows":
        return NOT_FOUND
    asked = {name.lower(): value for name, value in parse_qsl(query)}
    if asked.get("request") == "GetMap":
        return _picture(int(asked["width"]), int(asked["height"]))
    return answer(capabilities(host), content_type="text/xml")


@cache
def _picture(width: int, height: int) -> bytes:
    return answer(drawn(width, height).body, content_type="image/png")
