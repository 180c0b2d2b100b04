"""Read the records of WARC files and of WAT files, which have the metadata of WARC files, as finds.

A WAT record is JSON as ia-web-commons writes it: the links of a page as the page writes them, with the element of each
(`A@/href`) and at most 128 characters of its text. A WARC record is an answer, which the crawler's own reader reads.

Archives compress each record as a gzip member of its own (WARC 1.1, annex D), so a damaged record costs no other, and a
record that is too large is skipped without being decompressed to its end. FastWARC by
itself would end at the first damage."""

from __future__ import annotations

import json
import multiprocessing
import signal
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from geocrawl.detect import Detector
from geocrawl.detect.software import Portal, portal_of
from geocrawl.errors import EnvironmentFault, needs_extra
from geocrawl.mining.model import ArchiveRecord, FileFormat, Find, MinedFile
from geocrawl.model import Candidate, Document, Link, Page, Relevance, Url
from geocrawl.page.document import PageReader
from geocrawl.priority.nearness import LinkMeasure
from geocrawl.urls import read_url

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord


# --------------------------------------------------------------------------- finds
# Services and portals are found among the addresses, links and pages of an archive by the crawler's own classifiers.
# `Detector` recognises services; `detect.software` recognises portals by their software's addresses; a link to another
# site whose text has a word of the gws link model (eq. 3, level 2) is a page to begin with.


_MOST_PAGES = 100
"""Pages to begin with that one page may name."""


class RawLink(NamedTuple):
    """A link as an archive has it, not resolved."""

    href: str
    text: str
    where: str
    """Element of the link, as `Link.where`."""


class Finder:
    """Finds services and portals; has no state but caches."""

    def __init__(self, detector: Detector, measure: LinkMeasure) -> None:
        """`measure`: determines whether the text of a link is about services."""
        self._detector = detector
        self._measure = measure

    def of_address(self, text: str, place: ArchiveRecord) -> Iterator[Find]:
        """Yield what an address by itself reveals: a service, services within its query, or a portal."""
        url = read_url(text)
        if url is None:
            return
        candidates = self._detector.of_text(url)
        for candidate in candidates:
            yield Find(text, place, candidate)
        if not candidates and (portal := portal_of(url)) is not None:
            yield from _of_portal(portal, Find(text, place))

    def of_links(self, page: Url, base: str, links: list[RawLink], place: ArchiveRecord) -> Iterator[Find]:
        """Yield what the links of a page reveal; `base`: the page's own base for its links, '' for its address."""
        start = (read_url(base, page) if base else None) or page
        read = {}
        for href, text, where in links:
            url = read_url(href, start)
            if url is not None:
                read[url.identity, text] = Link(url, text, where=where)
        yield from self.of_document(Document(page, 0, 200, "text/html", "utf-8", "", "", tuple(read.values())), place)

    def of_document(self, document: Document, place: ArchiveRecord) -> Iterator[Find]:
        """Yield what a page reveals: itself, when it is a service's document, and its links."""
        page, taken = document.url, set()
        for candidate, index in self._detector.candidates(document):
            evidence = candidate.evidence
            taken.add(index)
            yield Find(evidence.link, place, candidate, page=page.address, text=evidence.anchor)
        firsts: dict[str, Find] = {}
        for index, link in enumerate(document.links):
            found = self._page(page, link, place) if index not in taken else None
            if found is not None and len(firsts) < _MOST_PAGES:
                firsts.setdefault(found.key[1], found)
        yield from firsts.values()

    def _page(self, page: Url, link: Link, place: ArchiveRecord) -> Find | None:
        """Return the page to begin with that a link reveals; None for any other link."""
        find = Find(link.url.address, place, page=page.address, text=link.anchor)
        portal = portal_of(link.url)
        if portal is not None and (found := next(_of_portal(portal, find), None)) is not None:
            return found
        is_mention = link.where in ("a", "area") and link.anchor and link.url.site != page.site
        if is_mention and self._measure.match("", link.anchor).level is Relevance.HIGH:
            return replace(find, first=link.url, sign="text")
        return None


def _of_portal(portal: Portal, find: Find) -> Iterator[Find]:
    """Yield the find completed by where reading a portal begins: a list of records, else its likeliest service."""
    first = portal.first()
    if isinstance(first, Candidate):
        yield replace(find, candidate=first)
    elif first is not None:
        yield replace(find, first=first, sign=portal.software.name)


