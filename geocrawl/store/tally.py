"""Running totals of the frontier, so that `status` never counts millions of rows."""

from __future__ import annotations

import sqlite3

from geocrawl.model import Purpose, State
from geocrawl.store import statements as sql


class Tally:
    """Collects what a transaction changes and writes it once, before the commit."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._changes: dict[str, int] = {}

    def add(self, purpose: str, state: str, tier: int, count: int) -> None:
        """Count `count` more URLs in this state; of the waiting ones each tier has its own total."""
        name = f"{purpose}:{state}:{tier}" if state == "waiting" else f"{purpose}:{state}"
        self._changes[name] = self._changes.get(name, 0) + count

    def flush(self) -> None:
        """Write the changes."""
        for name, change in self._changes.items():
            if change:
                self._connection.execute(sql.COUNT, (name, change))
        self._changes.clear()

    def clear(self) -> None:
        """Forget the changes of a transaction that was undone."""
        self._changes.clear()


def read_totals(connection: sqlite3.Connection) -> dict[tuple[Purpose, State], dict[int, int]]:
    """(purpose, state) → number by tier; tier 0 for all states but waiting. A leased URL is still counted as
    waiting."""
    totals: dict[tuple[Purpose, State], dict[int, int]] = {}
    for name, value in connection.execute("SELECT name, value FROM counter WHERE name LIKE 'p%:%' AND value <> 0"):
        purpose, state, tier = (*name.split(":"), "0")[:3]
        totals.setdefault((Purpose(purpose), State(state)), {})[int(tier)] = value
    return totals
