"""Hosts that are left alone on request: a table that every process heeds from its next transaction on."""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.store.engine.connection import Connection
from geocrawl.urls import is_beneath

FORGETS = "forgets"
"""Counter of changes to the table: looking at it is what each transaction costs."""
FORGOTTEN = "forgotten"
"""Reason of what was removed, and of what is not asked."""


@dataclass(frozen=True, slots=True)
class BlockedHost:
    """A host, and all beneath it, that is never asked or listed."""

    host: str
    reason: str
    at: float


class OptOut:
    """What stands in the table, as this process knows it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._hosts: frozenset[str] | None = None
        self._seen = 0

    def look(self) -> bool:
        """Take up what others wrote; whether there was something since the last look."""
        seen = _changes(self._connection)
        changed = self._hosts is not None and seen != self._seen
        if changed or self._hosts is None:
            self._seen = seen
            self._hosts = frozenset(row[0] for row in self._connection.execute("SELECT host FROM blocked"))
        return changed

    def __bool__(self) -> bool:
        """Whether any host is left alone, as of the last look."""
        return bool(self._hosts)

    def covers(self, host: str) -> bool:
        """Whether a host is left alone, as of the last look."""
        if self._hosts is None:
            self.look()
        return bool(self._hosts) and is_beneath(host, self._hosts or frozenset())


def read_blocked(connection: Connection) -> list[BlockedHost]:
    """All of them, by name."""
    return [BlockedHost(*row) for row in connection.execute("SELECT host, reason, at FROM blocked ORDER BY host")]


def _changes(connection: Connection) -> int:
    row = connection.execute("SELECT value FROM counter WHERE name = 'forgets'").fetchone()
    return 0 if row is None else int(row[0])
