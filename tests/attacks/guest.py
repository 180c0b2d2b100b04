"""Hosts that strain a crawl's manners, on one server with an access log.

Strangers redirect their robots.txt to the one victim (to its robots.txt, to rules that it allows, to rules that it
forbids); resetting hosts cut every third connection instead of answering; slow ones take their time; strained ones
answer 429 with a Retry-After; the plain ones and the victim are crawled for their pages.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.attacks.access_log import (
    RETRY_AFTER_S,
    SLOW_S,
    LoggingWeb,
    Reply,
    asked_while_resting,
    gaps_s,
    most_at_once,
    page_of,
    row_of,
    rules,
    sort_of,
    wait,
)
from tests.support.loopback import running
from tests.support.processes import Started, clean_environment, geocrawl

VICTIM = "victim-0.victim.example"
SORTS = ("plain", "slow", "reset", "strained", "stranger", "victim")
PAGES, NAMED_S = 6, 0.05
FORBIDDEN = "/private"


class GuestWeb(LoggingWeb):
    """The hosts of all sorts."""

    def reply(self, host: str, path: str) -> Reply:
        """Return the answer of a host; every third one of a resetting host is a cut connection."""
        sort, number = sort_of(host), self.count(host)
        if sort == "reset" and number % 3 == 0:
            return Reply(0)
        return replace(_reply(sort, host, path, number), after_s={"slow": SLOW_S, "named": NAMED_S}.get(sort, 0.0))


def _reply(sort: str, host: str, path: str, number: int) -> Reply:
    if path == "/robots.txt" and sort == "stranger":
        target = _target(int(host.partition(".")[0].rpartition("-")[2]))
        return Reply(302, headers=(("Location", f"http://{VICTIM}{target}"),))
    if path == "/robots.txt":
        return rules(f"User-agent: *\nDisallow: {FORBIDDEN}\n")
    if path.startswith("/rules"):
        return rules("User-agent: *\nDisallow: /page/0\n")
    if sort == "strained" and number % 5 == 0:
        return wait(429, RETRY_AFTER_S)
    count = 0 if sort == "named" else 1 if sort == "stranger" else PAGES
    return page_of(host, "".join(f"<a href=/page/{n + 1}>map {n}</a>" for n in range(count)))


def _target(number: int) -> str:
    """Return the path on the victim to which a stranger's robots.txt leads."""
    return ("/robots.txt", f"/rules/{number}", f"{FORBIDDEN}/{number}")[number % 3]


def guest_web() -> AbstractContextManager[GuestWeb]:
    """Return a running web."""
    return running(GuestWeb())


DELAY_S = 0.5
NAMES_DELAY_S = 0.2
"""Shorter, because the requests to one address come one after the other in all: 1,000 of them every 0.1 s."""
CLOCKS_S = 0.02
"""The log's clock is read when a request is read, a little after it was sent."""
LIMIT_S = 800.0
_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")
_OTHER_PIDS = (*_NAMESPACE, "--pid", "--fork", "--kill-child", "--mount-proc", "--")


def can_unshare() -> bool:
    """Return whether this machine lets us have PID and mount namespaces of our own."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*_OTHER_PIDS, "true"], capture_output=True, check=False).returncode == 0


def measure_two_namespaces(strangers: int, hosts: int, workers: int, *, stop_after_s: float = 6.0) -> dict[str, Any]:
    """Figures of two crawls on one catalogue, one of them in a PID namespace of its own, the other stopped by SIGTERM
    in the middle and started again."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-guest-") as folder, guest_web() as web:
        begun = time.monotonic()
        _crawl(web, Path(folder), strangers, hosts, workers, stop_after_s)
        seconds, log = time.monotonic() - begun, list(web.log)
    return {
        "hosts": [row_of(log, sort) for sort in SORTS],
        "strangers": strangers,
        "workers": 2 * workers,
        "seconds": round(seconds, 1),
        "most_at_once_a_host": most_at_once(log),
        "gaps_below_the_delay": sum(gap < DELAY_S - CLOCKS_S for sort in SORTS for gap in gaps_s(log, sort)),
        "forbidden_requests": sum(each.path.startswith(FORBIDDEN) for each in log if each.host == VICTIM),
        "asked_before_retry_after": asked_while_resting(log),
        "strangers_visited": len({each.host for each in log if sort_of(each.host) == "stranger" and each.path == "/"}),
    }


