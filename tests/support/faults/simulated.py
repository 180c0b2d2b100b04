"""Faults that last for hours, in simulated time: the daemon's own loop on a made web that answers in process.

All above the transport is what runs in production, the delays between requests included. A run that is struck is held
against an undisturbed one of the same web: its catalogue at the end is to be the same.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from geocrawl.app import wiring
from geocrawl.app.claim import claim
from geocrawl.app.session import Environment
from geocrawl.daemon.budget import Budget, Hours, without_limits
from geocrawl.daemon.jobs import Jobs
from geocrawl.daemon.notify import Notifier
from geocrawl.daemon.service import Daemon
from geocrawl.fetch.transport import HttpRequest, HttpResponse, WholeBody
from geocrawl.fetch.wire_errors import ConnectFailed
from geocrawl.lab.made_worlds.folder import make as make_world
from geocrawl.lab.recorded_worlds.replay import ReplayClock, ReplayTransport, WorldWeb, error_page
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model.health import DAY_S, HOUR_S
from geocrawl.settings import Settings
from geocrawl.store.engine.database import Database
from geocrawl.urls import read_url
from tests.support.faults.row import Row
from tests.support.soak import Silent

STRUCK_AFTER_S = 60.0
_TICKS = {"reprobe": 60.0, "revisit": 600.0, "refresh": HOUR_S, "retention": HOUR_S}


@dataclass(frozen=True, slots=True)
class Strike:
    """What goes wrong, and when."""

    for_s: float = 0.0
    after_s: float = STRUCK_AFTER_S
    """From the start of the run to that of the strike."""
    unreachable: bool = False
    """The network is down."""
    nameless: bool = False
    """No name is known."""
    answers: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Host → the status and the Retry-After (seconds) that it answers with."""


class StruckTransport(ReplayTransport):
    """A web that a strike befalls."""

    def __init__(self, world: World, clock: ReplayClock, strike: Strike) -> None:
        super().__init__(WorldWeb(world), clock)
        self._time, self._strike, self._begun = clock, strike, clock.now()
        self.under_strike = Counter[str]()
        """Requests by host while it lasted."""
        self.first_after: float | None = None
        """When the first request that is answered came after its end, seconds from that."""
        self.at_strike: Callable[[], object] = lambda: None
        """Called once, before the first request from the strike's beginning on."""
        self._told = False

    async def send(self, request: HttpRequest) -> HttpResponse:
        since = self._time.now() - self._begun - self._strike.after_s
        host, strike = urlsplit(request.address).hostname or "", self._strike
        if since >= 0 and not self._told:
            self._told = True
            self.at_strike()
        if 0 <= since < strike.for_s:
            self.under_strike[host] += 1
            self._time.advance(0.01)
            if strike.nameless:
                unknown = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
                raise ConnectFailed(host, 80, unknown) from unknown
            if strike.unreachable:
                away = OSError(errno.ENETUNREACH, "Network is unreachable")
                raise ConnectFailed(host, 80, away) from away
            if host in strike.answers:
                status, retry_after = strike.answers[host]
                answer = error_page(status)
                headers = [(b"Retry-After", str(retry_after).encode()), (b"Content-Type", b"text/html")]
                return HttpResponse(answer.status, headers, WholeBody(answer.body))
        elif since >= strike.for_s and self.first_after is None:
            self.first_after = round(since - strike.for_s, 1)
        return await super().send(request)


Condition = tuple[object, ...]
"""health, since when, status, reason, HTTP status, number of probes, next probe."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What one run came to."""

    before: frozenset[str]
    """Settled when the strike began."""
    settled: frozenset[str]
    valid: frozenset[str]
    given_up: int
    transport: StruckTransport
    said: tuple[str, ...]
    condition_before: Mapping[str, Condition]
    """How each endpoint stood when the strike began."""
    condition: Mapping[str, Condition]
    """… and when the run ended."""
    in_vain: int
    """Probes, and changes of health, that the history keeps of the time of the strike."""


