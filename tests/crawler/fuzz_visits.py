"""Crawls of fuzzed webs: whole visits into a database, which is then used by the commands that people type."""

from __future__ import annotations

import asyncio
import signal
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from geocrawl.app.crawl import run_crawl
from geocrawl.app.session import Environment
from geocrawl.cli import app
from geocrawl.lab.recorded_worlds.replay import ReplayClock
from geocrawl.model import Entry, Lease, SettlementResult, Visit
from geocrawl.settings import Settings
from geocrawl.store.database.database import open_readonly
from geocrawl.urls import read_url
from tests.crawler.fuzz_web import FuzzTransport, FuzzWeb, fuzz_proxy
from tests.support.crawls import Watcher
from tests.support.invariants import check_invariants

_TICK_S = 0.005


@dataclass(slots=True)
class Result:
    """What became of one crawl of a fuzzed web."""

    strategy: str
    visits: int = 0
    answers: int = 0
    """Documents that the web was asked for."""
    valid: int = 0
    not_settled: int = 0
    faults: list[str] = field(default_factory=list)
    """Traceback of every visit that ended as internal-error."""
    problems: list[str] = field(default_factory=list)
    """Commands that raised, and what is wrong in the database."""
    reasons: Counter[str] = field(default_factory=Counter)
    longest_stall_s: float = 0.0
    stall_cpu_s: float = 0.0
    """CPU time of the longest stall: less than its length when other programs had the processor."""
    stalled_at: str = ""
    """The last answer before the longest stall."""
    wall_s: float = 0.0


class _Counting(Watcher):
    """Counts visits, keeps faults, measures the loop's stalls, and ends the crawl after some visits."""

    def __init__(self, result: Result, web: FuzzWeb, most: int) -> None:
        super().__init__()
        self._result = result
        self._web = web
        self._most = most
        self._leased: dict[int, str] = {}
        self._ticker: asyncio.Task[None] | None = None

    def leased(self, lease: Lease) -> None:
        self._leased[lease.entry.id] = lease.entry.url.address
        if self._ticker is None:
            self._ticker = asyncio.get_running_loop().create_task(self._tick())

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        self._leased.pop(entry.id, None)
        found = self._result
        found.visits += 1
        found.reasons[f"{entry.purpose} {visit.reason}"] += 1
        if visit.fault:
            found.faults.append(f"{entry.purpose} {entry.url.address}\n{visit.fault}")
        if found.visits == self._most and signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            signal.raise_signal(signal.SIGINT)  # the crawl's own handler ends it, as Ctrl-C does

    @property
    def unsettled(self) -> int:
        """Return how many leased addresses were never settled."""
        return len(self._leased)

    async def _tick(self) -> None:
        found, last, last_cpu, last_answer = self._result, time.monotonic(), time.process_time(), ""
        while True:
            await asyncio.sleep(_TICK_S)
            now, cpu = time.monotonic(), time.process_time()
            if now - last - _TICK_S > found.longest_stall_s:
                found.longest_stall_s, found.stall_cpu_s = now - last - _TICK_S, cpu - last_cpu
                found.stalled_at = last_answer or self._web.latest
            last, last_cpu, last_answer = now, cpu, self._web.latest


def crawl(
    web: FuzzWeb,
    database: Path,
    strategy: str,
    visits: int,
    *,
    asked: int = 40,
    workers: int = 1,
    live: bool = False,
    **more: Any,
) -> Result:
    """Crawl a fuzzed web, look at the database, and run the commands on it.

    `asked`: how many addresses `why` explains, and how many services `show` shows. `live`: over connections to a proxy
    on loopback; else in place of the network and in virtual time.
    """
    result = Result(strategy)
    watcher = _Counting(result, web, visits)
    settings = Settings(strategy=strategy, delay_s=0.0, workers=workers, patience_s=0.0, **more)
    seeds = [url for address in web.seeds(visits) if (url := read_url(address)) is not None]
    begun = time.monotonic()
    if live:
        with fuzz_proxy(web) as proxy:
            report = run_crawl(replace(settings, proxy=proxy), database, seeds, observer=watcher)
    else:
        clock = ReplayClock()
        environment = Environment(clock, FuzzTransport(web, clock), lambda: 0)
        report = run_crawl(settings, database, seeds, observer=watcher, environment=environment)
    result.wall_s = time.monotonic() - begun
    result.answers, result.valid, result.not_settled = web.answered, report.summary.valid, watcher.unsettled
    result.problems += _in_database(database) + _of_commands(database, asked)
    return result


def _in_database(database: Path) -> list[str]:
    """Return what is wrong in the database of a crawl that has ended."""
    found = []
    with open_readonly(database) as connection:
        for pragma, well in (("integrity_check", [("ok",)]), ("foreign_key_check", [])):
            rows = connection.execute(f"PRAGMA {pragma}").fetchall()
            if rows != well:
                found.append(f"{pragma}: {rows[:3]}")
        leases = connection.execute("SELECT count(*) FROM host WHERE lease_until > 0").fetchone()
        if leases != (0,):
            found.append(f"{leases} leases are left")
        try:
            check_invariants(connection)
        except AssertionError as error:
            found.append(f"counters: {str(error)[:500]}")
    return found


def _of_commands(database: Path, asked: int) -> list[str]:
    """Run the commands that read a catalogue; return the traceback of each that raised."""
    with open_readonly(database) as connection:
        pages = connection.execute(
            "SELECT address FROM (SELECT address, row_number() OVER (PARTITION BY purpose, reason ORDER BY id) AS n "
            "FROM url) ORDER BY n LIMIT ?",
            (asked,),
        ).fetchall()
        services = connection.execute("SELECT id FROM service ORDER BY id LIMIT ?", (asked,)).fetchall()
    commands = [
        ["status"],
        ["stats", "--survival"],
        ["stats", "--survival", "--json"],
        ["search", "map"],
        ["search", "\ufffd", "--format", "json"],
    ]
    commands += [["export", "--format", name] for name in ("csv", "jsonl")]
    commands += [["pages", "list"], ["metrics"]]
    commands += [["search", "wms OR map", "--format", name] for name in ("json", "csv")]
    commands += [["why", address] for (address,) in pages] + [["why", address, "--json"] for (address,) in pages[::5]]
    commands += [["history", str(number)] for (number,) in services[::5]]
    commands += [["show", str(number)] for (number,) in services] + [
        ["show", str(number), "--json"] for (number,) in services[::5]
    ]
    return [problem for command in commands if (problem := _run(command, database))]


def _run(command: list[str], database: Path) -> str:
    done = CliRunner().invoke(app, [*command, "--db", str(database)])
    if done.exit_code in (0, 1) and (done.exception is None or isinstance(done.exception, SystemExit)):
        return ""
    what = "".join(traceback.format_exception(done.exception))[-2_000:] if done.exception else ""
    return (
        f"{' '.join(command)[:300]}: exit {done.exit_code}\n{what}\n{done.output[-500:] if done.exit_code == 2 else ''}"
    )
