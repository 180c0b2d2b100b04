"""Decompress a Content-Encoding with bounded output: a body of 1.6 kB may expand to 1 GiB.

Each stage yields pieces of bounded size, and is asked for the next one only after the last one was counted, so that a
bomb costs the limit and not its content. Two encodings may be stacked: the output of each is counted against the same
limits.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Protocol

import brotli
import zstandard

from geocrawl.fetch.failures import Unreadable
from geocrawl.formats.text import GZIP_START, ZLIB_STARTS
from geocrawl.model import FailureCode

ACCEPTED = "gzip, deflate, br, zstd"
_PIECE_BYTES = 64 * 1024
# zstandard has no bounded output for data that is pushed; a block (at most 128 KiB, RFC 8878, 3.1.1.2.4) takes four
# bytes or more, so slices of 128 bytes bound the output of a call to 4 MiB.
_ZSTD_SLICE_BYTES = 128
_ZSTD_WINDOW_BYTES = 8 * 1024 * 1024  # RFC 9659: the largest window in HTTP
_MOST_FRAMES = 10_000
"""Most frames of one zstd body: each starts a decoder, and 8 MB of empty ones would take 8 s."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Limits on the size of a decoded body."""

    body_bytes: int
    """Most bytes after decoding."""
    ratio: float = 200.0
    """Highest ratio of decoded to sent bytes, checked once more than `ratio_free_bytes` are decoded."""
    ratio_free_bytes: int = 1024 * 1024
    encodings: int = 2
    """Most Content-Encodings that may be stacked."""


