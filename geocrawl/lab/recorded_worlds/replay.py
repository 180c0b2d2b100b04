"""Replace the network by a recorded web: a transport that answers from memory, and a clock in virtual time.

Everything above the transport is the production code of `fetch`: turns, robots.txt, redirects, limits, decoding. Every
answer is recorded in an access log such as a web server writes.
"""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import NamedTuple, Protocol

import httpx

from geocrawl.fetch.transport import RawResponse, address_of
from geocrawl.lab.recorded_worlds.addresses import read_query, split_address
from geocrawl.lab.recorded_worlds.services import SLOW_S, Reply, operation, reply, unknown_service
from geocrawl.lab.recorded_worlds.world import World

_LATENCY_S = 0.001
"""Virtual time that an answer takes, so that no two answers arrive at the same moment, as on a real web."""
_START = dt.datetime(2025, 1, 1, tzinfo=dt.UTC).timestamp()


class ReplayClock:
    """Virtual clock, the same in every replay: sleeping advances the time at once (`ports.Clock`)."""

    def __init__(self, start: float = _START) -> None:
        self._now = self._start = start

    def now(self) -> float:
        """Return the virtual time in seconds since the epoch."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds since the replay began."""
        return self._now - self._start

    async def sleep(self, seconds: float) -> None:
        """Advance the virtual time at once; other tasks run first."""
        self._now += max(seconds, 0.0)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Advance the virtual time by the duration of an answer."""
        self._now += seconds


class Request(NamedTuple):
    """A line of the access log."""

    method: str
    url: str
    status: int
    bytes: int
    kind: str
    """page, robots, sitemap, asset, service or unknown."""
    service: str | None
    """Id of the service that answered."""
    request: str | None
    """The OGC operation asked for."""
    key: str
    at_s: float = 0.0
    """Seconds of virtual time since the replay began, when it was answered."""

    @property
    def is_page(self) -> bool:
        """Return whether the request counts as a downloaded page."""
        return self.kind == "page" and self.method == "GET" and not 300 <= self.status < 400


class Response(NamedTuple):
    """An answer of a closed web."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    kind: str
    service: str | None = None
    request: str | None = None
    seconds: float = 0.0


class Web(Protocol):
    """A closed web."""

    def respond(self, scheme: str, host: str, target: str) -> Response:
        """Return the answer to a GET of scheme://host + target, all normalised."""


class WorldWeb:
    """The web of a recorded world: answers with recorded pages first, then for its services, else 404 or 502."""

    def __init__(self, world: World) -> None:
        self._world = world

    def respond(self, scheme: str, host: str, target: str) -> Response:
        """Return the recorded answer; as a proxy does, 502 for an unknown host (and https), 404 for an unknown path."""
        if scheme != "http" or host not in self._world.hosts:
            return error_page(502)
        stored = self._world.stored(host + target)
        if stored is not None:
            return Response(stored.status, stored.headers, stored.body, stored.kind)
        place = host + target.partition("?")[0]
        if place not in self._world.by_place:
            return error_page(404)
        parameters: dict[str, str] = {}
        for name, value in read_query(target):
            parameters.setdefault(name.lower(), value)
        service = self._world.pick(place, parameters)
        if service is None:
            return _of_service(unknown_service(parameters), None, operation(parameters))
        answer = reply(service, parameters, lambda: self._world.document(service))
        seconds = SLOW_S if service.behaviour == "slow" else 0.0
        return _of_service(answer, service.id, operation(parameters))._replace(seconds=seconds)


def _of_service(answer: Reply, service: str | None, request: str | None) -> Response:
    headers = [("Content-Type", answer.content_type), *answer.headers]
    return Response(answer.status, headers, answer.body, "service", service, request)


def error_page(status: int) -> Response:
    """Return an error page of this status."""
    headers = [("Content-Type", "text/html; charset=utf-8")]
    return Response(status, headers, f"<title>{status}</title><h1>{status}</h1>\n".encode(), "unknown")


class ReplayTransport(httpx.AsyncBaseTransport):
    """A transport over a closed web."""

    def __init__(self, web: Web, clock: ReplayClock) -> None:
        self._web = web
        self._clock = clock
        self.log: list[Request] = []
        """Every request, in order."""
        self.pages = 0
        """Pages downloaded so far."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request at once, in virtual time."""
        url, answer = self.find(request)
        self._clock.advance(_LATENCY_S + answer.seconds)
        return self.deliver(url, answer)

    def find(self, request: httpx.Request) -> tuple[str, Response]:
        """Return the address that a request asks for, normalised, and the web's answer."""
        address = address_of(request)
        scheme = address.partition("://")[0].lower()
        host, target = split_address(address)
        is_get = request.method == "GET"
        return f"{scheme}://{host}{target}", self._web.respond(scheme, host, target) if is_get else error_page(405)

    def deliver(self, url: str, answer: Response) -> httpx.Response:
        """Write an answer into the access log and return it as the fetcher receives it."""
        key = url.partition("://")[2]
        told = (answer.status, len(answer.body), answer.kind, answer.service, answer.request)
        entry = Request("GET", url, *told, key, self._clock.monotonic())
        self.log.append(entry)
        self.pages += entry.is_page
        return RawResponse(answer.status, headers=_encoded(answer.headers), stream=httpx.ByteStream(answer.body))


def _encoded(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1", "replace"), value.encode("utf-8")) for name, value in headers]
