"""Define what an archive is mined for: candidates for services and pages to begin with, each with its place there."""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.model import Candidate, Url

ARCHIVE = "archive"
"""`Evidence.signal` of the place in an archive where an endpoint was found."""


@dataclass(frozen=True, slots=True)
class Place:
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
    place: Place
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
