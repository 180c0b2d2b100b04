"""Giving back what a process holds and could not give back when its visits ended."""

from __future__ import annotations

from geocrawl.store import statements as sql
from geocrawl.store.database import Database


def give_back_leases(database: Database, owner: str) -> int:
    """End all leases of `owner` (machine:process), who has no visit under way; returns how many there were."""
    with database.transaction:
        held = [row[0] for row in database.connection.execute(sql.HELD).fetchall() if row[1] == owner]
        database.connection.executemany(sql.EXPIRE, [(host_id,) for host_id in held])
        database.write_meta("daemon:written", b"")  # also where nothing was held: that a row can be written is asked
    return len(held)
