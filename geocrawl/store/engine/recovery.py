"""Test whether a database can be written again after a temporary fault (a lock, a full disk)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.store.engine.database import Database


def try_write(database: Database, write: Callable[[], object]) -> PassingFault | None:
    """Call `write`. Returns the temporary fault that still prevents it, None when `write` succeeded.

    Raises DatabaseFault for a lasting fault. After a fault, the engine gives back what it takes itself, such as
    SQLite's write-ahead log: its space may be all that is missing on a full disk.
    """
    try:
        write()
    except PassingFault as fault:
        with suppress(DatabaseFault):
            database.connection.make_room()
        return fault
    return None
