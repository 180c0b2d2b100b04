"""Count what visits led to, by sub-queue (tier) and by the relevance of page and link: `geocrawl status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, or_, update

from geocrawl.model import State, Visit
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import COUNTER, URL
from geocrawl.store.frontier.counters import LED, VISITS, CounterChanges

if TYPE_CHECKING:
    from geocrawl.store.frontier.plan import Current

_page = URL.c.id == bindparam("page")
_LED = (
    update(URL)
    .where(_page, URL.c.purpose == "page", URL.c.led == 0)
    .values(led=1)
    .returning(URL.c.visit_tier, URL.c.relevance, URL.c.link_relevance)
)
_FORGET = delete(COUNTER).where(or_(*(COUNTER.c.name.startswith(f"{what}tier:") for what in (VISITS, LED))))


def clear_yields(connection: Connection) -> None:
    """Drop the counts of visits by tier."""
    connection.execute(_FORGET)


def count_visit(counters: CounterChanges, visit: Visit, current: Current) -> dict[str, int]:
    """Count a page's visit by tier and relevance; return the columns of its URL that note both, none without a page."""
    if not visit.is_page_answered or visit.not_modified:
        return {}
    link = int(visit.link_relevance)
    page = int(visit.relevance) if visit.state is State.VISITED else None
    _count(counters, VISITS, current.tier, page, link)
    return {"visit_tier": current.tier, "link_relevance": link, "led": 0}


def count_find(connection: Connection, counters: CounterChanges, page_id: int) -> None:
    """Count that the last visit of a page led to a service; further services of that visit are not counted."""
    for tier, page, link in connection.execute(_LED, {"page": page_id}).fetchall():
        _count(counters, LED, tier, page, link)


def _count(counters: CounterChanges, what: str, tier: int, page: int | None, link: int) -> None:
    counters.count(what, f"tier:{tier}")
    counters.count(what, f"link:{link}")
    if page is not None:  # else the page could not be read
        counters.count(what, f"page:{page}")
