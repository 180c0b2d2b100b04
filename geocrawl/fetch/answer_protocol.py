"""Parse the answers of one connection with httptools (llhttp), within bounds on the header block and on silence.

A connection carries one request at a time. What the server sends faster than it is read stays with the system: reading
pauses while `_MOST_WAITING_BYTES` are waiting. An end of the connection, a silence and bytes that are no HTTP become
`wire_errors`, raised where the next part of the answer is awaited.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections import deque
from collections.abc import AsyncIterator
from typing import Protocol, cast

import httptools

from geocrawl.fetch.answer_reader import ANNOUNCED_LENGTH
from geocrawl.fetch.wire_errors import (
    BadAnswer,
    BadChunk,
    ConnectionLost,
    EarlyEnd,
    LongHeader,
    ReadTimedOut,
    WireError,
)

_MOST_WAITING_BYTES = 256 * 1024
_MOST_EARLY_ANSWERS = 10
"""Answers 1xx before the real one; a server that goes on is no HTTP server."""
_STATUS_LINE_BYTES = 8_192
"""Room for the status line and line ends, beside the header fields that are bounded."""
_LEAST_HEADER_BYTES = 32
"""A header line is hardly shorter: with the limit of a header block it bounds the number of lines."""
_LENGTH = re.compile(rb"\r?\ncontent-length[ \t]*:", re.IGNORECASE)
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_SWITCHING = 101

Fields = list[tuple[bytes, bytes]]
"""Header fields as sent: names and values, in their order."""


class Limits(Protocol):
    """The bounds of an answer."""

    @property
    def header_bytes(self) -> int:
        """Longest header block."""

    @property
    def quiet_s(self) -> float:
        """Longest silence of a server."""


class AnswerProtocol(asyncio.Protocol):
    """One connection: sends requests and parses their answers.

    `to_end`: Content-Length is hidden from the parser and kept under another name, so that a body is read until the
    server closes the connection (RFC 9112, 6.3, 8).
    """

    def __init__(self, limits: Limits, *, to_end: bool = False) -> None:
        self._limits = limits
        self._to_end = to_end
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpResponseParser | None = None
        self._error: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._heard_at = 0.0
        self.answered = 0
        """Requests that were answered to their end."""
        self.idle_since = 0.0
        """Time of the loop when the last answer ended."""
        self._forget_answer()

    def _forget_answer(self) -> None:
        self.status = 0
        self.reason = b""
        self.fields: Fields = []
        self._pieces: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._head_bytes = 0
        self._hidden_head: bytes | None = b"" if self._to_end else None
        self._early = 0
        self._has_head = self._is_whole = self._may_be_kept = self._is_paused = False

    # ----------------------------------------------------------------------- of the owner

    @property
    def is_open(self) -> bool:
        """Return whether the connection can carry a request."""
        return self._transport is not None and not self._transport.is_closing() and self._error is None

    @property
    def is_free(self) -> bool:
        """Return whether the answer has come to its end, read or not, and the connection may carry another request."""
        return self._is_whole and self._may_be_kept and self.is_open

    async def ask(self, request: bytes) -> None:
        """Send a request, and return when the header block of its answer is there. Raises an error of the wire."""
        assert self._transport is not None, "connected"
        was_kept = self.answered > 0
        self._forget_answer()
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(
            lenient_headers=True, lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True
        )
        self._transport.write(request)
        try:
            while not self._has_head:
                if self._error is not None:
                    raise self._error
                await self._wait()
        except ReadTimedOut:
            raise
        except (OSError, EarlyEnd) as error:
            raise ConnectionLost(was_kept=was_kept) from error

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives, chunks joined, undecoded. Raises an error of the wire."""
        while True:
            if self._pieces:
                piece = self._pieces.popleft()
                self._waiting_bytes -= len(piece)
                if self._is_paused and self._waiting_bytes < _MOST_WAITING_BYTES // 2:
                    self._is_paused = False
                    cast("asyncio.Transport", self._transport).resume_reading()
                yield piece
            elif self._error is not None and not self._ended_well:
                raise self._error
            elif self._is_whole:
                return
            else:
                await self._wait()

    async def start_tls(self, inner: AnswerProtocol, context: ssl.SSLContext, name: str) -> None:
        """Let `inner` speak TLS over this connection, to a server of this name. Raises OSError."""
        assert self._transport is not None, "connected"
        secured = await self._loop.start_tls(self._transport, inner, context, server_hostname=name)
        if secured is None:
            raise ConnectionAbortedError("the connection ended during the handshake")
        inner.connection_made(secured)

    def abort(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """End the connection, over TLS in its way."""
        if self._transport is not None:
            self._transport.close()

    @property
    def _ended_well(self) -> bool:
        """Return whether an error came after the end of the answer, as of a server that closes the connection."""
        return self._is_whole and not isinstance(self._error, BadAnswer)

    async def _wait(self) -> None:
        """Wait until something happens."""
        self._heard_at = self._loop.time()
        self._waiter = self._loop.create_future()
        if self._timer is None:
            self._timer = self._loop.call_later(self._limits.quiet_s, self._look)
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _look(self) -> None:
        """End the exchange when the server was silent for too long."""
        self._timer = None
        if self._waiter is None:
            return
        left = self._heard_at + self._limits.quiet_s - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        else:
            self._end(ReadTimedOut(f"nothing was sent for {self._limits.quiet_s:g} s"))

    def _end(self, error: BaseException) -> None:
        self._error = self._error or error
        self._may_be_kept = False
        self.abort()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # ----------------------------------------------------------------------- of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the transport: of a tunnel, first the one to the proxy, then the one of TLS."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Parse bytes of an answer."""
        self._heard_at = self._loop.time()
        if self._error is not None:
            return
        if self._parser is None or self._is_whole:
            self._end(EarlyEnd("bytes came that nobody asked for"))
            return
        if not self._has_head:
            self._head_bytes += len(data)
            if self._hidden_head is not None:
                data = self._without_length(data)
        if data:
            self._feed(data)

    def _feed(self, data: bytes) -> None:
        assert self._parser is not None, "a request was sent"
        had_head = self._has_head
        try:
            self._parser.feed_data(data)
        except WireError as error:
            self._end(error)
        except httptools.HttpParserUpgrade:
            self._end(BadAnswer("the server changes to another protocol, unasked"))
        except httptools.HttpParserCallbackError as error:
            cause = error.__cause__ or error.__context__
            self._end(cause if isinstance(cause, WireError) else BadAnswer(str(error)))
        except httptools.HttpParserError as error:
            self._end((BadChunk if self._is_chunked and not self._is_whole else BadAnswer)(str(error)))
        if not had_head and not self._has_head and self._head_bytes > self._limits.header_bytes + _STATUS_LINE_BYTES:
            self._end(self._too_long())
        if self._waiting_bytes > _MOST_WAITING_BYTES and not self._is_paused and self.is_open:
            self._is_paused = True
            cast("asyncio.Transport", self._transport).pause_reading()
        self._wake()

    def _without_length(self, data: bytes) -> bytes:
        """Return the header block without Content-Length when all of it is there, b'' before."""
        head = (self._hidden_head or b"") + data
        end = _END_OF_HEAD.search(head)
        if end is None and len(head) <= self._limits.header_bytes + _STATUS_LINE_BYTES:
            self._hidden_head = head
            return b""
        self._hidden_head = None
        cut = end.start() if end else len(head)
        return _LENGTH.sub(b"\r\n" + ANNOUNCED_LENGTH.encode() + b":", head[:cut]) + head[cut:]

    def _too_long(self) -> LongHeader:
        return LongHeader(f"the header block is longer than {self._limits.header_bytes} bytes")

    def eof_received(self) -> bool:
        """Let the connection be closed."""
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """End the answer, well if its body ends with the connection."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._has_head and self._error is None and error is None and self._ends_with_connection:
            self._is_whole = True
        if self._has_head and not self._is_whole:
            self._error = self._error or EarlyEnd("the connection ended before the body")
        self._error = self._error or error or EarlyEnd("the connection ended")
        self._may_be_kept = False
        self._wake()

    # ----------------------------------------------------------------------- of httptools

    def on_message_begin(self) -> None:
        """Refuse an answer that follows the one that was asked for."""
        if self._is_whole:
            raise BadAnswer("a second answer came")

    def on_status(self, reason: bytes) -> None:
        """Note a part of the reason phrase."""
        self.reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header field."""
        if self._has_head:  # a trailer
            return
        if len(self.fields) > self._limits.header_bytes // _LEAST_HEADER_BYTES:
            raise self._too_long()
        self.fields.append((name, value))

    def on_headers_complete(self) -> None:
        """Note that the header block is there, unless a real answer is still to follow."""
        assert self._parser is not None, "a request was sent"
        self.status = self._parser.get_status_code()
        if self.status >= 200 or self.status == _SWITCHING:
            self._has_head = True
        elif self._early >= _MOST_EARLY_ANSWERS:
            raise BadAnswer("no answer but interim ones")

    def on_body(self, piece: bytes) -> None:
        """Keep a piece of the body."""
        self._pieces.append(piece)
        self._waiting_bytes += len(piece)

    def on_message_complete(self) -> None:
        """Note the end of the answer."""
        if not self._has_head:
            self._early += 1
            self.fields, self.reason = [], b""
            return
        self._is_whole = True
        self._may_be_kept = self._parser is not None and self._parser.should_keep_alive()
        self.answered += 1
        self.idle_since = self._loop.time()

    @property
    def _is_chunked(self) -> bool:
        return any(name.lower() == b"transfer-encoding" and b"chunked" in value.lower() for name, value in self.fields)

    @property
    def _ends_with_connection(self) -> bool:
        """Return whether neither a length nor chunks say where the body ends (RFC 9112, 6.3, 8)."""
        has_length = any(name.lower() == b"content-length" for name, _ in self.fields)
        return not self._is_chunked and not has_length
