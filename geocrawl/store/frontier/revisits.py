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

from sqlalchemy import bindparam, func, select, update

from geocrawl.model import Purpose, State
from geocrawl.settings import Settings
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import URL
from geocrawl.store.frontier.statements import WRITE_URL
from geocrawl.urls import RECORDS

CHANGED, BROUGHT, SAME = 0.5, 0.25, 1.5
LISTS_NEWS = func.coalesce(URL.c.found_in, "").in_(["sitemap", RECORDS])
"""Whether a page is a sitemap or a page of records."""
_named = URL.alias("named")
_WATCH_HUB = update(URL).where(
    URL.c.id == select(_named.c.found_on).where(_named.c.id == bindparam("url")).scalar_subquery(),
    *(URL.c.purpose == Purpose.PAGE, URL.c.state == State.VISITED, URL.c.revisit_s.is_(None)),
)
"""A page that led to a page with services may soon link to more such pages."""
_WRITE = WRITE_URL.values(
    {name: bindparam(name) for name in ("digest", "revisit_s", "revisit_at")}
    | {"changes": URL.c.changes + bindparam("changed")}
)
_DUE = (
    select(URL.c.id)
    .where(URL.c.revisit_at.is_not(None), URL.c.revisit_at <= bindparam("now"))
    .where(URL.c.state.in_([State.VISITED, State.FAILED]))
    .order_by(URL.c.revisit_at, URL.c.id)
    .limit(bindparam("most"))
)
_DUE_CATALOGUES, _DUE_PAGES = _DUE.where(LISTS_NEWS), _DUE.where(~LISTS_NEWS)


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
    next_visit = {"url": url_id, "revisit_s": visit.wait_s, "revisit_at": at + visit.wait_s}
    connection.write(_WRITE, {**next_visit, "digest": visit.digest, "changed": int(visit.changed)})
    if hub_s is not None:
        connection.write(_WATCH_HUB, {"url": url_id, "revisit_s": hub_s, "revisit_at": at + hub_s})


def due(connection: Connection, now: float, most: int, *, catalogues: bool) -> list[int]:
    """Return ids of at most `most` pages whose next visit is due, the longest overdue first.

    `catalogues`: sitemaps and pages of records, else all other pages.
    """
    found = connection.execute(_DUE_CATALOGUES if catalogues else _DUE_PAGES, {"now": now, "most": most})
    return [row[0] for row in found]
