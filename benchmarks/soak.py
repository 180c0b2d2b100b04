"""A daemon's quarter of a year in minutes: its own due-logic by a simulated clock, on a made web with faults injected.

Services die and come back, pages announce services that are new, hosts answer slowly, want to be left alone for a day
(503 with Retry-After), or cannot be reached while the network is away. The web is made from a seed and answers in
process; all above the transport is what runs in production, the delays between requests included: only time is
simulated.

    python -m benchmarks.soak --days 90
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from geocrawl import parts
from geocrawl.daemon.budget import without_limits
from geocrawl.daemon.ticks import TICKS
from geocrawl.daemon.work import Work
from geocrawl.evaluate.addresses import key_of
from geocrawl.evaluate.replay import ReplayClock, ReplayTransport, Response, WorldWeb, nothing
from geocrawl.evaluate.worlds import World
from geocrawl.health import DAY_S, HOUR_S
from geocrawl.model import Entry, FrontierStats, Lease, Settled, Visit
from geocrawl.session import Session, Surroundings
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from geocrawl.worlds.folder import make as make_world

STEP_S = HOUR_S
"""Between two looks at what is due: more often finds the same, later by a minute."""
DEATHS, RETURNS, BIRTHS = 0.35, 0.5, 0.15
"""Shares of the services that die, of the dead that return, and of services announced as new."""
SLOW_HOSTS, RESTING_HOSTS, SLOW_S = 0.1, 0.1, 12.0


@dataclass(slots=True)
class Fate:
    """What becomes of one service, days from the start."""

    dies: float | None = None
    returns: float | None = None
    born: float = 0.0
    manner: str = "404"
    """How it is dead: 404, 500, html, timeout, refused."""

    def is_dead(self, day: float) -> bool:
        if day < self.born:
            return True
        return self.dies is not None and day >= self.dies and (self.returns is None or day < self.returns)


@dataclass(slots=True)
class Faults:
    """All that goes wrong, drawn from a seed."""

    fates: dict[str, Fate] = field(default_factory=dict)
    slow: set[str] = field(default_factory=set)
    resting: dict[str, float] = field(default_factory=dict)
    """Host → day on which it wants to be left alone."""
    outages: list[tuple[float, float]] = field(default_factory=list)
    """The network is away, from day to day."""


def draw(world: World, days: float, lot: random.Random) -> Faults:
    """Faults for a web over so many days."""
    faults = Faults()
    hosts = sorted(world.hosts)
    faults.slow = set(lot.sample(hosts, int(len(hosts) * SLOW_HOSTS)))
    faults.resting = {
        host: lot.uniform(1, days * 0.8) for host in lot.sample(hosts, max(1, int(len(hosts) * RESTING_HOSTS)))
    }
    faults.outages = [
        (day, day + 1 / 24) for day in sorted(lot.uniform(1, days) for _ in range(max(1, int(days / 15))))
    ]
    for service in world.services:
        if service.behaviour not in ("valid", "lenient"):
            continue
        fate = faults.fates[service.id] = Fate(manner=lot.choice(("404", "500", "html", "timeout", "refused")))
        if lot.random() < BIRTHS:
            fate.born = lot.uniform(1, days * 0.6)
        elif lot.random() < DEATHS:
            fate.dies = lot.uniform(1, days * 0.7)
            if lot.random() < RETURNS:
                fate.returns = fate.dies + lot.uniform(1, days * 0.25)
    return faults


class FaultyTransport(ReplayTransport):
    """The made web, with its faults."""

    def __init__(self, world: World, clock: ReplayClock, faults: Faults) -> None:
        super().__init__(_FaultyWeb(world, clock, faults), clock)
        self._faulty_clock, self._faults, self._begun = clock, faults, clock.now()
        self.by_host_and_day: Counter[tuple[str, int]] = Counter()
        self.last: dict[str, float] = {}
        self.least_gap_s: dict[str, float] = {}
        self.robots = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        now, host = self._faulty_clock.now(), request.url.host
        self._note(host, now)
        day = (now - self._begun) / DAY_S
        if any(start <= day < end for start, end in self._faults.outages):
            self._faulty_clock.advance(0.01)
            raise httpx.ConnectError("network is unreachable", request=request)
        answer = await super().handle_async_request(request)
        if answer.headers.get("x-fault") == "refused":
            raise httpx.ConnectError("connection refused", request=request)
        if answer.headers.get("x-fault") == "timeout":
            raise httpx.ReadTimeout("no answer", request=request)
        self.log.clear()  # a quarter of a year of lines is not needed
        return answer

    def _note(self, host: str, now: float) -> None:
        self.by_host_and_day[(host, int((now - self._begun) / DAY_S))] += 1
        gap = now - self.last.get(host, -1e9)
        self.least_gap_s[host] = min(gap, self.least_gap_s.get(host, 1e9))
        self.last[host] = now


class _FaultyWeb:
    """`evaluate.replay.Web` with dead services, new ones, slow hosts and hosts at rest."""

    def __init__(self, world: World, clock: ReplayClock, faults: Faults) -> None:
        self._web, self._clock, self._faults, self._begun = WorldWeb(world), clock, faults, clock.now()
        self._announcing: dict[str, list[tuple[float, bytes]]] = {}
        """Key of a page → (day of birth, address as written) of the services that it announces."""
        for service in world.services:
            born = faults.fates[service.id].born if service.id in faults.fates else 0.0
            for page, _ in service.exposures if born else ():
                place = key_of(service.base).partition("?")[0].encode()
                self._announcing.setdefault(key_of(page), []).append((born, place))

    def respond(self, scheme: str, host: str, target: str) -> Response:
        day = (self._clock.now() - self._begun) / DAY_S
        rest = self._faults.resting.get(host)
        if rest is not None and rest <= day < rest + 1:
            answer = nothing(503)
            return answer._replace(headers=[*answer.headers, ("Retry-After", "43200")])
        answer = self._web.respond(scheme, host, target)
        for born, place in self._announcing.get(host + target, ()):
            if day < born:
                answer = answer._replace(body=answer.body.replace(place, b"www.soon.example/none"))
        fate = self._faults.fates.get(answer.service or "")
        if fate is not None and fate.is_dead(day):
            answer = _dead(fate.manner)
        return answer._replace(seconds=answer.seconds + (SLOW_S if host in self._faults.slow else 0.0))


def _dead(manner: str) -> Response:
    if manner in ("404", "500"):
        return nothing(int(manner))
    if manner == "html":
        page = b"<html><title>Moved</title><p>This service has been switched off.</p></html>"
        return Response(200, [("Content-Type", "text/html")], page, "service")
    return Response(200, [("x-fault", manner)], b"", "service", seconds=30.0 if manner == "timeout" else 0.01)


class _Silent:
    """`ports.Observer` that says nothing."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """A run begins."""

    def leased(self, lease: Lease) -> None:
        """A visit begins."""

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        """A visit has ended."""


def _resident_mib() -> float:
    """Memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def simulate(folder: Path, *, days: int, pages: int, seed: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Run the daemon's work for so many days; returns the figures. `folder` is for the web and the database."""
    make_world("mixed", pages, seed, folder / "web")
    world = World(folder / "web")
    clock = ReplayClock()
    faults = draw(world, days, random.Random(seed))
    transport = FaultyTransport(world, clock, faults)
    settings = Settings(strategy="gws", allow_private=True, patience_s=0.0, workers=5)
    begun, memory, sizes = clock.now(), [_resident_mib()], list[float]()
    path = folder / "geocrawl.db"
    with parts.open_database(path, clock) as database:
        within = Surroundings(clock, transport, lambda: 0)
        session = Session(without_limits(settings), database, clock, within=within)
        session.take_over()
        session.add_seeds([url for url in map(read_url, world.seeds) if url is not None], again=False)
        work = Work(settings, database, session.frontier, clock)
        asyncio.run(_live(session, work, clock, days, begun, lambda day: _sample(day, memory, sizes, path, say)))
        connection = database.connection
        figures = {
            "days": days,
            "seed": seed,
            "hosts": len(world.hosts),
            "pages_visited": connection.execute("SELECT count(*) FROM url WHERE state = 'visited'").fetchone()[0],
            "probes": connection.execute("SELECT count(*) FROM probe").fetchone()[0],
            "memory_mib": {
                "start": memory[min(1, len(memory) - 1)],
                "middle": memory[len(memory) // 2],
                "end": memory[-1],
            },
            "database_mib": {"start": sizes[0], "middle": sizes[len(sizes) // 2], "end": sizes[-1]},
            "leases_lost": connection.execute("SELECT count(*) FROM host WHERE lease_until > 0").fetchone()[0],
            "integrity": connection.execute("PRAGMA integrity_check").fetchone()[0],
            **_noticed(connection, world, faults, begun, days),
            "requests_a_host_a_day": max(transport.by_host_and_day.values()),
            "least_gap_s": round(min(gap for gap in transport.least_gap_s.values() if gap > 0), 3),
            "delay_s": settings.delay_s,
        }
    return figures


async def _live(
    session: Session, work: Work, clock: ReplayClock, days: int, begun: float, sample: Callable[[float], None]
) -> None:
    """Hour by hour: the ticks that are due, then the loop until nothing is ready."""
    observer, due = _Silent(), {tick.name: begun for tick in TICKS if tick.name != "heartbeat"}
    every = {tick.name: tick.every_s for tick in TICKS}
    fetcher = session.fetcher()
    next_sample = begun
    while clock.now() < begun + days * DAY_S:
        hour_ends = clock.now() + STEP_S
        for name in due:
            if clock.now() >= due[name]:
                due[name] = clock.now() + every[name]
                getattr(work, name)()
        crawler = session.crawler(observer, fetcher, max_pages=1 << 60, pages_counted=lambda: 0)
        await crawler.run()
        session.ended(crawler)
        if clock.now() < hour_ends:
            clock.advance(hour_ends - clock.now())
        if clock.now() >= next_sample:
            next_sample += DAY_S * max(1, days // 30)
            sample((clock.now() - begun) / DAY_S)
    await fetcher.close()


def _sample(day: float, memory: list[float], sizes: list[float], path: Path, say: Callable[[str], None]) -> None:
    memory.append(_resident_mib())
    sizes.append(round(path.stat().st_size / 2**20, 2))
    say(f"day {day:5.1f}: {memory[-1]:.0f} MiB, database {sizes[-1]:.2f} MiB")


def _noticed(
    connection: sqlite3.Connection, world: World, faults: Faults, begun: float, days: int
) -> Mapping[str, Any]:
    """Deaths and returns of services that were alive in the catalogue before, and how long until they were noticed."""
    from geocrawl.urls import endpoint_key

    events: dict[str, list[tuple[float, str, str]]] = {}
    for key, at, before, after in connection.execute(
        "SELECT e.key, h.at, h.before, h.after FROM health_event h "
        "JOIN endpoint e ON e.id = h.endpoint_id ORDER BY h.at"
    ):
        events.setdefault(key, []).append(((at - begun) / DAY_S, before, after))
    deaths, returns, births = _Delays(), _Delays(), _Delays()
    for service in world.services:
        fate = faults.fates.get(service.id)
        url = read_url(service.base)
        if fate is None or url is None:
            continue
        mine = events.get(endpoint_key(url), [])
        alive = [day for day, _, after in mine if after == "alive"]
        if fate.born > 0 and fate.born < days - 1:
            births.add(fate.born, [day for day in alive if day >= fate.born])
        if fate.dies is not None and any(day < fate.dies for day in alive):
            end = fate.returns if fate.returns is not None else days
            noticed = [day for day, _, after in mine if after == "degraded" and fate.dies <= day < end]
            deaths.add(fate.dies, noticed)
            was_down = any(after == "down" and day < end for day, _, after in mine)
            if fate.returns is not None and fate.returns < days - 1 and was_down:
                returns.add(fate.returns, [day for day, before, _ in mine if before == "down" and day >= fate.returns])
    return {"deaths": deaths.figures(), "returns": returns.figures(), "births": births.figures()}


class _Delays:
    """Days between what happened and its being noticed."""

    def __init__(self) -> None:
        self._happened = 0
        self._days: list[float] = []

    def add(self, happened: float, noticed: list[float]) -> None:
        self._happened += 1
        if noticed:
            self._days.append(noticed[0] - happened)

    def figures(self) -> dict[str, Any]:
        days = sorted(self._days)
        return {
            "happened": self._happened,
            "noticed": len(days),
            "median_days": round(statistics.median(days), 2) if days else None,
            "p95_days": round(days[min(len(days) - 1, int(len(days) * 0.95))], 2) if days else None,
        }


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Simulate, print, and return the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args(arguments)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="geocrawl-soak-") as folder:
        say = lambda line: print(f"   {line}", flush=True)  # noqa: E731
        figures = simulate(Path(folder), days=options.days, pages=options.pages, seed=options.seed, say=say)
    figures["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(figures, indent=2))
    return figures


if __name__ == "__main__":
    main()
