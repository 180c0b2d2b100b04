"""Run the server: uvicorn, with bounds on clients that hang."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.sanitize import plain
from geocrawl.web.options import IDLE_S, Options

_MOST_CONNECTIONS = 1_000
_HEAD_BYTES = 32 * 1024


class PatientProtocol(HttpToolsProtocol):
    """Closes connections whose request does not come: uvicorn waits for the first one for ever."""

    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on waiting while a request's head is incomplete; close a connection whose head is too long."""
        self._head_bytes += len(data)
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._head_bytes > _HEAD_BYTES:
            self.transport.close()
        elif self._head_timer is None:
            self._wait()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._head_timer = self.loop.call_later(IDLE_S, self._give_up)

    def _stop_waiting(self) -> None:
        self._head_bytes = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


def config_of(application: ASGIApp, options: Options) -> uvicorn.Config:
    """Return how uvicorn serves an application."""
    return uvicorn.Config(
        application,
        host=options.host,
        port=options.port,
        loop="asyncio",  # also where uvloop is installed: connections that hang are bounded for this one
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=5,
        limit_concurrency=_MOST_CONNECTIONS,
        h11_max_incomplete_event_size=_HEAD_BYTES,
    )


def run(application: ASGIApp, options: Options) -> None:
    """Serve until a signal comes. Raises EnvironmentFault when the address cannot be had, UsageError when the host is
    none."""
    try:
        options.host.encode("idna")
    except UnicodeError:
        raise UsageError(f"--host = {plain(options.host)}: expected the address or the name of a host") from None
    server = uvicorn.Server(config_of(application, options))
    try:
        server.run()
    except SystemExit as error:  # uvicorn logged why: the port is taken, or may not be used
        raise EnvironmentFault(
            f"{options.host}:{options.port}: the server could not start; choose another --host or --port"
        ) from error
    if not server.started:
        raise EnvironmentFault(
            f"{options.host}:{options.port}: the server could not start; choose another --host or --port"
        )
