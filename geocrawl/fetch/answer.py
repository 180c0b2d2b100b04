"""The result of one HTTP exchange: an answer, or a failure that the fetcher can do something about."""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.model import Deviation, Failure, Url

ANNOUNCED_LENGTH = "x-announced-length"
"""Name under which Content-Length is kept when a body is read to the end of its connection."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one exchange."""

    url: Url
    status: int
    headers: dict[str, str]
    """Lower-case names; values of a repeated field are joined by ', '."""
    body: bytes
    cut: bool
    """Whether the body was longer than the limit and ends there."""
    location: Url | None
    """Target of a redirect, whose body is not read."""
    sent_bytes: int
    """Bytes of the body on the wire, before decoding."""
    elapsed_ms: float
    set_cookies: tuple[bytes, ...] = ()
    """Values of the fields Set-Cookie, as sent."""
    not_modified: bool = False
    """As in `Page`."""
    deviations: tuple[Deviation, ...] = ()
    """As in `Page`."""

    @property
    def announced_length(self) -> str:
        """Return the Content-Length of an answer that was read to its end, as sent; '' for none."""
        return self.headers.get(ANNOUNCED_LENGTH, "")


@dataclass(frozen=True, slots=True)
class KeptConnectionLost(Failure):
    """A connection on which the server had answered before ended instead of an answer (`reset`).

    The server may have closed it before the request arrived, so it is worth one more request (RFC 9112, 9.3.1).
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class UnverifiedServer(Failure):
    """A server whose TLS was refused (`tls`) for a fault that a probe may pass over; the request was not sent."""

    deviation: Deviation
    """The fault."""


@dataclass(frozen=True, slots=True)
class BrokenAnswer(Failure):
    """Bytes that are no HTTP (`bad-http`): perhaps of a body that is longer than its Content-Length."""
