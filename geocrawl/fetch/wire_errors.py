"""Define the errors by which an exchange over a connection of ours ends (`connections`, `answer_protocol`)."""

from __future__ import annotations

from geocrawl.errors import described


class WireError(Exception):
    """An exchange ended without a whole answer."""


class ConnectFailed(WireError):
    """A connection was not made; `__cause__` is the error of the system, or of the TLS handshake."""

    def __init__(self, host: str, port: int, error: OSError) -> None:
        super().__init__(f"{host}:{port}: {error.strerror or described(error)}")
        self.os_error = error


class ProxyUnreached(ConnectFailed):
    """The proxy was not connected."""


class TunnelRefused(WireError):
    """A proxy did not open a tunnel to the server; `status` is what it answered."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"the proxy opens no tunnel: {status} {reason}".rstrip())
        self.status = status


class ConnectTimedOut(WireError, TimeoutError):
    """No connection was made in time."""


class ReadTimedOut(WireError, TimeoutError):
    """The server sent nothing for too long."""


class ConnectionLost(WireError):
    """The connection ended between the request and the first byte of its answer; `__cause__` is the reason, if any."""

    def __init__(self, *, was_kept: bool) -> None:
        """Make the error; `was_kept`: an earlier request had been answered on the connection."""
        super().__init__("the server ended the connection before it answered")
        self.was_kept = was_kept


class BadAnswer(WireError):
    """Bytes that are no answer of HTTP, or that follow one."""


class BadChunk(BadAnswer):
    """Bytes within a body that are no chunk."""


class LongHeader(WireError):
    """A header block that is longer than the limit."""


class EarlyEnd(WireError):
    """The connection ended before the length of the body that was announced, or before its last chunk."""
