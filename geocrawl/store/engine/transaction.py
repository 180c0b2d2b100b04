"""Run transactions, which have the write lock from their beginning; every write goes through them."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.store.engine.connection import BUSY_S

if TYPE_CHECKING:
    from geocrawl.store.engine.database import Database


class Transaction:
    """A transaction: `with transaction:` takes the write lock, commits at the end, and rolls back after an
    exception.

    A shared one writes beside others that share the lock, where the engine can (`Connection.shares_writes`): whoever
    uses it locks the rows on which its changes rest before it reads them."""

    _HASTE_MS = 100
    """Milliseconds to wait for the lock after a wait that failed, until the lock is free again: many full waits in a
    row would block the process for minutes."""

    def __init__(self, database: Database, *, shared: bool = False) -> None:
        self._database = database
        self._shared = shared
        self._in_vain = False

    def __enter__(self) -> None:
        connection = self._database.connection
        try:
            connection.begin(shared=self._shared)
            forgotten = self._database.blocked.look()
        except DatabaseFault as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if not self._in_vain and isinstance(error, PassingFault):
                self._in_vain = True
                connection.wait_for_lock(self._HASTE_MS)
            raise
        if self._in_vain:
            self._in_vain = False
            connection.wait_for_lock(round(BUSY_S * 1000))
        if forgotten:
            self._database.undone()  # cached rows may no longer exist

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection = self._database.connection
        if error is None:
            try:
                connection.execute("COMMIT")
                return
            except DatabaseFault:
                self._undo()
                raise
        self._undo()

    def _undo(self) -> None:
        connection = self._database.connection
        if connection.in_transaction:  # a full disk has undone it already
            connection.execute("ROLLBACK")
        self._database.undone()
