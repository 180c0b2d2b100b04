"""Keep the database bounded over the years: delete old probes, but not the health that follows from them, and keep the
database within a limit on its size.

Answers for robots.txt are deleted when they have expired. Above the limit, what a request brings back and what is
history is deleted first: the other answers for robots.txt; probes, but for the last two of each endpoint; changes of
descriptions, the oldest first. Then waiting pages, those of the lowest tier and of these the oldest; then kept pages,
the lowest scores first; then thumbnails, the oldest first. The catalogue is never touched. SQLite fills the space that
becomes free before the file grows again; the file itself does not shrink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from geocrawl.model import Purpose, State
from geocrawl.model.health import DAY_S
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.counters import Counters, read_totals
from geocrawl.store.frontier.hosts import Hosts
from geocrawl.store.frontier.page_store import STORED_BYTES
from geocrawl.store.operations.opt_out import FORGETS

NO_SPACE = "no-space"
"""Reason of a page that left the queue because the database was too large."""

_BATCH = 10_000
# The last two probes of an endpoint stay, however old.
_OLD = """
SELECT id FROM probe p WHERE at < ?1 AND id NOT IN (
  SELECT id FROM probe q WHERE q.endpoint_id = p.endpoint_id ORDER BY at DESC, id DESC LIMIT 2) LIMIT ?2"""

_EXPIRED = """
DELETE FROM robots WHERE origin IN (SELECT origin FROM robots WHERE expires_at < ?1 LIMIT ?2)"""


class Retention:
    """Deletes probes that are older than they are to be kept, and rows that exceed the limit on the database's size."""

    def __init__(self, database: Database, *, keep_days: int, max_bytes: int = 0) -> None:
        """`max_bytes` 0: no limit."""
        self._connection = database.connection
        self._database = database
        self._keep_s = keep_days * DAY_S
        self._room = Room(database, max_bytes) if max_bytes else None

    def tidy(self, now: float) -> dict[str, int]:
        """Delete old probes, at most 10,000, and what exceeds the limit. Returns counts of deleted rows by name."""
        with self._database.transaction:
            ids = [row[0] for row in self._connection.execute(_OLD, (now - self._keep_s, _BATCH))]
            self._connection.executemany("DELETE FROM probe WHERE id = ?", [(each,) for each in ids])
            expired = self._connection.execute(_EXPIRED, (now, _BATCH)).rowcount
        self._connection.execute("PRAGMA optimize")
        gone = {"probes": len(ids), **({"expired robots.txt": expired} if expired else {})}
        return {**gone, **(self._room.make() if self._room else {})}


# --------------------------------------------------------------------------- a limit on the size

_TARGET = 0.95
"""Share of the limit down to which rows are deleted, so that the limit is not reached again at once."""
_PAGES, _ROUNDS = 2_000, 50
"""Pages deleted in one transaction, and transactions a call: other processes want the lock, too."""
# Waiting pages of a tier that were never visited and are not leased, the oldest first. Seeds stay.
_WORST = """
SELECT u.id, u.host_id, u.tier, u.depth, u.first_seen FROM url u
WHERE u.state = 'waiting' AND u.purpose = 'page' AND u.tier = ?1 AND u.depth > 0 AND u.settled_at IS NULL
AND u.id NOT IN (SELECT lease_url FROM host WHERE lease_until > 0 AND lease_url IS NOT NULL)
ORDER BY u.id LIMIT ?2"""
# Put an empty row in a page's place, so that its id, to which links of other pages refer, never names another page.
# (Making the row itself smaller would leave holes that nothing else can fill.)
_EMPTY = """
INSERT INTO url (id, key, address, purpose, host_id, state, reason, depth, tier, score, first_seen)
VALUES (?1, -?1, 'http://dropped.invalid/', 'page', ?2, 'refused', 'no-space', ?3, 0, 0, ?4)"""
_OLDEST_ROBOTS = "DELETE FROM robots WHERE origin IN (SELECT origin FROM robots ORDER BY fetched_at LIMIT 500)"
_OLDEST_PROBES = """
DELETE FROM probe WHERE id IN (
  SELECT id FROM probe p WHERE id NOT IN (
    SELECT id FROM probe q WHERE q.endpoint_id = p.endpoint_id ORDER BY at DESC, id DESC LIMIT 2)
  ORDER BY at, id LIMIT 2000)"""
