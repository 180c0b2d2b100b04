"""Read files of records in several processes: each reads whole files, and all is taken in the order of the files."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from geocrawl.errors import EnvironmentFault
from geocrawl.mining.model import Find, Source
from geocrawl.mining.records import Counts, RecordReader

_Read = tuple[list[Find], Counts]


class RecordProcesses:
    """Reads files as `RecordReader` does, some files ahead of the one that is asked for."""

    def __init__(self, sources: Sequence[Source], count: int, make_reader: Callable[[], RecordReader]) -> None:
        """Read `sources` in `count` processes; `finds` is to be called for these in their order.

        Raises EnvironmentFault when a library is missing."""
        make_reader()
        self._make_reader = make_reader
        self._count = count
        self._todo = deque(sources)
        self._reading: deque[tuple[Source, Future[_Read]]] = deque()
        self._pool = self._new_pool()

    def finds(self, source: Source, counts: Counts) -> Iterator[Find]:
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

    def _read_again(self, source: Source) -> _Read:
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

    def _submitted(self, source: Source) -> Future[_Read]:
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


def _read(source: Source) -> _Read:
    counts = Counts()
    return list(_readers[0].finds(source, counts)), counts
