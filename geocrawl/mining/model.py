"""Define the files of an archive that are mined, and what is found in them: services and pages to begin with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.model import Candidate, Url

_CRAWL = re.compile(r"crawl=([^/]+)|\b(CC-MAIN-\d{4}-\d{2,3}|CC-MAIN-\d{4}(?:-\d{4})?)(?=/|$)")


class FileFormat(StrEnum):
    """The kinds of files that an archive consists of."""

    INDEX = "index"
    """Addresses of an archive with their places, in Parquet."""
    WAT = "wat"
    """Metadata of pages, with their links."""
    WARC = "warc"
    """Pages as they were answered."""


_SUFFIXES = {
    ".parquet": FileFormat.INDEX,
    ".wat.gz": FileFormat.WAT,
    ".wat": FileFormat.WAT,
    ".warc.gz": FileFormat.WARC,
    ".warc": FileFormat.WARC,
}


@dataclass(frozen=True, slots=True)
class MinedFile:
    """A file to be mined."""

    path: Path
    form: FileFormat
    size: int
    """Bytes."""

    @property
    def crawl(self) -> str:
        """Return the crawl that a part of the path names (`crawl=CC-MAIN-2026-43`); '' when none does."""
        found = _CRAWL.search(self.path.resolve().parent.as_posix())
        return (found[1] or found[2]) if found else ""

    @property
    def identity(self) -> str:
        """Return by what a mined file is known again: its place and its size."""
        return f"{self.path.resolve()}:{self.size}"


def gather(paths: Sequence[Path]) -> list[MinedFile]:
    """Return the files that are named, and those below the folders that are named, each once and in order.

    Raises UsageError for a path that is not there, for a folder without such a file, and for a file of another name.
    """
    found: dict[Path, MinedFile] = {}
    for path in paths:
        for file in _below(path):
            form = _form(file)
            if form is None:
                raise UsageError(f"{file}: expected a name that ends in {', '.join(_SUFFIXES)}")
            try:
                found.setdefault(file.resolve(), MinedFile(file, form, file.stat().st_size))
            except OSError as error:
                raise UsageError(f"{file}: {error.strerror}") from None
    return list(found.values())


def _below(path: Path) -> Iterator[Path]:
    try:
        is_folder = path.is_dir()
        if not is_folder and not path.exists():
            raise UsageError(f"{path}: no such file or folder")
        files = sorted(each for each in path.rglob("*") if _form(each) and each.is_file()) if is_folder else [path]
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    if not files:
        raise UsageError(
            f"{path}: no file of an archive is below it; expected names that end in {', '.join(_SUFFIXES)}"
        )
    yield from files


def _form(path: Path) -> FileFormat | None:
    name = path.name.lower()
    return next((form for suffix, form in _SUFFIXES.items() if name.endswith(suffix)), None)


# --------------------------------------------------------------------------- finds

ARCHIVE = "archive"
"""`Evidence.signal` of the place in an archive where an endpoint was found."""


@dataclass(frozen=True, slots=True)
class ArchiveRecord:
    """A record of an archive."""

    crawl: str
    """Name of the crawl, such as CC-MAIN-2026-43; '' when the file's path names none."""
    file: str
    """The WARC file as the archive names it, such as crawl-data/CC-MAIN-2026-43/…/….warc.gz."""
    offset: int | None = None
    """Where the record begins in the compressed file, bytes; None when the archive does not say."""
    length: int | None = None
    """Compressed bytes of the record; None when unknown."""

    @property
    def reference(self) -> str:
        """Return the place as one text: what to request of the archive to see the record."""
        where = [
            f"{name}={value}" for name, value in (("offset", self.offset), ("length", self.length)) if value is not None
        ]
        return f"{self.file}#{'&'.join(where)}" if where else self.file


@dataclass(frozen=True, slots=True)
class Find:
    """A candidate for a service, or a page to begin with."""

    link: str
    """The address as the archive has it."""
    place: ArchiveRecord
    candidate: Candidate | None = None
    """The service to probe; None for a page."""
    first: Url | None = None
    """The page to begin with; None for a service."""
    sign: str = ""
    """What a page is: the software of a portal, or the text of a link."""
    page: str = ""
    """Address of the page that has the link; '' when the archive has the address alone."""
    text: str = ""
    """Text of the link."""

    @property
    def key(self) -> tuple[str, str]:
        """Return what is equal for finds of one endpoint or page: its kind ('' for a page), and its identity."""
        if self.candidate is not None:
            return str(self.candidate.endpoint.kind), self.candidate.endpoint.key
        return "", self.first.identity if self.first is not None else self.link

    @property
    def url(self) -> Url:
        """Return the address to probe or to visit."""
        found = self.candidate.endpoint.url if self.candidate is not None else self.first
        assert found is not None, "a find is a service or a page"
        return found

    def as_row(self) -> dict[str, object]:
        """Return the find as a row of a file; the names are stable (docs/archives.md)."""
        kind, key = self.key
        return {
            "kind": kind or "page",
            "url": self.url.address,
            "key": key,
            "weak": self.candidate is not None and self.candidate.weak,
            "sign": self.candidate.evidence.signal if self.candidate is not None else self.sign,
            "page": self.page,
            "link": self.link,
            "text": self.text,
            "crawl": self.place.crawl,
            "file": self.place.file,
            "record_offset": self.place.offset,
            "record_length": self.place.length,
        }
