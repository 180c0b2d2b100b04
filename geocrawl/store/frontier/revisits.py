"""Pages that are read again: seeds, those that named services, those that led to such pages, sitemaps,
and catalogues' pages of records.

How long to wait is learnt for each page from what its visits brought: half as long after one that found it changed, a
quarter after one that brought endpoints nobody knew, half as long again after one that found nothing new (a simple form
of the estimators in Cho, Garcia-Molina: Effective page refresh policies for web crawlers, TODS 2003). What counts as a
change is what matters here: which links and candidates stand on it, not its text, which a clock or a counter changes.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

CHANGED, BROUGHT, SAME = 0.5, 0.25, 1.5
_READ = (
    "SELECT digest, revisit_s, depth = 0 OR coalesce(found_in, '') IN ('sitemap', 'records-page') FROM url WHERE id = ?"
)
# Where a page that names services was found, more such pages may come to stand.
_WATCH_HUB = """
UPDATE url SET revisit_s = ?2, revisit_at = ?3
WHERE id = (SELECT found_on FROM url WHERE id = ?1) AND purpose = 'page' AND state = 'visited' AND revisit_s IS NULL"""
_WRITE = """
UPDATE url SET digest = ?, revisit_s = ?, revisit_at = ?, changes = changes + ? WHERE id = ?"""
_DUE = """
SELECT id FROM url WHERE revisit_at IS NOT NULL AND revisit_at <= ?1 AND state IN ('visited', 'failed')
  AND (coalesce(found_in, '') IN ('sitemap', 'records-page')) = ?2
ORDER BY revisit_at, id LIMIT ?3"""


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds between two visits of a page."""

    first_s: float
    least_s: float
    most_s: float

    def after(self, former_s: float | None, *, changed: bool, brought: bool) -> float:
        """The next wait; `former_s` None: this was the first visit."""
        if former_s is None:
            return self.first_s
        factor = BROUGHT if brought else CHANGED if changed else SAME
        return min(max(former_s * factor, self.least_s), self.most_s)


class Revisits:
    """Schedules pages; every method works inside the caller's transaction."""

    def __init__(self, connection: sqlite3.Connection, waits: Waits) -> None:
        self._connection = connection
        self._waits = waits

    def visited(self, url_id: int, digest: int | None, at: float, *, names_services: bool, brought: bool) -> bool:
        """Take a visit into account; returns whether the page is read again. `digest` None: it could not be read, or
        need not be (304). `brought`: endpoints that nobody knew."""
        before, wait_s, lists_what_is_new = self._connection.execute(_READ, (url_id,)).fetchone()
        if not (names_services or lists_what_is_new or wait_s is not None):
            return False
        changed = before is not None and digest is not None and before != digest
        wait_s = self._waits.after(wait_s, changed=changed, brought=brought and before is not None)
        kept = before if digest is None else digest
        self._connection.execute(_WRITE, (kept, wait_s, at + wait_s, int(changed), url_id))
        if names_services:
            self._connection.execute(_WATCH_HUB, (url_id, self._waits.first_s, at + self._waits.first_s))
        return True


def due(connection: sqlite3.Connection, now: float, most: int, *, catalogues: bool) -> list[int]:
    """Ids of the pages whose next visit is due, the longest overdue first: sitemaps and pages of records, or others."""
    return [row[0] for row in connection.execute(_DUE, (now, int(catalogues), most))]