_OLDEST_CHANGES = "DELETE FROM change WHERE id IN (SELECT id FROM change ORDER BY at, id LIMIT 2000)"
_OLDEST_IMAGES = "DELETE FROM thumbnail WHERE endpoint_id IN (SELECT endpoint_id FROM thumbnail ORDER BY at LIMIT 200)"

_Waiting = tuple[int, int, int, int, float]
"""A row of `_WORST`."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a database."""

    file_bytes: int
    used_bytes: int
    """The file's size without its free pages."""


def size_of(connection: Connection) -> Size:
    """Return the database's size by SQLite's own count, without the write-ahead log (64 MiB at most)."""
    page, pages, free = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_size", "page_count", "freelist_count")
    )
    return Size(page * pages, page * (pages - free))


class Room:
    """Deletes rows when the database exceeds its limit."""

    def __init__(self, database: Database, max_bytes: int) -> None:
        self._database = database
        self._connection = database.connection
        self._max_bytes = max_bytes

    def make(self) -> dict[str, int]:
        """Delete rows until the database is within its limit or nothing is left to delete. Returns counts by name."""
        dropped: dict[str, int] = {}
        if self._used() <= self._max_bytes:
            return dropped
        steps: tuple[tuple[str, Callable[[], int]], ...] = (
            ("robots.txt dropped", lambda: self._delete(_OLDEST_ROBOTS)),
            ("probes dropped", lambda: self._delete(_OLDEST_PROBES)),
            ("changes dropped", lambda: self._delete(_OLDEST_CHANGES)),
            ("waiting pages dropped", self._waiting),
            ("kept pages dropped", self._kept),
            ("thumbnails dropped", lambda: self._delete(_OLDEST_IMAGES)),
        )
        for name, step in steps:
            for _ in range(_ROUNDS):
                if self._used() <= self._max_bytes * _TARGET:
                    return dropped
                with self._database.transaction:
                    count = step()
                if not count:
                    break
                dropped[name] = dropped.get(name, 0) + count
        return dropped

    def _used(self) -> int:
        return size_of(self._connection).used_bytes

    def _waiting(self) -> int:
        rows = self._worst_pages()
        if not rows:
            return 0
        counters, hosts = Counters(self._connection), Hosts(self._connection)
        left: dict[int, int] = {}
        self._connection.executemany("DELETE FROM url WHERE id = ?", [(row[0],) for row in rows])
        for url_id, host_id, tier, depth, first_seen in rows:
            self._connection.execute(_EMPTY, (url_id, host_id, depth, first_seen))
            counters.add("page", State.WAITING, tier, -1)
            counters.add("page", State.REFUSED, 0, 1)
            counters.refuse(NO_SPACE, 1)
            left[host_id] = left.get(host_id, 0) + 1
        for host_id, count in left.items():
            hosts.refresh(host_id, left=count)
        counters.flush()
        self._connection.execute(sql.COUNT, (FORGETS, 1))  # every process reads its rows again
        return len(rows)

    def _worst_pages(self) -> list[_Waiting]:
        found: list[_Waiting] = []
        totals = read_totals(self._connection).get((Purpose.PAGE, State.WAITING), {})
        for tier in sorted(totals):
            found += self._connection.execute(_WORST, (tier, _PAGES - len(found))).fetchall()
            if len(found) >= _PAGES:
                break
        return found

    def _kept(self) -> int:
        rows = self._connection.execute("SELECT url_id FROM page_store ORDER BY score, url_id LIMIT 100").fetchall()
        for row in rows:
            (size,) = self._connection.execute(sql.DROP_PAGE, row).fetchone()
            self._connection.execute(sql.COUNT, (STORED_BYTES, -size))
        return len(rows)

    def _delete(self, statement: str) -> int:
        return self._connection.execute(statement).rowcount
