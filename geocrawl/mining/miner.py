"""Mine the files of an archive one by one: what is found of each goes to a sink, which remembers the files it has."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Protocol, TypeVar

from geocrawl.errors import DatabaseFault, EnvironmentFault
from geocrawl.mining.index import Engine, IndexRow
from geocrawl.mining.model import FileFormat, Find, MinedFile
from geocrawl.mining.records import Counts, Finder
from geocrawl.wording import counted

T = TypeVar("T")
_BATCH = 1_000
"""Finds that a sink gets at once."""
_MOST_SEEN = 200_000
"""Finds of one file that are remembered, to pass each on once; a sink does not mind a second time."""
_LINE_S = 5.0
"""Time between two lines of progress."""


class Sink(Protocol):
    """Takes what is found. A file whose finds were all taken is done, also after a killed run."""

    def is_done(self, source: MinedFile) -> bool:
        """Return whether a file was mined before."""

    def take(self, source: MinedFile, finds: Sequence[Find]) -> None:
        """Store finds of a file; the same find may come again."""

    def done(self, source: MinedFile) -> None:
        """Store that a file was mined."""

    def drop(self, source: MinedFile) -> None:
        """Forget what was taken of a file that could not be mined to its end, as far as nothing uses it yet."""


class Reader(Protocol):
    """Reads files of records."""

    def finds(self, source: MinedFile, counts: Counts) -> Iterator[Find]:
        """Yield the finds of a file and count its records; raises EnvironmentFault for one that cannot be read."""

    def close(self) -> None:
        """Free what the reader uses."""


@dataclass(slots=True)
class MineReport:
    """What mining has read and found."""

    files: int = 0
    """Files mined in this run."""
    done_before: int = 0
    failed: int = 0
    """Files that could not be read; they are tried again by the same command."""
    rows: int = 0
    """Rows of indexes."""
    selected: int = 0
    """Rows that SQL selected."""
    records: int = 0
    """Records of WARC and WAT files."""
    damaged: int = 0
    too_large: int = 0
    services: int = 0
    """Candidates for services, each once a file."""
    pages: int = 0
    """Pages to begin with, each once a file."""
    refused: Counter[str] = field(default_factory=Counter)
    """Reason → number of finds that were left out."""
    new_services: int = 0
    """Candidates that were not known before; of a file, those in it."""
    new_pages: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, object]:
        """Return the counts under stable names."""
        named = {name: getattr(self, name) for name in self.__slots__ if name not in ("refused", "seconds")}
        return {**named, "refused": dict(sorted(self.refused.items())), "seconds": round(self.seconds, 1)}


class Miner:
    """Mines files; the engine and the reader of records are made when the first file needs them."""

    def __init__(
        self,
        finder: Finder,
        make_engine: Callable[[], Engine],
        make_reader: Callable[[Sequence[MinedFile]], Reader],
        refusal: Callable[[Find], str],
        say: Callable[[str], object],
        show: Callable[[str], object],
    ) -> None:
        """`make_reader(sources)`: called once, with all files of records. `refusal(find)`: the reason for which an
        address is left out, '' for none. `say`: called with a line for each file that cannot be read, wholly or in
        part; `show`: with lines of progress."""
        self._finder = finder
        self._make_engine = make_engine
        self._make_reader = make_reader
        self._refusal = refusal
        self._say = say
        self._progress = show
        self._begun = self._said = time.monotonic()
        self._total = 0
        self.report = MineReport()

    def run(self, sources: Sequence[MinedFile], sink: Sink) -> MineReport:
        """Mine the files that are not done; a file that cannot be read is named and left for another run.

        Raises DatabaseFault when the sink's database cannot be written, EnvironmentFault when a library is missing.
        """
        todo = [source for source in sources if not sink.is_done(source)]
        self._total, self.report.done_before = len(todo), len(sources) - len(todo)
        index = [source for source in todo if source.form is FileFormat.INDEX]
        if index:
            engine = self._make_engine()
            try:
                for group in _batches(index, engine.at_once):
                    self._mine_index(engine, group, sink)
            finally:
                engine.close()
        records = [source for source in todo if source.form is not FileFormat.INDEX]
        if records:
            with closing(self._make_reader(records)) as reader:
                for source in records:
                    self._mine_records(reader, source, sink)
        self._show(force=True)
        self.report.seconds = time.monotonic() - self._begun
        return self.report

    def _mine_index(self, engine: Engine, group: Sequence[MinedFile], sink: Sink) -> None:
        rows, left = {}, []
        for source in group:
            try:
                rows[source] = engine.count(source)
                left.append(source)
            except DatabaseFault:
                raise
            except EnvironmentFault as fault:
                self._failed(source, fault, sink)
        if not left:
            return
        try:
            for source, found in groupby(engine.rows(list(left)), key=lambda pair: pair[0]):
                while left[0] != source:  # nothing was selected in the files before
                    self._finish(left.pop(0), sink, rows)
                self._take(source, self._of_rows(source, (row for _, row in found)), sink)
                self._finish(left.pop(0), sink, rows)
            while left:
                self._finish(left.pop(0), sink, rows)
        except DatabaseFault:
            raise
        except EnvironmentFault as fault:
            for source in left:
                self._failed(source, fault, sink)

    def _of_rows(self, source: MinedFile, rows: Iterable[IndexRow]) -> Iterator[Find]:
        for row in rows:
            self.report.selected += 1
            yield from self._finder.of_address(row.url, row.place(source))

    def _mine_records(self, reader: Reader, source: MinedFile, sink: Sink) -> None:
        counts = Counts()
        try:
            self._take(source, reader.finds(source, counts), sink)
        except DatabaseFault:
            raise
        except EnvironmentFault as fault:
            self._failed(source, fault, sink)
            return
        if counts.damaged or counts.large:
            skipped = f"{counts.damaged:,} damaged or cut off, {counts.large:,} too large"
            self._say(f"{source.path}: {counted(counts.records, 'record')}; skipped: {skipped}")
        self.report.records += counts.records
        self.report.damaged += counts.damaged
        self.report.too_large += counts.large
        self._finish(source, sink, {})

    def _take(self, source: MinedFile, finds: Iterator[Find], sink: Sink) -> None:
        """Pass on what is found in a file, each endpoint and page once, without what is refused."""
        seen = set[tuple[str, str]]()
        for batch in _batches(finds, _BATCH):
            wanted = []
            for find in batch:
                if find.key in seen:
                    continue
                seen.add(find.key)
                if reason := self._refusal(find):
                    self.report.refused[reason] += 1
                    continue
                wanted.append(find)
            services = sum(find.candidate is not None for find in wanted)
            self.report.services += services
            self.report.pages += len(wanted) - services
            sink.take(source, wanted)
            if len(seen) > _MOST_SEEN:
                seen.clear()
            self._show()

    def _finish(self, source: MinedFile, sink: Sink, rows: dict[MinedFile, int]) -> None:
        sink.done(source)
        self.report.files += 1
        self.report.rows += rows.get(source, 0)
        self._show()

    def _failed(self, source: MinedFile, fault: EnvironmentFault, sink: Sink) -> None:
        sink.drop(source)
        self.report.failed += 1
        self._say(str(fault))

    def _show(self, *, force: bool = False) -> None:
        """Say how far the work is, every few seconds and in the end."""
        now, report = time.monotonic(), self.report
        if not self._total or (not force and now - self._said < _LINE_S):
            return
        self._said = now
        read = [counted(number, noun) for number, noun in ((report.rows, "row"), (report.records, "record")) if number]
        speed = (report.rows + report.records) / max(now - self._begun, 1e-9)
        done, found = report.files + report.failed, counted(report.services, "candidate")
        self._progress(
            f"{done:,} of {counted(self._total, 'file')}; {' and '.join(read) or 'nothing'} read, {speed:,.0f}/s; "
            f"{found}, {counted(report.pages, 'page')}"
        )


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    todo = iter(items)
    while batch := list(islice(todo, size)):
        yield batch
