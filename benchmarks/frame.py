"""Count calls into the packages that geocrawl is built on: `--help`, `status`, a crawl of the demo's web, the daemon.

A profile hook (`sys.setprofile`, in every thread) counts calls that enter a package from outside it. The interpreter
reports no calls of functions compiled by Cython: those in `_COMPILED` of lxml are counted by wrappers. Processes that
read large answers are not counted.
"""

from __future__ import annotations

import argparse
import json
import runpy
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PACKAGES = ("httpx", "lxml", "owslib", "jieba", "apscheduler", "sqlmodel", "shapely")
_COMPILED = ("XMLParser", "fromstring", "iterparse", "iterwalk", "tostring")
"""Functions and classes of `lxml.etree` by which documents are read and written."""
_IN_A_FOLDER = tuple(f"/site-packages/{name}/" for name in PACKAGES)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how long the daemon runs."""
    parser.add_argument("--daemon", type=float, default=60.0, metavar="S", help="seconds of the daemon [60]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return which packages each command imports, and the calls into each; a crawl and the daemon call all of them."""
    from geocrawl.demo import DemoWeb  # here, or it would be imported by the process that is counted
    from tests.support.processes import Started, checked, clean_environment

    with tempfile.TemporaryDirectory(prefix="geocrawl-frame-") as temporary, DemoWeb() as web:
        folder = Path(temporary)
        loopback = ["--proxy", web.proxy_url, "--delay", "0", "--quiet"]
        crawled, watched = f"--db={folder / 'crawl.db'}", f"--db={folder / 'daemon.db'}"
        rows = {
            "crawl": _counted(folder, "crawl", *web.seeds, *loopback, crawled),
            "status": _counted(folder, "status", crawled),
            "--help": _counted(folder, "--help"),
        }
        checked(_command(folder, "seeds", "add", *web.seeds, watched), env=clean_environment(folder))
        daemon = Started(_command(folder, "daemon", *loopback, watched), env=clean_environment(folder))
        time.sleep(options.daemon)
        daemon.terminate()
        daemon.wait()
        rows["daemon"] = json.loads((folder / "calls.json").read_text())
    calls = {name: rows["crawl"]["calls"].get(name, 0) + rows["daemon"]["calls"].get(name, 0) for name in PACKAGES}
    return {"commands": rows, "missed": [f"{name}: never called" for name, count in calls.items() if not count]}


def _counted(folder: Path, *arguments: str) -> dict[str, Any]:
    from tests.support.processes import checked, clean_environment

    checked(_command(folder, *arguments), env=clean_environment(folder))
    found: dict[str, Any] = json.loads((folder / "calls.json").read_text())
    print(f"   {arguments[0]}: {found}", flush=True)
    return found


def _command(folder: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.frame", str(folder / "calls.json"), *arguments]


# --------------------------------------------------------------------------- in the process that is counted


class _Calls:
    """Counts calls that enter a package, as a profile hook."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._packages: dict[CodeType, str] = {}
        self._is_wrapped = False

    def __call__(self, frame: FrameType, event: str, called: Any) -> None:
        """Count one call of a Python function, or of a C function."""
        if event == "call":
            package = self._package(frame.f_code)
            if package and (frame.f_back is None or self._package(frame.f_back.f_code) != package):
                self.counts[package] += 1
            if not self._is_wrapped and hasattr(sys.modules.get("lxml.etree"), _COMPILED[-1]):
                self._wrap_compiled()
        elif event == "c_call":
            module = getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__
            package = module.partition(".")[0]
            if package in PACKAGES and self._package(frame.f_code) != package:
                self.counts[package] += 1

    def _wrap_compiled(self) -> None:
        """Let functions of `lxml.etree` count their calls."""
        self._is_wrapped = True
        etree = sys.modules["lxml.etree"]
        for name in _COMPILED:
            setattr(etree, name, self._counting(getattr(etree, name)))

    def _counting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.counts["lxml"] += 1
            return function(*arguments, **named)

        return counted

    def _package(self, code: CodeType) -> str:
        """Return the package of a function, '' for any other code."""
        known = self._packages.get(code)
        if known is None:
            places = zip(PACKAGES, _IN_A_FOLDER, strict=True)
            known = next((name for name, folder in places if folder in code.co_filename), "")
            self._packages[code] = known
        return known


def _run_counted(out: Path, arguments: list[str]) -> None:
    """Run geocrawl in this process, and write what it imported and called."""
    calls, sys.argv = _Calls(), ["geocrawl", *arguments]
    threading.setprofile(calls)
    sys.setprofile(calls)
    try:
        runpy.run_module("geocrawl", run_name="__main__")
    finally:
        sys.setprofile(None)
        imported = [name for name in PACKAGES if name in sys.modules]
        out.write_text(json.dumps({"imported": imported, "calls": dict(calls.counts.most_common())}))


if __name__ == "__main__":
    _run_counted(Path(sys.argv[1]), sys.argv[2:])
