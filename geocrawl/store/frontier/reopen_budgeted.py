"""Reopen addresses that a spent budget refused, when the budget of their pattern has grown.

A find can come late: from a page that was read before the budget was spent, or read again since. Looking for refused
addresses goes through all of them, so it is put off until nothing else is ready, and is done once in as many visits as
a budget allows, or when nothing waits at all. The oldest addresses come first; those that a budget leaves out are
looked for again while it is not spent, and after the next find.

When nothing waits at all, spent patterns are served late: of each pattern `late_per_pattern` addresses that a listing
names, a page without a pattern or of one that was never spent; of those that its own pages or other spent patterns
make, as many as its budget was. `pattern.late` counts both, so an endless pattern ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from geocrawl.model import Purpose
from geocrawl.store.engine.clauses import is_host_or_subdomain
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.steps import Steps, batches, ranges
from geocrawl.store.frontier.budgets import (
    PATTERN,
    Caps,
    is_spent,
    page_pattern_key,
    service_pattern_key,
)
from geocrawl.store.frontier.queue import Queue
from geocrawl.store.stored_url import stored_url
from geocrawl.urls import read_url

_NAME = "patterns:lifted"
_MOST = 10_000
"""Patterns remembered at once."""
_LEFT = "SELECT ?2 * (1 + finds) - (fruitless - late) FROM pattern WHERE key = ?1"
_COLUMNS = "u.id, u.purpose, u.address, e.kind, e.url, e.site"
# What was refused for its pattern; ids from ?2 to ?3.
_REFUSED = f"""
SELECT {_COLUMNS} FROM url u LEFT JOIN endpoint e ON e.id = u.endpoint_id
WHERE u.id BETWEEN ?2 AND ?3 AND u.state = 'refused' AND u.reason = ?1 ORDER BY u.id"""  # noqa: S608 our own names
# The same, of the site ?4 only.
_OF_SITE = f"""
SELECT {_COLUMNS} FROM url u JOIN host h ON h.id = u.host_id LEFT JOIN endpoint e ON e.id = u.endpoint_id
WHERE u.id BETWEEN ?2 AND ?3 AND u.state = 'refused' AND u.reason = ?1
  AND {is_host_or_subdomain("h.name", "?4")} ORDER BY u.id"""  # noqa: S608 our own condition
_LATE_AT_ONCE = 2000
"""Addresses that are served late at once, in one transaction, at most."""
# Pages that were refused for their pattern, with the page that named each; ids from ?2 to ?3.
_REFUSED_PAGES = """
SELECT u.id, u.address, p.address FROM url u LEFT JOIN url p ON p.id = u.found_on
WHERE u.id BETWEEN ?2 AND ?3 AND u.state = 'refused' AND u.reason = ?1 AND u.purpose = 'page' ORDER BY u.id"""
_PATTERN = "SELECT fruitless, finds, late FROM pattern WHERE key = ?"
_SERVE_LATE = "UPDATE pattern SET late = max(late + ?2, ?3) WHERE key = ?1"
_SETTLEMENTS = "SELECT coalesce((SELECT value FROM counter WHERE name = 'turn'), 0)"
_FOUND = "UPDATE pattern SET finds = max(finds, (fruitless + ?2 - 1) / ?2) WHERE key = ?1"


class BudgetReopener:
    """Remembers patterns whose budget grew, and reopens what was refused for them in transactions of its own.

    Refused addresses are searched without the write lock, because there may be millions; each one is checked again in
    the transaction that puts it back into the queue.
    """

    def __init__(self, database: Database, queue: Queue, caps: Caps) -> None:
        self._database = database
        self._connection: Connection = database.connection
        self._queue = queue
        self._caps = caps
        self._budget = caps.fruitless_per_pattern
        self._served_late_at = -1
        """Number of settlements when spent patterns were last found to have nothing to serve late."""
        self._keys = set[int]()
        self._looked_at = 0
        self._read()
        database.on_undo(self._read)

    def add(self, key: int) -> None:
        """Remember a pattern whose spent budget has grown, inside the caller's transaction."""
        if key not in self._keys and len(self._keys) < _MOST:
            self._keys.add(key)
            self._write()

    def is_due(self, nothing_waits: Callable[[], bool]) -> bool:
        """Return whether it is time to look for refused addresses."""
        return bool(self._keys) and (self._settlements() - self._looked_at >= self._budget or nothing_waits())

    def reopen(self) -> Steps[int]:
        """Let refused addresses wait again, as far as the budgets go; return how many."""
        self._looked_at = self._settlements()
        left = {key: self._left(key) for key in self._keys}
        more, found = set[int](), list[int]()
        for first, last in ranges(self._connection, "url"):
            for url_id, key in self._refused(_REFUSED, PATTERN, first, last):
                if left.get(key, 0) > 0:
                    left[key] -= 1
                    found.append(url_id)
                elif key in left:
                    more.add(key)
            if more.issuperset(left):
                break
            yield
        count = 0
        for batch in batches(found):
            with self._database.transaction:
                count += sum(self._queue.reopen_refused(url_id, PATTERN) for url_id in batch)
                self._queue.flush()
            yield
        with self._database.transaction:
            added = self._keys.difference(left)
            self._keys = {key for key in more if self._left(key) > 0} | added
            self._write()
        return count

    def is_late_due(self, nothing_waits: Callable[[], bool]) -> bool:
        """Return whether it is time to serve spent patterns: the queue is empty, and visits were settled since the last
        try.
        """
        if not self._budget or not self._caps.late_per_pattern:
            return False
        return nothing_waits() and self._settlements() != self._served_late_at

    def reopen_late(self) -> Steps[int]:
        """Let addresses of spent patterns wait again, as far as their late limits go; return how many."""
        served: dict[int, int] = {}
        found, most = list[int](), self._caps.late_per_pattern
        for first, last in ranges(self._connection, "url"):
            for url_id, key, by in self._refused_pages(first, last):
                _, finds, late = self._pattern(key)
                limit = most if self._is_listing(by, key) else min(self._budget * (1 + finds), most)
                if late + served.get(key, 0) < limit and len(found) < _LATE_AT_ONCE:
                    served[key] = served.get(key, 0) + 1
                    found.append(url_id)
            if len(found) >= _LATE_AT_ONCE:
                break
            yield
        with self._database.transaction:
            count = sum(self._queue.reopen_refused(url_id, PATTERN) for url_id in found)
            for key, number in served.items():
                _, finds, _ = self._pattern(key)
                self._connection.execute(_SERVE_LATE, (key, number, min(self._budget * (1 + finds), most)))
            self._queue.flush()
        if not count:
            self._served_late_at = self._settlements()
        return count

    def _is_listing(self, by: int | None, key: int) -> bool:
        """Return whether pages of the pattern `by` (None: of no pattern) list those of another pattern, `key`."""
        return by is None or (by != key and not is_spent(self._pattern(by)[:2], self._caps))

    def _pattern(self, key: int) -> tuple[int, int, int]:
        """Return the fruitless requests and the finds of a pattern, and how many more it was granted late."""
        return self._connection.execute(_PATTERN, (key,)).fetchone() or (0, 0, 0)

    def _refused_pages(self, first: int, last: int) -> Iterator[tuple[int, int, int | None]]:
        """Yield id and pattern of each page that was refused for its pattern, and the pattern that named it."""
        for url_id, address, named_by in self._connection.execute(_REFUSED_PAGES, (PATTERN, first, last)).fetchall():
            url, listing = read_url(address), read_url(named_by or "")
            key = page_pattern_key(url) if url is not None else None
            if key is not None:
                yield url_id, key, page_pattern_key(listing) if listing is not None else None

    def release(self, site: str) -> Steps[bool]:
        """Double the spent budgets of a site's patterns, because a person released the site; return whether there are
        any."""
        keys, some = set[int](), False
        for first, last in ranges(self._connection, "url"):
            refused = list(self._refused(_OF_SITE, PATTERN, first, last, site))
            some = some or bool(refused)
            keys |= {key for _, key in refused}
            yield
        for batch in batches(sorted(keys) if self._budget else ()):
            with self._database.transaction:
                self._connection.executemany(_FOUND, [(key, self._budget) for key in batch])
                self._keys |= set(batch[: max(_MOST - len(self._keys), 0)])
                self._write()
            yield
        return some

    def _left(self, key: int) -> int:
        """Return how many requests a pattern's budget still allows."""
        row = self._connection.execute(_LEFT, (key, self._budget)).fetchone()
        return max(row[0], 0) if row else 0

    def _settlements(self) -> int:
        return int(self._connection.execute(_SETTLEMENTS).fetchone()[0])

    def _refused(self, statement: str, *values: object) -> Iterator[tuple[int, int]]:
        """Yield id and pattern of each address that the statement finds, the oldest first."""
        for url_id, purpose, address, kind, service, site in self._connection.execute(statement, values).fetchall():
            url = read_url(address) if purpose == Purpose.PAGE else None
            key = page_pattern_key(url) if url is not None else service_pattern_key(kind, stored_url(service), site)
            if key is not None:
                yield url_id, key

    def _read(self) -> None:
        keys, self._looked_at = json.loads(self._database.meta(_NAME) or f"[[], {-self._budget}]")
        self._keys = set(keys)

    def _write(self) -> None:
        self._database.write_meta(_NAME, json.dumps((sorted(self._keys), self._looked_at)))
