"""Define requests, responses and the protocol of transports, which carry them: connections to the network, a recorder,
a replay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from geocrawl.fetch.proxy import Proxy

Fields = Sequence[tuple[bytes, bytes]]
"""Header fields as sent: names and values, in their order."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A GET."""

    address: str
    """Sent byte for byte, without its fragment."""
    fields: Fields = ()
    proxy: Proxy | None = None
    """Proxy to use."""
    verified: bool = True
    """Whether the server's certificate must be valid."""
    to_end: bool = False
    """Whether to read the body until the server closes the connection."""


class HttpBody(Protocol):
    """The body of a response, undecoded."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the body's pieces; raise one of `failures.WEB_ERRORS`."""

    async def aclose(self) -> None:
        """Read no more. To be called once at least, read or not."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response, whose body is to be read and closed."""

    status: int
    fields: Fields
    body: HttpBody


class Transport(Protocol):
    """Carries one request."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Return the response with its body unread; raise one of `failures.WEB_ERRORS`."""

    async def aclose(self) -> None:
        """Close all connections."""


class WholeBody:
    """A body that is there in one piece (`HttpBody`)."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body

    async def aclose(self) -> None:
        """Do nothing: the body belongs to no connection."""


def value_of(fields: Fields, name: bytes) -> bytes:
    """Return the value of the first field with this name, in any case; b'' for none."""
    lower = name.lower()
    return next((value for each, value in fields if each.lower() == lower), b"")