def measure_names_on_one_address(names: int, workers: int, *, bounded: bool = True) -> dict[str, Any]:
    """Figures of one crawl of as many host names that all lead to one address. `bounded`: with the default bound on
    requests to an address."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-guest-") as folder, guest_web() as web:
        home = Path(folder)
        named = [f"named-{n}.named{n}.example" for n in range(names)]
        (home / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"127.0.0.1 {name}\n" for name in named))
        (home / "seeds.txt").write_text("".join(f"http://{name}:{web.server_port}/\n" for name in named))
        command = geocrawl(
            "crawl", "--db", str(home / "c.db"), "--strategy", "bfs", "--quiet", "--delay", f"{NAMES_DELAY_S}s",
            "--workers", str(workers), "--allow-private", "--seeds", str(home / "seeds.txt"), "--max-pages", "100000",
        )  # fmt: skip
        own_names = [*_NAMESPACE, "--", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(home / "hosts")]
        begun = time.monotonic()
        env = clean_environment(
            home, **({} if bounded else {"GEOCRAWL_REQUESTS_PER_IP": "0", "GEOCRAWL_IP_DELAY_FACTOR": "0"})
        )
        _ended(Started([*own_names, *command], env=env))
        seconds, log = time.monotonic() - begun, list(web.log)
    as_one = [replace(each, host="one address") for each in log]
    starts = sorted(each.begun for each in log)
    gaps = [after - before for before, after in pairwise(starts)]
    return {
        "names": names,
        "workers": workers,
        "bounded": bounded,
        "delay_s": NAMES_DELAY_S,
        "seconds": round(seconds, 1),
        "requests": len(log),
        "names_visited": len({each.host for each in log if each.path == "/"}),
        "most_at_once_a_host": most_at_once(log),
        "most_at_once_the_address": most_at_once(as_one),
        "requests_a_second": round(len(log) / (starts[-1] - starts[0]), 2),
        "median_gap_s": round(sorted(gaps)[len(gaps) // 2], 3),
        "smallest_gap_a_host_s": round(min(gaps_s(log, "named")), 3),
    }


def _crawl(web: GuestWeb, home: Path, strangers: int, hosts: int, workers: int, stop_after_s: float) -> None:
    """Two processes at once; the first is stopped and started again, then both run to the end."""
    seeds = [f"{sort}-{n}.{sort}{n}.example" for n in range(hosts) for sort in ("plain", "slow", "reset", "strained")]
    seeds += [VICTIM, *(f"stranger-{n}.stranger{n}.example" for n in range(strangers))]
    (home / "seeds.txt").write_text("".join(f"http://{name}/\n" for name in seeds))
    command = geocrawl(
        "crawl", "--db", str(home / "c.db"), "--strategy", "bfs", "--quiet", "--delay", f"{DELAY_S}s",
        "--workers", str(workers), "--proxy", f"http://127.0.0.1:{web.server_port}", "--max-pages", "100000",
        "--patience", "60s",
    )  # fmt: skip
    # A server of this web is done with a request within this time, and leases end soon where nobody can look after
    # their process: with the shortest leases, overlapping turns would show.
    env = clean_environment(
        home, GEOCRAWL_TOTAL_TIMEOUT="6s", GEOCRAWL_SETTLE="0s", GEOCRAWL_LEASE="5s", GEOCRAWL_RETRY_FIRST="3s"
    )
    first = Started([*command, "--seeds", str(home / "seeds.txt")], env=env)
    while not web.log and first.running():
        time.sleep(0.1)
    second = Started([*_OTHER_PIDS, *command], env=env)
    time.sleep(stop_after_s)
    first.terminate()
    _ended(first)
    _ended(Started(command, env=env))
    _ended(second)


def _ended(process: Started) -> None:
    done = process.wait(limit_s=LIMIT_S)
    if done.exit_code not in (0, 1, 130, 143):
        raise SystemExit(f"a crawl ended with {done.exit_code}: {done.stderr[-2000:]}")
