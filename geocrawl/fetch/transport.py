"""Carry requests of httpx over connections of httpcore, their addresses sent byte for byte.

httpx would normalise an address, so a request's own URL names the origin alone; what is sent stands in its
`extensions`. Connections are apart where one request must not use the connection of another: by proxy, by whether the
server is verified (`tls`), and by whether the body is read to its real end (`answer_reader`). Hosts behind one HTTP
proxy share connections. Nothing is sent a second time here: `fetcher` decides whether and when a request is repeated.

httpcore's pool only makes the connections: at each request it looks through all that it holds, which takes 10 ms at 200
hosts. Those that wait for their next request are kept here, by origin.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import time
import weakref
from collections import OrderedDict, defaultdict
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

import httpcore
import httpx

from geocrawl.fetch.guard import AddressGuard, AddrInfo
from geocrawl.fetch.names import NameCache
from geocrawl.fetch.network import ConnectFailed, ConnectionLost, Network, ProxyUnreached, Stream
from geocrawl.fetch.proxy import Proxy
from geocrawl.fetch.tls import trusted_certificates, unverified_context
from geocrawl.resources import spare_files
from geocrawl.settings import Settings

Fields = Sequence[tuple[bytes, bytes]]
"""Header fields as sent: names and values, in their order."""
_KEEPALIVE_S = 15.0
_QUIET_S = 5.0
"""Longest silence of a server that was asked to close the connection, and does not."""
_PLACE = re.compile(r"([^/?#]*(?://[^/?#]*)?)([^#]*)")
"""Scheme, host and port; what a server is asked for."""


class EarlyEnd(httpcore.RemoteProtocolError):
    """The connection ended before the length of the body that was announced, or before its last chunk."""


class Route(NamedTuple):
    """What requests that may share connections have in common, but for their origin."""

    proxy: Proxy | None = None
    verified: bool = True
    """Whether the server's certificate must be valid."""
    to_end: bool = False
    """Whether to read the body until the server closes the connection."""


_DIRECT = Route()


def request_for(
    address: str, fields: Fields = (), route: Route = _DIRECT, *, body: bytes | None = None
) -> httpx.Request:
    """Return a GET for an address, or a POST of `body`. The address is sent unchanged but for its fragment."""
    origin, _ = split_address(address)
    method, extensions = "GET" if body is None else "POST", {"address": address, "route": route}
    return httpx.Request(method, _url(origin), headers=list(fields), content=body, extensions=extensions)


def address_of(request: httpx.Request) -> str:
    """Return the address that a request asks for."""
    return str(request.extensions["address"])


def fields_of(response: httpx.Response) -> Fields:
    """Return the header fields of a response as sent."""
    return response.headers.raw


def split_address(address: str) -> tuple[str, str]:
    """Return an address's origin, and what a server is asked for, unchanged."""
    match = _PLACE.match(address)
    assert match is not None, "it matches any text"
    return match[1], match[2] if match[2].startswith("/") else f"/{match[2]}"


@lru_cache(maxsize=4096)
def _url(origin: str) -> httpx.URL:
    return httpx.URL(origin)


class _Place(NamedTuple):
    """What connections have in common that one request may use."""

    route: Route
    scheme: str
    """Scheme of the requested address: a proxy is used differently for https."""
    origin: str
    """Origin of the server, or of the proxy that all hosts share."""


