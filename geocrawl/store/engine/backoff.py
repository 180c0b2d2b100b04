"""Tell faults of the database that pass (a lock, a full disk) from others, and try whether one has passed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.faults import fault


def trouble_now(database: Database, write: Callable[[], object]) -> PassingFault | None:
    """Try to write; what is still the matter, None when it worked. Raises DatabaseFault for what does not pass."""
    try:
        write()
    except (PassingFault, sqlite3.Error) as error:
        with suppress(sqlite3.Error):  # the log's space (64 MiB at most) may be all that is missing
            database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return passing(database.path, error)
    return None


def passing(path: Path, error: DatabaseFault | sqlite3.Error) -> PassingFault:
    """What is to be waited for; raises DatabaseFault for what waiting does not help."""
    found = error if isinstance(error, DatabaseFault) else fault(path, error)
    if isinstance(found, PassingFault):
        return found
    raise found from error
