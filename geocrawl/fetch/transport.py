"""Define the protocol of transports, which carry requests: connections to the network, a recorder, a replay."""

from __future__ import annotations

from typing import Protocol

import httpx


class Transport(Protocol):
    """Carries one request. `request.extensions["address"]` is the address to send, byte for byte."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response with its body unread; raise one of `failures.WEB_ERRORS`."""

    async def aclose(self) -> None:
        """Close all connections."""
