"""What a daemon does while the machine does not let it write: it waits, tries again, and goes on.

A locked database and a full disk pass. The visits under way are lost, no settled one is; what they held is given back
here, so that their hosts need not wait for the end of the lease.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.store.faults import fault
from geocrawl.store.leases import give_back_leases

if TYPE_CHECKING:
    from pathlib import Path

    from geocrawl.store.database import Database

_FIRST_S, _LONGEST_S = 1.0, 60.0


class Patience:
    """How long to wait for the database, and whether it can be written again."""

    def __init__(self, database: Database, owner: str) -> None:
        self._database = database
        self._owner = owner
        self._pauses = 0

    def pause_s(self) -> float:
        """The next wait, longer each time until something was settled."""
        self._pauses += 1
        return float(min(_FIRST_S * 2 ** min(self._pauses - 1, 10), _LONGEST_S))

    def over(self) -> PassingFault | None:
        """Try to write; what is still the matter, None when it worked. Raises DatabaseFault for what does not pass."""
        try:
            give_back_leases(self._database, self._owner)
        except (PassingFault, sqlite3.Error) as error:
            self._make_room()
            return passing(self._database.path, error)
        return None

    def _make_room(self) -> None:
        """Write the log into the database and give its space (64 MiB at most) back, as far as that can be done now."""
        with suppress(sqlite3.Error):
            self._database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def settled(self) -> None:
        """A visit was written: all is well."""
        self._pauses = 0


def passing(path: Path, error: DatabaseFault | sqlite3.Error) -> PassingFault:
    """What is to be waited for; raises DatabaseFault for what waiting does not help."""
    found = error if isinstance(error, DatabaseFault) else fault(path, error)
    if isinstance(found, PassingFault):
        return found
    raise found from error
