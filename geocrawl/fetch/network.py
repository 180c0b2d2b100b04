"""Connect to servers and proxies, every address guarded, and bound what a server may send before its body.

httpcore speaks HTTP over these connections (`transport`). Beneath it, a stream reads the header block of each answer as
a whole: within its limit, without interim answers, and without the lines that are no header fields, which programs on
real servers send and browsers pass over. Once the body has begun, h11 bounds the lines between chunks and the trailers.
"""

from __future__ import annotations

import asyncio
import re
import select
import socket
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import aiohappyeyeballs
import anyio
import httpcore
from anyio.abc import ByteStream, SocketStream
from anyio.streams.tls import TLSAttribute, TLSStream

from geocrawl.errors import described
from geocrawl.fetch.guard import AddrInfo, is_literal
from geocrawl.fetch.names import Addresses, NameCache

ANNOUNCED_LENGTH = "x-announced-length"
"""Name under which Content-Length is kept when a body is read to the end of its connection."""
_NEXT_ADDRESS_S = 0.25
"""Time after which a name's next address is tried as well (RFC 8305, 8)."""
_MOST_EARLY_ANSWERS = 10
"""Interim answers (1xx) before the real one; a server that goes on is no HTTP server."""
_STATUS_LINE_BYTES = 8_192
"""Room for the status line and line ends, besides the header fields that are bounded."""
_LEAST_FIELD_BYTES = 32
"""A header field is hardly shorter: with the limit of a header block it bounds the number of fields."""
_RECEIVED_BYTES = 64 * 1024
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_INTERIM = re.compile(rb"HTTP/1\.\d 1(?!01)\d\d")
_WITHOUT_BODY = re.compile(rb"HTTP/1\.\d +[23]04\b")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*:(.*)", re.DOTALL)  # RFC 9110, 5.1
_NO_VALUE = re.compile(rb"[\0\r\f\v]")


def _read_length(value: bytes) -> bytes:
    """Return the number that a field Content-Length names, once or several times (RFC 9110, 8.6); b"" for none.

    Anything else is returned as written: httpcore refuses it.
    """
    parts = [part.strip().lstrip(b"0") or b"0" for part in value.split(b",") if part.strip()]
    return value if len(set(parts)) > 1 else b"".join(parts[:1])


class ConnectFailed(httpcore.ConnectError):
    """A connection was not made; `__cause__` is the error of the system, or of the TLS handshake."""

    def __init__(self, host: str, port: int, error: OSError) -> None:
        super().__init__(f"{host}:{port}: {error.strerror or described(error)}")
        self.os_error = error


class ProxyUnreached(ConnectFailed):
    """The proxy was not connected."""


class ConnectionLost(httpcore.ReadError):
    """The connection ended between the request and the first byte of its answer; `__cause__` is the reason, if any."""

    def __init__(self, *, was_kept: bool) -> None:
        """Make the error; `was_kept`: an earlier request had been answered on the connection."""
        super().__init__("the server ended the connection before it answered")
        self.was_kept = was_kept


class LongHeader(httpcore.RemoteProtocolError):
    """A header block that is longer than the limit."""


