"""Publish a large catalogue: time, CPU, memory, bytes; again unchanged, and after 100 of its services have changed.

Then Chromium loads the first page and searches, from a server of files and from the disk."""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.large_catalogues import fill
from geocrawl.browser.renderer import find_chromium

_CHANGED = 100
_FIRST_PAGE = ("index.html", *(f"static/{name}" for name in ("page.css", "site_search.js", "icon.svg", "land.svg")))
_MOST_FIRST_BYTES = 200_000
_SEARCHES = ("water", "geo", "land use", "水", "soil germany", "forest roads wms")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the catalogue."""
    parser.add_argument("--services", type=int, default=100_000, help="[100,000]")
    parser.add_argument("--catalogue", type=Path, help="a catalogue of so many services; made without")
    parser.add_argument("--in", dest="folder", type=Path, help="a folder for the site, which then stays")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of three publishes to one folder, and the bytes of the first page."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-publish-") as name:
        path, site = Path(name) / "made.db", (options.folder or Path(name)) / "site"
        if options.catalogue:
            shutil.copy(options.catalogue, path)
        else:
            fill(path, options.services)
        figures: dict[str, Any] = {"services": options.services}
        for moment in ("first", "unchanged", "changed"):
            if moment == "changed":
                _change(path)
            figures[moment] = publish(path, site)
        figures["first_page_bytes"] = sum((site / name).stat().st_size for name in _FIRST_PAGE)
        if figures["first_page_bytes"] > _MOST_FIRST_BYTES:
            figures["missed"] = [f"the first page has more than {_MOST_FIRST_BYTES:,} bytes"]
        figures["in_chromium"] = searches(site)
        return figures


def _change(path: Path) -> None:
    """Give services another title, and the time of a later answer."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        every = max(writer.execute("SELECT count(*) FROM service").fetchone()[0] // _CHANGED, 1)
        writer.execute(
            "UPDATE service SET title = title || ' renewed', last_ok = last_ok + 1000 WHERE id % ? = 0 AND id <= ?",
            (every, every * _CHANGED),
        )


def publish(path: Path, site: Path) -> dict[str, Any]:
    """Publish a catalogue to a folder; return time, CPU, memory, files and bytes."""
    begun, mark = time.monotonic(), time.time_ns()
    command = [sys.executable, "-m", "geocrawl", "publish", "--db", str(path), "--out", str(site)]
    process = subprocess.Popen([*command, "--base-url", "https://maps.example.org"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"geocrawl publish ended with {os.waitstatus_to_exitcode(status)}")
    seconds = round(time.monotonic() - begun)
    files = [each.stat() for each in site.rglob("*") if each.is_file()]
    written = [each.st_size for each in files if each.st_mtime_ns >= mark]
    return {
        "seconds": seconds,
        "cpu_seconds": round(used.ru_utime + used.ru_stime),
        "memory_mib": used.ru_maxrss // 1024,
        "files": len(files),
        "bytes": sum(each.st_size for each in files),
        "files_written": len(written),
        "bytes_written": sum(written),
    }


def searches(site: Path, slowed: int = 1) -> dict[str, Any]:
    """Return files, bytes and milliseconds of the first page and of each search, from Enter: "served" and "disk".

    `slowed`: how many times slower Chromium's processor is than this machine's.
    """
    from playwright.sync_api import sync_playwright

    handler = partial(_Silent, directory=str(site))
    with sync_playwright() as driver, ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = driver.chromium.launch(executable_path=find_chromium(""), args=["--no-sandbox"])
        places = {"served": f"http://127.0.0.1:{server.server_port}", "disk": site.as_uri()}
        found = {name: _searched(browser, place, slowed) for name, place in places.items()}
        browser.close()
        server.shutdown()
    return found


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        pass


_SHOWN = """words => new Promise(shown => {
    const form = document.getElementById("search"), begun = performance.now();
    new MutationObserver(() => requestAnimationFrame(() => shown(performance.now() - begun)))
        .observe(document.getElementById("hits"), {childList: true});
    document.getElementById("q").value = words;
    form.requestSubmit();
})"""
"""Searches; tells the milliseconds until the hits, or the words for none, are drawn."""


def _searched(browser: Any, place: str, slowed: int) -> dict[str, Any]:
    figures = {}
    for words in ("", *_SEARCHES):
        page, loaded = browser.new_page(), list[str]()
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowed})
        page.on("response", lambda response, loaded=loaded: loaded.append(response.url))
        page.goto(f"{place}/index.html", wait_until="load")
        page.focus("#q")
        page.wait_for_load_state("networkidle")
        first = len(loaded)
        shown = page.evaluate(_SHOWN, words) if words else 0
        elapsed = page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart")
        files = loaded[first:] if words else loaded
        figures[words or "first page"] = {
            "hits": page.locator("#summary").inner_text() if words else "",
            "ms": round(shown) if words else elapsed,
            "files": len(files),
            "kB": round(sum(len(gzip.compress(page.request.get(each).body())) for each in files) / 1000)
            if place.startswith("http")
            else None,
        }
        page.close()
    return figures