# --------------------------------------------------------------------------- records of WARC and WAT files


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

    def finds(self, source: MinedFile, counts: Counts) -> Iterator[Find]:
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

    def _of_member(self, source: MinedFile, member: Member) -> Iterator[Find]:
        from fastwarc.warc import ArchiveIterator, WarcRecordType

        wanted = WarcRecordType.metadata if source.form is FileFormat.WAT else WarcRecordType.response
        try:
            for record in ArchiveIterator(BytesIO(member.data), record_types=wanted, auto_decode="all"):
                body = record.reader.read(MOST_BYTES)
                if source.form is FileFormat.WAT:
                    yield from self._of_wat(source, member, body)
                else:
                    place = ArchiveRecord(source.crawl, source.path.name, member.offset, member.length)
                    yield from self._of_answer(record, body, place)
        except (OSError, ValueError) as error:
            raise _Damaged from error

    def _of_wat(self, source: MinedFile, member: Member, body: bytes) -> Iterator[Find]:
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

    def _of_answer(self, record: WarcRecord, body: bytes, place: ArchiveRecord) -> Iterator[Find]:
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


def _place(source: MinedFile, member: Member, container: dict[str, Any]) -> ArchiveRecord:
    """Return the place of the page in its WARC file, which the container names; else that of the metadata."""
    name, offset = _text(container, "Filename"), _number(container.get("Offset"))
    if not name or offset is None:
        return ArchiveRecord(source.crawl, source.path.name, member.offset, member.length)
    return ArchiveRecord(source.crawl, name, offset, _number(_object(container, "Gzip-Metadata").get("Deflate-Length")))


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
    """Return where the next record begins at or behind `start`; the size of the file behind the last record."""
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


# --------------------------------------------------------------------------- reading in several processes
# Each process reads whole files; their finds are taken in the order of the files.


_Read = tuple[list[Find], Counts]


class RecordProcesses:
    """Reads files as `RecordReader` does, some files ahead of the one that is asked for."""

    def __init__(self, sources: Sequence[MinedFile], count: int, make_reader: Callable[[], RecordReader]) -> None:
        """Read `sources` in `count` processes; `finds` is to be called for these in their order.

        Raises EnvironmentFault when a library is missing."""
        make_reader()
        self._make_reader = make_reader
        self._count = count
        self._todo = deque(sources)
        self._reading: deque[tuple[MinedFile, Future[_Read]]] = deque()
        self._pool = self._new_pool()

    def finds(self, source: MinedFile, counts: Counts) -> Iterator[Find]:
        """Yield the finds of a file and count its records in `counts`.

        Raises EnvironmentFault for a file that cannot be read or has no records, or whose process was killed.
        """
        while self._todo and len(self._reading) <= self._count:
            ahead = self._todo.popleft()
            self._reading.append((ahead, self._submitted(ahead)))
        _, future = self._reading.popleft()
        try:
            found, read = future.result()
        except BrokenProcessPool:
            found, read = self._read_again(source)
        counts.records, counts.damaged, counts.large = read.records, read.damaged, read.large
        yield from found

    def close(self) -> None:
        """End the processes, whatever they read."""
        for process in multiprocessing.active_children():
            process.kill()
        self._pool.shutdown(cancel_futures=True)

    def _read_again(self, source: MinedFile) -> _Read:
        """Read a file alone: one of the processes was killed, by its own file or by another one's."""
        self._pool.shutdown(cancel_futures=True)
        self._pool = self._new_pool()
        try:
            return self._submitted(source).result()
        except BrokenProcessPool:
            self._pool = self._new_pool()
            said = f"{source.path}: the process that read it was killed; is there enough memory?"
            raise EnvironmentFault(said) from None
        finally:
            self._reading = deque((each, self._submitted(each)) for each, _ in self._reading)

    def _submitted(self, source: MinedFile) -> Future[_Read]:
        try:
            return self._pool.submit(_read, source)
        except BrokenProcessPool as error:  # noticed when the file's turn comes
            future = Future[_Read]()
            future.set_exception(error)
            return future

    def _new_pool(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("fork")
        return ProcessPoolExecutor(self._count, context, initializer=_begin, initargs=(self._make_reader,))


_readers: list[RecordReader] = []
"""The reader of this process."""


def _begin(make_reader: Callable[[], RecordReader]) -> None:
    """Make this process's reader; the terminal's Ctrl-C, which goes to all, ends it at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _readers.append(make_reader())


def _read(source: MinedFile) -> _Read:
    counts = Counts()
    return list(_readers[0].finds(source, counts)), counts
