"""Make records of a WARC file (ISO 28500), each as one gzip member that can be appended to a file in one write."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterable

from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

VERSION = "1.1"


def info_record(fields: Iterable[tuple[str, str]]) -> bytes:
    """Return a warcinfo record (ISO 28500, 6.2), which describes the records that follow it: field name, value."""
    named = [*fields, ("format", f"WARC File Format {VERSION}")]
    payload = "".join(f"{name}: {value}\r\n" for name, value in named).encode()
    buffer, writer = _writer()
    record = writer.create_warc_record(
        "",
        "warcinfo",
        payload=io.BytesIO(payload),
        length=len(payload),
        warc_headers_dict={"Content-Type": "application/warc-fields"},
    )
    record.rec_headers.remove_header("WARC-Target-URI")
    return _written(buffer, writer, record)


def response_record(
    address: str, status_line: str, headers: list[tuple[str, str]], body: bytes, *, whole: bool
) -> bytes:
    """Return a response record (6.3): an HTTP answer. `whole`: the body was read to its end."""
    buffer, writer = _writer()
    record = writer.create_warc_record(
        address,
        "response",
        payload=io.BytesIO(body),
        length=len(body),
        http_headers=StatusAndHeaders(status_line, headers, protocol="HTTP/1.1"),
        warc_headers_dict={} if whole else {"WARC-Truncated": "length"},
    )
    return _written(buffer, writer, record)


def resource_record(address: str, content_type: str, body: bytes, at: float) -> bytes:
    """Return a resource record (6.4): the content of an address, without the HTTP exchange. `at`: seconds since the
    epoch."""
    buffer, writer = _writer()
    moment = dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    record = writer.create_warc_record(
        address,
        "resource",
        payload=io.BytesIO(body),
        length=len(body),
        warc_content_type=content_type,
        warc_headers_dict={"WARC-Date": moment},
    )
    return _written(buffer, writer, record)


def _writer() -> tuple[io.BytesIO, WARCWriter]:
    buffer = io.BytesIO()
    return buffer, WARCWriter(buffer, gzip=True, warc_version=VERSION)


def _written(buffer: io.BytesIO, writer: WARCWriter, record: ArcWarcRecord) -> bytes:
    writer.write_record(record)
    return buffer.getvalue()