class _IdleConnections:
    """Connections that wait for their next request, all equally long: the one that came first ends first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._since: OrderedDict[httpcore.AsyncConnectionInterface, tuple[_Place, float]] = OrderedDict()
        """Each with its place and when it came, oldest first."""
        self._at: defaultdict[_Place, list[httpcore.AsyncConnectionInterface]] = defaultdict(list)

    def take(self, place: _Place) -> httpcore.AsyncConnectionInterface | None:
        """Return the connection of a place that waits for the shortest time, or None; it waits no more."""
        if place not in self._at:
            return None
        connection = self._at[place][-1]
        self._remove(connection)
        return connection

    def put(self, place: _Place, connection: httpcore.AsyncConnectionInterface) -> None:
        """Let a connection wait."""
        self._since[connection] = place, time.monotonic()
        self._at[place].append(connection)

    def take_surplus(self) -> list[httpcore.AsyncConnectionInterface]:
        """Return those that waited too long, and the oldest of too many; they wait no more."""
        most = min(self._settings.max_idle_connections, spare_files(self._settings.workers))
        too_old = time.monotonic() - _KEEPALIVE_S
        surplus: list[httpcore.AsyncConnectionInterface] = []
        for connection, (_, since) in self._since.items():
            if since > too_old and len(self._since) - len(surplus) <= most:
                break
            surplus.append(connection)
        for connection in surplus:
            self._remove(connection)
        return surplus

    def _remove(self, connection: httpcore.AsyncConnectionInterface) -> None:
        place, _ = self._since.pop(connection)
        self._at[place].remove(connection)
        if not self._at[place]:
            del self._at[place]

    async def aclose(self) -> None:
        """Close all."""
        while self._since:
            connection = next(iter(self._since))
            self._remove(connection)
            await connection.aclose()


class RawResponse(httpx.Response):
    """A response as a server sent it. httpx, too, looks where redirects lead, and raises for what is no address."""

    @property
    def has_redirect_location(self) -> bool:
        """Return False: `answer_reader` looks."""
        return False


class PooledTransport(httpx.AsyncBaseTransport):
    """Sends requests over the network."""

    def __init__(self, settings: Settings, guard: AddressGuard, names: NameCache) -> None:
        self._settings = settings
        self._contexts = {True: trusted_certificates(), False: unverified_context()}
        self._guard = guard
        self._names = names
        self._busy: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()
        """By origin, held from a request to the end of its answer: a server has one request at a time."""
        self._makers: dict[tuple[Route, str], httpcore.AsyncConnectionPool] = {}
        """Pools of httpcore that create connections, by route and scheme."""
        self._idle = _IdleConnections(settings)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response with its body unread and undecoded; raise one of `failures.WEB_ERRORS`."""
        origin, _ = split_address(address_of(request))
        busy = self._busy.get(origin) or self._busy.setdefault(origin, asyncio.Lock())
        await busy.acquire()
        try:
            response, connection = await self._send(request)
        except BaseException:
            busy.release()
            raise
        body = _Body(response, connection, busy)
        return RawResponse(response.status, headers=response.headers, stream=body, request=request)

    async def _send(self, request: httpx.Request) -> tuple[httpcore.Response, _Connection]:
        route: Route = request.extensions["route"]
        origin, target = split_address(address_of(request))
        scheme, fields = origin.partition(":")[0], list(request.headers.raw)
        proxy = route.proxy
        if proxy is not None and scheme == "http" and not proxy.is_socks:
            origin, target = proxy.address, origin + target
            if proxy.authorization:
                fields.append((b"Proxy-Authorization", proxy.authorization.encode("latin-1")))
        if route.to_end:
            fields.append((b"Connection", b"close"))
        server = urlsplit(origin)
        url = httpcore.URL(scheme=server.scheme, host=server.hostname or "", port=server.port, target=target.encode())
        quiet_s = self._settings.read_timeout_s
        timeouts = {
            "connect": self._settings.connect_timeout_s,
            "read": min(quiet_s, _QUIET_S) if route.to_end else quiet_s,
            "write": quiet_s,
        }
        content = request.stream if request.method == "POST" else None
        asked = httpcore.Request(request.method, url, headers=fields, content=content, extensions={"timeout": timeouts})
        connection = await self._connection(_Place(route, scheme, origin), url.origin, request)
        try:
            response = await connection.inner.handle_async_request(asked)
            if not _stream_of(response).is_answered:  # bytes that followed the answer before
                raise ConnectionLost(was_kept=True)
            if response.status == httpx.codes.SWITCHING_PROTOCOLS:
                raise httpcore.RemoteProtocolError("the server changes to another protocol, unasked")
        except BaseException:
            await connection.inner.aclose()
            raise
        return response, connection

    async def _connection(self, place: _Place, origin: httpcore.Origin, request: httpx.Request) -> _Connection:
        """Return a connection that waited, if one is still of use, or a new one, which connects when it is used."""
        while (idle := self._idle.take(place)) is not None:
            if not idle.is_closed() and not idle.has_expired():
                return _Connection(idle, place, self._idle)
            await idle.aclose()
        maker = self._makers.get((place.route, place.scheme))
        if maker is None:
            agent = request.headers.get("User-Agent", "")
            maker = self._makers[place.route, place.scheme] = self._new_maker(place.route, place.scheme, agent)
        return _Connection(maker.create_connection(origin), place, self._idle)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._idle.aclose()

    def _new_maker(self, route: Route, scheme: str, agent: str) -> httpcore.AsyncConnectionPool:
        proxy = route.proxy
        network = Network(
            self._names,
            self._guard.open_socket if proxy is None else _open_socket,
            ConnectFailed if proxy is None else ProxyUnreached,
            header_bytes=self._settings.header_bytes,
            to_end=route.to_end,
        )
        through = None
        if proxy is not None and proxy.is_socks:
            through = httpcore.Proxy(proxy.address, auth=proxy.credentials)
        elif proxy is not None and scheme == "https":
            headers: dict[str | bytes, str | bytes] = {"User-Agent": agent}
            if proxy.authorization:
                headers["Proxy-Authorization"] = proxy.authorization
            through = httpcore.Proxy(proxy.address, headers=headers, ssl_context=self._tls_of_proxy(proxy))
        return httpcore.AsyncConnectionPool(
            ssl_context=self._contexts[route.verified],
            proxy=through,
            keepalive_expiry=_KEEPALIVE_S,
            network_backend=network,
        )

    def _tls_of_proxy(self, proxy: Proxy) -> ssl.SSLContext | None:
        return self._contexts[True] if proxy.address.startswith("https:") else None


