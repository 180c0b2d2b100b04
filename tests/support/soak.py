"""A daemon's quarter of a year in minutes: its own due-logic by a simulated clock, on a made web with faults injected.

Services die and come back, pages announce services that are new, hosts answer slowly, want to be left alone for a day
(503 with Retry-After), or cannot be reached while the network is down. The web is made from a seed and served on
loopback by another process (`soak_web`); all on this side is what runs in production, the connections and the delays
between requests included: only time is simulated.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import inspect
import os
import random
import statistics
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from geocrawl.app import fetchers, wiring
from geocrawl.app.crawl import claim
from geocrawl.app.session import Environment, Session
from geocrawl.daemon.budget import without_limits
from geocrawl.daemon.jobs import Jobs
from geocrawl.daemon.service import TICKS
from geocrawl.fetch.guard import AddressGuard
from geocrawl.fetch.names import NameCache
from geocrawl.fetch.network import ConnectFailed
from geocrawl.fetch.transport import PooledTransport, RawResponse, address_of
from geocrawl.lab.made_worlds.folder import make as make_world
from geocrawl.lab.recorded_worlds.addresses import key_of, split_address
from geocrawl.lab.recorded_worlds.replay import ReplayClock, Response, WorldWeb, error_page
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model import Entry, FrontierStats, Kind, Lease, SettlementResult, Visit
from geocrawl.model.health import DAY_S, HOUR_S
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.database.connection import Connection
from geocrawl.urls import read_url, service_endpoint
from tests.support.loopback import Handler, Server, served_by
from tests.support.memory import resident_mib

DEATHS, RETURNS, BIRTHS = 0.35, 0.5, 0.15
"""Shares of the services that die, of the dead that return, and of services announced as new."""
SLOW_HOSTS, RESTING_HOSTS, SLOW_S = 0.1, 0.1, 12.0


@dataclass(slots=True)
class Fate:
    """Birth, death and return of one service, in days from the start."""

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
    """The network is down, from day to day."""


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


class FaultyWeb:
    """A made web with dead services, new ones, slow hosts and hosts at rest, as it stands on a day."""

    def __init__(self, world: World, faults: Faults) -> None:
        self._web, self._faults = WorldWeb(world), faults
        self._announcing: dict[str, list[tuple[float, bytes]]] = {}
        """Key of a page → (day of birth, address as written) of the services that it announces."""
        for service in world.services:
            born = faults.fates[service.id].born if service.id in faults.fates else 0.0
            for page, _ in service.exposures if born else ():
                place = key_of(service.base).partition("?")[0].encode()
                self._announcing.setdefault(key_of(page), []).append((born, place))

    def respond(self, host: str, target: str, day: float) -> Response:
        """The answer to a GET; how long it takes stands in `seconds`, a death without an answer in x-fault."""
        rest = self._faults.resting.get(host)
        if rest is not None and rest <= day < rest + 1:
            answer = error_page(503)
            return answer._replace(headers=[*answer.headers, ("Retry-After", "43200")])
        answer = self._web.respond("http", host, target)
        for born, place in self._announcing.get(host + target, ()):
            if day < born:
                answer = answer._replace(body=answer.body.replace(place, b"www.soon.example/none"))
        fate = self._faults.fates.get(answer.service or "")
        if fate is not None and fate.is_dead(day):
            answer = _dead(fate.manner)
        return answer._replace(seconds=answer.seconds + (SLOW_S if host in self._faults.slow else 0.0))


def _dead(manner: str) -> Response:
    if manner in ("404", "500"):
        return error_page(int(manner))
    if manner == "html":
        page = b"<html><title>Moved</title><p>This service has been switched off.</p></html>"
        return Response(200, [("Content-Type", "text/html")], page, "service")
    return Response(200, [("x-fault", manner)], b"", "service", seconds=30.0 if manner == "timeout" else 0.01)


class FaultyServer(Server):
    """The web on loopback."""

    def __init__(self, web: FaultyWeb) -> None:
        super().__init__(_Handler)
        self.web = web


def with_validators(host: str, answer: Response, asked_by: str | None) -> Response:
    """The answer with an entity tag, on half of the hosts; 304 to who asks by it: then X-Spared says of how many bytes
    the body was."""
    if answer.status != HTTPStatus.OK or zlib.crc32(host.encode()) % 2:
        return answer
    tag = ("ETag", f'"{zlib.crc32(answer.body):08x}"')
    if asked_by == tag[1]:
        headers = [tag, ("X-Spared", str(len(answer.body)))]
        return answer._replace(status=HTTPStatus.NOT_MODIFIED, headers=headers, body=b"")
    return answer._replace(headers=[*answer.headers, tag])


class _Handler(Handler):
    server: FaultyServer

    def respond(self) -> None:
        host, target = split_address(self.path)
        answer = self.server.web.respond(host, target, float(self.headers["X-Day"]))
        answer = with_validators(host, answer, self.headers["If-None-Match"])
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("X-Seconds", f"{answer.seconds:g}")
        if answer.status != HTTPStatus.NOT_MODIFIED:  # it would be that of the body that is not sent (RFC 9110, 8.6)
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)


def served(folder: Path, days: float, seed: int) -> AbstractContextManager[str]:
    """Serve the web in `folder` from a process of its own; yields the proxy's URL."""
    return served_by("tests.support.soak", str(folder), f"--days={days}", f"--seed={seed}")


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.soak", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--days", type=float, default=90)
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    world = World(options.folder)
    server = FaultyServer(FaultyWeb(world, draw(world, options.days, random.Random(options.seed))))
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()


