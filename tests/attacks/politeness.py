"""Many hosts on loopback behind one proxy, with an access log, and two crawls of them that are killed and restarted.

Each host is of a sort by its name: plain, with a Crawl-delay, with rules in robots.txt, slow, strained (429 with a
Retry-After at every fifth page), or suspended (503 for an hour from its third answer on).
"""

from __future__ import annotations

import tempfile
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.attacks.access_log import (
    RETRY_AFTER_S,
    SLOW_S,
    SUSPENDED_S,
    Access,
    LoggingWeb,
    Reply,
    asked_while_resting,
    most_at_once,
    page_of,
    row_of,
    rules,
    sort_of,
    wait,
)
from tests.support.loopback import running
from tests.support.processes import Started, clean_environment, geocrawl

SORTS = ("plain", "crawl-delay", "robots", "slow", "strained", "suspended")
CRAWL_DELAY_S = 1.5
PAGES = 12
_RULES = {
    "crawl-delay": f"User-agent: *\nCrawl-delay: {CRAWL_DELAY_S}\n",
    "robots": "User-agent: *\nDisallow: /private\n",
}


class PoliteWeb(LoggingWeb):
    """The hosts of all sorts."""

    def reply(self, host: str, path: str) -> Reply:
        """Return the answer of a host, late when it is slow."""
        sort = sort_of(host)
        return replace(self._reply(sort, host, path), after_s=SLOW_S if sort == "slow" else 0.0)

    def _reply(self, sort: str, host: str, path: str) -> Reply:
        if path == "/robots.txt":
            return rules(_RULES.get(sort, ""))
        number = self.count(host)
        if sort == "strained" and number % 5 == 0:
            return wait(429, RETRY_AFTER_S)
        if sort == "suspended" and number >= 3:
            return wait(503, SUSPENDED_S)
        links = "".join(f"<a href=/page/{n}>map {n}</a>" for n in range(PAGES)) + "<a href=/private/wms>wms map</a>"
        return page_of(host, links)


def polite_web() -> AbstractContextManager[PoliteWeb]:
    """Return a running web."""
    return running(PoliteWeb())


def demanded_s(sort: str, delay_s: float) -> float:
    """Return the least time from an answer to the next request that this sort of host is to see."""
    return max(delay_s, CRAWL_DELAY_S) if sort == "crawl-delay" else delay_s


DELAY_S = 0.5
LIMIT_S = 800.0


def measure(hosts: int, workers: int, *, kill_after_s: float = 4.0) -> dict[str, Any]:
    """Figures by sort of host, and over all."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-politeness-") as folder, polite_web() as web:
        begun = time.monotonic()
        kills = _crawl(web, Path(folder), hosts, workers, kill_after_s)
        seconds = time.monotonic() - begun
        log = list(web.log)
    return {
        "hosts": [row_of(log, sort) | {"demanded_s": demanded_s(sort, DELAY_S)} for sort in SORTS],
        "processes": 2,
        "workers": 2 * workers,
        "kills": kills,
        "seconds": round(seconds, 1),
        "most_at_once_a_host": most_at_once(log),
        "robots_violations": sum(
            access.path.startswith("/private") for access in log if sort_of(access.host) == "robots"
        ),
        "asked_before_retry_after": asked_while_resting(log),
        "hosts_not_finished": sorted(
            host
            for host in {access.host for access in log}
            if sort_of(host) not in ("strained", "suspended") and _pages(log, host) < PAGES
        ),
    }


def _crawl(web: PoliteWeb, home: Path, hosts: int, workers: int, kill_after_s: float) -> int:
    """Two processes at once; the first is killed twice and started again, then both run to the end."""
    seeds = home / "seeds.txt"
    seeds.write_text("".join(f"http://{sort}-{n}.{sort}{n}.example/\n" for n in range(hosts) for sort in SORTS))
    command = geocrawl(
        "crawl", "--db", str(home / "c.db"), "--strategy", "bfs", "--quiet", "--delay", f"{DELAY_S}s",
        "--workers", str(workers), "--proxy", f"http://127.0.0.1:{web.server_port}", "--max-pages", "100000",
        "--patience", "30s",
    )  # fmt: skip
    # What a server may be at work on for a killed process is over after this time, so the restart waits no longer.
    env = clean_environment(home, GEOCRAWL_TOTAL_TIMEOUT="6s")
    processes = [Started([*command, "--seeds", str(seeds)], env=env)]
    while not web.log and processes[0].running():  # the catalogue exists from then on
        time.sleep(0.1)
    processes.append(Started(command, env=env))
    for _ in range(2):
        time.sleep(kill_after_s)
        processes[0].kill()
        processes[0].wait(limit_s=LIMIT_S)
        processes[0] = Started(command, env=env)
    for process in processes:
        done = process.wait(limit_s=LIMIT_S)
        if done.exit_code not in (0, 1):
            raise SystemExit(f"a crawl ended with {done.exit_code}: {done.stderr[-2000:]}")
    return 2


def _pages(log: list[Access], host: str) -> int:
    return len(
        {access.path for access in log if access.host == host and access.status == 200 and "/page" in access.path}
    )
