"""Carry requests to a made web: the one file that knows the transport of `fetch`, and keeps the access log.

Another HTTP client needs another `SimulatedTransport`; the rest of the simulation sees `Exchange`s alone.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from geocrawl.fetch.names import Addresses
from geocrawl.fetch.network import ConnectFailed, ConnectionLost
from geocrawl.fetch.transport import EarlyEnd, RawResponse, address_of
from tests.simulation.processes import Process
from tests.simulation.scheduler import START, SimulatedLoop
from tests.simulation.web import MadeWeb, Reply

_SILENT_S = 40.0


@dataclass(slots=True, eq=False)
class Exchange:
    """A request that reached a server, in the access log of all."""

    process: Process
    host: str
    ip: str
    address: str
    begun: float
    day: int
    ended: float | None = None
    status: int = 0
    """0: no whole answer."""
    over_at: float = float("inf")
    """When the server is done, whatever becomes of the client."""
    after_pause: bool = False
    """Whether the process had just been paused: what it checked before may have changed meanwhile."""
    after_stall: bool = False
    """Whether the process had just waited for a busy database: the lease that it checked before may have ended."""


class Network:
    """The servers of one run and their access log."""

    def __init__(
        self, web: MadeWeb, loop: SimulatedLoop, say: Callable[[str, str], None], sent: Callable[[Process], None]
    ) -> None:
        """`sent` is called when a process has sent a request."""
        self.web = web
        self.loop = loop
        self.log: list[Exchange] = []
        self._say = say
        self._sent = sent

    def begin(self, process: Process, address: str) -> Exchange:
        """Write a request into the log."""
        host = urlsplit(address).hostname or ""
        now = self.loop.time()
        day = int((START + now) // 86_400)
        exchange = Exchange(process, host, self.web.hosts[host].ip, address, now, day)
        exchange.after_pause = now - process.resumed_at < 0.5
        exchange.after_stall = now - process.stalled_at < 0.5
        self.log.append(exchange)
        self._say(process.name, f"GET {address}")
        process.requests += 1
        self._sent(process)
        return exchange

    def end(self, exchange: Exchange, status: int) -> None:
        """Write the end of a request."""
        if exchange.ended is None:
            exchange.ended, exchange.status = min(self.loop.time(), exchange.over_at), status
            self._say(exchange.process.name, f"{status or 'nothing'} {exchange.address}")

    def silent(self, process: Process, for_s: float) -> int:
        """Return how many requests of a process have had no answer for so long."""
        before = self.loop.time() - for_s
        return sum(each.process is process and each.ended is None and each.begun < before for each in self.log)

    def killed(self, process: Process) -> None:
        """Close the connections of a process that was killed."""
        for exchange in self.log:
            if exchange.process is process:
                self.end(exchange, 0)


class SimulatedTransport(httpx.AsyncBaseTransport):
    """The transport and `fetch.names.Resolver` of one process."""

    def __init__(self, network: Network, process: Process) -> None:
        self._network = network
        self._process = process
        self._rng = network.loop.rng

    async def addresses(self, name: str) -> Addresses:
        """Return the address of a host, after a while."""
        await asyncio.sleep(self._rng.choice((0.0, 0.0, 0.01)))
        host = self._network.web.hosts.get(name)
        if host is None or host.kind == "dead":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return ((socket.AF_INET, host.ip),)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as the web does, after a while."""
        address = address_of(request)
        exchange = self._network.begin(self._process, address)
        host = exchange.host
        try:
            reply = self._network.web.respond(host, address)
            slow_s = _SILENT_S if reply.fault == "silent" else self._rng.choice((0.0, 0.02, 0.1, 0.5))
            exchange.over_at = exchange.begun + slow_s
            await asyncio.sleep(slow_s)
            _raise_fault(reply, host)
        except BaseException:
            self._network.end(exchange, 0)
            raise
        fields = [(b"Content-Type", reply.content_type.encode())]
        if reply.location:
            fields.append((b"Location", reply.location.encode()))
        if reply.retry_after_s:
            fields.append((b"Retry-After", str(reply.retry_after_s).encode()))
        if reply.fault == "truncated":
            self._network.end(exchange, 0)
            return RawResponse(200, headers=[*fields, (b"Content-Length", b"9999")], stream=_CutBody())
        self._network.end(exchange, reply.status)
        return RawResponse(reply.status, headers=fields, stream=httpx.ByteStream(reply.body))


def _raise_fault(reply: Reply, host: str) -> None:
    if reply.fault == "refused":
        raise ConnectFailed(host, 80, OSError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED)))
    if reply.fault in ("reset", "lost", "silent"):  # one who slept through the silence has no answer, either
        raise ConnectionLost(was_kept=reply.fault == "lost") from OSError(errno.ECONNRESET, "reset")


class _CutBody(httpx.AsyncByteStream):
    """A body whose connection ends early."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"<title>a part</title>"
        raise EarlyEnd("the connection ended")
