"""Connections to the network: httpx's aiohttp transport, with the address sent byte for byte and every connect guarded.

The stock transport passes the address as text, and aiohttp quotes it again (`%2F` in a query becomes `/`); this one
passes a URL that is marked as encoded. Requests through a proxy have connections of their own, since the proxy's own
address is exempt from the guard. So do requests that do not verify the server (`tls`): a verified request never uses a
connection that was opened without verification. A request whose body is to be read to its real end (`lengths`) has a
connection to itself: the server is asked to close it, and Content-Length is hidden from the parser.

aiohttp sends a GET a second time, at once, when its connection ends before an answer. A middleware turns that end into
an error of ours, which aiohttp does not retry: whether and when a request is repeated is decided by `fetcher`.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import httpx
from aiohttp import ClientHandlerType, ClientRequest, ClientResponse, ClientTimeout, TraceConfig
from aiohttp.client_proto import ResponseHandler
from httpx_aiohttp import AiohttpTransport
from httpx_aiohttp.transport import AiohttpResponseStream, map_aiohttp_exceptions
from yarl import URL

from geocrawl.fetch.answer import ANNOUNCED_LENGTH
from geocrawl.fetch.certificates import trusted_certificates
from geocrawl.fetch.guard import AddressGuard, AddrInfo
from geocrawl.fetch.names import Names, NamesResolver
from geocrawl.fetch.proxy import Proxy
from geocrawl.fetch.tls import unverified_context
from geocrawl.settings import Settings

_KEEPALIVE_S = 15.0
_LEAST_HEADER_BYTES = 32
"""A header line is hardly shorter: with the limit of a header block it bounds the number of lines."""


_QUIET_S = 5.0
"""Longest silence of a server that was asked to close the connection, and does not."""
_LONGEST_HEAD_BYTES = 1024 * 1024
"""More than any limit on header blocks: the parser then refuses it."""
_LENGTH = re.compile(rb"\r\ncontent-length[ \t]*:", re.IGNORECASE)


class ConnectionLost(aiohttp.ClientConnectionError):
    """The connection ended between the request and the first byte of its answer; `__cause__` is the reason."""

    def __init__(self, *, was_kept: bool) -> None:
        """Make the error; `was_kept`: an earlier request had been answered on the connection."""
        super().__init__("the server ended the connection before it answered")
        self.was_kept = was_kept


class ExactTransport(httpx.AsyncBaseTransport):
    """Sends GET requests. `request.extensions["address"]` is the address to send, `["proxy"]` the Proxy to use or
    None, `["verified"]` whether the server's certificate must be valid, `["to_end"]` whether to read until the server
    closes the connection."""

    def __init__(self, settings: Settings, guard: AddressGuard, names: Names) -> None:
        contexts = {True: trusted_certificates(), False: unverified_context()}
        direct = _Connections(guard.open_socket, settings.max_idle_connections)
        proxied = _Connections(_open_socket, settings.max_idle_connections)
        self._transports = {
            (is_proxied, verified, to_end): _Transport(
                settings, context, proxied if is_proxied else direct, names, to_end=to_end
            )
            for is_proxied in (False, True)
            for verified, context in contexts.items()
            for to_end in (False, True)
        }
        """By whether a proxy is used, the server is verified, and the body is read to its real end."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response with its body unread and undecoded; raise one of `failures.WEB_ERRORS`."""
        is_proxied = request.extensions["proxy"] is not None
        key = (is_proxied, request.extensions["verified"], request.extensions["to_end"])
        return await self._transports[key].handle_async_request(request)

    async def aclose(self) -> None:
        """Close all connections."""
        for transport in self._transports.values():
            await transport.aclose()


def exact_url(address: str) -> URL:
    """Return the address as aiohttp's URL, such that its path and query are sent unchanged."""
    if address.endswith("?"):  # yarl drops the `?` of an empty query unless it is part of the path
        bare = URL(address, encoded=True)
        return URL.build(scheme=bare.scheme, authority=bare.raw_authority, path=bare.raw_path + "?", encoded=True)
    return URL(address, encoded=True)


class _Connections:
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


@dataclass(slots=True)
class _Sending:
    """The state of a request under way."""

    on_kept_connection: bool = False


