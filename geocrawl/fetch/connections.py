"""Connections to the network: the address is sent byte for byte, and every connect is guarded.

A connection is kept for the next request of its route for some seconds. Routes are apart where one must not use the
connection of the other: by the server, or the proxy, and by whether the server is verified (`tls`). A proxy's own
address is exempt from the guard. A request whose body is to be read to its real end (`lengths`) has a connection to
itself, and asks the server to close it.

Nothing is sent a second time here: whether and when a request is repeated is decided by `fetcher`.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import weakref
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from http import HTTPStatus
from typing import NamedTuple

import aiohappyeyeballs

from geocrawl.fetch.answer_protocol import AnswerProtocol
from geocrawl.fetch.certificates import trusted_certificates
from geocrawl.fetch.guard import AddressGuard, AddrInfo, is_literal
from geocrawl.fetch.names import Names
from geocrawl.fetch.proxy import Proxy
from geocrawl.fetch.tls import unverified_context
from geocrawl.fetch.transport import HttpBody, HttpRequest, HttpResponse, value_of
from geocrawl.fetch.wire_errors import ConnectFailed, ConnectTimedOut, ProxyUnreached, TunnelRefused
from geocrawl.settings import Settings

_KEEPALIVE_S = 15.0
_NEXT_ADDRESS_S = 0.25
"""Time after which a name's next address is tried as well (RFC 8305, 8)."""
_QUIET_S = 5.0
"""Longest silence of a server that was asked to close the connection, and does not."""
_PORTS = {"http": 80, "https": 443}
_PLACE = re.compile(r"[^/?#]*(?://[^/?#]*)?")
"""Scheme, host and port."""
_NOT_IN_ADDRESS = re.compile(rb"[\0-\x20\x7f]")


class _Server(NamedTuple):
    """Where a connection leads."""

    host: str
    port: int
    is_tls: bool


class _Route(NamedTuple):
    """What requests that may share connections have in common."""

    origin: str
    """Origin of the server to which the connection leads; '' for one to a proxy, over which any server is asked."""
    proxy: Proxy | None
    verified: bool


@dataclass(frozen=True, slots=True)
class _Limits:
    """Bounds of an answer."""

    header_bytes: int
    quiet_s: float