class Network(httpcore.AsyncNetworkBackend):
    """Opens connections for one kind of requests: to servers or to proxies."""

    def __init__(
        self,
        names: NameCache,
        open_socket: Callable[[AddrInfo], socket.socket],
        failure: Callable[[str, int, OSError], ConnectFailed],
        *,
        header_bytes: int,
        to_end: bool,
    ) -> None:
        """`open_socket`: the guard; raises an OSError for an address that must not be connected. `failure`: makes the
        error of a connection that fails. `to_end`: hide Content-Length, so that bodies end with their connection."""
        self._names = names
        self._open_socket = open_socket
        self._failure = failure
        self._header_bytes = header_bytes
        self._to_end = to_end

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Stream:
        """Return a connection to a host. Raises ConnectFailed, httpcore.ConnectTimeout."""
        try:
            async with asyncio.timeout(timeout):
                infos = await self._addresses(host, port)
                opened = await aiohappyeyeballs.start_connection(
                    infos, happy_eyeballs_delay=_NEXT_ADDRESS_S, socket_factory=self._open_socket
                )
                connected = await SocketStream.from_socket(opened)
        except OSError as error:
            if isinstance(error, TimeoutError) and error.errno is None:
                raise httpcore.ConnectTimeout(f"no connection within {timeout:g} s") from error
            raise self._failure(host, port, error) from error

        def failed(error: OSError) -> ConnectFailed:
            kind = ConnectFailed if isinstance(error, ssl.SSLError) else self._failure
            return kind(host, port, error)

        return Stream(connected, opened, failed, self._header_bytes, to_end=self._to_end)

    async def sleep(self, seconds: float) -> None:
        """Wait; httpcore does so before it connects again, which it never does here."""
        await asyncio.sleep(seconds)

    async def _addresses(self, host: str, port: int) -> list[AddrInfo]:
        addresses: Addresses
        if is_literal(host):
            addresses = ((socket.AF_INET6 if ":" in host else socket.AF_INET, host),)
        else:
            addresses = await self._names.addresses(host)
        return [
            (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", _socket_address(family, address, port))
            for family, address in addresses
        ]


def _socket_address(family: socket.AddressFamily, address: str, port: int) -> tuple[object, ...]:
    return (address, port, 0, 0) if family == socket.AF_INET6 else (address, port)


class Stream(httpcore.AsyncNetworkStream):
    """One connection."""

    def __init__(
        self,
        inner: ByteStream,
        connected: socket.socket,
        failed: Callable[[OSError], ConnectFailed],
        header_bytes: int,
        *,
        to_end: bool,
    ) -> None:
        """`connected`: the socket beneath. `failed`: makes the error of a TLS handshake that fails."""
        self._inner = inner
        self._socket = connected
        self._failed = failed
        self._header_bytes = header_bytes
        self._to_end = to_end
        self._requests = 0
        self._awaits_head = False
        self._left: int | None = None
        """Bytes of the body that are still to come; None: chunks or the end of the connection say."""
        self.is_answered = False
        """Whether anything was received since the last request was sent."""
        self.has_ended = False
        """Whether the server closed the connection."""
        self._has_excess = False
        """Whether more came than the answer's length."""

    @property
    def has_whole_body(self) -> bool:
        """Return whether the length that the answer announced was received."""
        return self._left == 0

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Send bytes of a request. Raises httpcore.WriteError, httpcore.WriteTimeout."""
        if not buffer:
            return
        if buffer[:1].isalpha() and not self._awaits_head:  # what SOCKS sends begins with a number
            self._requests += 1
            self._awaits_head, self.is_answered = True, False
        try:
            async with asyncio.timeout(timeout):
                await self._inner.send(buffer)
        except TimeoutError as error:
            raise httpcore.WriteTimeout(f"nothing was taken for {timeout:g} s") from error
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise httpcore.WriteError(str(error)) from error

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Return bytes of an answer, the header block as a whole; b'' at the end of the connection.

        Raises httpcore.ReadError, ReadTimeout, RemoteProtocolError: ConnectionLost and LongHeader are such.
        """
        if self._awaits_head:
            return await self._read_head(timeout)
        if self._left == 0:  # what follows the announced length belongs to no answer
            self._has_excess = True
            return b""
        return self._counted(await self._receive(min(max_bytes, self._left or max_bytes), timeout))

    async def _read_head(self, quiet_s: float | None) -> bytes:
        data, early, received = b"", 0, 0
        while True:
            data = data.lstrip(b"\r\n")
            end = _END_OF_HEAD.search(data)
            if end is not None and _INTERIM.match(data):
                data, early = data[end.end() :], early + 1
                if early > _MOST_EARLY_ANSWERS:
                    raise httpcore.RemoteProtocolError("no answer but interim ones")
                continue
            if end is not None:
                break
            if received > self._header_bytes + _STATUS_LINE_BYTES:
                raise self._too_long()
            try:
                piece = await self._receive(_RECEIVED_BYTES, quiet_s)
            except httpcore.ReadError as error:
                raise self._lost(data) from error
            if not piece:
                raise self._lost(data)
            data += piece
            received += len(piece)
        self._awaits_head = False
        return self._mended(data[: end.start()]) + b"\r\n\r\n" + self._counted(data[end.end() :])

    def _lost(self, received: bytes) -> httpcore.ReadError:
        if received:
            return httpcore.ReadError("the connection ended within the header block")
        return ConnectionLost(was_kept=self._requests > 1)

    def _mended(self, head: bytes) -> bytes:
        """Return the lines of a header block that are header fields, and note the length that they announce."""
        status, *rest = head.split(b"\n")
        if len(rest) > self._header_bytes // _LEAST_FIELD_BYTES:
            raise self._too_long()
        lines = [status.rstrip(b"\r")]
        is_chunked, self._left = False, 0 if _WITHOUT_BODY.match(status) else None
        for line in rest:
            text = _NO_VALUE.sub(b" ", line.rstrip(b"\r"))
            if text[:1] in (b" ", b"\t"):  # a folded value (RFC 9112, 5.2)
                if len(lines) > 1:
                    lines.append(text)
                continue
            field = _FIELD.fullmatch(text)
            if field is None:
                continue
            name, value = field[1].lower(), field[2].strip()
            is_chunked = is_chunked or (name == b"transfer-encoding" and b"chunked" in value.lower())
            if name == b"content-length":
                value = _read_length(value)
                if not value:
                    continue
                if self._to_end:
                    lines.append(ANNOUNCED_LENGTH.encode() + b": " + value)
                    continue
                if value.isdigit() and self._left is None:
                    self._left = int(value)
            elif name == b"transfer-encoding" and b"chunked" not in value.lower():
                continue  # "identity", which RFC 9112 took out
            lines.append(field[1] + b": " + value)
        if is_chunked and self._left:
            self._left = None
        return b"\r\n".join(lines)

    def _counted(self, data: bytes) -> bytes:
        if self._left is None:
            return data
        self._has_excess = self._has_excess or len(data) > self._left
        data = data[: self._left]
        self._left -= len(data)
        return data

    def _too_long(self) -> LongHeader:
        return LongHeader(f"the header block is longer than {self._header_bytes} bytes")

    async def _receive(self, max_bytes: int, quiet_s: float | None) -> bytes:
        try:
            async with asyncio.timeout(quiet_s):
                data = await self._inner.receive(max_bytes)
        except TimeoutError as error:
            if error.errno is not None:
                raise httpcore.ReadError(str(error)) from error
            raise httpcore.ReadTimeout(f"nothing was sent for {quiet_s:g} s") from error
        except anyio.EndOfStream:
            self.has_ended = True
            return b""
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise httpcore.ReadError(str(error)) from error
        self.is_answered = True
        return data

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Stream:
        """Return a connection over TLS on this one. Raises ConnectFailed, httpcore.ConnectTimeout."""
        name = (server_hostname or "").rstrip(".")
        try:
            async with asyncio.timeout(timeout):
                secured = await TLSStream.wrap(
                    self._inner, hostname=name, ssl_context=ssl_context, standard_compatible=False, server_side=False
                )
        except BaseException as error:
            await self.aclose()
            if isinstance(error, TimeoutError):
                raise httpcore.ConnectTimeout(f"no connection within {timeout:g} s") from error
            if isinstance(error, anyio.EndOfStream | anyio.BrokenResourceError):
                cause = error.__cause__
                ended = cause if isinstance(cause, OSError) else ConnectionAbortedError("it ended during the handshake")
                raise self._failed(ended) from ended
            if isinstance(error, OSError):
                raise self._failed(error) from error
            raise
        return Stream(secured, self._socket, self._failed, self._header_bytes, to_end=self._to_end)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._inner.aclose()

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore asks: about TLS, and whether an idle connection is of no more use."""
        if info == "ssl_object":
            return self._inner.extra(TLSAttribute.ssl_object, None)  # noqa: S610 - no database
        if info == "is_readable":
            return self._has_excess or self.has_ended or _is_readable(self._socket)
        return None


def _is_readable(connected: socket.socket) -> bool:
    """Return whether bytes, or the end of the connection, wait to be received."""
    if connected.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(connected, select.POLLIN)
    return bool(poll.poll(0))
