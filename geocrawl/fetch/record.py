"""What a crawl was answered, written to a WARC file (ISO 28500) as it came over the wire, for replays and archives.

One gzip member a response, each written in one piece, so a crawl that is killed leaves a file whose records are whole.
A body that was not read to its end is marked WARC-Truncated. The file is appended to, as crawls are gone on with.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from geocrawl.errors import EnvironmentFault
from geocrawl.fetch.carrier import Transport

SEEDS_FIELD = "geocrawl-seed"
"""Field of the warcinfo record that names a start page."""
_HOP_BY_HOP = frozenset({b"transfer-encoding", b"connection", b"keep-alive", b"proxy-connection"})


class WarcRecorder:
    """Appends records to one file."""

    def __init__(self, path: Path, *, software: str, seeds: Sequence[str]) -> None:
        """Raises EnvironmentFault when the file cannot be written."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab")
        except OSError as error:
            raise EnvironmentFault(f"{path}: cannot be written: {error.strerror or error}") from error
        fields = [("software", software), ("format", "WARC File Format 1.1"), *((SEEDS_FIELD, seed) for seed in seeds)]
        payload = "".join(f"{name}: {value}\r\n" for name, value in fields).encode()
        buffer = io.BytesIO()
        writer = WARCWriter(buffer, gzip=True, warc_version="1.1")
        headers = {"Content-Type": "application/warc-fields"}
        record = writer.create_warc_record(
            "", "warcinfo", payload=io.BytesIO(payload), length=len(payload), warc_headers_dict=headers
        )
        record.rec_headers.remove_header("WARC-Target-URI")
        writer.write_record(record)
        self._append(buffer)

    def write(self, address: str, response: httpx.Response, body: bytes, *, whole: bool) -> None:
        """Append a response; `whole`: its body was read to the end."""
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in response.headers.raw
            if name.lower() not in _HOP_BY_HOP
        ]
        line = f"{response.status_code} {response.reason_phrase}".rstrip()
        buffer = io.BytesIO()
        writer = WARCWriter(buffer, gzip=True, warc_version="1.1")
        record = writer.create_warc_record(
            address,
            "response",
            payload=io.BytesIO(body),
            length=len(body),
            http_headers=StatusAndHeaders(line, headers, protocol="HTTP/1.1"),
            warc_headers_dict={} if whole else {"WARC-Truncated": "length"},
        )
        writer.write_record(record)
        self._append(buffer)

    def close(self) -> None:
        """All is on its way to the disk."""
        self._file.close()

    def _append(self, buffer: io.BytesIO) -> None:
        self._file.write(buffer.getvalue())
        self._file.flush()


class RecordingTransport:
    """A transport that notes what another one is answered (`fetch.http.Transport`)."""

    def __init__(self, inner: Transport, recorder: WarcRecorder) -> None:
        self._inner = inner
        self._recorder = recorder

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer, whose body is noted while it is read."""
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream), "our transports are asynchronous"
        response.stream = _Noted(response, response.stream, str(request.extensions["address"]), self._recorder)
        return response

    async def aclose(self) -> None:
        """Close the connections and the file."""
        try:
            await self._inner.aclose()
        finally:
            self._recorder.close()


class _Noted(httpx.AsyncByteStream):
    """A body that is written down when it is closed."""

    def __init__(
        self, response: httpx.Response, inner: httpx.AsyncByteStream, address: str, recorder: WarcRecorder
    ) -> None:
        self._response = response
        self._inner = inner
        self._address = address
        self._recorder = recorder
        self._pieces: list[bytes] = []
        self._whole = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._pieces.append(piece)
            yield piece
        self._whole = True

    async def aclose(self) -> None:
        await self._inner.aclose()
        self._recorder.write(self._address, self._response, b"".join(self._pieces), whole=self._whole)
