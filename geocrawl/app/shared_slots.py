"""Share the limit on pages between the processes of one crawl, in memory that all of them see.

Each process has a row: pages that were answered, pages under way. A slot is taken under a lock of the file behind that
memory, which the system frees when the process that has it is killed, so the limit holds exactly and nobody waits for
a dead one.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

_ANSWERED, _UNDER_WAY = 0, 1
_COLUMNS = 2
_NUMBER_BYTES = 8


class SlotTable:
    """The rows of all processes; made before they are forked."""

    def __init__(self, processes: int, most: int) -> None:
        """Make a table for so many processes; `most`: the limit on pages. Raises OSError without room for it."""
        self.most = most
        self._processes = processes
        with tempfile.TemporaryFile(prefix="geocrawl-pages-", buffering=0) as file:
            self._descriptor = os.dup(file.fileno())
        size = processes * _COLUMNS * _NUMBER_BYTES
        os.write(self._descriptor, bytes(size))  # a file without room for its pages would end the process later
        self._memory = mmap.mmap(self._descriptor, size)
        self._numbers = memoryview(self._memory).cast("q")

    def of(self, process: int) -> SharedSlots:
        """Return the slots as a process uses them; the first process is 0."""
        return SharedSlots(self, process)

    @contextmanager
    def locked(self) -> Iterator[memoryview]:
        """Lock the table for all processes; yield its numbers, row by row."""
        fcntl.lockf(self._descriptor, fcntl.LOCK_EX)
        try:
            yield self._numbers
        finally:
            fcntl.lockf(self._descriptor, fcntl.LOCK_UN)

    def under_way(self, but: int) -> int:
        """Return the number of pages under way in all processes but one."""
        return sum(self._numbers[_UNDER_WAY::_COLUMNS]) - self._numbers[but * _COLUMNS + _UNDER_WAY]

    def forget(self, process: int) -> int:
        """Give back the slots of a process that has ended; return how many pages were under way in it."""
        with self.locked() as numbers:
            lost, numbers[process * _COLUMNS + _UNDER_WAY] = numbers[process * _COLUMNS + _UNDER_WAY], 0
        return int(lost)

    def close(self) -> None:
        """Free the memory in this process."""
        self._numbers.release()
        self._memory.close()
        os.close(self._descriptor)


class SharedSlots:
    """`crawler.page_slots.PageSlots` of one of several processes."""

    are_shared = True

    def __init__(self, table: SlotTable, process: int) -> None:
        self._table = table
        self._process = process
        self._answered, self._under_way = (process * _COLUMNS + column for column in (_ANSWERED, _UNDER_WAY))

    def take(self, most: int) -> int:
        """Take up to `most` slots; return how many there were."""
        with self._table.locked() as numbers:
            taken = max(min(most, self._table.most - sum(numbers)), 0)
            numbers[self._under_way] += taken
        return taken

    def give_back(self, count: int) -> None:
        """Give slots back."""
        if count:
            with self._table.locked() as numbers:
                numbers[self._under_way] -= count

    def end(self, *, answered: bool) -> None:
        """End the visit of a page; in one step, so that no other process sees its slot taken twice or free."""
        with self._table.locked() as numbers:
            numbers[self._under_way] -= 1
            numbers[self._answered] += answered

    def any_left(self) -> bool:
        """Return whether another page may be leased."""
        with self._table.locked() as numbers:
            return bool(sum(numbers) < self._table.most)

    def may_come_back(self) -> bool:
        """Return whether pages are under way in other processes."""
        return self._table.under_way(but=self._process) > 0
