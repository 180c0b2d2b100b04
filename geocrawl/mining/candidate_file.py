"""Write what is found into a file: CSV, JSON lines or Parquet, each endpoint and page once.

The finds of each mined file are a part, in a folder beside the file; a part appears when it is whole. In the end DuckDB
merges all parts, on disk where memory does not suffice, and the folder goes. So a killed run loses one part at most.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.files import SECRET, demand_folder, make_folder, whole_file
from geocrawl.mining.engines import connect
from geocrawl.mining.model import Find, MinedFile

FORMATS = {
    ".csv": "FORMAT csv, HEADER",
    ".jsonl": "FORMAT json",
    ".parquet": "FORMAT parquet, COMPRESSION zstd",
}
"""Suffix → options of DuckDB's COPY."""
_COLUMNS = {
    "kind": "VARCHAR",
    "url": "VARCHAR",
    "key": "VARCHAR",
    "weak": "BOOLEAN",
    "sign": "VARCHAR",
    "page": "VARCHAR",
    "link": "VARCHAR",
    "text": "VARCHAR",
    "crawl": "VARCHAR",
    "file": "VARCHAR",
    "record_offset": "BIGINT",
    "record_length": "BIGINT",
}
"""Columns of the file, as `Find.as_row` names them."""


class CandidateFile:
    """A file of candidates that is being made (`miner.Sink`)."""

    def __init__(self, path: Path) -> None:
        """Raises UsageError for a name without a known suffix, EnvironmentFault when it cannot be written there."""
        if path.suffix.lower() not in FORMATS:
            raise UsageError(f"--output {path}: expected a name that ends in {', '.join(FORMATS)}")
        self._path = path
        self._folder = path.with_name(f"{path.name}.parts")
        self._connection = connect()
        demand_folder(path.resolve().parent, [path.name])
        self._writing = ExitStack()
        self._stream: BinaryIO | None = None

    def is_done(self, source: MinedFile) -> bool:
        """Return whether the part of a file is there."""
        return self._part(source).exists()

    def take(self, source: MinedFile, finds: Sequence[Find]) -> None:
        """Write finds into the part of a file."""
        stream = self._open(source)
        for find in finds:
            stream.write(json.dumps(find.as_row(), ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def done(self, source: MinedFile) -> None:
        """Give the part of a file its name."""
        self._open(source)
        self._writing.close()
        self._stream = None

    def drop(self, source: MinedFile) -> None:
        """Remove what was written of a part."""
        if self._stream is not None:
            self._abandon()

    def finish(self, *, complete: bool) -> tuple[int, int]:
        """Merge the parts into the file, if there are any; return the numbers of services and of pages in it.

        `complete`: whether every file was mined; else the parts stay, so that the same command mines the rest.
        """
        if not any(self._folder.glob("*.jsonl")):
            return 0, 0
        made = self._folder / "merged"
        columns = ", ".join(f"{name}: '{kind}'" for name, kind in _COLUMNS.items())
        parts = (
            f"read_json({_literal(self._folder / '*.jsonl')}, format = 'newline_delimited', columns = {{{columns}}})"
        )
        # All columns: DuckDB chooses among equal rows as its threads happen to come.
        first = (
            "PARTITION BY kind, key ORDER BY weak, page = '', url, file, record_offset, link, "
            "record_length, page, text, sign, crawl"
        )
        names = ", ".join(_COLUMNS)
        merged = f"SELECT {names} FROM {parts} QUALIFY row_number() OVER ({first}) = 1 ORDER BY kind, key"
        self._connection.execute(f"COPY ({merged}) TO {_literal(made)} ({FORMATS[self._path.suffix.lower()]})")
        with made.open("rb") as source, whole_file(self._path, new_mode=SECRET) as target:
            shutil.copyfileobj(source, target)
        made.unlink()
        counted = self._connection.execute(
            f"SELECT count(DISTINCT (kind, key)) FILTER (kind <> 'page'), count(DISTINCT key) FILTER (kind = 'page') "
            f"FROM {parts}"
        ).fetchone()
        if complete:
            shutil.rmtree(self._folder)
        return int(counted[0]), int(counted[1])

    def close(self) -> None:
        """Close what is open; an unfinished part is removed."""
        if self._stream is not None:
            self._abandon()
        self._connection.close()

    def _open(self, source: MinedFile) -> BinaryIO:
        if self._stream is None:
            try:
                make_folder(self._folder)
                self._stream = self._writing.enter_context(whole_file(self._part(source), new_mode=SECRET))
            except OSError as error:
                raise EnvironmentFault(f"{self._folder}: {error.strerror or error}; name another file") from error
        return self._stream

    def _abandon(self) -> None:
        """End the part that is being written without giving it its name."""
        self._writing.__exit__(_Abandoned, _Abandoned(), None)
        self._stream = None

    def _part(self, source: MinedFile) -> Path:
        digest = hashlib.sha256(source.identity.encode("utf-8", "surrogateescape")).hexdigest()
        return self._folder / f"{digest[:24]}.jsonl"


class _Abandoned(Exception):
    """Ends the writing of a part."""


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