class _Stage(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decoded pieces, each bounded; raise the library's error."""

    @property
    def complete(self) -> bool:
        """Return whether the end of the format was reached."""


class Decoder:
    """Decompresses one body, piece by piece."""

    def __init__(self, content_encoding: str, limits: BodyLimits) -> None:
        """Choose the stages by `content_encoding`, the header's value, '' for none.

        Raise Unreadable (bad-http) when too many are stacked. An unknown name is ignored: it is most often a charset in
        the wrong header.
        """
        names = [name.strip().lower() for name in content_encoding.split(",")] if content_encoding else ()
        known = [name for name in names if name in _STAGES]
        if len(known) > limits.encodings:
            raise Unreadable(
                FailureCode.BAD_HTTP, f"{len(known)} content encodings, at most {limits.encodings} are read"
            )
        self._stages: Sequence[_Stage] = [_STAGES[name]() for name in reversed(known)]
        self._limits = limits
        self._counts = [0] * len(self._stages)
        self.sent_bytes = 0
        """Bytes of the body on the wire, so far."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield decoded pieces of bytes from the wire. Raise Unreadable: ratio, body-limit or bad-http."""
        self.sent_bytes += len(data)
        if not self._stages:
            yield data
            return
        if self.sent_bytes > self._limits.body_bytes:
            raise _too_long(self._limits)
        try:
            yield from self._through(0, data)
        except (zlib.error, brotli.error, zstandard.ZstdError) as error:
            raise Unreadable(FailureCode.BAD_HTTP, f"the body is not what Content-Encoding says: {error}") from error

    def finish(self) -> None:
        """Raise Unreadable (truncated) when the end of an encoding is missing."""
        if self.sent_bytes and not all(stage.complete for stage in self._stages):
            raise Unreadable(FailureCode.TRUNCATED, f"the encoded body breaks off after {self.sent_bytes} bytes")

    def _through(self, level: int, data: bytes) -> Iterator[bytes]:
        if level == len(self._stages):
            yield data
            return
        for piece in self._stages[level].feed(data):
            self._count(level, len(piece))
            yield from self._through(level + 1, piece)

    def _count(self, level: int, grown: int) -> None:
        total = self._counts[level] = self._counts[level] + grown
        limits = self._limits
        if total > limits.ratio_free_bytes and total > limits.ratio * self.sent_bytes:
            raise Unreadable(
                FailureCode.RATIO, f"{self.sent_bytes} bytes grow to more than {total} (limit 1:{limits.ratio:g})"
            )
        if total > limits.body_bytes and level + 1 < len(self._stages):
            raise _too_long(limits)


def unnamed_encoding(head: bytes) -> str:
    """Return the Content-Encoding that a body's first bytes show; '' for none."""
    if head.startswith(GZIP_START):
        return "gzip"
    return "deflate" if head.startswith(ZLIB_STARTS) else ""


class Body:
    """The decoded bytes of one answer, bounded."""

    def __init__(self, limits: BodyLimits, *, cut: bool = False) -> None:
        """Begin with no bytes. `cut`: cut a longer body at the limit instead of refusing it."""
        self._limits = limits
        self._may_be_cut = cut
        self._buffer = BytesIO()  # returns its value without a copy: joining pieces would need the memory twice
        self.cut = False
        """Whether the body was longer than the limit."""

    def add(self, piece: bytes) -> bool:
        """Append a piece and return whether more is wanted. Raise Unreadable (body-limit) unless the body may be
        cut."""
        room = self._limits.body_bytes - self._buffer.tell()
        if len(piece) <= room:
            self._buffer.write(piece)
            return True
        if not self._may_be_cut:
            raise _too_long(self._limits)
        self.cut = True
        self._buffer.write(piece[:room])
        return False

    def bytes(self) -> bytes:
        """Return all bytes added so far."""
        return self._buffer.getvalue()

    def __len__(self) -> int:
        return self._buffer.tell()


def _too_long(limits: BodyLimits) -> Unreadable:
    return Unreadable(FailureCode.BODY_LIMIT, f"the body is longer than {limits.body_bytes} bytes")


# --------------------------------------------------------------------------- one encoding each


class _Zlib:
    """gzip (RFC 1952), with several members, and deflate, with its zlib frame (RFC 1950) or without (RFC 1951).

    A body that is labelled gzip and lacks the magic number was never compressed. What follows the last member is
    ignored.
    """

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._head: bytes | None = b""
        self._plain = False
        self._inner = zlib.decompressobj(31)

    @property
    def complete(self) -> bool:
        return self._plain or self._inner.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._head is not None:
            data = self._head + data
            self._head = data if len(data) < 2 else None
            if self._head is not None:
                return
            self._begin(data)
        if self._plain:
            yield data
            return
        while data:
            if self._inner.eof:
                if not (self._gzip and data.startswith(GZIP_START)):
                    return
                self._inner = zlib.decompressobj(31)
            yield self._inner.decompress(data, _PIECE_BYTES)
            data = self._inner.unconsumed_tail or self._inner.unused_data
        while not self._inner.eof:  # what zlib has buffered
            piece = self._inner.decompress(b"", _PIECE_BYTES)
            if not piece:
                return
            yield piece

    def _begin(self, data: bytes) -> None:
        if self._gzip:
            self._plain = not data.startswith(GZIP_START)
        else:
            framed = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
            self._inner = zlib.decompressobj(15 if framed else -15)


class _Brotli:
    """br (RFC 7932); windows are at most 16 MiB."""

    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    @property
    def complete(self) -> bool:
        return bool(self._inner.is_finished())

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self.complete:
            return
        piece = self._inner.process(data, output_buffer_limit=_PIECE_BYTES)
        while piece:  # until it is empty: it may accept more input and still have output buffered
            yield piece
            piece = self._inner.process(b"", output_buffer_limit=_PIECE_BYTES)


class _Zstd:
    """zstd (RFC 8878), with several frames."""

    def __init__(self) -> None:
        self._frames = 0
        self._begin()

    @property
    def complete(self) -> bool:
        return self._inner.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _ZSTD_SLICE_BYTES):
            part = data[start : start + _ZSTD_SLICE_BYTES]
            while part:
                if self._inner.eof:
                    self._begin()
                yield self._inner.decompress(part)
                part = self._inner.unused_data if self._inner.eof else b""

    def _begin(self) -> None:
        self._frames += 1
        if self._frames > _MOST_FRAMES:
            raise Unreadable(FailureCode.RATIO, f"the body has more than {_MOST_FRAMES:,} frames")
        self._inner = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES).decompressobj()


def _gzip_stage() -> _Stage:
    return _Zlib(gzip=True)


def _deflate_stage() -> _Stage:
    return _Zlib(gzip=False)


_STAGES = {"gzip": _gzip_stage, "x-gzip": _gzip_stage, "deflate": _deflate_stage, "br": _Brotli, "zstd": _Zstd}
