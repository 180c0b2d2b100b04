"""Check politeness by the web's access log: two processes of 25 workers on one database, killed and restarted."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from tests.attacks.access_log import Access, asked_while_resting, most_at_once, row_of, sort_of
from tests.attacks.politeness_web import PAGES, SORTS, PoliteWeb, demanded_s, polite_web
from tests.support.processes import Started, clean_environment, geocrawl

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
