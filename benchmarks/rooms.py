"""Where the CPU of a crawl's page goes, by room and package; its statements, hops, leases in vain, context switches.

The crawl of a recorded web is interrupted each 5 ms of CPU (`setitimer`), and the innermost code of geocrawl or of a
package is counted: that of the loop, or of the store's thread where the loop waits. A hop is a call from the loop to
that thread. The start and the end count as well.
"""

from __future__ import annotations

import argparse
import json
import resource
import runpy
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

_EACH_S = 0.005


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add which web is crawled, how far, and in which order."""
    parser.add_argument("--world", default="agency", help="[agency]")
    parser.add_argument("--pages", type=int, default=2000, help="pages a crawl [2000]")
    parser.add_argument("--strategies", nargs="+", default=["bfs", "gws", "fusion"], help="[bfs gws fusion]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return a row for each strategy: CPU milliseconds a page, in all and by room, and the counts a page."""
    from benchmarks.peers import one_run, ours  # here, or they would be imported by the process that is measured
    from tests.support import world_crawls

    rows = []
    with tempfile.TemporaryDirectory(prefix="geocrawl-rooms-") as name:
        out = Path(name) / "rooms.json"
        for strategy in options.strategies:
            command = ours(strategy)

            def sampled(*how: Any, command: Callable[..., list[str]] = command) -> list[str]:
                python, _, _, *arguments = command(*how)
                return [python, "-m", "benchmarks.rooms", str(out), *arguments]

            done = one_run(world_crawls.folder(options.world), sampled, options.pages)
            found, pages = json.loads(out.read_text()), done["pages"]
            ms = 1000 * done["cpu_s"] / pages
            share = ms / max(sum(found["rooms"].values()), 1)
            counts = {name: round(count / pages, 2) for name, count in found["counts"].items()}
            rooms = {name: round(share * samples, 3) for name, samples in found["rooms"].items()}
            rows.append({"strategy": strategy, "ms_a_page": round(ms, 2), **counts, "rooms": rooms})
            print(f"   {rows[-1]}", flush=True)
    return {"world": options.world, "pages": options.pages, "crawls": rows}


# --------------------------------------------------------------------------- in the process that is measured


def _room(frame: FrameType | None) -> str:
    """Return the innermost room of geocrawl, or package, that a thread is in; '' when it waits."""
    if frame is not None and frame.f_code.co_filename.endswith(("/selectors.py", "/thread.py")):
        return ""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.startswith("geocrawl."):
            return ".".join(name.split(".")[: 3 if name.startswith("geocrawl.store.") else 2])
        if "/site-packages/" in frame.f_code.co_filename:
            return name.partition(".")[0]
        frame = frame.f_back
    return "asyncio and Python"


def _run_sampled(out: Path, arguments: list[str]) -> None:
    """Run geocrawl in this process, and write the samples of each room and the counts."""
    from geocrawl.crawler.loop import Crawler
    from geocrawl.store.database.runner import StoreThread
    from geocrawl.store.database.sqlite.connection import SqliteConnection

    rooms, counts = Counter[str](), Counter[str]()

    def sample(_: int, frame: FrameType | None) -> None:
        room = _room(frame)
        if not room:
            others = {each.name: each.ident for each in threading.enumerate()}
            store = next((ident for name, ident in others.items() if name.startswith("store") and ident), 0)
            room = _room(sys._current_frames().get(store)) or "asyncio and Python"
        rooms[room] += 1

    def counted(of: type, method: str, name: str) -> None:
        function = getattr(of, method)

        @wraps(function)
        def counting(*arguments: Any, **named: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **named)

        setattr(of, method, counting)

    counted(SqliteConnection, "execute", "statements")
    counted(SqliteConnection, "executemany", "statements")
    counted(StoreThread, "run", "hops")
    counted(Crawler, "_pause_s", "leases in vain")
    signal.signal(signal.SIGPROF, sample)
    signal.setitimer(signal.ITIMER_PROF, _EACH_S, _EACH_S)
    sys.argv = ["geocrawl", *arguments]
    try:
        runpy.run_module("geocrawl", run_name="__main__")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        counts["switches"] = resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
        out.write_text(json.dumps({"rooms": dict(rooms.most_common()), "counts": counts}))


if __name__ == "__main__":
    _run_sampled(Path(sys.argv[1]), sys.argv[2:])
