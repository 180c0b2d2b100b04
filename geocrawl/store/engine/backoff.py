"""Tell faults of the database that pass (a lock, a full disk) from others, and try whether one has passed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.store.engine.database import Database


def trouble_now(database: Database, write: Callable[[], object]) -> PassingFault | None:
    """Try to write; what is still the matter, None when it worked. Raises DatabaseFault for what does not pass."""
    try:
        write()
    except PassingFault as trouble:
        with suppress(DatabaseFault):  # the log's space (64 MiB at most) may be all that is missing
            database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return trouble
    return None
