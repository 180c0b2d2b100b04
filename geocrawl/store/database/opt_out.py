"""Know which hosts have opted out: a table that every process reads again in its next transaction after a change."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import BLOCKED, COUNTER
from geocrawl.urls import is_within_domains

FORGETS = "forgets"
"""Name of the counter of changes to the table: each transaction reads this counter alone."""
FORGOTTEN = "forgotten"
"""Reason code of removed pages, and of addresses that are not requested."""
_HOSTS = select(BLOCKED.c.host)
_BLOCKED = select(BLOCKED.c.host, BLOCKED.c.reason, BLOCKED.c.at).order_by(BLOCKED.c.host)
_CHANGES = select(COUNTER.c.value).where(COUNTER.c.name == FORGETS)


@dataclass(frozen=True, slots=True)
class BlockedHost:
    """A host that opted out, with all its subdomains: none of them is requested or listed."""

    host: str
    reason: str
    at: float


class OptOut:
    """The hosts that have opted out, as this process last read them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._hosts: frozenset[str] | None = None
        self._seen = 0

    def look(self) -> bool:
        """Read the table if it has changed. Returns whether it had changed since this process last read it."""
        seen = _changes(self._connection)
        changed = self._hosts is not None and seen != self._seen
        if changed or self._hosts is None:
            self._seen = seen
            self._hosts = frozenset(row[0] for row in self._connection.execute(_HOSTS))
        return changed

    def __bool__(self) -> bool:
        """Return whether any host has opted out."""
        return bool(self._hosts)

    @property
    def is_known(self) -> bool:
        """Return whether this process has read the table."""
        return self._hosts is not None

    def covers(self, host: str) -> bool:
        """Return whether a host, or a parent domain of it, has opted out."""
        if self._hosts is None:
            self.look()
        return bool(self._hosts) and is_within_domains(host, self._hosts or frozenset())


def read_blocked(connection: Connection) -> list[BlockedHost]:
    """Return the hosts that have opted out, by name."""
    return [BlockedHost(*row) for row in connection.execute(_BLOCKED)]


def _changes(connection: Connection) -> int:
    row = connection.execute(_CHANGES).fetchone()
    return 0 if row is None else int(row[0])