class ExactTransport:
    """Sends requests over the network (`transport.Transport`)."""

    def __init__(self, settings: Settings, guard: AddressGuard, names: Names) -> None:
        self._connect_s = settings.connect_timeout_s
        self._limits = {
            to_end: _Limits(settings.header_bytes, min(settings.read_timeout_s, quiet_s))
            for to_end, quiet_s in ((False, settings.read_timeout_s), (True, _QUIET_S))
        }
        self._contexts = {True: trusted_certificates(), False: unverified_context()}
        self._names = names
        self._sockets = {
            False: _Sockets(guard.open_socket, settings.max_idle_connections),
            True: _Sockets(_open_socket, settings.max_idle_connections),
        }
        """By whether a proxy is used."""
        self._busy: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()
        """By origin, held from a request to the end of its answer: a server has one connection at a time."""
        self._idle: dict[_Route, list[AnswerProtocol]] = {}
        self._sweeping: asyncio.TimerHandle | None = None

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Return the response with its body unread and undecoded; raise one of `failures.WEB_ERRORS`."""
        origin = _split(request.address)[0]
        busy = self._busy.get(origin) or self._busy.setdefault(origin, asyncio.Lock())
        await busy.acquire()
        try:
            connection, release = await self._asked(request, origin)
        except BaseException:
            busy.release()
            raise

        def give_back() -> None:
            release()
            busy.release()

        return HttpResponse(connection.status, connection.fields, _Body(connection, give_back))

    async def _asked(self, request: HttpRequest, origin: str) -> tuple[AnswerProtocol, Callable[[], None]]:
        """Send a request; return its connection when the answer's header block is there, and what gives it back."""
        proxy, to_end = request.proxy, request.to_end
        is_shared = proxy is not None and origin.startswith("http:")
        route = _Route("" if is_shared else origin, proxy, request.verified)
        fields = list(request.fields)
        if to_end or self._sockets[proxy is not None].crowded():
            fields.append((b"Connection", b"close"))
        if proxy is not None and proxy.authorization and is_shared:
            fields.append((b"Proxy-Authorization", proxy.authorization.encode("latin-1")))
        target = request.address.partition("#")[0] if is_shared else _split(request.address)[1]
        head = _head(b"GET", target, fields)
        connection = None if to_end else self._kept(route)
        if connection is None:
            connection = await self._connected(route, to_end=to_end, agent=value_of(request.fields, b"User-Agent"))
        try:
            await connection.ask(head)
        except BaseException:
            connection.abort()
            raise
        return connection, partial(self._release, None if to_end else route, connection)

    async def aclose(self) -> None:
        """Close all connections that are kept."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        for connections in self._idle.values():
            for each in connections:
                each.close()
        self._idle.clear()

    # ----------------------------------------------------------------------- kept connections

    def _kept(self, route: _Route) -> AnswerProtocol | None:
        """Return the connection of a route that was used last, if one is open and was not idle for too long."""
        kept = self._idle.get(route, [])
        earliest = asyncio.get_running_loop().time() - _KEEPALIVE_S
        while kept:
            connection = kept.pop()
            if connection.is_open and connection.idle_since > earliest:
                return connection
            connection.abort()
        return None

    def _release(self, route: _Route | None, connection: AnswerProtocol) -> None:
        """Keep a connection of a route if its answer has ended, close any other."""
        if route is None or not connection.is_free:
            connection.abort()
            return
        self._idle.setdefault(route, []).append(connection)
        if self._sweeping is None:
            self._sweeping = asyncio.get_running_loop().call_later(_KEEPALIVE_S, self._sweep)

    def _sweep(self) -> None:
        """Close the connections that were idle for too long."""
        loop = asyncio.get_running_loop()
        earliest = loop.time() - _KEEPALIVE_S
        for route, connections in list(self._idle.items()):
            young = [each for each in connections if each.is_open and each.idle_since > earliest]
            for each in connections:
                if each not in young:
                    each.close()
            if young:
                self._idle[route] = young
            else:
                del self._idle[route]
        self._sweeping = loop.call_later(_KEEPALIVE_S, self._sweep) if self._idle else None

    # ----------------------------------------------------------------------- new connections

    async def _connected(self, route: _Route, *, to_end: bool, agent: bytes) -> AnswerProtocol:
        """Return a new connection, through a tunnel where the proxy must not read along."""
        protocol = partial(AnswerProtocol, self._limits[to_end], to_end=to_end)
        try:
            async with asyncio.timeout(self._connect_s):
                if route.proxy is None:
                    return await self._opened(_server(route.origin), route, protocol)
                if not route.origin:
                    return await self._opened(_server(route.proxy.address), route, protocol)
                return await self._tunnelled(route, route.proxy, protocol, agent)
        except TimeoutError as error:
            raise ConnectTimedOut(f"no connection within {self._connect_s:g} s") from error

    async def _opened(self, server: _Server, route: _Route, protocol: Callable[[], AnswerProtocol]) -> AnswerProtocol:
        """Return a connection to a server or a proxy. Raises ConnectFailed."""
        opened = None
        try:
            infos = await self._addresses(server)
            sockets = self._sockets[route.proxy is not None]
            opened = await aiohappyeyeballs.start_connection(
                infos, happy_eyeballs_delay=_NEXT_ADDRESS_S, socket_factory=sockets.open
            )
            context = self._contexts[route.verified] if server.is_tls else None
            name = server.host.rstrip(".") if server.is_tls else None
            loop = asyncio.get_running_loop()
            _, connection = await loop.create_connection(protocol, sock=opened, ssl=context, server_hostname=name)
        except OSError as error:
            if opened is not None:
                opened.close()
            kind = ConnectFailed if route.proxy is None or isinstance(error, ssl.SSLError) else ProxyUnreached
            raise kind(server.host, server.port, error) from error
        except BaseException:
            if opened is not None:
                opened.close()
            raise
        return connection

    async def _addresses(self, server: _Server) -> list[AddrInfo]:
        if is_literal(server.host):
            family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
            found: tuple[tuple[socket.AddressFamily, str], ...] = ((family, server.host),)
        else:
            found = await self._names.addresses(server.host)
        return [
            (kind, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", _socket_address(kind, address, server.port))
            for kind, address in found
        ]

    async def _tunnelled(
        self, route: _Route, proxy: Proxy, protocol: Callable[[], AnswerProtocol], agent: bytes
    ) -> AnswerProtocol:
        """Return a connection to a server through a tunnel of a proxy (RFC 9110, 9.3.6)."""
        server = _server(route.origin)
        outer = await self._opened(_server(proxy.address), route, protocol)
        try:
            host = f"[{server.host}]" if ":" in server.host else server.host
            there = f"{host}:{server.port}"
            fields = [(b"Host", there.encode()), (b"User-Agent", agent)]
            if proxy.authorization:
                fields.append((b"Proxy-Authorization", proxy.authorization.encode("latin-1")))
            await outer.ask(_head(b"CONNECT", there, fields))
            if outer.status != HTTPStatus.OK:
                raise TunnelRefused(outer.status, outer.reason.decode("latin-1"))
            inner = protocol()
            try:
                await outer.start_tls(inner, self._contexts[route.verified], server.host.rstrip("."))
            except OSError as error:
                raise ConnectFailed(server.host, server.port, error) from error
        except BaseException:
            outer.abort()
            raise
        return inner


class _Sockets:
    """Opens sockets and counts the open ones, so that idle ones stay bounded however many hosts are visited."""

    def __init__(self, open_socket: Callable[[AddrInfo], socket.socket], limit: int) -> None:
        self._open_socket = open_socket
        self._limit = limit
        self._sockets: weakref.WeakSet[socket.socket] = weakref.WeakSet()

    def open(self, info: AddrInfo) -> socket.socket:
        """Return a new socket, which is counted."""
        opened = self._open_socket(info)
        self._sockets.add(opened)
        return opened

    def crowded(self) -> bool:
        """Return whether a server should be asked to close the connection after its answer."""
        if len(self._sockets) <= self._limit:
            return False
        for one in [one for one in self._sockets if one.fileno() < 0]:
            self._sockets.discard(one)
        return len(self._sockets) > self._limit


class _Body(HttpBody):
    """The body of an answer, whose connection is given back when it is closed."""

    def __init__(self, connection: AnswerProtocol, release: Callable[[], None]) -> None:
        self._connection = connection
        self._release: Callable[[], None] | None = release

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._connection.pieces()

    async def aclose(self) -> None:
        release, self._release = self._release, None
        if release is not None:
            release()


def _open_socket(info: AddrInfo) -> socket.socket:
    family, kind, protocol, _, _ = info
    return socket.socket(family, kind, protocol)


def _socket_address(family: socket.AddressFamily, address: str, port: int) -> tuple[object, ...]:
    return (address, port, 0, 0) if family == socket.AF_INET6 else (address, port)


def _split(address: str) -> tuple[str, str]:
    """Return an address's origin, and what a server is asked for, unchanged."""
    found = _PLACE.match(address)
    assert found is not None, "it matches any text"
    target = address[found.end() :].partition("#")[0]
    return found[0], target if target.startswith("/") else f"/{target}"


@lru_cache(maxsize=4096)
def _server(origin: str) -> _Server:
    """Return where an origin's server, or a proxy, is connected. Raises ValueError for a port that is no number."""
    scheme, _, place = origin.partition("://")
    host, colon, port = place.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = place, ""
    return _Server(host.removeprefix("[").removesuffix("]"), int(port or _PORTS[scheme]), scheme == "https")


def _head(method: bytes, target: str, fields: list[tuple[bytes, bytes]]) -> bytes:
    """Return the bytes of a request. Raises ValueError for what would be read as another one."""
    asked = target.encode()
    lines = b"".join([b"%b: %b\r\n" % field for field in fields])
    has_more_lines = not lines.count(b"\r") == lines.count(b"\n") == len(fields)
    if has_more_lines or b"\0" in lines or _NOT_IN_ADDRESS.search(asked):
        raise ValueError("a request may contain no control character")
    return b"%b %b HTTP/1.1\r\n%b\r\n" % (method, asked, lines)
