"""What carries a request: the network, a recording of it, or a replay."""

from __future__ import annotations

from typing import Protocol

import httpx


class Transport(Protocol):
    """Carries one request; `extensions["address"]` is what is asked, byte for byte."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response: ...

    async def aclose(self) -> None: ...