STEP_S = HOUR_S
"""Between two looks at what is due: more often finds the same, later by a minute."""
LATENCY_S = 0.001
"""Simulated time of an answer, at least."""
REQUESTS = 150
"""Of a host a day, at most; the visit under way is ended."""


class SoakClock(ReplayClock):
    """Simulated time that stands still while an answer is under way: only what the web says it takes passes then."""

    def __init__(self) -> None:
        super().__init__()
        self._under_way = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    async def sleep(self, seconds: float) -> None:
        """Move on when nobody waits for an answer."""
        await self._quiet.wait()
        await super().sleep(seconds)

    def hold(self) -> None:
        """An exchange begins."""
        self._under_way += 1
        self._quiet.clear()

    def release(self) -> None:
        """It has ended."""
        self._under_way -= 1
        if not self._under_way:
            self._quiet.set()


class FaultyTransport(httpx.AsyncBaseTransport):
    """The real one, to the web on loopback, with faults of the network itself."""

    def __init__(self, settings: Settings, clock: SoakClock, faults: Faults) -> None:
        self._inner = PooledTransport(settings, AddressGuard(allow_private=True), NameCache(settings.dns_timeout_s))
        self._clock, self._faults, self._begun = clock, faults, clock.now()
        self.by_host_and_day: Counter[tuple[str, int]] = Counter()
        self.last: dict[str, float] = {}
        self.least_gap_s: dict[str, float] = {}
        self.bodies_bytes = self.spared_bytes = self.not_modified = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        now, host = self._clock.now(), urlsplit(address_of(request)).hostname or ""
        self._note(host, now)
        day = (now - self._begun) / DAY_S
        if any(start <= day < end for start, end in self._faults.outages):
            self._clock.advance(0.01)
            raise _away(host, errno.ENETUNREACH)
        request.headers["X-Day"] = repr(day)
        self._clock.hold()
        try:
            answer = await self._inner.handle_async_request(request)
            self._clock.advance(LATENCY_S + float(answer.headers["X-Seconds"]))
            self.spared_bytes += int(answer.headers.get("X-Spared", 0))
            self.not_modified += answer.status_code == HTTPStatus.NOT_MODIFIED
            self.bodies_bytes += int(answer.headers.get("Content-Length", 0))
            if died := answer.headers.get("X-Fault"):
                await answer.aclose()
                raise httpcore.ReadTimeout("timeout") if died == "timeout" else _away(host, errno.ECONNREFUSED)
        except BaseException:
            self._clock.release()
            raise
        return RawResponse(answer.status_code, headers=answer.headers, stream=_Body(answer, self._clock))

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _note(self, host: str, now: float) -> None:
        self.by_host_and_day[(host, int((now - self._begun) / DAY_S))] += 1
        gap = now - self.last.get(host, -1e9)
        self.least_gap_s[host] = min(gap, self.least_gap_s.get(host, 1e9))
        self.last[host] = now


def _away(host: str, number: int) -> ConnectFailed:
    """Return the error of a connection that was not made."""
    failed = ConnectFailed(host, 80, away := OSError(number, os.strerror(number)))
    failed.__cause__ = away
    return failed


class _Body(httpx.AsyncByteStream):
    """A body under way."""

    def __init__(self, answer: httpx.Response, clock: SoakClock) -> None:
        self._answer, self._clock = answer, clock

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer.aiter_raw():
            yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()
        self._clock.release()


class Silent:
    """`ports.Observer` that says nothing."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """A run begins."""

    def noted(self, text: str) -> None:
        """Nothing is shown."""

    def leased(self, lease: Lease) -> None:
        """A visit begins."""

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
        """A visit has ended."""


def simulate(folder: Path, *, days: int, pages: int, seed: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Run the daemon's work for so many days; returns the figures. `folder` is for the web and the database."""
    make_world("mixed", pages, seed, folder / "web")
    world = World(folder / "web")
    faults = draw(world, days, random.Random(seed))
    with served(folder / "web", days, seed) as proxy:
        settings = Settings(
            strategy="gws",
            allow_private=True,
            patience_s=0.0,
            workers=5,
            proxy=proxy,
            requests_per_host_per_day=REQUESTS,
        )
        return asyncio.run(_simulate(folder / "geocrawl.db", world, faults, settings, days, say))


