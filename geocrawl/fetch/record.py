"""Record the answers of a crawl in a WARC file (ISO 28500), as they came over the wire, for replays and archives.

One gzip member a response, each written in one piece, so a crawl that is killed leaves a file whose records are whole.
Several processes may append to one file: each locks it while it writes.
A body that was not read to its end is marked WARC-Truncated. An existing file is appended to. When a record cannot be
written, the disk being full, it is removed again, the recording ends with a line for a person, and the crawl goes on:
that is no failure of the server whose answer it was.
"""

from __future__ import annotations

import fcntl
import io
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from pathlib import Path

import httpx

from geocrawl.fetch.transport import RawResponse, address_of, fields_of
from geocrawl.files import SECRET, make_folder, refuse_database, write_faults
from geocrawl.formats.warc import info_record, response_record

SEEDS_FIELD = "geocrawl-seed"
"""Field of the warcinfo record that names a start page."""
_REASONS = {status.value: status.phrase for status in HTTPStatus}
_HOP_BY_HOP = frozenset({b"transfer-encoding", b"connection", b"keep-alive", b"proxy-connection"})


class WarcRecorder:
    """Appends records to one file."""

    def __init__(
        self, path: Path, *, software: str, seeds: Sequence[str], say: Callable[[str], object] = lambda line: None
    ) -> None:
        """Open or create the file. `say` is called with a line if the recording ends early.

        Raises UsageError for a database, EnvironmentFault when the file cannot be written.
        """
        refuse_database(path)
        self._path = path
        self._say = say
        with write_faults(path):
            make_folder(path.parent)
            self._file = _appending(path)
            self._is_file = path.is_file()
            self._whole_bytes = 0
            self._append(info_record([("software", software), *((SEEDS_FIELD, seed) for seed in seeds)]))

    def write(self, address: str, response: httpx.Response, body: bytes, *, whole: bool) -> None:
        """Append a response, unless the recording has ended; `whole`: its body was read to the end."""
        if self._file.closed:
            return
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in fields_of(response)
            if name.lower() not in _HOP_BY_HOP
        ]
        line = f"{response.status_code} {_REASONS.get(response.status_code, '')}".rstrip()
        try:
            self._append(response_record(address, line, headers, body, whole=whole))
        except OSError as error:
            self._end(error)

    def recorded(self, transport: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
        """Return a transport that records the answers of another one, and closes the file with it."""
        return _RecordingTransport(transport, self)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _append(self, record: bytes) -> None:
        """Append a record; one that cannot be written to its end is removed again, and the error raised."""
        with self._locked():
            self._whole_bytes = self._file.seek(0, os.SEEK_END) if self._is_file else self._whole_bytes
            try:
                left = memoryview(record)
                while left:
                    left = left[self._file.write(left) :]
            except OSError:
                with suppress(OSError):
                    self._file.truncate(self._whole_bytes)
                raise
        self._whole_bytes += len(record)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other processes from appending meanwhile; a file that is no file on a disk may know no locks."""
        if not self._is_file:
            yield
            return
        fcntl.lockf(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)

    def _end(self, error: OSError) -> None:
        """Write no more."""
        self._file.close()
        self._say(
            f"{self._path}: the recording ends after {self._whole_bytes:,} bytes ({error.strerror or error}); "
            "the crawl continues without it"
        )


def _appending(path: Path) -> io.FileIO:
    """Open or create the file without a buffer. Strangers may not read a new one: addresses and headers hold keys."""
    return open(path, "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, SECRET))


class _RecordingTransport(httpx.AsyncBaseTransport):
    """A transport that records the answers of another one."""

    def __init__(self, inner: httpx.AsyncBaseTransport, recorder: WarcRecorder) -> None:
        self._inner = inner
        self._recorder = recorder

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer of the other transport; its body is recorded while it is read, but that of a POST: replays
        know addresses alone."""
        response = await self._inner.handle_async_request(request)
        if request.method != "GET":
            return response
        body = _RecordedBody(response, address_of(request), self._recorder)
        return RawResponse(response.status_code, headers=response.headers, stream=body, request=request)

    async def aclose(self) -> None:
        """Close the connections and the file."""
        try:
            await self._inner.aclose()
        finally:
            self._recorder.close()


class _RecordedBody(httpx.AsyncByteStream):
    """A body that is recorded when it is closed."""

    def __init__(self, response: httpx.Response, address: str, recorder: WarcRecorder) -> None:
        self._response = response
        self._address = address
        self._recorder = recorder
        self._pieces: list[bytes] = []
        self._whole = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_raw():
            self._pieces.append(piece)
            yield piece
        self._whole = True

    async def aclose(self) -> None:
        await self._response.aclose()
        self._recorder.write(self._address, self._response, b"".join(self._pieces), whole=self._whole)
