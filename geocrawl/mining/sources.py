"""Gather the files of an archive that a person names, and tell what each is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from geocrawl.errors import UsageError

_CRAWL = re.compile(r"crawl=([^/]+)|\b(CC-MAIN-\d{4}-\d{2,3}|CC-MAIN-\d{4}(?:-\d{4})?)(?=/|$)")


class Form(StrEnum):
    """The kinds of files that an archive consists of."""

    INDEX = "index"
    """Addresses of an archive with their places, in Parquet."""
    WAT = "wat"
    """Metadata of pages, with their links."""
    WARC = "warc"
    """Pages as they were answered."""


_SUFFIXES = {
    ".parquet": Form.INDEX,
    ".wat.gz": Form.WAT,
    ".wat": Form.WAT,
    ".warc.gz": Form.WARC,
    ".warc": Form.WARC,
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file to be mined."""

    path: Path
    form: Form
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


def gather(paths: Sequence[Path]) -> list[Source]:
    """Return the files that are named, and those below the folders that are named, each once and in order.

    Raises UsageError for a path that is not there, for a folder without such a file, and for a file of another name.
    """
    found: dict[Path, Source] = {}
    for path in paths:
        for file in _below(path):
            form = _form(file)
            if form is None:
                raise UsageError(f"{file}: expected a name that ends in {', '.join(_SUFFIXES)}")
            try:
                found.setdefault(file.resolve(), Source(file, form, file.stat().st_size))
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


def _form(path: Path) -> Form | None:
    name = path.name.lower()
    return next((form for suffix, form in _SUFFIXES.items() if name.endswith(suffix)), None)
