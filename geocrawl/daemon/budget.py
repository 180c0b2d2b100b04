"""Decide how much the daemon may do when, and crawl within that: hours of the day, pages a day, bytes a day.

Pages are visited in the allowed hours and up to the day's limits, probes as long as bytes are left. A run of the loop
ends with the day, although something may always be ready: what is limited or fixed for one run (content requests and
siblings of a host, the date by which calendars are judged) starts afresh in the next run.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from geocrawl.app import fetchers, wiring
from geocrawl.app.fetchers import session_renderer

if TYPE_CHECKING:
    from geocrawl.app.session import Session
    from geocrawl.crawler.loop import Crawler
    from geocrawl.crawler.report import RunSummary
    from geocrawl.daemon.daily_stats import CountingObserver, DayCounts
    from geocrawl.ports import Clock
    from geocrawl.settings import Settings


_WINDOW = re.compile(r"([01]?\d|2[0-4])(?::([0-5]\d))?\s*-\s*([01]?\d|2[0-4])(?::([0-5]\d))?\Z")
DAY_MIN = 24 * 60
NO_LIMIT = 1 << 60
"""An effectively unlimited number of pages."""
PAGES_SHARE = 0.9
"""Share of a day's traffic that page visits may use. The rest is reserved for probes, so that services are watched
until the end of the day."""


@dataclass(frozen=True, slots=True)
class Hours:
    """A window of the day in minutes since midnight UTC. It crosses midnight when `from_min` > `to_min`, and is the
    whole
    day when both are equal."""

    from_min: int = 0
    to_min: int = 0

    @classmethod
    def read(cls, text: str) -> Hours:
        """Read a window such as `22-6` or `22:30-06:15`; '' is the whole day. Raises ValueError for anything else."""
        if not text.strip():
            return cls()
        found = _WINDOW.match(text.strip())
        if found is None:
            raise ValueError("expected a window such as 22-6 or 22:30-06:15 (UTC)")
        first, first_min, last, last_min = (int(part or 0) for part in found.groups())
        ends = (first * 60 + first_min, last * 60 + last_min)
        if max(ends) > DAY_MIN:
            raise ValueError("the day ends at 24:00")
        return cls(ends[0] % DAY_MIN, ends[1] % DAY_MIN)

    def include(self, now: float) -> bool:
        """Return whether a time (seconds since the epoch) is in the window."""
        moment = dt.datetime.fromtimestamp(now, dt.UTC)
        minute = moment.hour * 60 + moment.minute
        if self.from_min == self.to_min:
            return True
        if self.from_min < self.to_min:
            return self.from_min <= minute < self.to_min
        return minute >= self.from_min or minute < self.to_min


@dataclass(frozen=True, slots=True)
class Budget:
    """The daemon's limits on requests. Hours and pages do not limit probes: services are probed at any hour."""

    hours: Hours
    pages_per_day: int
    """0: no limit."""
    traffic_per_day_bytes: int = 0
    """0: no limit."""

    def why_no_pages(self, now: float, pages: int, received_bytes: int) -> str:
        """Return why no page may be visited at `now`, after so many pages and bytes of the day; '' when one may."""
        if not self.hours.include(now):
            return "outside its hours"
        if self.pages_per_day and pages >= self.pages_per_day:
            return "the day's limit of pages is reached"
        if self.traffic_per_day_bytes and received_bytes >= PAGES_SHARE * self.traffic_per_day_bytes:
            return "nine tenths of the day's traffic is spent"
        return ""

    def is_traffic_spent(self, received_bytes: int) -> bool:
        """Return whether the day's traffic is spent, so that no more requests are allowed today."""
        return 0 < self.traffic_per_day_bytes <= received_bytes


def budget_of(settings: Settings) -> Budget:
    """Return the budget that the settings name. Raises UsageError for invalid hours."""
    from geocrawl.errors import UsageError

    try:
        return Budget(Hours.read(settings.hours), settings.pages_per_day, settings.traffic_per_day_bytes)
    except ValueError as error:
        raise UsageError(f"hours = {settings.hours!r}: {error}") from None


def without_limits(settings: Settings) -> Settings:
    """Return the settings without the limits of one run: a daemon has daily budgets instead."""
    return replace(settings, max_pages=NO_LIMIT, max_time_s=0.0)


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
