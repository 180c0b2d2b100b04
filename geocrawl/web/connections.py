"""Bound the connections of each client: those without a request make room for new ones, the oldest first.

A client that opens many connections, or sends the heads of its requests a byte at a time, so takes places from itself
alone. A trusted proxy has many clients behind it, so only its connections without a request are bounded.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from geocrawl.web.visitors import network_of

MOST_OF_CLIENT = 50
"""Most connections of a client."""
MOST_CONNECTIONS = 1_000
"""Most connections of all clients."""


class Connections:
    """The open connections of a server."""

    def __init__(self, trusted: Sequence[str]) -> None:
        """`trusted`: addresses and networks of proxies."""
        self._trusted = [ip_network(each, strict=False) for each in trusted]
        self._open: OrderedDict[BoundedProtocol, None] = OrderedDict()
        self._by_client: defaultdict[str, OrderedDict[BoundedProtocol, None]] = defaultdict(OrderedDict)

    def protocol(self, **given: Any) -> BoundedProtocol:
        """Return the protocol of a new connection; `given`: what uvicorn hands in."""
        return BoundedProtocol(self, **given)

    def add(self, connection: BoundedProtocol) -> None:
        """Take a new connection; close the oldest one without a request, this one if need be, when there are too
        many."""
        mine = self._by_client[connection.network]
        self._open[connection] = mine[connection] = None
        counted = [each for each in mine if not each.is_busy] if self._is_trusted(connection) else mine
        if len(counted) > MOST_OF_CLIENT:
            next(each for each in mine if not each.is_busy).transport.abort()
        elif len(self._open) >= MOST_CONNECTIONS:
            next(each for each in self._open if not each.is_busy).transport.abort()

    def remove(self, connection: BoundedProtocol) -> None:
        """Forget a connection that is closed."""
        self._open.pop(connection, None)
        mine = self._by_client[connection.network]
        mine.pop(connection, None)
        if not mine:
            del self._by_client[connection.network]

    def _is_trusted(self, connection: BoundedProtocol) -> bool:
        try:
            address = ip_address(connection.client[0]) if connection.client else None
        except ValueError:
            return False
        return address is not None and any(address in each for each in self._trusted)


class BoundedProtocol(H11Protocol):
    """A connection that is closed when a head does not arrive in time."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._counted_by = connections
        self._awaits_head: asyncio.TimerHandle | None = None
        self.network = ""
        """Network of the client's address; connections from one network count as one client's."""

    @property
    def is_busy(self) -> bool:
        """Return whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        """Count a new connection."""
        super().connection_made(transport)
        self.network = network_of(self.client[0] if self.client else "")
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
