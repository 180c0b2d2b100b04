"""Define times for which a service's failures are excused: planned downtime, and failures that a person knows of."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

PLANNED, ACKNOWLEDGED = "planned", "acknowledged"
"""Reasons of a probe that failed and counts for nothing: in a planned downtime, and after a person acknowledged it."""
EXCUSED = (PLANNED, ACKNOWLEDGED)
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKLY = re.compile(r"(?P<days>[a-z,-]+) (?P<begin>\d\d?:\d\d)-(?P<end>\d\d?:\d\d)")


@dataclass(frozen=True, slots=True)
class Downtime:
    """A time, once or every week, in which failures of a service or of all services of a host are excused."""

    id: int
    service_id: int | None
    """Number of the service; None for all services of `host`."""
    host: str
    starts_at: float
    ends_at: float | None
    """Seconds since 1970; None for no end, and for an acknowledgement until the service is well again."""
    weekly: str
    """Days and hours, such as 'sat,sun 22:00-04:00', between `starts_at` and `ends_at`; '' for the whole time."""
    zone: str
    """Time zone of the hours, a name of the IANA database."""
    is_acknowledged: bool
    """Whether a person acknowledged failures; else it was planned."""
    note: str
    created_at: float

    @property
    def reason(self) -> str:
        """Return the reason of a probe that fails in it."""
        return ACKNOWLEDGED if self.is_acknowledged else PLANNED

    @property
    def subject(self) -> str:
        """Return what it is for, for people."""
        return f"service {self.service_id}" if self.service_id is not None else f"host {self.host}"

    def end_at(self, at: float) -> float | None:
        """Return when the downtime that the time `at` lies in ends, infinity for never; None outside of it."""
        ends_at = float("inf") if self.ends_at is None else self.ends_at
        if not self.starts_at <= at < ends_at:
            return None
        if not self.weekly:
            return ends_at
        until = max((end for begin, end in windows(self.weekly, self.zone, at) if begin <= at < end), default=None)
        return None if until is None else min(until, ends_at)


def windows(weekly: str, zone: str, at: float) -> Iterator[tuple[float, float]]:
    """Yield begin and end of each window whose day is that of `at`, the one before or the one after.

    Hours are those on the clocks of the zone: a window over a change of the clocks is an hour shorter or longer. Yields
    nothing for a zone that this machine does not know.
    """
    try:
        clock = read_zone(zone)
    except ValueError:
        return
    days, begin, end = read_weekly(weekly)
    today = dt.datetime.fromtimestamp(at, clock).date()
    for offset in (-1, 0, 1):
        day = today + dt.timedelta(days=offset)
        if day.weekday() not in days:
            continue
        last = day if end > begin else day + dt.timedelta(days=1)
        yield dt.datetime.combine(day, begin, clock).timestamp(), dt.datetime.combine(last, end, clock).timestamp()


def read_weekly(text: str) -> tuple[frozenset[int], dt.time, dt.time]:
    """Return the days of the week, 0 for Monday, and the times of the day at which a weekly downtime begins and ends.

    An end that is not after the begin is that of the next day. Raises ValueError for another text.
    """
    expected = "days and hours such as 'sun 02:00-04:00', 'sat,sun 22:00-02:00' or 'mon-fri 12:00-13:00'"
    if (found := _WEEKLY.fullmatch(text)) is None:
        raise ValueError(expected)
    days = set[int]()
    try:
        for part in found["days"].split(","):
            first, _, last = part.partition("-")
            begin, end = DAYS.index(first), DAYS.index(last or first)
            days |= {day % 7 for day in range(begin, end + 1 + 7 * (end < begin))}
        begin_at, end_at = (dt.datetime.strptime(found[name], "%H:%M").time() for name in ("begin", "end"))
    except ValueError:
        raise ValueError(expected) from None
    return frozenset(days), begin_at, end_at


def read_zone(name: str) -> ZoneInfo:
    """Return the time zone of a name of the IANA database. Raises ValueError for one that this machine lacks."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("the name of a time zone that this machine knows, such as Europe/Berlin") from None


def read_moment(text: str, zone: str) -> float:
    """Return a time such as '2026-11-29 22:00', on the clocks of a zone where it names none, in seconds since the
    epoch. Raises ValueError for another text."""
    try:
        at = dt.datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("a time such as '2026-11-29 22:00' or 2026-11-29T22:00:00Z") from None
    return (at if at.tzinfo else at.replace(tzinfo=read_zone(zone))).timestamp()