class _Transport(AiohttpTransport):
    """Opens aiohttp's session, and sends its requests."""

    def __init__(
        self, settings: Settings, context: ssl.SSLContext, connections: _Connections, names: Names, *, to_end: bool
    ) -> None:
        super().__init__(verify=context, client=self._open_session)
        self._to_end = to_end
        self._resolver = NamesResolver(names)
        self._settings = settings
        self._connections = connections

    def _open_session(self) -> aiohttp.ClientSession:
        s = self._settings
        quiet_s = min(s.read_timeout_s, _QUIET_S) if self._to_end else s.read_timeout_s
        connector = (_ClosedConnector if self._to_end else aiohttp.TCPConnector)(
            ssl=self.ssl_context,
            limit=0,  # the number of workers is the limit
            limit_per_host=1,
            resolver=self._resolver,
            use_dns_cache=False,  # `Names` remembers them
            keepalive_timeout=None if self._to_end else _KEEPALIVE_S,
            force_close=self._to_end,
            socket_factory=self._connections.open,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            timeout=ClientTimeout(total=None, connect=s.connect_timeout_s, sock_read=quiet_s),
            max_line_size=s.header_bytes,
            max_field_size=s.header_bytes,
            max_headers=s.header_bytes // _LEAST_HEADER_BYTES,
            trace_configs=[_note_kept_connections()],
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if not isinstance(self.client, aiohttp.ClientSession):
            self.client = self.get_client()
        proxy: Proxy | None = request.extensions["proxy"]
        url = exact_url(request.extensions["address"])
        headers = [(name.decode("ascii"), value.decode("latin-1")) for name, value in request.headers.raw]
        if self._to_end or self._connections.crowded():
            headers.append(("Connection", "close"))
        for_tunnel: dict[str, str] = {}
        if proxy is not None and proxy.authorization:
            if url.scheme == "https":
                for_tunnel["Proxy-Authorization"] = proxy.authorization
            else:
                headers.append(("Proxy-Authorization", proxy.authorization))
        sending = _Sending()
        with map_aiohttp_exceptions():
            answer = await self.client.get(
                url,
                headers=headers,
                allow_redirects=False,
                proxy=proxy.address if proxy else None,
                proxy_headers=for_tunnel,
                trace_request_ctx=sending,
                middlewares=(_never_repeat(sending),),
            )
        return httpx.Response(
            answer.status,
            headers=answer.raw_headers,
            stream=AiohttpResponseStream(answer),
            request=request,
        )


class _ClosedConnector(aiohttp.TCPConnector):
    """Opens connections whose answers end when the server closes them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = cast("partial[ResponseHandler]", partial(_WithoutLength, loop=asyncio.get_running_loop()))


class _WithoutLength(ResponseHandler):
    """Parses one answer as if it had no Content-Length, which is kept under another name (RFC 9112, 6.3, 8)."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._head: bytes | None = b""
        """The bytes of the header block received so far; None once the block has ended."""

    def data_received(self, data: bytes) -> None:
        """Pass on bytes of the answer, the header block as a whole."""
        if self._head is not None:
            self._head += data
            head, end, body = self._head.partition(b"\r\n\r\n")
            if not end and len(head) <= _LONGEST_HEAD_BYTES:
                return
            data = _LENGTH.sub(b"\r\n" + ANNOUNCED_LENGTH.encode() + b":", head) + end + body
            self._head = None
        super().data_received(data)


def _note_kept_connections() -> TraceConfig:
    """Return a trace configuration by which aiohttp notes in a request's `_Sending` that it reuses a connection."""

    async def reused(session: aiohttp.ClientSession, context: SimpleNamespace, params: object) -> None:
        context.trace_request_ctx.on_kept_connection = True

    traces = TraceConfig()
    traces.on_connection_reuseconn.append(reused)
    return traces


def _never_repeat(sending: _Sending) -> Callable[[ClientRequest, ClientHandlerType], Awaitable[ClientResponse]]:
    """Return a middleware that raises ConnectionLost where aiohttp would send the request once more."""

    async def send(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        try:
            return await handler(request)
        except aiohttp.ClientConnectorError:  # nothing was sent
            raise
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            raise ConnectionLost(was_kept=sending.on_kept_connection) from error

    return send


def _open_socket(info: AddrInfo) -> socket.socket:
    family, kind, protocol, _, _ = info
    return socket.socket(family, kind, protocol)
