"""Manners where they are hardest to keep, by the access log of a server: hosts that redirect their robots.txt to one
victim, cut connections or answer 429, two crawls, one in a PID namespace of its own, and many names of one
machine.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.attacks.access_log import (
    RETRY_AFTER_S,
    SLOW_S,
    LoggingWeb,
    Reply,
    asked_while_resting,
    gaps_s,
    most_at_once,
    page_of,
    rules,
    sort_of,
    wait,
)
from tests.support.loopback import running
from tests.support.parts import NAMESPACES, lack
from tests.support.processes import Started, clean_environment, geocrawl

pytestmark = pytest.mark.machine

STRANGERS = 9
DELAY_S, NAMES_DELAY_S = 0.5, 0.2
CLOCKS_S = 0.02
"""The log's clock is read when a request is read, a little after it was sent."""
LIMIT_S = 800.0
_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")
_OTHER_PIDS = (*_NAMESPACE, "--pid", "--fork", "--kill-child", "--mount-proc", "--")
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


@pytest.fixture(scope="module", autouse=True)
def namespaces() -> None:
    """Skip where this machine gives no PID and mount namespaces."""
    if (
        not shutil.which("unshare")
        or subprocess.run([*_OTHER_PIDS, "true"], capture_output=True, check=False).returncode
    ):
        lack(NAMESPACES)


@pytest.mark.long
def test_strangers_resets_a_signal_and_two_pid_namespaces_make_no_bad_guest(tmp_path: Path) -> None:
    with running(GuestWeb()) as web:
        crawl_by_two(web, tmp_path)
        log = list(web.log)
    assert most_at_once(log) == 1
    assert [gap for sort in SORTS for gap in gaps_s(log, sort) if gap < DELAY_S - CLOCKS_S] == []
    assert [each for each in log if each.host == VICTIM and each.path.startswith(FORBIDDEN)] == []
    assert asked_while_resting(log) == 0
    strangers = {each.host for each in log if sort_of(each.host) == "stranger" and each.path == "/"}
    assert len(strangers) == STRANGERS


def test_each_of_many_names_on_one_address_keeps_its_own_pace(tmp_path: Path) -> None:
    named = [f"named-{n}.named{n}.example" for n in range(6)]
    (tmp_path / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"127.0.0.1 {name}\n" for name in named))
    with running(GuestWeb()) as web:
        (tmp_path / "seeds.txt").write_text("".join(f"http://{name}:{web.server_port}/\n" for name in named))
        command = geocrawl(
            "crawl", "--db", str(tmp_path / "c.db"), "--strategy", "bfs", "--quiet", "--delay", f"{NAMES_DELAY_S}s",
            "--workers", "8", "--allow-private", "--seeds", str(tmp_path / "seeds.txt"), "--max-pages", "100000",
        )  # fmt: skip
        own_names = [
            *_NAMESPACE,
            "--",
            "sh",
            "-c",
            'mount --bind "$0" /etc/hosts && exec "$@"',
            str(tmp_path / "hosts"),
        ]
        _ended(Started([*own_names, *command], env=clean_environment(tmp_path)))
        log = list(web.log)
    assert {each.host for each in log if each.path == "/"} == set(named)
    assert most_at_once(log) == 1
    assert min(gaps_s(log, "named")) >= NAMES_DELAY_S - CLOCKS_S


def crawl_by_two(web: GuestWeb, home: Path) -> None:
    """Two processes at once; the first is stopped and started again, then both run to the end."""
    seeds = [f"{sort}-0.{sort}0.example" for sort in ("plain", "slow", "reset", "strained")]
    seeds += [VICTIM, *(f"stranger-{n}.stranger{n}.example" for n in range(STRANGERS))]
    (home / "seeds.txt").write_text("".join(f"http://{name}/\n" for name in seeds))
    command = geocrawl(
        "crawl", "--db", str(home / "c.db"), "--strategy", "bfs", "--quiet", "--delay", f"{DELAY_S}s",
        "--workers", "8", "--proxy", f"http://127.0.0.1:{web.server_port}", "--max-pages", "100000",
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
    time.sleep(3.0)
    first.terminate()
    _ended(first)
    _ended(Started(command, env=env))
    _ended(second)


def _ended(process: Started) -> None:
    done = process.wait(limit_s=LIMIT_S)
    if done.exit_code not in (0, 1, 130, 143):
        raise SystemExit(f"a crawl ended with {done.exit_code}: {done.stderr[-2000:]}")
