"""Find out why an exchange failed: errors of the wire and of the system become one `FailureCode` and one line for a
person.

The chain of causes is searched, and the first row of the table that matches one of its errors decides.
"""

from __future__ import annotations

import asyncio
import errno
import re
import socket
import ssl
from collections.abc import Callable, Sequence

import httpcore
import httpx

from geocrawl.errors import described
from geocrawl.fetch.guard import MARK, GuardRefusal
from geocrawl.fetch.network import ConnectFailed, ConnectionLost, LongHeader, ProxyUnreached
from geocrawl.fetch.transport import EarlyEnd
from geocrawl.model import FailureCode
from geocrawl.resources import causes_of, lack_of
from geocrawl.sanitize import plain

# Errors by which a network or a server can end an exchange; any other is a bug of ours and is not caught. ValueError
# comes from headers and addresses that a library cannot read.
WEB_ERRORS = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
    httpx.HTTPError,
    httpx.InvalidURL,
    asyncio.TimeoutError,
    EOFError,
    OSError,
    ValueError,
    MemoryError,
)
_DETAIL_CHARS = 200
_BYTES = re.compile(r"""(?:bytearray\()?\bb(['"])(.*?)\1\)?(?=$|[ ,.;:)])""", re.DOTALL)
"""Finds bytes of an answer in a library's words: h11's `illegal header line: bytearray(b'…')`."""


class Unreadable(Exception):
    """An answer that breaks a limit or a format, with the code to report. It never leaves this room."""

    def __init__(self, code: FailureCode, detail: str) -> None:
        super().__init__(detail)
        self.code = code


def classify(error: BaseException, *, proxied: bool = False) -> tuple[FailureCode, str]:
    """Return code and one line of text for one of `WEB_ERRORS` or an `Unreadable`. `proxied`: a proxy was used."""
    chain = list(causes_of(error))
    for one in chain:
        if isinstance(one, Unreadable):
            return one.code, str(one)
    if lack := lack_of(error):
        return FailureCode.MACHINE, lack
    for fits, code in _TABLE:
        for one in chain:
            if fits(one):
                if code is FailureCode.DNS and proxied:  # the proxy resolves names: the unknown one is the proxy's own
                    code = FailureCode.PROXY
                return code, _line(one, chain)
    return FailureCode.BAD_HTTP, _line(error, chain)


def is_early_end(error: BaseException) -> bool:
    """Return whether a server ended a body before the length that it had announced, or before the last chunk."""
    return any(isinstance(one, EarlyEnd) for one in causes_of(error))


def is_refused_tunnel(error: BaseException) -> bool:
    """Return whether a proxy answered, and opened no tunnel to the server."""
    return any(isinstance(one, httpcore.ProxyError) for one in causes_of(error))


def _line(error: BaseException, chain: Sequence[BaseException]) -> str:
    """Return what an error says, of a connection that was not made also where it leads."""
    for one in chain:
        if isinstance(one, ConnectFailed) and one.os_error is error and not isinstance(error, ssl.SSLError):
            error = one
    return plain(_BYTES.sub(r"“\2”", described(error)), _DETAIL_CHARS)


def _is(*types: type[BaseException]) -> Callable[[BaseException], bool]:
    return lambda error: isinstance(error, types)


def _is_guard(error: BaseException) -> bool:
    """Return whether the address guard refused the connection.

    The refused addresses of a name arrive as one OSError with their texts only. Mixed with errors of permitted
    addresses it has no errno and is reported as those.
    """
    return isinstance(error, GuardRefusal) or (
        isinstance(error, OSError) and error.errno == errno.EACCES and MARK in str(error)
    )


def _has_errno(*numbers: int) -> Callable[[BaseException], bool]:
    return lambda error: isinstance(error, OSError) and error.errno in numbers


def _is_tunnel_status(*statuses: str) -> Callable[[BaseException], bool]:
    """Return a test for what a proxy answered in place of a tunnel: httpcore's text begins with the status."""
    return lambda error: isinstance(error, httpcore.ProxyError) and str(error).partition(" ")[0] in statuses


def _is_refused_login(error: BaseException) -> bool:
    """Return whether a proxy of SOCKS wants another user or password (RFC 1929)."""
    return isinstance(error, httpcore.ProxyError) and str(error).startswith(("Requested", "Invalid username"))


_TABLE: tuple[tuple[Callable[[BaseException], bool], FailureCode], ...] = (
    (_is(ProxyUnreached), FailureCode.PROXY),
    (_is_tunnel_status("407"), FailureCode.PROXY),
    (_is_refused_login, FailureCode.PROXY),
    (_is_tunnel_status("408", "504"), FailureCode.TIMEOUT_CONNECT),
    (_is(httpcore.ProxyError), FailureCode.REFUSED),  # the proxy answers, and cannot reach the server
    (_is_guard, FailureCode.GUARD),
    (_is(socket.gaierror), FailureCode.DNS),
    (_is(httpcore.ConnectTimeout), FailureCode.TIMEOUT_CONNECT),
    (_is(httpcore.ReadTimeout, httpcore.WriteTimeout), FailureCode.TIMEOUT_READ),
    (_is(ssl.SSLError, ssl.CertificateError), FailureCode.TLS),
    (_is(LongHeader), FailureCode.HEADER_LIMIT),
    (_is(EarlyEnd), FailureCode.TRUNCATED),
    (_is(httpcore.ProtocolError), FailureCode.BAD_HTTP),
    (_has_errno(errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED), FailureCode.RESET),
    (_has_errno(errno.ETIMEDOUT), FailureCode.TIMEOUT_CONNECT),
    (_is(ConnectFailed), FailureCode.REFUSED),
    (_is(ConnectionLost, httpcore.ReadError, httpcore.WriteError, ConnectionError), FailureCode.RESET),
    (_is(TimeoutError), FailureCode.TIMEOUT_TOTAL),
)
