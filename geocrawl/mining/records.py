"""Read the records of WARC files and of WAT files, which have the metadata of WARC files, as finds.

A WAT record is JSON as ia-web-commons writes it: the links of a page as the page writes them, with the element of each
(`A@/href`) and at most 128 characters of its text. A WARC record is an answer, which the crawler's own reader reads.

Archives compress each record as a gzip member of its own (WARC 1.1, annex D), so a damaged record costs no other, and a
record that is too large is skipped without being decompressed to its end. FastWARC by
itself would end at the first damage."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from geocrawl.errors import EnvironmentFault, needs_extra
from geocrawl.mining.finder import Finder, RawLink
from geocrawl.mining.model import Find, Form, Place, Source
from geocrawl.model import Page
from geocrawl.page.document import PageReader
from geocrawl.urls import read_url

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

MOST_BYTES = 32 * 1024 * 1024
"""Bytes of one record, decompressed: Common Crawl cuts answers at 1 MiB (5 MiB since 2025)."""
_MOST_LINKS = 20_000
"""Links of one page that are read, as in `PageReader`."""
_LINKS = {"A": "a", "AREA": "area", "FORM": "form", "IFRAME": "iframe", "FRAME": "frame", "LINK": "link"}
"""Element of a link → `Link.where`; others (IMG …) are recognised by their address alone."""
_GZIP_MAGIC = b"\x1f\x8b"
_WARC = b"WARC/"


@dataclass(slots=True)
class Counts:
    """Numbers of records of one file: read, damaged, too large."""

    records: int = 0
    """Records, damaged ones among them."""
    damaged: int = 0
    """Records that were skipped: damaged, cut off, or no JSON in a WAT."""
    large: int = 0
    """Records that were skipped because they are longer than `MOST_BYTES`."""


class RecordReader:
    """Reads files of records; has no state."""

    def __init__(self, finder: Finder, reader: PageReader) -> None:
        """Raises EnvironmentFault when FastWARC is not installed."""
        try:
            import fastwarc.warc as _  # noqa: F401
        except ImportError:
            raise needs_extra("geocrawl mine", "FastWARC", extra="mine") from None
        self._finder = finder
        self._reader = reader

    def finds(self, source: Source, counts: Counts) -> Iterator[Find]:
        """Yield the finds of a file and count its records in `counts`.

        Raises EnvironmentFault for a file that cannot be read or has no records.
        """
        for member in _members(source.path):
            counts.records += 1
            if member.fault:
                counts.large += member.fault == "too large"
                counts.damaged += member.fault != "too large"
                continue
            try:
                yield from self._of_member(source, member)
            except _Damaged:
                counts.damaged += 1
        if counts.records == counts.damaged + counts.large:
            raise EnvironmentFault(f"{source.path}: no whole WARC record in it; {_said(counts)}")

    def close(self) -> None:
        """Do nothing: there is nothing to free."""

    def _of_member(self, source: Source, member: Member) -> Iterator[Find]:
        from fastwarc.warc import ArchiveIterator, WarcRecordType

        wanted = WarcRecordType.metadata if source.form is Form.WAT else WarcRecordType.response
        try:
            for record in ArchiveIterator(BytesIO(member.data), record_types=wanted, auto_decode="all"):
                body = record.reader.read(MOST_BYTES)
                if source.form is Form.WAT:
                    yield from self._of_wat(source, member, body)
                else:
                    place = Place(source.crawl, source.path.name, member.offset, member.length)
                    yield from self._of_answer(record, body, place)
        except (OSError, ValueError) as error:
            raise _Damaged from error

    def _of_wat(self, source: Source, member: Member, body: bytes) -> Iterator[Find]:
        """Yield the finds of a WAT record: the page's own address, and its links."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise _Damaged from error
        envelope = _object(data, "Envelope")
        head = _object(envelope, "WARC-Header-Metadata")
        if head.get("WARC-Type") != "response":
            return
        page = read_url(_text(head, "WARC-Target-URI"))
        if page is None:
            return
        place = _place(source, member, _object(data, "Container"))
        yield from self._finder.of_address(page.address, place)
        html = _object(envelope, "Payload-Metadata", "HTTP-Response-Metadata", "HTML-Metadata")
        top = _object(html, "Head")
        links = [*_links(html.get("Links")), *_links(top.get("Link"))]
        yield from self._finder.of_links(page, _text(top, "Base"), links, place)

    def _of_answer(self, record: WarcRecord, body: bytes, place: Place) -> Iterator[Find]:
        """Yield the finds of an answer: its address, itself as a document of a service, and its links."""
        url = read_url((record.headers.get("WARC-Target-URI") or "").strip("<>"))
        if url is None:
            return
        yield from self._finder.of_address(url.address, place)
        http = record.http_headers
        status = (http.status_code if http is not None else None) or 200
        if status != 200:
            return
        headers = {name.lower(): value for name, value in http.items()} if http is not None else {}
        page = Page(url, url, status, headers, body, 0.0, 0.0)
        yield from self._finder.of_document(self._reader.read(page, depth=0), place)


class _Damaged(Exception):
    """A record whose content is no record's."""