def run(world: World, path: Path, strike: Strike, hours: float, step_s: float = 30.0) -> Ended:
    """The daemon's loop and its ticks for so many simulated hours, a turn every `step_s` once the start is over."""
    clock = ReplayClock()
    transport = StruckTransport(world, clock, strike)
    settings = without_limits(Settings(strategy="gws", allow_private=True, patience_s=0.0))
    said: list[str] = []
    with wiring.open_store(path, clock) as store:
        within = Environment(clock, transport, lambda: 0)
        session = wiring.make_session(settings, store, clock, environment=within)
        claim(session)
        session.add_seeds([url for url in map(read_url, world.seeds) if url is not None], again=False)
        lock = store.daemon_lock()
        lock.acquire(clock.now())
        work = Jobs(settings, store, session.frontier, clock)
        daemon = Daemon(
            session,
            work,
            lock,
            store=store,
            clock=clock,
            budget=Budget(Hours(), 0),
            notifier=Notifier({}),
            observer=Silent(),
            log=lambda event, **_: said.append(event),
            reload=lambda: (session, work, Budget(Hours(), 0)),
        )
        begun, database = clock.now(), store.database
        before, condition_before = frozenset[str](), dict[str, Condition]()

        def look() -> None:
            nonlocal before, condition_before
            before, condition_before = _settled(database), _conditions(database)

        transport.at_strike = look
        asyncio.run(_live(daemon, clock, hours, step_s))
        gone = "SELECT count(*) FROM url WHERE state = 'failed' AND retry_at IS NULL"
        given_up = database.connection.execute(gone).fetchone()[0]
        return Ended(
            before,
            _settled(database),
            _valid(database),
            given_up,
            transport,
            tuple(said),
            condition_before,
            _conditions(database),
            _in_vain(database, begun + strike.after_s, begun + strike.after_s + strike.for_s),
        )


async def _live(daemon: Daemon, clock: ReplayClock, hours: float, step_s: float) -> None:
    begun = clock.now()
    due = dict.fromkeys(_TICKS, begun)
    while clock.now() < begun + hours * HOUR_S:
        for name, at in due.items():
            if clock.now() >= at:
                due[name] = clock.now() + _TICKS[name]
                daemon.tick(name)
        await daemon.turn()
        await clock.sleep(step_s if clock.now() > begun + STRUCK_AFTER_S else 1.0)


def _settled(database: Database) -> frozenset[str]:
    rows = database.connection.execute("SELECT address FROM url WHERE state = 'visited'")
    return frozenset(row[0] for row in rows) | _valid(database)


def _valid(database: Database) -> frozenset[str]:
    rows = database.connection.execute("SELECT kind || ' ' || key FROM endpoint WHERE last_ok IS NOT NULL")
    return frozenset(row[0] for row in rows)


def _conditions(database: Database) -> dict[str, Condition]:
    rows = database.connection.execute(
        "SELECT kind || ' ' || key, health, health_since, status, reason, http_status, probes, due_at FROM endpoint"
    )
    return {row[0]: row[1:] for row in rows}


def _in_vain(database: Database, start: float, end: float) -> int:
    statements = ("SELECT count(*) FROM probe WHERE {}", "SELECT count(*) FROM health_event WHERE {}")
    return sum(
        database.connection.execute(
            each.format("at >= ? AND at < ? AND reason IN ('refused', 'dns')"), (start, end)
        ).fetchone()[0]
        for each in statements
    )


def long_ones(folder: Path, pages: int, seed: int, hours: float = 26.0) -> list[Row]:
    """An hour without network, an hour without names, a day of 503 and 429: a row each."""
    make_world("mixed", pages, seed, folder / "web")
    world = World(folder / "web")
    calm = run(world, folder / "calm.db", Strike(), hours)
    many = Counter(request.key.partition("/")[0] for request in calm.transport.log if request.is_page)
    busy, second = (host for host, _ in many.most_common(2))
    resting = Strike(DAY_S, answers={busy: (503, 86_400), second: (429, 3_600)})
    strikes = {
        "the network is down for an hour": ("every connection fails (ENETUNREACH)", Strike(HOUR_S, unreachable=True)),
        "DNS is down for an hour": ("look-ups fail (EAI_AGAIN)", Strike(HOUR_S, nameless=True)),
        "hosts want to be left alone for a day": (
            "the two largest hosts answer 503 with Retry-After: 86400 and 429 with Retry-After: 3600",
            resting,
        ),
    }
    return [
        _row(fault, cause, strike, calm, run(world, folder / f"{number}.db", strike, 72.0 if strike.answers else hours))
        for number, (fault, (cause, strike)) in enumerate(strikes.items())
    ]


def _row(fault: str, cause: str, strike: Strike, calm: Ended, struck: Ended) -> Row:
    requests = struck.transport.under_strike
    more: dict[str, Any] = {
        "simulated": True,
        "settled_before": len(struck.before),
        "requests_meanwhile": sum(requests.values()),
        "endpoints_missing_at_the_end": len(calm.valid - struck.valid),
        "pages_missing_at_the_end": len(calm.settled - calm.valid - struck.settled),
        "addresses_given_up_more": struck.given_up - calm.given_up,
    }
    if strike.answers:
        more["requests_to_them_meanwhile"] = {
            f"{status}, Retry-After {seconds} s": requests[host] for host, (status, seconds) in strike.answers.items()
        }
        more["requests_to_others_meanwhile"] = sum(n for host, n in requests.items() if host not in strike.answers)
    else:
        more["traces_in_the_history_of_services"] = struck.in_vain
        more["said_so"] = sum("network seems to be down" in line for line in struck.said)
    recovered = struck.transport.first_after
    return Row(fault, cause, len(struck.before - struck.settled), -1.0 if recovered is None else recovered, more)
