"""Pages that are read again: seeds, those that named services, those that led to such pages, sitemaps,
and catalogues' pages of records.

How long to wait is learnt for each page from what its visits brought: half as long after one that found it changed, a
quarter after one that brought endpoints nobody knew, half as long again after one that found nothing new (a simple form
of the estimators in Cho, Garcia-Molina: Effective page refresh policies for web crawlers, TODS 2003). A page counts as
changed when its links and candidates change, not when its text does, which a clock or a counter changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from geocrawl.settings import Settings
from geocrawl.store.engine.connection import Connection

CHANGED, BROUGHT, SAME = 0.5, 0.25, 1.5
# A page that led to a page with services may soon link to more such pages.
_WATCH_HUB = """
UPDATE url SET revisit_s = ?2, revisit_at = ?3
WHERE id = (SELECT found_on FROM url WHERE id = ?1) AND purpose = 'page' AND state = 'visited' AND revisit_s IS NULL"""
_WRITE = """
UPDATE url SET digest = ?, revisit_s = ?, revisit_at = ?, changes = changes + ? WHERE id = ?"""
_DUE = """
SELECT id FROM url WHERE revisit_at IS NOT NULL AND revisit_at <= ?1 AND state IN ('visited', 'failed')
  AND CASE WHEN found_in IN ('sitemap', 'records-page') THEN 1 ELSE 0 END = ?2
ORDER BY revisit_at, id LIMIT ?3"""


class NextVisit(NamedTuple):
    """When a page is read again, and what is stored to learn from."""

    digest: int | None
    wait_s: float
    changed: bool


@dataclass(frozen=True, slots=True)
class RevisitWaits:
    """Seconds between two visits of a page."""

    first_s: float
    least_s: float
    most_s: float

    @classmethod
    def of(cls, settings: Settings) -> RevisitWaits:
        """Return the waits that the settings name."""
        return cls(settings.revisit_first_s, settings.revisit_least_s, settings.revisit_most_s)

    def after(self, former_s: float | None, *, changed: bool, brought: bool) -> float:
        """Return the next wait in seconds; `former_s` None: this was the first visit."""
        if former_s is None:
            return self.first_s
        factor = BROUGHT if brought else CHANGED if changed else SAME
        return min(max(former_s * factor, self.least_s), self.most_s)

    def next_visit(
        self,
        former_s: float | None,
        *,
        former_digest: int | None,
        digest: int | None,
        lists_news: bool,
        names_services: bool,
        brought: bool,
    ) -> NextVisit | None:
        """Return when a page is read again; None when it is not.

        `digest` None: the page could not be read, or need not be (304). `brought`: whether it named new endpoints.
        """
        if not (names_services or lists_news or former_s is not None):
            return None
        changed = former_digest is not None and digest is not None and former_digest != digest
        wait_s = self.after(former_s, changed=changed, brought=brought and former_digest is not None)
        return NextVisit(former_digest if digest is None else digest, wait_s, changed)


def write_next_visit(connection: Connection, url_id: int, visit: NextVisit, at: float, hub_s: float | None) -> None:
    """Write when a page is read again.

    `hub_s`: for a page that names services, seconds until the page that led to it is read again; None changes nothing.
    """
    connection.write(_WRITE, (visit.digest, visit.wait_s, at + visit.wait_s, int(visit.changed), url_id))
    if hub_s is not None:
        connection.write(_WATCH_HUB, (url_id, hub_s, at + hub_s))


def due(connection: Connection, now: float, most: int, *, catalogues: bool) -> list[int]:
    """Return ids of at most `most` pages whose next visit is due, the longest overdue first.

    `catalogues`: sitemaps and pages of records, else all other pages.
    """
    return [row[0] for row in connection.execute(_DUE, (now, int(catalogues), most))]
