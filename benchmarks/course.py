"""Memory and CPU a page over the course of one crawl of a made web: what grows with pages shows as a curve.

The web of `tests.support.scale_web` has `--hosts` hosts with as many pages each as make a million addresses, behind a
proxy on loopback; there is no delay. With `--daemon` it is crawled as people run it for months: by a daemon that also
probes, watches, sends notices and keeps pictures, with `serve` beside it and visitors there, terminated, killed and
reloaded on the way. Then nothing may be lost or doubled at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from benchmarks.visitors import free_port
from geocrawl.settings import Settings
from tests.support import scale_web
from tests.support.memory import resident_mib
from tests.support.processes import Started, checked, clean_environment, geocrawl

_ADDRESSES = 1_000_000
_IS_PAGE = '"kind": "page"'
_WATCHED = 40
_MOST_UNDER_WAY = Settings().workers + Settings().max_waiting
"""Number of visits that may be done again after a kill."""
_SIGNALS = (signal.SIGTERM, signal.SIGKILL, signal.SIGHUP)
_ITEMS = "/collections/services/items"
_VISITED = ("/", _ITEMS + "?q=maps", _ITEMS + "?f=json&limit=100", "/status", "/feed.atom", "/operations")
_ENDS_WITHIN_S = 20.0
"""Seconds that the unit gives the daemon after SIGTERM (`TimeoutStopSec`)."""
Say = Callable[[dict[str, Any]], None]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add how far it goes, and how often it is looked at."""
    parser.add_argument("--hosts", type=int, default=1000, help="[1000]")
    parser.add_argument("--pages", type=int, default=100_000, help="pages of the crawl [100000]")
    parser.add_argument("--points", type=int, default=20, help="rows of the table [20]")
    parser.add_argument("--strategy", default="fusion", help="[fusion]")
    parser.add_argument("--daemon", action="store_true", help="by a daemon, with all that goes on beside it")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Return a row for each part of the crawl, the start's own cost in the first."""
    web = scale_web.Web(options.hosts, _ADDRESSES // options.hosts, options.daemon)
    rows: list[dict[str, Any]] = []

    def say(row: dict[str, Any]) -> None:
        rows.append(row)
        print(f"   {row}", flush=True)

    with tempfile.TemporaryDirectory(prefix="geocrawl-course-") as name:
        folder = Path(name)
        with scale_web.served(web, folder / "log") as proxy:
            found = _soak(options, folder, proxy, say) if options.daemon else _crawl(options, folder, proxy, say)
        if options.daemon:
            found |= _judge(folder, found)
    told = {"hosts": options.hosts, "strategy": options.strategy, **found}
    return {**told, "load": round(os.getloadavg()[0], 1), "course": rows}


def _start_pages(options: argparse.Namespace) -> list[str]:
    return [scale_web.address(host, 0) for host in range(0, options.hosts, 10)]


def _crawl(options: argparse.Namespace, folder: Path, proxy: str, say: Say) -> dict[str, Any]:
    where = ("--db", str(folder / "c.db"), "--proxy", proxy, "--delay", "0", "--max-depth", "1000")
    how = ("--strategy", options.strategy, "--max-pages", str(options.pages), "--quiet")
    crawl = Started(geocrawl("crawl", *_start_pages(options), *where, *how), env=clean_environment(folder))
    with (folder / "log").open() as log:
        pages, former, former_s = 0, 0, 0.0
        while crawl.running():
            pages += sum(_IS_PAGE in line for line in log)
            if pages - former >= options.pages / options.points:
                spent = crawl.cpu_s()
                part = {"pages": pages, "cpu_ms_a_page": round(1000 * (spent - former_s) / (pages - former), 2)}
                say(part | {"resident_mib": resident_mib(crawl.pid)})
                former, former_s = pages, spent
            time.sleep(0.1)
    run = crawl.wait()
    if run.exit_code:
        raise SystemExit(f"the crawl ended with {run.exit_code}: {run.stderr[-500:]}")
    return {"peak_mib": run.peak_mib}


# --------------------------------------------------------------------------- as a daemon


def _soak(options: argparse.Namespace, folder: Path, proxy: str, say: Say) -> dict[str, Any]:
    """Crawl by a daemon that is stopped, killed and reloaded in turn; return what it took and what went wrong."""
    config, env = folder / "config.toml", clean_environment(folder)
    config.write_text(
        f'db = "{folder / "c.db"}"\nproxy = "{proxy}"\ndelay = 0\nmax_depth = 1000\npages_per_day = 0\n'
        f'strategy = "{options.strategy}"\nlog_json = true\nlog_file = "{folder / "daemon.log"}"\n'
    )
    use = ("--config", str(config))
    checked(geocrawl("seeds", "add", *_start_pages(options), *use), env=env)
    daemon = Started(geocrawl("daemon", *use), env=env)
    done, missed, answers, slowest = Counter[str](), list[str](), Counter[int](), 0.0
    every, peak_mib, pages, former, former_s = options.pages / options.points, 0.0, 0, 0, 0.0
    with (folder / "log").open() as log, _served_pages(use, env) as (server, pages_at):
        while pages < options.pages:
            pages += sum(_IS_PAGE in line for line in log)
            if not daemon.running():
                run = daemon.wait()
                missed.append(f"the daemon ended with {run.exit_code} by itself: {run.stderr[-300:]}")
                daemon, former_s = Started(geocrawl("daemon", *use), env=env), 0.0
            for path in _VISITED:
                status, seconds = _visit(pages_at + path)
                answers[status] += 1
                slowest = max(slowest, seconds)
            if pages - former >= every:
                spent = daemon.cpu_s()
                row = {"pages": pages, "cpu_ms_a_page": round(1000 * (spent - former_s) / (pages - former), 2)}
                say(row | _looked_at(folder, daemon, server))
                if not done:
                    _watch(folder, use, env)
                number = _SIGNALS[done.total() % len(_SIGNALS)]
                done[number.name] += 1
                former, former_s = pages, spent
                if number is signal.SIGHUP:
                    os.kill(daemon.pid, number)
                else:
                    peak_mib, problem = _end(daemon, number, peak_mib)
                    missed += problem
                    daemon, former_s = Started(geocrawl("daemon", *use), env=env), 0.0
            time.sleep(5.0)
    peak_mib, problem = _end(daemon, signal.SIGTERM, peak_mib)
    bad = {f"{count} answers {status} of serve" for status, count in answers.items() if status != 200}
    return {
        "peak_mib": peak_mib,
        "done_to_the_daemon": dict(done),
        "answers_of_serve": dict(answers),
        "slowest_answer_s": round(slowest, 1),
        "missed": [*missed, *problem, *sorted(bad)],
    }


@contextmanager
def _served_pages(use: tuple[str, ...], env: dict[str, str]) -> Iterator[tuple[Started, str]]:
    """Serve the catalogue; yield the process and its address."""
    port = free_port()
    server = Started(geocrawl("serve", "--port", str(port), "--rate", "0", *use), env=env)
    try:
        while server.running() and _visit(f"http://127.0.0.1:{port}/robots.txt")[0] != 200:
            time.sleep(0.2)
        yield server, f"http://127.0.0.1:{port}"
    finally:
        if server.running():
            server.terminate()
        server.wait(limit_s=3600)


def _visit(address: str) -> tuple[int, float]:
    """Return status (0: none) and seconds of an answer."""
    begun = time.monotonic()
    try:
        status = httpx.get(address, timeout=60, trust_env=False).status_code
    except httpx.TransportError:
        status = 0
    return status, time.monotonic() - begun


def _end(daemon: Started, number: signal.Signals, peak_mib: float) -> tuple[float, list[str]]:
    """End the daemon by a signal; return the highest peak of memory so far, and what was wrong."""
    begun = time.monotonic()
    os.kill(daemon.pid, number)
    run = daemon.wait()
    seconds, wanted = time.monotonic() - begun, 0 if number is signal.SIGTERM else -number
    problem = [f"exit code {run.exit_code} after {number.name}"] * (run.exit_code != wanted)
    problem += [f"no end for {seconds:.0f} s after {number.name}"] * (seconds > _ENDS_WITHIN_S)
    return max(peak_mib, run.peak_mib), problem


def _looked_at(folder: Path, daemon: Started, server: Started) -> dict[str, Any]:
    """Return what daemon, server and database take now."""
    sizes = {name: (folder / name).stat().st_size / 2**20 for name in ("c.db", "c.db-wal")}
    probes, services = _rows(folder, "SELECT (SELECT count(*) FROM probe), (SELECT count(*) FROM v_services)")[0]
    return {
        "resident_mib": resident_mib(daemon.pid),
        "serve_mib": resident_mib(server.pid),
        "descriptors": _descriptors(daemon),
        "serve_descriptors": _descriptors(server),
        "database_mib": round(sizes["c.db"]),
        "wal_mib": round(sizes["c.db-wal"], 1),
        "probes": probes,
        "services": services,
    }


def _descriptors(process: Started) -> int:
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


def _watch(folder: Path, use: tuple[str, ...], env: dict[str, str]) -> None:
    """Watch the first services in minutes, with notices to a file."""
    listed = folder / "watched.txt"
    keys = _rows(folder, f"SELECT url FROM endpoint WHERE status = 'valid' ORDER BY id LIMIT {_WATCHED}")
    listed.write_text("".join(f"{key}\n" for (key,) in keys))
    to = ("--to", f"file:{folder / 'notices.jsonl'}", "--every", "1m")
    checked(geocrawl("watch", "import", str(listed), *to, *use), env=env, accept=(0, 1))


def _rows(folder: Path, statement: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(f"file:{folder / 'c.db'}?mode=ro", uri=True, timeout=60) as connection:
        return connection.execute(statement).fetchall()


def _judge(folder: Path, found: dict[str, Any]) -> dict[str, Any]:
    """Return what the catalogue holds of what was answered, and as "missed" also what was lost or done twice."""
    answered: dict[str, Counter[str]] = {"page": Counter(), "service": Counter()}
    for line in (folder / "log").read_text().splitlines():
        entry = json.loads(line)
        if entry["kind"] in answered:
            answered[entry["kind"]][entry["url"].partition("?")[0]] += 1
    states = dict(_rows(folder, "SELECT address, state FROM url WHERE purpose = 'page'"))
    lost = [page for page in answered["page"] if states.get(page) not in ("visited", "waiting")]
    twice = sum(count - 1 for count in answered["page"].values())
    valid = Counter(url.partition("?")[0] for (url,) in _rows(folder, "SELECT url FROM endpoint WHERE last_ok > 0"))
    waiting = {url.partition("?")[0] for (url,) in _rows(folder, "SELECT address FROM url WHERE purpose = 'probe'")}
    unknown = [service for service in answered["service"] if service not in valid and service not in waiting]
    notices = [
        notice
        for line in ((folder / "notices.jsonl").read_text() if (folder / "notices.jsonl").exists() else "").splitlines()
        for notice in json.loads(line)["notices"]
    ]
    said = {each["id"]: (each["service"]["id"], each["what"]) for each in notices}
    last: dict[int, str] = {}
    out_of_turn = 0
    for _, (service, what) in sorted(said.items()):
        out_of_turn += what in ("died", "returned") and last.get(service, "returned") == what
        last[service] = what
    log = [json.loads(line) for line in (folder / "daemon.log").read_text().splitlines()]
    errors = [line for line in log if line["level"] in ("error", "critical") or "Traceback" in str(line)]
    most = _MOST_UNDER_WAY * found["done_to_the_daemon"].get("SIGKILL", 0)
    wrong = {
        "the database is damaged": _rows(folder, "PRAGMA integrity_check") != [("ok",)],
        f"pages lost: {len(lost)}, as {lost[:3]}": lost,
        f"pages asked twice: {twice}, more than {most} were under way at kills": twice > most,
        f"services lost: {len(unknown)}, as {unknown[:3]}": unknown,
        f"endpoints twice: {valid.most_common(3)}": max(valid.values(), default=0) > 1,
        f"notices twice: {len(notices) - len(said)}": len(notices) > len(said),
        f"notices out of turn: {out_of_turn}": out_of_turn,
        f"errors in the log: {len(errors)}, as {errors[:2]}": errors,
    }
    return {
        "pages": len(answered["page"]),
        "pages_asked_twice": twice,
        "services": len(valid),
        "notices": dict(Counter(what for _, what in said.values())),
        "missed": [*found["missed"], *(text for text, is_wrong in wrong.items() if is_wrong)],
    }
