"""Carry requests of httpx over pools of connections (httpcore), their addresses sent byte for byte.

httpx would normalise an address, so a request's own URL names the origin alone; what is sent stands in its
`extensions`. Connections are apart where one request must not use the connection of another: by proxy, by whether the
server is verified (`tls`), and by whether the body is read to its real end (`answer_reader`). Hosts behind one HTTP
proxy share connections. Nothing is sent a second time here: `fetcher` decides whether and when a request is repeated.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import weakref
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

import httpcore
import httpx

from geocrawl.fetch.guard import AddressGuard, AddrInfo
from geocrawl.fetch.names import Names
from geocrawl.fetch.network import ConnectFailed, ConnectionLost, Network, ProxyUnreached, Stream
from geocrawl.fetch.proxy import Proxy
from geocrawl.fetch.tls import trusted_certificates, unverified_context
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


class RawResponse(httpx.Response):
    """A response as a server sent it. httpx, too, looks where redirects lead, and raises for what is no address."""

    @property
    def has_redirect_location(self) -> bool:
        """Return False: `answer_reader` looks."""
        return False


class PooledTransport(httpx.AsyncBaseTransport):
    """Sends requests over the network."""

    def __init__(self, settings: Settings, guard: AddressGuard, names: Names) -> None:
        self._settings = settings
        self._contexts = {True: trusted_certificates(), False: unverified_context()}
        self._guard = guard
        self._names = names
        self._busy: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()
        """By origin, held from a request to the end of its answer: a server has one request at a time."""
        self._pools: dict[tuple[Route, str], httpcore.AsyncConnectionPool] = {}
        """By route and, where connections to a proxy are not shared, the scheme of the server."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response with its body unread and undecoded; raise one of `failures.WEB_ERRORS`."""
        origin, _ = split_address(address_of(request))
        busy = self._busy.get(origin) or self._busy.setdefault(origin, asyncio.Lock())
        await busy.acquire()
        try:
            response, stream = await self._send(request)
        except BaseException:
            busy.release()
            raise
        body = _Body(response, stream, busy)
        return RawResponse(response.status, headers=response.headers, stream=body, request=request)

    async def _send(self, request: httpx.Request) -> tuple[httpcore.Response, Stream]:
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
        response = await self._pool(route, scheme, request).handle_async_request(asked)
        stream: Stream = response.extensions["network_stream"]
        if not stream.is_answered:  # bytes that followed the answer before
            await response.aclose()
            raise ConnectionLost(was_kept=True)
        if response.status == httpx.codes.SWITCHING_PROTOCOLS:
            await response.aclose()
            raise httpcore.RemoteProtocolError("the server changes to another protocol, unasked")
        return response, stream

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.aclose()

    def _pool(self, route: Route, scheme: str, request: httpx.Request) -> httpcore.AsyncConnectionPool:
        pool = self._pools.get((route, scheme))
        if pool is None:
            agent = request.headers.get("User-Agent", "")
            pool = self._pools[route, scheme] = self._new_pool(route, scheme, agent)
        return pool

    def _new_pool(self, route: Route, scheme: str, agent: str) -> httpcore.AsyncConnectionPool:
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
            max_connections=None,  # the number of visits is the limit
            max_keepalive_connections=0 if route.to_end else self._settings.max_idle_connections,
            keepalive_expiry=_KEEPALIVE_S,
            network_backend=network,
        )

    def _tls_of_proxy(self, proxy: Proxy) -> ssl.SSLContext | None:
        return self._contexts[True] if proxy.address.startswith("https:") else None


class _Body(httpx.AsyncByteStream):
    """The body of a response, undecoded."""

    def __init__(self, response: httpcore.Response, stream: Stream, busy: asyncio.Lock) -> None:
        self._response = response
        self._stream = stream
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
        finally:
            busy.release()


def _open_socket(info: AddrInfo) -> socket.socket:
    family, kind, protocol, _, _ = info
    return socket.socket(family, kind, protocol)
