"""Several processes read files of records: what one of them finds is lost with it, and nothing else."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from geocrawl.errors import EnvironmentFault
from geocrawl.mining.model import ArchiveRecord, FileFormat, Find, MinedFile
from geocrawl.mining.records import Counts, RecordProcesses, RecordReader
from tests.support.samples import sampled

FILES = [MinedFile(Path(f"/{number}.wat"), FileFormat.WAT, number) for number in range(9)]
FINDS = 2_500


class Reader(RecordReader):
    """Finds the number of a file, and is killed by the file number 4."""

    def __init__(self) -> None:
        """Need no library."""

    def finds(self, source: MinedFile, counts: Counts) -> Iterator[Find]:
        for number in range(FINDS):
            if (source.size, number) == (4, 1_500):
                os.kill(os.getpid(), signal.SIGKILL)
            yield Find(f"{source.size}/{number}", ArchiveRecord("", source.path.name))
        counts.records = FINDS


@pytest.mark.parametrize("processes", sampled([1, 3, 20], 3))
def test_a_killed_process_costs_its_file_alone(processes: int) -> None:
    with closing(RecordProcesses(FILES, processes, Reader)) as reader:
        for source in FILES:
            counts = Counts()
            if source.size == 4:
                with pytest.raises(EnvironmentFault, match="the process that read it was killed"):
                    list(reader.finds(source, counts))
                continue
            found = [find.link for find in reader.finds(source, counts)]
            assert found == [f"{source.size}/{number}" for number in range(FINDS)]
            assert counts.records == FINDS
