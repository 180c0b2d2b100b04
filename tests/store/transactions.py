"""Note the rows and the duration of each transaction that a database makes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple

from geocrawl.store.database.database import Database

_CHANGES = {
    "sqlite": "SELECT total_changes()",
    "postgresql": "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_xact_user_tables",
}
"""Statements that read the number of rows changed by this connection, or by its transaction."""


class Done(NamedTuple):
    """A transaction that was committed or rolled back."""

    rows: int
    """Rows that it inserted, updated and deleted."""
    seconds: float


class _Noting:
    """Stands in the place of `Database.transaction` and passes everything on."""

    def __init__(self, database: Database, done: list[Done]) -> None:
        self._real = database.transaction
        self._connection = database.connection
        self._done = done
        self._before = (0, 0.0)

    def __enter__(self) -> None:
        self._real.__enter__()
        self._before = self._changes(), time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        rows = self._changes() - self._before[0]
        self._real.__exit__(kind, error, trace)
        self._done.append(Done(rows, time.perf_counter() - self._before[1]))

    def _changes(self) -> int:
        return int(self._connection.execute(_CHANGES[self._connection.engine]).fetchone()[0])


@contextmanager
def transactions_of(database: Database) -> Iterator[list[Done]]:
    """Yield a list to which each transaction of `database` is added as it ends."""
    done: list[Done] = []
    real = database.transaction
    database.transaction = _Noting(database, done)  # type: ignore[assignment]
    try:
        yield done
    finally:
        database.transaction = real
