"""Decide how much the daemon may do when: hours of the day, pages a day, bytes a day."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace

from geocrawl.settings import Settings
from geocrawl.wording import read_hours

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
    """Return the budget that the settings name."""
    return Budget(Hours(*read_hours(settings.hours)), settings.pages_per_day, settings.traffic_per_day_bytes)


def without_limits(settings: Settings) -> Settings:
    """Return the settings without the limits of one run: a daemon has daily budgets instead."""
    return replace(settings, max_pages=NO_LIMIT, max_time_s=0.0)
