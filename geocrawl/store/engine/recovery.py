"""Test whether a database can be written again after a temporary fault (a lock, a full disk)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.store.engine.database import Database


def try_write(database: Database, write: Callable[[], object]) -> PassingFault | None:
    """Call `write`. Returns the temporary fault that still prevents it, None when `write` succeeded.

    Raises DatabaseFault for a lasting fault. After a fault, this empties SQLite's write-ahead log (at most 64 MiB): its
    space may be all that is missing on a full disk.
    """
    try:
        write()
    except PassingFault as fault:
        with suppress(DatabaseFault):
            database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return fault
    return None
