"""Keeping the database bounded over the years: old probes go, what they said of health stays."""

from __future__ import annotations

import sqlite3

from geocrawl.health import DAY_S
from geocrawl.store.database import Database

_BATCH = 10_000
# The last two probes of an endpoint stay, however old.
_OLD = """
SELECT id FROM probe p WHERE at < ?1 AND id NOT IN (
  SELECT id FROM probe q WHERE q.endpoint_id = p.endpoint_id ORDER BY at DESC, id DESC LIMIT 2) LIMIT ?2"""


class Retention:
    """Drops what is older than it is to be kept."""

    def __init__(self, connection: sqlite3.Connection, database: Database, *, keep_days: int) -> None:
        self._connection = connection
        self._database = database
        self._keep_s = keep_days * DAY_S

    def tidy(self, now: float) -> dict[str, int]:
        """Drop old probes, at most 10,000 at a time; returns how many went."""
        with self._database.transaction:
            ids = [row[0] for row in self._connection.execute(_OLD, (now - self._keep_s, _BATCH))]
            self._connection.executemany("DELETE FROM probe WHERE id = ?", [(each,) for each in ids])
        self._connection.execute("PRAGMA optimize")
        return {"probes": len(ids)}
