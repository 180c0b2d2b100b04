"""Requests while servers are silent: the daemon's first minute on the recorded portal, and fifty hosts of which twenty
accept and never answer. Both with visits that give up their places and without (`max_waiting=0`, as it was before).
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import machine
from tests.support import world_crawls
from tests.support.access_log import Access, LoggingWeb, Reply
from tests.support.loopback import running
from tests.support.processes import checked, clean_environment, geocrawl, run

WAITING = (0, 200)
HOSTS, SILENT, PAGES_A_HOST = 50, 20, 20
NEVER_S = 45.0
"""Longer than `total_timeout_s`."""


def main(arguments: list[str]) -> None:
    """Measure both, and write the figures to k_silent.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shows silent", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="how long the daemon runs [%(default)s]")
    parser.add_argument("--no-write", action="store_true", help="leave docs/measurements alone")
    options = parser.parse_args(arguments)
    figures: dict[str, Any] = {"daemon": [], "hosts": []}
    for most in WAITING:
        figures["daemon"].append(_daemon(most, options.seconds))
        print(figures["daemon"][-1], flush=True)
    for most in WAITING:
        for silent in (0, SILENT):
            figures["hosts"].append(_hosts(most, silent))
            print(figures["hosts"][-1], flush=True)
    if not options.no_write:
        print(machine.write("k_silent", figures))


def _daemon(most_waiting: int, seconds: int) -> dict[str, Any]:
    """Run the daemon on the portal's world, and count requests by second."""
    world = world_crawls.folder("portal")
    with tempfile.TemporaryDirectory(prefix="geocrawl-silent-") as folder:
        home, log = Path(folder), Path(folder) / "access.jsonl"
        (home / "seeds.txt").write_text("\n".join(world_crawls.seeds(world)) + "\n")
        env = clean_environment(home, GEOCRAWL_MAX_WAITING=str(most_waiting))
        with world_crawls.served(world, log, "--slow-seconds", str(NEVER_S)) as proxy:
            database = ["--db", str(home / "c.db")]
            checked(geocrawl("seeds", "add", *database, "--file", str(home / "seeds.txt")), env=env)
            command = geocrawl("daemon", *database, "--proxy", proxy)
            begun = time.time()
            daemon = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(seconds)
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()
        times = [json.loads(line)["t"] for line in log.read_text().splitlines()]
    first = min(times)
    by_second = Counter(int(at - first) for at in times if at - first < seconds)
    counts = [by_second[second] for second in range(seconds)]
    return {
        "max_waiting": most_waiting,
        "requests": sum(counts),
        "seconds_without_a_request": counts.count(0),
        "requests_by_second": counts,
        "started_s": round(first - begun, 1) if first > 1e9 else None,
    }


class _Web(LoggingWeb):
    """Fifty hosts of twenty pages; the first `silent` ones never answer."""

    def __init__(self, silent: int) -> None:
        super().__init__()
        self._silent = {f"host{number}.example" for number in range(silent)}
        self.unanswered: list[Access] = []

    def reply(self, host: str, path: str) -> Reply:
        if host in self._silent:
            now = time.monotonic()
            self.unanswered.append(Access(host, path, now, now, 0))
            return Reply(0, after_s=NEVER_S)
        if path == "/robots.txt":
            return Reply(404)
        links = "".join(f'<a href="/page{n}">map {n}</a>' for n in range(PAGES_A_HOST)) if path == "/" else ""
        return Reply(200, links.encode(), (("Content-Type", "text/html"),), after_s=0.02)


def _hosts(most_waiting: int, silent: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="geocrawl-silent-") as folder, running(_Web(silent)) as web:
        home = Path(folder)
        seeds = home / "seeds.txt"
        seeds.write_text("".join(f"http://host{number}.example/\n" for number in range(HOSTS)))
        command = geocrawl(
            "crawl", "--db", str(home / "c.db"), "--strategy", "bfs", "--quiet", "--delay", "0", "--patience", "0s",
            "--proxy", f"http://127.0.0.1:{web.server_port}", "--seeds", str(seeds), "--max-pages", "5000",
        )  # fmt: skip
        # The pages bring no finds, and pages of such patterns would wait until all else is visited.
        env = clean_environment(home, GEOCRAWL_MAX_WAITING=str(most_waiting), GEOCRAWL_MAX_FRUITLESS_PER_PATTERN="0")
        done = run(command, env=env, limit_s=600.0)
        pages = [access.ended for access in web.log if access.status == 200]
        begun = min(access.begun for access in (*web.log, *web.unanswered))
    return {
        "max_waiting": most_waiting,
        "silent_hosts": silent,
        "exit_code": done.exit_code,
        "pages": len(pages),
        "last_page_s": round(max(pages) - begun, 1),
        "pages_a_second": round(len(pages) / (max(pages) - begun), 1),
        "seconds": done.wall_s,
    }
