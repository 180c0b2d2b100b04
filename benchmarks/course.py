"""Memory and CPU a page over the course of one crawl of a made web: what grows with pages shows as a curve.

The web of `tests.support.scale_web` has `--hosts` hosts with as many pages each as make a million addresses, behind a
proxy on loopback; there is no delay.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.support import scale_web
from tests.support.memory import resident_mib
from tests.support.processes import Started, clean_environment, geocrawl

_ADDRESSES = 1_000_000
_IS_PAGE = '"kind": "page"'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how far it goes, and how often it is looked at."""
    parser.add_argument("--hosts", type=int, default=1000, help="[1000]")
    parser.add_argument("--pages", type=int, default=100_000, help="pages of the crawl [100000]")
    parser.add_argument("--points", type=int, default=20, help="rows of the table [20]")
    parser.add_argument("--strategy", default="fusion", help="[fusion]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return a row for each part of the crawl, the start's own cost in the first."""
    web = scale_web.Web(options.hosts, _ADDRESSES // options.hosts)
    start = [scale_web.address(host, 0) for host in range(0, web.hosts, 10)]
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="geocrawl-course-") as name:
        folder = Path(name)
        with scale_web.served(web, folder / "log") as proxy:
            where = ("--db", str(folder / "c.db"), "--proxy", proxy, "--delay", "0", "--max-depth", "1000")
            how = ("--strategy", options.strategy, "--max-pages", str(options.pages), "--quiet")
            crawl = Started(geocrawl("crawl", *start, *where, *how), env=clean_environment(folder))
            with (folder / "log").open() as log:
                pages, former, former_s = 0, 0, 0.0
                while crawl.running():
                    pages += sum(_IS_PAGE in line for line in log)
                    if pages - former >= options.pages / options.points:
                        spent = crawl.cpu_s()
                        part = {"pages": pages, "cpu_ms_a_page": round(1000 * (spent - former_s) / (pages - former), 2)}
                        rows.append(part | {"resident_mib": resident_mib(crawl.pid)})
                        print(f"   {rows[-1]}", flush=True)
                        former, former_s = pages, spent
                    time.sleep(0.1)
            run = crawl.wait()
    if run.exit_code:
        raise SystemExit(f"the crawl ended with {run.exit_code}: {run.stderr[-500:]}")
    told = {"hosts": options.hosts, "strategy": options.strategy, "peak_mib": run.peak_mib}
    return {**told, "load": round(os.getloadavg()[0], 1), "course": rows}
