"""What a first visitor waits for, beside its limits, in Chromium.

*published*: a site of files of 10,000 services: kB of the first page as gzip, and the slowest of some searches by a
processor four times slower. *served*: pages of the demo's catalogue by `geocrawl serve`: when the largest of their
parts is painted, and how far parts move while they load (Cumulative Layout Shift, web.dev/cls).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.large_catalogues import fill
from benchmarks.publish import publish, searches
from benchmarks.serve import server
from geocrawl.browser.renderer import find_chromium
from geocrawl.demo import DemoWeb

_SLOWED = 4
LIMITS = {"first page, kB": 200.0, "slowest search, ms": 300.0, "largest paint, ms": 1_000.0, "layout shift": 0.05}
_PAGES = ("/", "/collections/services/items", "/collections/services/items?q=water", "/layers", "/providers")
_OBSERVED = """() => new Promise(told => {
    let shift = 0, paint = 0;
    new PerformanceObserver(list => list.getEntries().forEach(each => shift += each.hadRecentInput ? 0 : each.value))
        .observe({type: 'layout-shift', buffered: true});
    new PerformanceObserver(list => list.getEntries().forEach(each => paint = each.startTime))
        .observe({type: 'largest-contentful-paint', buffered: true});
    setTimeout(() => told({paint, shift}), 2000);
})"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the published catalogue."""
    parser.add_argument("--services", type=int, default=10_000, help="[10,000]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of both sites, the worst of each as a share of its limit, and what was missed."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-budgets-") as name:
        path, site = Path(name) / "made.db", Path(name) / "site"
        fill(path, options.services)
        publish(path, site)
        published = searches(site, _SLOWED)["served"]
        served = _served(Path(name) / "demo.db")
    first = published.pop("first page")
    worst = {
        "first page, kB": first["kB"],
        "slowest search, ms": max(each["ms"] for each in published.values()),
        "largest paint, ms": max(each["paint"] for each in served.values()),
        "layout shift": max(each["shift"] for each in served.values()),
    }
    shares = {name: round(value / LIMITS[name], 2) for name, value in worst.items()}
    missed = [f"{name}: {worst[name]:g}, the limit is {LIMITS[name]:g}" for name in worst if shares[name] > 1]
    return {"published": published, "served": served, "worst": worst, "of_limit": shares, "missed": missed}


def _served(path: Path) -> dict[str, dict[str, float]]:
    """Return milliseconds of the largest paint and the layout shift of each page of the demo's catalogue."""
    from playwright.sync_api import sync_playwright

    with DemoWeb() as web:
        crawl = ["crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--quiet", "--db", str(path)]
        subprocess.run([sys.executable, "-m", "geocrawl", *crawl], check=True, stdout=subprocess.DEVNULL)
    figures = {}
    with sync_playwright() as driver, server(path) as (address, _, _):
        browser = driver.chromium.launch(executable_path=find_chromium(""), args=["--no-sandbox"])
        for place, width in product(_PAGES, (1280, 390)):
            page = browser.new_page(viewport={"width": width, "height": 844})
            page.goto(f"{address}{place}", wait_until="load")
            seen = page.evaluate(_OBSERVED)
            figures[f"{place} at {width}"] = {"paint": round(seen["paint"]), "shift": round(seen["shift"], 3)}
            page.close()
        browser.close()
    return figures
