"""Bound connections: when there are too many, the oldest one without a request makes room for a new one.

So a client that opens many, or sends the heads of its requests a byte at a time, holds none for long.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 1_000


class Connections:
    """The open connections of a server."""

    def __init__(self) -> None:
        self._open: dict[BoundedProtocol, None] = {}

    def protocol(self, **given: Any) -> BoundedProtocol:
        """Return the protocol of a new connection; `given`: what uvicorn hands in."""
        return BoundedProtocol(self, **given)

    def add(self, connection: BoundedProtocol) -> None:
        """Take a new connection; close the oldest one without a request, this one if need be, when there are too
        many."""
        self._open[connection] = None
        if len(self._open) >= MOST_CONNECTIONS:
            next(each for each in self._open if not each.is_busy).transport.abort()

    def remove(self, connection: BoundedProtocol) -> None:
        """Forget a connection that is closed."""
        self._open.pop(connection, None)


class BoundedProtocol(H11Protocol):
    """A connection that is closed when a head does not arrive in time."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._counted_by = connections
        self._awaits_head: asyncio.TimerHandle | None = None

    @property
    def is_busy(self) -> bool:
        """Return whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        """Count a new connection."""
        super().connection_made(transport)
        self._counted_by.add(self)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a closed connection."""
        self._counted_by.remove(self)
        self._forget_watch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request; the time for its head goes on."""
        super().data_received(data)
        self._watch()

    def _watch(self) -> None:
        if self.is_busy:
            self._forget_watch()
        elif self._awaits_head is None:
            self._awaits_head = self.loop.call_later(self.timeout_keep_alive, self._give_up)

    def _forget_watch(self) -> None:
        if self._awaits_head is not None:
            self._awaits_head.cancel()
            self._awaits_head = None

    def _give_up(self) -> None:
        self._awaits_head = None
        if not self.is_busy:
            self.transport.abort()
