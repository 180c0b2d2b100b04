"""Read files of records in several processes: each reads whole files, and all is taken in the order of the files.

So the finds are those of one process, in its order. What a process finds goes through a file in a temporary folder: it
need not wait until the files before are taken, and no list of finds is held in memory.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from geocrawl.errors import EnvironmentFault
from geocrawl.mining.finds import Find
from geocrawl.mining.records import Counts, RecordReader
from geocrawl.mining.sources import Source

if TYPE_CHECKING:
    Channel = Connection[Any, Any]
else:
    Channel = Connection

_BATCH = 1_000
"""Finds that are written and read at once."""


class RecordProcesses:
    """Reads files as `RecordReader` does, some files ahead of the one that is asked for."""

    def __init__(self, sources: Sequence[Source], count: int, make_reader: Callable[[], RecordReader]) -> None:
        """Start at most `count` processes, which read `sources`; `finds` is to be called for these in their order.

        Raises EnvironmentFault when a library is missing."""
        make_reader()
        self._make_reader = make_reader
        self._sources = sources
        self._taken = 0
        self._folder = TemporaryDirectory(prefix="geocrawl-mine-")
        self._processes: list[_Process] = []
        for number in range(min(count, len(sources))):
            self._processes.append(self._started())
            self._begin(number)

    def finds(self, source: Source, counts: Counts) -> Iterator[Find]:
        """Yield the finds of a file and count its records in `counts`.

        Raises EnvironmentFault for a file that cannot be read or has no records, or whose process was killed.
        """
        number, self._taken = self._taken, self._taken + 1
        turn = number % len(self._processes)
        try:
            read, fault = self._processes[turn].channel.recv()
        except (EOFError, OSError):
            self._processes[turn].end()
            self._processes[turn] = self._started()
            read, fault = Counts(), f"{source.path}: the process that read it was killed; is there enough memory?"
        self._begin(number + len(self._processes))
        file = self._file(number)
        if not fault:
            counts.records, counts.damaged, counts.large = read.records, read.damaged, read.large
            yield from _unpacked(file)
        file.unlink(missing_ok=True)
        if fault:
            raise EnvironmentFault(fault)

    def close(self) -> None:
        """End the processes, whatever they read."""
        for process in self._processes:
            process.end()
        self._folder.cleanup()

    def _started(self) -> _Process:
        return _Process(self._make_reader, [process.channel for process in self._processes])

    def _begin(self, number: int) -> None:
        """Have the process whose turn it is read a file, if there is one of this number."""
        if number < len(self._sources):
            with suppress(OSError):  # it was killed, which is noticed when its finds are asked for
                self._processes[number % len(self._processes)].channel.send((self._sources[number], self._file(number)))

    def _file(self, number: int) -> Path:
        return Path(self._folder.name, str(number))


class _Process:
    """A process that reads files, one after the other."""

    def __init__(self, make_reader: Callable[[], RecordReader], others: Sequence[Channel]) -> None:
        context = multiprocessing.get_context("fork")
        self.channel, theirs = context.Pipe()
        # Its copies of our ends would keep channels open when this process is killed.
        not_its = [*others, self.channel]
        self._process: BaseProcess = context.Process(target=_read, args=(make_reader, theirs, not_its), daemon=True)
        self._process.start()
        theirs.close()

    def end(self) -> None:
        """End it at once."""
        self.channel.close()
        self._process.kill()
        self._process.join()


def _read(make_reader: Callable[[], RecordReader], channel: Channel, not_its: Sequence[Channel]) -> None:
    """Read files that are named on a channel until it is closed. The entry point of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal, for all: the first process ends the others
    for other in not_its:
        other.close()
    reader = make_reader()
    with suppress(EOFError, OSError):
        while True:
            source, file = channel.recv()
            counts, fault = Counts(), ""
            try:
                _pack(reader.finds(source, counts), file)
            except EnvironmentFault as error:
                fault = str(error)
            channel.send((counts, fault))


def _pack(finds: Iterator[Find], file: Path) -> None:
    try:
        with file.open("wb") as packed:
            while batch := list(islice(finds, _BATCH)):
                pickle.dump(batch, packed, pickle.HIGHEST_PROTOCOL)
    except OSError as error:
        raise EnvironmentFault(f"{file}: {error.strerror or error}") from error


def _unpacked(file: Path) -> Iterator[Find]:
    with file.open("rb") as packed, suppress(EOFError):
        while True:
            yield from pickle.load(packed)  # noqa: S301  # written by our own process into a folder of this account
