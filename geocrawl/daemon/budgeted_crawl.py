"""Crawl within the day's budget: pages in the allowed hours and up to the day's limits, probes as long as bytes are
left.

A run of the loop ends with the day, although something may always be ready: what is limited or fixed for one run
(content requests and siblings of a host, the date by which calendars are judged) starts afresh in the next run.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from geocrawl.app import fetchers, wiring
from geocrawl.app.renderers import session_renderer
from geocrawl.daemon.budget import NO_LIMIT, Budget

if TYPE_CHECKING:
    from geocrawl.app.session import Session
    from geocrawl.crawler.loop import Crawler
    from geocrawl.crawler.summary import RunSummary
    from geocrawl.daemon.daily_stats import CountingObserver, DayCounts
    from geocrawl.ports import Clock


_PATIENCE_S = 30.0
"""The longest wait of one run for hosts in back-off, if `patience_s` is not shorter: the daemon runs the loop again in
any case."""


class BudgetedCrawl:
    """Runs a session's loop again and again, each time until nothing is ready or the budget is spent."""

    def __init__(
        self, session: Session, budget: Budget, *, observer: CountingObserver, day: DayCounts, clock: Clock
    ) -> None:
        self._budget = budget
        self._observer = observer
        self._day = day
        self._clock = clock
        self._crawler: Crawler | None = None
        self._begun_on = day.day
        self._rendered: Counter[str] = Counter()
        """By host: the day's pages that were read in a browser. The loop runs many times a day."""
        self.session = session

    def change(self, session: Session, budget: Budget) -> None:
        """Use another session and budget from the next run on (after a reload)."""
        self.session, self._budget = session, budget

    @property
    def is_traffic_spent(self) -> bool:
        """Return whether the day's traffic is spent, so that no more requests are allowed today."""
        return self._budget.is_traffic_spent(self._day.total("bytes"))

    def why_no_pages(self) -> str:
        """Return why no page may be visited now, in words; '' when one may."""
        return self._budget.why_no_pages(self._clock.now(), self._day.total("pages"), self._day.total("bytes"))

    @property
    def waits_for(self) -> str:
        """Return which fault of this machine prevents visits now; '' for none."""
        return self._crawler.waits_for if self._crawler else ""

    def interrupt(self, reason: str) -> None:
        """Let the visits under way settle, then end the run, if there is one."""
        if self._crawler is not None:
            self._crawler.stop(reason)

    async def run(self) -> RunSummary:
        """Run the loop once. Raises PassingFault when the database cannot be written for now."""
        self._day.begin_day()
        if self._day.day != self._begun_on:
            self._rendered.clear()
        self._begun_on = self._day.day
        fetcher = fetchers.make_session_fetcher(self.session, on_received=self._count_received)
        try:
            async with session_renderer(self.session, self._observer.noted) as renderer:
                self._crawler = wiring.make_crawler(
                    self.session,
                    self._observer,
                    fetcher,
                    max_pages=self._budget.pages_per_day or NO_LIMIT,
                    renderer=renderer,
                    rendered=self._rendered,
                    pages_counted=self._pages_counted,
                    patience_s=min(_PATIENCE_S, self.session.settings.patience_s),
                    outage_patience_s=math.inf,
                )
                return await self._crawler.run()
        finally:
            self._crawler = None
            await fetcher.close()

    def _pages_counted(self) -> int:
        """Return the day's pages; while no page may be visited, a number that exceeds every limit."""
        self._day.begin_day()
        if self._day.day != self._begun_on:
            self.interrupt("a new day begins")
        return NO_LIMIT if self.why_no_pages() else self._day.total("pages")

    def _count_received(self, received_bytes: int) -> None:
        """Count received bytes; once the day's limit is reached, stop leasing new visits."""
        self._observer.received(received_bytes)
        if self.is_traffic_spent:
            self.interrupt("the day's traffic is spent")
