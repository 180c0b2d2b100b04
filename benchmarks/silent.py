"""Requests while servers are silent: the daemon's first minute on the recorded portal, and fifty hosts of which twenty
accept and never answer.
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

from tests.attacks.access_log import Access, LoggingWeb, Reply
from tests.support import world_crawls
from tests.support.loopback import running
from tests.support.processes import checked, clean_environment, geocrawl, run

HOSTS, SILENT, PAGES_A_HOST = 50, 20, 20
NEVER_S = 45.0
"""Longer than `total_timeout_s`."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how long the daemon runs."""
    parser.add_argument("--seconds", type=int, default=60, help="how long the daemon runs [60]")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return what the daemon asked for second by second, and pages a second without and with silent hosts."""
    return {"daemon": _daemon(options.seconds), "hosts": [_hosts(silent) for silent in (0, SILENT)]}


def _daemon(seconds: int) -> dict[str, Any]:
    """Run the daemon on the portal's world, and count requests by second."""
    world = world_crawls.folder("portal")
    with tempfile.TemporaryDirectory(prefix="geocrawl-silent-") as folder:
        home, log = Path(folder), Path(folder) / "access.jsonl"
        (home / "seeds.txt").write_text("\n".join(world_crawls.seeds(world)) + "\n")
        env = clean_environment(home)
        with world_crawls.served(world, log, "--slow-seconds", str(NEVER_S)) as proxy:
            database = ["--db", str(home / "c.db")]
            checked(geocrawl("seeds", "add", *database, "--file", str(home / "seeds.txt")), env=env)
            command = geocrawl("daemon", *database, "--proxy", proxy)
            daemon = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(seconds)
            daemon.send_signal(signal.SIGTERM)
            daemon.wait()
        times = [json.loads(line)["t"] for line in log.read_text().splitlines()]
    by_second = Counter(int(at - min(times)) for at in times if at - min(times) < seconds)
    counts = [by_second[second] for second in range(seconds)]
    return {"requests": sum(counts), "seconds_without_a_request": counts.count(0), "requests_by_second": counts}


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


def _hosts(silent: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="geocrawl-silent-") as folder, running(_Web(silent)) as web:
        home = Path(folder)
        seeds = home / "seeds.txt"
        seeds.write_text("".join(f"http://host{number}.example/\n" for number in range(HOSTS)))
        proxy = f"http://127.0.0.1:{web.server_port}"
        how = ("--strategy", "bfs", "--quiet", "--delay", "0", "--patience", "0s", "--max-pages", "5000")
        command = geocrawl("crawl", "--db", str(home / "c.db"), "--proxy", proxy, "--seeds", str(seeds), *how)
        # The pages bring no finds, and pages of such patterns would wait until all else is visited.
        env = clean_environment(home, GEOCRAWL_MAX_FRUITLESS_PER_PATTERN="0")
        done = run(command, env=env, limit_s=600.0)
        pages = [access.ended for access in web.log if access.status == 200]
        begun = min(access.begun for access in (*web.log, *web.unanswered))
    last_s = max(pages) - begun
    rate = {"pages": len(pages), "last_page_s": round(last_s, 1), "pages_a_second": round(len(pages) / last_s, 1)}
    return {"silent_hosts": silent, "exit_code": done.exit_code, **rate, "seconds": done.wall_s}