async def _simulate(
    path: Path, world: World, faults: Faults, settings: Settings, days: int, say: Callable[[str], None]
) -> dict[str, Any]:
    clock = SoakClock()
    transport = FaultyTransport(settings, clock, faults)
    begun, memory, sizes = clock.now(), [resident_mib()], list[float]()
    with Store.open(path, clock=clock) as store:
        within = Environment(clock, transport, lambda: 0)
        session = wiring.make_session(without_limits(settings), store, clock, environment=within)
        claim(session)
        session.add_seeds([url for url in map(read_url, world.seeds) if url is not None], again=False)
        work = Jobs(settings, store, session.frontier, clock)
        await _live(session, work, clock, days, begun, lambda day: _sample(day, memory, sizes, path, say))
        return {
            "days": days,
            "hosts": len(world.hosts),
            **_stored(store.database.connection),
            "memory_mib": {
                "start": memory[min(1, len(memory) - 1)],
                "middle": memory[len(memory) // 2],
                "end": memory[-1],
            },
            "database_mib": {"start": sizes[0], "middle": sizes[len(sizes) // 2], "end": sizes[-1]},
            **_noticed(store.database.connection, world, faults, begun, days),
            "requests": sum(transport.by_host_and_day.values()),
            "not_modified": transport.not_modified,
            "bodies_mib": {
                "received": round(transport.bodies_bytes / 2**20, 1),
                "spared": round(transport.spared_bytes / 2**20, 1),
            },
            "requests_a_host_a_day": max(transport.by_host_and_day.values()),
            "requests_a_host_a_day_set": REQUESTS,
            "least_gap_s": round(min(gap for gap in transport.least_gap_s.values() if gap > 0), 3),
            "delay_s": settings.delay_s,
        }


def _stored(connection: Connection) -> dict[str, Any]:
    """What the database says at the end."""

    def value(statement: str) -> Any:
        return connection.execute(statement).fetchone()[0]

    return {
        "pages_visited": value("SELECT count(*) FROM url WHERE state = 'visited'"),
        "probes": value("SELECT count(*) FROM probe"),
        "leases_lost": value("SELECT count(*) FROM host WHERE lease_until > 0"),
        "integrity": value("PRAGMA integrity_check"),
    }


async def _live(
    session: Session, work: Jobs, clock: ReplayClock, days: int, begun: float, sample: Callable[[float], None]
) -> None:
    """Hour by hour: the ticks that are due, then the loop until nothing is ready."""
    observer, due = Silent(), {tick.name: begun for tick in TICKS if tick.name not in ("heartbeat", "crawl")}
    every = {tick.name: tick.every_s for tick in TICKS}
    fetcher = fetchers.make_session_fetcher(session)
    next_sample = begun
    while clock.now() < begun + days * DAY_S:
        hour_ends = clock.now() + STEP_S
        for name in due:
            if clock.now() >= due[name]:
                due[name] = clock.now() + every[name]
                done = getattr(work, name)()
                if inspect.isawaitable(done):
                    await done
        crawler = wiring.make_crawler(session, observer, fetcher, max_pages=1 << 60, pages_counted=lambda: 0)
        await crawler.run()
        if clock.now() < hour_ends:
            clock.advance(hour_ends - clock.now())
        if clock.now() >= next_sample:
            next_sample += DAY_S * max(1, days // 30)
            sample((clock.now() - begun) / DAY_S)
    await fetcher.close()


def _sample(day: float, memory: list[float], sizes: list[float], path: Path, say: Callable[[str], None]) -> None:
    memory.append(resident_mib())
    sizes.append(round(path.stat().st_size / 2**20, 2))
    say(f"day {day:5.1f}: {memory[-1]:.0f} MiB, database {sizes[-1]:.2f} MiB")


def _noticed(connection: Connection, world: World, faults: Faults, begun: float, days: int) -> Mapping[str, Any]:
    """Deaths and returns of services that were alive in the catalogue before, births of those that a page in reach
    announces, and how long until they were noticed."""
    events: dict[tuple[str, str], list[tuple[float, str, str]]] = {}
    for kind, key, at, before, after in connection.execute(
        "SELECT e.kind, e.key, h.at, h.before, h.after FROM health_event h "
        "JOIN endpoint e ON e.id = h.endpoint_id ORDER BY h.at"
    ):
        events.setdefault((kind, key), []).append(((at - begun) / DAY_S, before, after))
    visited = {key_of(row[0]) for row in connection.execute("SELECT address FROM url WHERE state = 'visited'")}
    deaths, returns, births = _Delays(), _Delays(), _Delays()
    for service in world.services:
        fate = faults.fates.get(service.id)
        url = read_url(service.base)
        if fate is None or url is None:
            continue
        mine = events.get((service.kind, service_endpoint(Kind(service.kind), url).key), [])
        alive = [day for day, _, after in mine if after == "alive"]
        in_reach = any(key_of(page) in visited for page, _ in service.exposures)
        if in_reach and 0 < fate.born < days - 1:
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
