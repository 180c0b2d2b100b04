"""Measure `--browser`: portals crawled without and with it, and pages that mean it harm, each alone."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from geocrawl.browser.chromium import descendants
from geocrawl.settings import Settings
from geocrawl.store.engine.database import open_readonly
from geocrawl.store.read.published import export_rows
from tests.browser.portal_web import BACKEND, OPENLAYERS, REACT, SERVICES, VUE, PortalWeb, portals
from tests.browser.runs import running
from tests.browser.traps import EXHAUSTING, FORBIDDEN, REACHING, Traps, traps
from tests.browser.watch_processes import watching
from tests.support.processes import checked, clean_environment, geocrawl

PORTALS = {"React": REACT, "Vue": VUE, "OpenLayers": OPENLAYERS}
HOSTS = {**PORTALS, "back end of Vue": BACKEND, "services": SERVICES}
_END_S = 2.0


def measure_portals(delay_s: float) -> list[dict[str, Any]]:
    """Return a row for each portal without and with `--browser`, and for all portals in one crawl."""
    rows = []
    for name, hosts in [*((name, [host]) for name, host in PORTALS.items()), ("all", list(PORTALS.values()))]:
        for options in ([], ["--browser"]):
            with portals() as web, tempfile.TemporaryDirectory() as folder:
                row = _crawled(web, Path(folder), hosts, [*options, "--delay", str(delay_s)])
            rows.append({"portal": name, "browser": bool(options), **row})
    return rows


def _crawled(web: PortalWeb, folder: Path, hosts: Sequence[str], options: Sequence[str]) -> dict[str, Any]:
    """Crawl portals in a process of its own, and return what was found and used."""
    fixed = ("--allow-private", "--no-maps", "--strategy", "bfs", "--json", "--db", str(folder / "c.db"))
    command = geocrawl("crawl", *map(web.address, hosts), *fixed, *options)
    with watching() as watch:
        done = checked(command, env=clean_environment(folder, GEOCRAWL_SIBLINGS="0"))
    truth = set[str]().union(*map(web.truth, hosts))
    with open_readonly(folder / "c.db") as connection:
        found = {row.url for row in export_rows(connection) if row.status == "valid"}
    return {
        "services": len(found & truth),
        "of": len(truth),
        "wrong": len(found - truth),
        "pages": json.loads(done.stdout)["pages"],
        "requests": len(web.log),
        "requests_of_portals": sum(request.host != SERVICES for request in web.log),
        "wall_s": round(done.wall_s, 1),
        "own_cpu_s": watch.others_cpu_s,
        "browser_cpu_s": watch.browser_cpu_s,
        "own_peak_mib": watch.others_peak_mib,
        "browser_peak_mib": watch.browser_peak_mib,
        "smallest_gaps_s": _gaps(web),
    }


def _gaps(web: PortalWeb) -> dict[str, float]:
    """Return the smallest time between two requests of each host that had two, seconds."""
    found = {}
    for name, host in HOSTS.items():
        times = [request.at for request in web.log if request.host == host]
        if len(times) > 1:
            found[name] = round(min(later - earlier for earlier, later in pairwise(times)), 3)
    return found


def measure_traps() -> list[dict[str, Any]]:
    """Return a row for each page that would reach forbidden hosts or never end, each read in a browser of its own.

    The settings are those of a crawl, but for the delay, which is none.
    """
    rows = []
    with traps() as own:
        for sort, names in (("reaching", REACHING), ("exhausting", EXHAUSTING)):
            for name in names:
                own.asked.clear()
                own.sprung.clear()
                before = descendants(os.getpid())
                row = {"page": name, "sort": sort, **_used(own, name)}
                rows.append({**row, "requests_at_trap": len(own.sprung), "processes_left": left(before)})
    return rows


def _used(own: Traps, name: str) -> dict[str, Any]:
    """Read one page in a new browser, and return what that took; the start of the browser counts."""
    begun = time.monotonic()
    Path("/proc/self/clear_refs").write_text("5")  # the largest memory so far is forgotten
    before_mib = _own_peak_mib()
    with watching() as watch:
        document_bytes = asyncio.run(_read(own.page(name)))
    return {
        "wall_s": round(time.monotonic() - begun, 1),
        "browser_peak_mib": watch.browser_peak_mib,
        "browser_cpu_s": watch.browser_cpu_s,
        "own_more_mib": round(_own_peak_mib() - before_mib, 1),
        "requests_answered": len(own.asked),
        "document_bytes": document_bytes,
    }


async def _read(address: str) -> int:
    """Read a page with the settings of a crawl, and return the length of the document that its scripts leave."""
    usual = Settings()
    async with running(allow_private=True, deny=(FORBIDDEN,), browser_time_s=usual.browser_time_s) as run:
        return len((await run.page(address)).page.body)


def _own_peak_mib() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def left(before: list[int], *, within_s: float = _END_S) -> int:
    """Return how many processes are left some seconds after the browser was ended.

    `before`: this process's descendants when the browser was not yet started; a database's server may be among them.
    """
    last = time.monotonic() + within_s
    while (found := set(descendants(os.getpid())) - set(before)) and time.monotonic() < last:
        time.sleep(0.05)
    return len(found)
