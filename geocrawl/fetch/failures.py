"""Find out why an exchange failed: the errors of four libraries become one `FailureCode` and one line for a person.

httpx's own classes do not tell causes apart (refused, DNS failure and disconnect all arrive as ConnectTimeout), so the
chain of causes is searched, and the first row of the table that matches one of its errors decides.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable

import aiohttp
import httpx
from aiohttp import http_exceptions

from geocrawl.errors import described
from geocrawl.fetch.guard import MARK, GuardRefusal
from geocrawl.model import FailureCode
from geocrawl.resources import causes_of, lack_of
from geocrawl.sanitize import plain

# Errors by which a network or a server can end an exchange; any other is a bug of ours and is not caught. ValueError
# comes from headers and addresses that a library cannot read.
WEB_ERRORS = (
    httpx.HTTPError,
    httpx.InvalidURL,
    aiohttp.ClientError,
    http_exceptions.HttpProcessingError,
    asyncio.TimeoutError,
    EOFError,
    OSError,
    ValueError,
    MemoryError,
)
_DETAIL_CHARS = 200
_UNPARSABLE = (http_exceptions.HttpProcessingError, http_exceptions.BadHttpMessage, http_exceptions.BadStatusLine)


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
                return code, _line(one)
    return FailureCode.BAD_HTTP, _line(error)


def is_early_end(error: BaseException) -> bool:
    """Return whether a server ended a body before the length that it had announced, or before the last chunk."""
    return any(isinstance(one, http_exceptions.ContentLengthError) or _is_cut_chunk(one) for one in causes_of(error))


def is_unparsable(error: BaseException) -> bool:
    """Return whether the HTTP parser refused the bytes of an answer, or bytes that follow it."""
    return any(type(one) in _UNPARSABLE for one in causes_of(error))


def _line(error: BaseException) -> str:
    """Return what the library says, of a connection that was not made what the system says."""
    if isinstance(error, aiohttp.ClientConnectorError):  # its own text names options of the library
        cause = error.os_error.strerror or described(error.os_error)
        return plain(f"{error.host}:{error.port}: {cause}", _DETAIL_CHARS)
    return plain(described(error), _DETAIL_CHARS)


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


def _is_long_header(error: BaseException) -> bool:
    return isinstance(error, http_exceptions.LineTooLong) or "Too many headers" in str(error)


def _has_errno(*numbers: int) -> Callable[[BaseException], bool]:
    return lambda error: isinstance(error, OSError) and error.errno in numbers


def _is_tunnel_status(*statuses: int) -> Callable[[BaseException], bool]:
    return lambda error: isinstance(error, aiohttp.ClientHttpProxyError) and error.status in statuses


def _is_cut_chunk(error: BaseException) -> bool:
    return isinstance(error, http_exceptions.TransferEncodingError) and "Not enough data" in str(error)


_TABLE: tuple[tuple[Callable[[BaseException], bool], FailureCode], ...] = (
    (_is(aiohttp.ClientProxyConnectionError), FailureCode.PROXY),
    (_is_tunnel_status(407), FailureCode.PROXY),
    (_is_tunnel_status(408, 504), FailureCode.TIMEOUT_CONNECT),
    (_is(aiohttp.ClientHttpProxyError), FailureCode.REFUSED),  # the proxy answers, and cannot reach the server
    (_is_guard, FailureCode.GUARD),
    (_is(aiohttp.ClientConnectorDNSError, socket.gaierror), FailureCode.DNS),
    (_is(aiohttp.ConnectionTimeoutError), FailureCode.TIMEOUT_CONNECT),
    (_is(aiohttp.ServerTimeoutError, httpx.ReadTimeout), FailureCode.TIMEOUT_READ),
    (_is(aiohttp.ClientSSLError, ssl.SSLError, ssl.CertificateError), FailureCode.TLS),
    (_is_long_header, FailureCode.HEADER_LIMIT),
    (_is(http_exceptions.ContentLengthError), FailureCode.TRUNCATED),
    (_is_cut_chunk, FailureCode.TRUNCATED),
    (_is(http_exceptions.HttpProcessingError, aiohttp.ClientResponseError), FailureCode.BAD_HTTP),
    (_is(aiohttp.ClientPayloadError), FailureCode.TRUNCATED),
    (_has_errno(errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED), FailureCode.RESET),
    (_has_errno(errno.ETIMEDOUT), FailureCode.TIMEOUT_CONNECT),
    (_is(aiohttp.ClientConnectorError), FailureCode.REFUSED),
    (_is(aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError), FailureCode.RESET),
    (_is(TimeoutError), FailureCode.TIMEOUT_TOTAL),
)
