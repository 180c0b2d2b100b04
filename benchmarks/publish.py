"""Publish a large catalogue: time, CPU, memory, bytes; again unchanged, and after 100 of its services have changed."""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.large_catalogues import fill

_CHANGED = 100
_FIRST_PAGE = ("index.html", *(f"static/{name}" for name in ("page.css", "site.css", "site_search.js", "icon.svg")))
_MOST_FIRST_BYTES = 200_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the size of the catalogue."""
    parser.add_argument("--services", type=int, default=100_000, help="[100,000]")
    parser.add_argument("--catalogue", type=Path, help="a catalogue of so many services; made without")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of three publishes to one folder, and the bytes of the first page."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-publish-") as name:
        path, site = Path(name) / "made.db", Path(name) / "site"
        if options.catalogue:
            shutil.copy(options.catalogue, path)
        else:
            fill(path, options.services)
        figures: dict[str, Any] = {"services": options.services}
        for moment in ("first", "unchanged", "changed"):
            if moment == "changed":
                _change(path)
            figures[moment] = _publish(path, site)
        maps = [site / "static" / name for name in ("land.svg", "coverage.png")]
        figures["first_page_bytes"] = sum(
            each.stat().st_size for each in (*(site / name for name in _FIRST_PAGE), *maps)
        )
        if figures["first_page_bytes"] > _MOST_FIRST_BYTES:
            figures["missed"] = [f"the first page has more than {_MOST_FIRST_BYTES:,} bytes"]
        return figures


def _change(path: Path) -> None:
    """Give services another title, and the time of a later answer."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        every = max(writer.execute("SELECT count(*) FROM service").fetchone()[0] // _CHANGED, 1)
        writer.execute(
            "UPDATE service SET title = title || ' renewed', last_ok = last_ok + 1000 WHERE id % ? = 0 AND id <= ?",
            (every, every * _CHANGED),
        )


def _publish(path: Path, site: Path) -> dict[str, Any]:
    begun, mark = time.monotonic(), time.time_ns()
    command = [sys.executable, "-m", "geocrawl", "publish", "--db", str(path), "--out", str(site)]
    process = subprocess.Popen([*command, "--base-url", "https://maps.example.org"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"geocrawl publish ended with {os.waitstatus_to_exitcode(status)}")
    files = [each.stat() for each in site.rglob("*") if each.is_file()]
    written = [each.st_size for each in files if each.st_mtime_ns >= mark]
    return {
        "seconds": round(time.monotonic() - begun),
        "cpu_seconds": round(used.ru_utime + used.ru_stime),
        "memory_mib": used.ru_maxrss // 1024,
        "files": len(files),
        "bytes": sum(each.st_size for each in files),
        "files_written": len(written),
        "bytes_written": sum(written),
    }