def _members(path: Path) -> Iterator[Member]:
    """Yield the members of a compressed file, the records of another one. Raises EnvironmentFault."""
    try:
        with path.open("rb") as file:
            beginning = file.read(len(_WARC))
        if beginning.startswith(_GZIP_MAGIC):
            yield from members(path, most_bytes=MOST_BYTES)
        elif beginning == _WARC:
            yield from _plain(path)
        else:
            raise EnvironmentFault(f"{path}: is no WARC or WAT file; expected records, compressed with gzip or plain")
    except OSError as error:
        raise EnvironmentFault(f"{path}: {error.strerror or error}") from error


def _plain(path: Path) -> Iterator[Member]:
    """Yield the records of a file that is not compressed, as far as they are whole."""
    from fastwarc.warc import ArchiveIterator

    with path.open("rb") as file:
        size, read = path.stat().st_size, 0
        starts = [record.stream_pos for record in ArchiveIterator(file, parse_http=False)]
        for start, end in zip(starts, [*starts[1:], size], strict=True):
            file.seek(start)
            is_large = end - start > MOST_BYTES
            yield Member(
                start, end - start, b"" if is_large else file.read(end - start), "too large" if is_large else ""
            )
            read = end
        if read < size:
            yield Member(read, size - read, b"", "cut off")


def _place(source: Source, member: Member, container: dict[str, Any]) -> Place:
    """Return the place of the page in its WARC file, which the container names; else that of the metadata."""
    name, offset = _text(container, "Filename"), _number(container.get("Offset"))
    if not name or offset is None:
        return Place(source.crawl, source.path.name, member.offset, member.length)
    return Place(source.crawl, name, offset, _number(_object(container, "Gzip-Metadata").get("Deflate-Length")))


def _links(found: object) -> Iterator[RawLink]:
    for each in found[:_MOST_LINKS] if isinstance(found, list) else ():
        if isinstance(each, dict) and isinstance(href := each.get("url"), str):
            element, text = (
                _text(each, "path").partition("@")[0],
                each.get("text") or each.get("title") or each.get("alt"),
            )
            yield RawLink(href, text if isinstance(text, str) else "", _LINKS.get(element, element.lower()))


def _object(data: object, *way: str) -> dict[str, Any]:
    for name in way:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _text(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _number(value: object) -> int | None:
    """Return a number, which ia-web-commons writes as a text."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 19:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _said(counts: Counts) -> str:
    return f"{counts.damaged:,} damaged, {counts.large:,} too large"


# --------------------------------------------------------------------------- members of gzip files

_MAGIC = b"\x1f\x8b\x08"
_CHUNK = 16 * 1024
_SEARCHED = 1024 * 1024
_HEADER_BYTES = 512
"""Compressed bytes of a member that are decompressed to see whether it is one."""
_BEGINNING = b"WARC/"
_GZIP = 31
"""Window bits of zlib that mean gzip with its check sums."""


class Member(NamedTuple):
    """A member of a gzip file."""

    offset: int
    """Where it begins in the file, bytes."""
    length: int
    """Compressed bytes; of a damaged one as far as the next member."""
    data: bytes
    """Decompressed; b"" of a damaged or too large one."""
    fault: str = ""
    """Why there is no data: damaged, cut off, too large; '' for a whole member."""


def members(path: Path, *, most_bytes: int) -> Iterator[Member]:
    """Yield the members of a file; those that are damaged or decompress to more than `most_bytes` without their data.

    Raises OSError when the file cannot be read.
    """
    with path.open("rb") as file:
        size = path.stat().st_size
        offset = 0
        while offset < size:
            data, end, fault = _read_member(file, offset, most_bytes)
            if fault:
                end = _next(file, offset + 1, size)
            yield Member(offset, end - offset, data, fault)
            offset = end


def _read_member(file: BinaryIO, offset: int, most_bytes: int) -> tuple[bytes, int, str]:
    """Return the data of the member at an offset, where it ends, and what is wrong with it."""
    file.seek(offset)
    stream, parts, left, end = zlib.decompressobj(_GZIP), list[bytes](), most_bytes + 1, offset
    try:
        while not stream.eof:
            compressed = stream.unconsumed_tail
            if not compressed:
                compressed = file.read(_CHUNK)
                end += len(compressed)
            if not compressed:
                return b"", end, "cut off"
            part = stream.decompress(compressed, left)
            left -= len(part)
            if left <= 0:
                return b"", end, "too large"
            parts.append(part)
    except zlib.error:
        return b"", end, "damaged"
    return b"".join(parts), end - len(stream.unused_data), ""


def _next(file: BinaryIO, start: int, size: int) -> int:
    """Return where the next record begins at or behind `start`; the size of the file when there is none."""
    while start < size:
        file.seek(start)
        block = file.read(_SEARCHED)
        at = block.find(_MAGIC)
        while at >= 0:
            if _begins_a_record(file, start + at):
                return start + at
            at = block.find(_MAGIC, at + 1)
        start += max(len(block) - len(_MAGIC) + 1, 1)
    return size


def _begins_a_record(file: BinaryIO, offset: int) -> bool:
    """Return whether a member at an offset begins as a record does: the magic bytes also stand in compressed data."""
    file.seek(offset)
    try:
        return zlib.decompressobj(_GZIP).decompress(file.read(_HEADER_BYTES), len(_BEGINNING)) == _BEGINNING
    except zlib.error:
        return False
