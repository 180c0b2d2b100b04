"""Lay out the queue as one table: a row for each sub-queue (tier), with what its visits led to.

Below the sub-queues stand the levels that they are made from: the relevance of the page, and that of the link by its
keywords (gws eq. 2, 3). They mean the same under every strategy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from geocrawl.model import FrontierStats, VisitYield

PAGE_LEVELS = {
    2: "page relevance 2: on the topic",
    1: "page relevance 1: has words of the topic",
    0: "page relevance 0: has none",
}
LINK_LEVELS = {
    2: "link relevance 2: a keyword in address or text",
    1: "link relevance 1: an abbreviation such as GIS",
    0: "link relevance 0: neither",
}
_NONE = VisitYield(0, 0)


@dataclass(frozen=True, slots=True)
class SubQueue:
    """A row of the table: a sub-queue, or a level of relevance."""

    tier: int | None
    """None for a level of relevance."""
    means: str
    waiting: int | None
    """Pages that wait; None for a level of relevance, by which waiting pages are not counted."""
    visited: int
    led: int
    """Visits that led to a service which was not known before."""

    @property
    def share(self) -> float | None:
        """Return the share of visits that led to services, 0…1; None without visits."""
        return self.led / self.visited if self.visited else None


def sub_queues(stats: FrontierStats, names: Mapping[int, str]) -> list[SubQueue]:
    """Return a row for each sub-queue with pages that wait or were visited, the first served first, then the levels.

    `names`: what each tier of the strategy means.
    """
    waiting, visits = stats.waiting_by_tier, stats.visits_by_tier
    tiers = sorted({*waiting, *visits}, reverse=True)
    rows = [_row(tier, names.get(tier, ""), waiting.get(tier, 0), visits.get(tier, _NONE)) for tier in tiers]
    for levels, found in (
        (PAGE_LEVELS, stats.visits_by_page_relevance),
        (LINK_LEVELS, stats.visits_by_link_relevance),
    ):
        if any(found):  # a strategy that ignores words finds no page relevant
            rows += [_row(None, levels[level], None, each) for level, each in found.items()]
    return rows


def _row(tier: int | None, means: str, waiting: int | None, found: VisitYield) -> SubQueue:
    return SubQueue(tier, means, waiting, found.visited, found.led)


def table_lines(rows: Sequence[SubQueue]) -> Iterator[str]:
    """Yield the lines of the table, headed by the names of its columns."""
    width = max((len(row.means) for row in rows), default=0)
    yield f"{'tier':>4}  {'sub-queue':<{width}}  {'waiting':>9}  {'visited':>9}  led to services"
    for row in rows:
        tier = "" if row.tier is None else row.tier
        waiting = "" if row.waiting is None else f"{row.waiting:,}"
        share = "" if row.share is None else f"{row.led:,} ({row.share:.0%})"
        yield f"{tier:>4}  {row.means:<{width}}  {waiting:>9}  {row.visited:>9,}  {share}".rstrip()