class _Connection(NamedTuple):
    """A connection in use."""

    inner: httpcore.AsyncConnectionInterface
    place: _Place
    idle: _IdleConnections

    async def give_back(self) -> None:
        """Let it wait for its next request, if its answer was read to the end; it is closed otherwise."""
        if self.inner.is_idle():
            self.idle.put(self.place, self.inner)
        for connection in self.idle.take_surplus():
            await connection.aclose()


def _stream_of(response: httpcore.Response) -> Stream:
    stream: Stream = response.extensions["network_stream"]
    return stream


class _Body(httpx.AsyncByteStream):
    """The body of a response, undecoded."""

    def __init__(self, response: httpcore.Response, connection: _Connection, busy: asyncio.Lock) -> None:
        self._response = response
        self._stream = _stream_of(response)
        self._connection = connection
        self._busy: asyncio.Lock | None = busy
        self._is_begun = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._is_begun = True
        try:
            async for piece in self._response.aiter_stream():
                yield piece
        except httpcore.RemoteProtocolError as error:
            if self._stream.has_ended:
                raise EarlyEnd("the connection ended before the body") from error
            raise

    async def aclose(self) -> None:
        busy, self._busy = self._busy, None
        if busy is None:
            return
        try:
            if not self._is_begun and self._stream.has_whole_body:  # nothing is waited for, and the connection is kept
                async for _ in self._response.aiter_stream():
                    pass
            await self._response.aclose()
            await self._connection.give_back()
        finally:
            busy.release()


def _open_socket(info: AddrInfo) -> socket.socket:
    family, kind, protocol, _, _ = info
    return socket.socket(family, kind, protocol)
