"""Read recorded answers from a WARC file (ISO 28500): index all once, then read single records on request."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.recordloader import ArcWarcRecord

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.lab.recorded_worlds.addresses import key_of

_HEAD_BYTES = 1000
_CACHE_BYTES = 32 * 1024 * 1024
_GZIP = b"\x1f\x8b"
_LENGTH = re.compile(rb"^content-length:\s*(\d+)", re.IGNORECASE | re.MULTILINE)
_FRAMING = frozenset({b"content-length", b"connection", b"transfer-encoding", b"keep-alive"})
"""Headers of the recorded connection, not of the answer."""

_FEED = re.compile(rb"<(?:urlset|sitemapindex|rss|feed|rdf:RDF)[\s>]", re.IGNORECASE)
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body|frameset)[\s>]", re.IGNORECASE)
_ASSET = re.compile(
    r"(?:image|font|audio|video)/"
    r"|text/(?:css|javascript)"
    r"|application/(?:(?:x-)?javascript|pdf|zip|(?:x-)?gzip|octet-stream|msword|vnd\.ms-|vnd\.openxml|x-shockwave"
    r"|(?:x-)?font|vnd\.google-earth)"
)


KindOf = Callable[[str, str, bytes], str]
"""Function of (address, Content-Type, first bytes) that returns the kind of an answer."""


class Record(NamedTuple):
    """Place of a recorded answer in the file, and its kind: page, robots, sitemap or asset."""

    offset: int
    length: int
    kind: str
    status: int


class StoredAnswer(NamedTuple):
    """A recorded answer."""

    kind: str
    status: int
    headers: list[tuple[str, str]]
    body: bytes


class WarcFile:
    """The responses of one WARC file by the key of their address; of several responses with one key the last."""

    def __init__(self, path: Path, *, with_scheme: bool = False, kind_of: KindOf | None = None) -> None:
        """Index the file. `with_scheme`: http and https are two webs. `kind_of` returns the kind of an answer.

        Raises UsageError for a file that is no WARC or is cut off, EnvironmentFault for one that cannot be read."""
        self.path = path
        self.records: dict[str, Record] = {}
        self._kind_of = kind_of or kind_of_answer
        self.first = ""
        """Address of the first page."""
        self.info: dict[str, list[str]] = {}
        """Lower-case name → values of the fields of warcinfo records."""
        self._cache: OrderedDict[str, StoredAnswer] = OrderedDict()
        self._cached_bytes = 0
        for address, record in self._index():
            if record.kind == "page":
                self.first = self.first or address
            scheme = address.partition("://")[0].lower() + "://" if with_scheme else ""
            self.records[scheme + key_of(address)] = record

    def read(self, key: str) -> StoredAnswer | None:
        """Return the answer recorded under `key`, None without one."""
        place = self.records.get(key)
        if place is None:
            return None
        known = self._cache.get(key)
        if known is None:
            known = self._read_at(place)
            self._remember(key, known)
        return known

    def _read_at(self, place: Record) -> StoredAnswer:
        """Return a record's answer without the two header blocks (ISO 28500, 5.2), which the index has checked."""
        with self.path.open("rb") as file:
            file.seek(place.offset)
            data = file.read(place.length)
        raw = zlib.decompress(data, wbits=31) if data.startswith(_GZIP) else data
        fields, _, block = raw.partition(b"\r\n\r\n")
        length = _LENGTH.search(fields)
        head, _, body = block[: int(length[1]) if length else None].partition(b"\r\n\r\n")
        headers = []
        for line in head.split(b"\r\n")[1:]:
            name, colon, value = line.partition(b":")
            if colon and name.strip().lower() not in _FRAMING:
                headers.append((name.strip().decode("latin-1"), _text(value.strip())))
        return StoredAnswer(place.kind, place.status, headers, body)

    def _remember(self, key: str, stored: StoredAnswer) -> None:
        self._cache[key] = stored
        self._cached_bytes += len(stored.body)
        while self._cached_bytes > _CACHE_BYTES:
            _, gone = self._cache.popitem(last=False)
            self._cached_bytes -= len(gone.body)

    def _index(self) -> Iterator[tuple[str, Record]]:
        offset, end = 0, 0
        try:
            with self.path.open("rb") as file:
                records = ArchiveIterator(file)
                for record in records:
                    found = self._entry(record)
                    offset = records.get_record_offset()
                    length = records.get_record_length()
                    end = offset + length
                    if found is not None:
                        address, kind, status = found
                        yield address, Record(offset, length, kind, status)
                size = file.seek(0, 2)
                file.seek(offset)
                whole = _is_whole(file.read())
        except ArchiveLoadFailed as error:
            raise UsageError(f"{self.path} is no WARC file: {' '.join(str(error).split())[:200]}") from error
        except (OSError, EOFError) as error:
            raise EnvironmentFault(f"{self.path} cannot be read: {error}") from error
        if end != size or not whole:
            raise UsageError(f"{self.path} is cut off: the record at byte {offset:,} of {size:,} has no end")

    def _read_info(self, payload: bytes) -> None:
        for name, value in _fields(payload):
            values = self.info.setdefault(name, [])
            if value not in values:
                values.append(value)

    def _entry(self, record: ArcWarcRecord) -> tuple[str, str, int] | None:
        if record.rec_type == "warcinfo":
            self._read_info(record.raw_stream.read())
        if record.rec_type != "response" or record.http_headers is None:
            return None
        address = record.rec_headers.get_header("WARC-Target-URI") or ""
        address = address.strip("<>")
        body = record.raw_stream.read()
        status = record.http_headers.get_statuscode()
        if not status.isdigit() or "://" not in address:
            return None
        if len(body) < record.payload_length:
            raise UsageError(f"{self.path} is cut off in the answer of {address}")
        content_type = record.http_headers.get_header("Content-Type") or ""
        return address, self._kind_of(address, content_type, body[:_HEAD_BYTES]), int(status)


def _fields(payload: bytes) -> Iterator[tuple[str, str]]:
    for line in payload.decode("utf-8", "replace").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _is_whole(member: bytes) -> bool:
    """Return whether the last record is complete, by the end of its gzip member or, uncompressed, by its length."""
    if not member.startswith(_GZIP):
        return True
    unpacking = zlib.decompressobj(wbits=31)
    try:
        unpacking.decompress(member)
    except zlib.error:
        return False
    return unpacking.eof


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def kind_of_answer(address: str, content_type: str, head: bytes) -> str:
    """Return page, robots, sitemap (feeds too) or asset, by address, label and first bytes; HTML is always a page."""
    path = "/" + address.partition("://")[2].partition("#")[0].partition("?")[0].partition("/")[2].lower()
    if path == "/robots.txt":
        return "robots"
    if _FEED.search(head[:800]) or ("sitemap" in path and path.endswith((".xml", ".gz", ".txt"))):
        return "sitemap"
    labelled = _ASSET.match(content_type.lower()) or path.endswith((".js", ".css", ".zip", ".pdf"))
    return "asset" if labelled and not _HTML.search(head) else "page"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
