"""Serve a web whose answers a program computes, as an HTTP proxy on loopback with one event loop for all clients."""

from __future__ import annotations

import asyncio
import signal
from abc import abstractmethod
from collections.abc import Callable


class ProxyConnection(asyncio.Protocol):
    """One client of the proxy; a request is its head alone."""

    def __init__(self) -> None:
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for answers."""
        assert isinstance(transport, asyncio.WriteTransport), "a TCP connection can be written to"
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Call `asked` for each whole head."""
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            self.asked(head.split(b" ", 2)[1].decode("latin-1"))

    @abstractmethod
    def asked(self, url: str) -> None:
        """Answer a request now or later, with `send`."""

    def send(self, status: str, content_type: str, body: bytes) -> None:
        """Send an answer, unless the client has gone."""
        head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        if not self._transport.is_closing():
            self._transport.write(head.encode() + body)


async def serve(connection: Callable[[], ProxyConnection], content: str) -> None:
    """Serve until SIGINT or SIGTERM; print the content and the proxy's URL, for `loopback.served_by`."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    server = await loop.create_server(connection, "127.0.0.1", 0, backlog=1024)
    print(f"{content}; listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await ended.wait()
    server.close()
