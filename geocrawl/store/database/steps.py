"""Divide long work into short transactions, between which other processes have their turn.

Work whose size others decide (how many pages a host has, how many addresses a budget refused) is a generator: it yields
between two transactions, when nothing is locked, and returns its result. What it has committed stays when the process
is killed, and the work is such that it goes on from there. `docs/architecture.md` lists all of it.

SQLite lets a process that waits for the lock look for it every 100 ms. So the lock is left free between two steps for
half as long as the last step took: nobody waits in vain for the 5 s after which a statement fails.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import TypeVar

from sqlalchemy import Delete, Table, bindparam, delete, func, select

from geocrawl.store.database.connection import Connection

T = TypeVar("T")
ChunkedWork = Generator[None, None, T]
"""Work in steps, each at most one transaction; its result is what the generator returns."""

ROWS = 1_000
"""Rows of the frontier that one step changes, at most: a tenth of a second on a slow machine."""
ROWS_READ = 5_000
"""Rows that one step looks through, at most."""
FREE = 0.5
"""Time between two steps as a share of the last step's."""


class RowBudget:
    """Counts down the rows that the current transaction may still change."""

    __slots__ = ("left",)

    def __init__(self, rows: int = 0) -> None:
        """`rows`: `ROWS` by default."""
        self.left = rows or ROWS

    def spend(self, rows: int = 1) -> None:
        """Count rows that were changed."""
        self.left -= rows

    @property
    def is_spent(self) -> bool:
        """Return whether the rest is left to the next transaction."""
        return self.left <= 0


def run(work: ChunkedWork[T]) -> T:
    """Do the work, and return its result. (A loop awaits it by `StoreRunner.run_steps`.)"""
    while True:
        begun = time.monotonic()
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result
        time.sleep(FREE * (time.monotonic() - begun))


def batches(items: Iterable[T], size: int = 0) -> Iterator[list[T]]:
    """Yield the items in lists of `size`, `ROWS` by default."""
    todo = iter(items)
    while batch := list(islice(todo, size or ROWS)):
        yield batch


def ranges(connection: Connection, table: Table, after: int = -(2**63)) -> Iterator[tuple[int, int]]:
    """Yield the first and the last id of every `ROWS_READ` rows of a table, in order."""
    ids = table.c.id
    part = select(ids).where(ids > bindparam("after")).order_by(ids).limit(ROWS_READ).subquery("part")
    next_last, last = select(func.max(part.c.id)), after
    while (end := connection.execute(next_last, {"after": last}).fetchone()[0]) is not None:
        yield last + 1, end
        last = end


def delete_rows(connection: Connection, table: Table, keys: Sequence[tuple[object, ...]]) -> int:
    """Delete the rows of a table with these keys; return how many there were."""
    names = [column.name for column in table.primary_key]
    rows = [dict(zip(names, key, strict=True)) for key in keys]
    return connection.executemany(_deletion(table), rows).rowcount


@cache
def _deletion(table: Table) -> Delete:
    return delete(table).where(*(column == bindparam(column.name) for column in table.primary_key))
