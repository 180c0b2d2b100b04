"""What goes wrong in the simulated quarter of a year, and the web in which it does: `python -m tests.support.soak_web`.

The web is made from a seed and served by a process of its own, as an HTTP proxy on loopback. Each request says in
`X-Day` which day it is; the answer says in `X-Seconds` how long it takes in that time.
"""

from __future__ import annotations

import argparse
import random
import zlib
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path

from geocrawl.lab.recorded_worlds.addresses import key_of, split_address
from geocrawl.lab.recorded_worlds.replay import Response, WorldWeb, error_page
from geocrawl.lab.recorded_worlds.world import World
from tests.support.loopback import Handler, Server, served_by

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
    return served_by("tests.support.soak_web", str(folder), f"--days={days}", f"--seed={seed}")


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.soak_web", description=__doc__)
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
